// Attention of few queries over a cache: a workgroup of 256 threads for each query and head, all of them along its
// keys. Where the cache is long, several of them, each along a piece of the keys; then they write what they have to `parts`, for
// each head `size` sums of weighted values, the greatest score and the sum of weights, and `combine` adds the pieces up in order.
//
// Keys are taken in blocks of 512. Four threads share the product of the query with a key; then each thread takes two
// scores of the block to weights; then a thread holds four channels of the result and sums every `splits`-th value
// of the block.
// The sums of the splits are added up in a tree at the end, so the order is always the same.
//
// Scores are kept times log2 e, for exp2. VEC 1: as in attention.wgsl.

struct P {
    batch: u32, times: u32, heads: u32, kv_heads: u32, size: u32, // B T H G D
    n_keys: u32, // P of the cache
    window: u32, has_start: u32, has_offset: u32, has_slot: u32, has_lse: u32,
    columns: u32, // D / 4 rounded up to a power of two
    pieces: u32, piece: u32, // of the keys that a query sees, and their length
    scale: f32,
}
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> queries: array<f32>;
@group(0) @binding(2) var<storage, read_write> keys: array<f32>;
@group(0) @binding(3) var<storage, read_write> keys4: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> values: array<f32>;
@group(0) @binding(5) var<storage, read_write> values4: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> outs: array<f32>;
@group(0) @binding(7) var<storage, read_write> lse: array<f32>;
@group(0) @binding(8) var<storage, read_write> doc_start: array<i32>;
@group(0) @binding(9) var<storage, read_write> offset: array<i32>;
@group(0) @binding(10) var<storage, read_write> slot: array<i32>;
@group(0) @binding(11) var<storage, read_write> parts: array<f32>;

const LOG2E: f32 = 1.4426950408889634;
const LN2: f32 = 0.6931471805599453;
const LOWEST: f32 = -1.0e38; // the maximum of no scores
const THREADS: u32 = 256u;
const BLOCK: u32 = 512u;

var<workgroup> query: array<vec4<f32>, 64>;
// [key][quarter of its score]; then the weight in place of the first quarter
var<workgroup> scores: array<f32, 4u * BLOCK>;
var<workgroup> sums: array<vec4<f32>, THREADS>;
var<workgroup> near: array<f32, THREADS>;
var<workgroup> far: array<f32, 16>;
var<workgroup> range: vec2<u32>;

// Four channels of a key or value from element i on, of which `left` are there, at least one; 0 for the others.
fn key_at(i: u32, left: u32) -> vec4<f32> {
    if (VEC == 1u) { return keys4[i / 4u]; }
    var x = vec4<f32>(keys[i], 0.0, 0.0, 0.0);
    if (left > 1u) { x.y = keys[i + 1u]; }
    if (left > 2u) { x.z = keys[i + 2u]; }
    if (left > 3u) { x.w = keys[i + 3u]; }
    return x;
}

fn value_at(i: u32, left: u32) -> vec4<f32> {
    if (VEC == 1u) { return values4[i / 4u]; }
    var x = vec4<f32>(values[i], 0.0, 0.0, 0.0);
    if (left > 1u) { x.y = values[i + 1u]; }
    if (left > 2u) { x.z = values[i + 2u]; }
    if (left > 3u) { x.w = values[i + 3u]; }
    return x;
}

// Of all threads, in two steps of sixteen.
fn greatest(x: f32, thread: u32) -> f32 {
    near[thread] = x;
    workgroupBarrier();
    if (thread < 16u) {
        var y = near[16u * thread];
        for (var j = 1u; j < 16u; j++) { y = max(y, near[16u * thread + j]); }
        far[thread] = y;
    }
    workgroupBarrier();
    var y = far[0];
    for (var j = 1u; j < 16u; j++) { y = max(y, far[j]); }
    return y;
}

fn total(x: f32, thread: u32) -> f32 {
    workgroupBarrier();
    near[thread] = x;
    workgroupBarrier();
    if (thread < 16u) {
        var y = 0.0;
        for (var j = 0u; j < 16u; j++) { y += near[16u * thread + j]; }
        far[thread] = y;
    }
    workgroupBarrier();
    var y = 0.0;
    for (var j = 0u; j < 16u; j++) { y += far[j]; }
    return y;
}

// A sum of weights is infinite or NaN only where a score was; some GPUs make a number of it again, or an infinity of
// a NaN.
fn log2_of(x: f32) -> f32 {
    if (is_finite(x)) { return log2(x); }
    return bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u); // a NaN
}

// The keys that query i of row b sees: from, and to before.
fn seen_keys(b: u32, i: u32) -> vec2<u32> {
    var position = i32(i);
    if (p.has_offset != 0u) { position += offset[b]; }
    var first = max(position - i32(p.window) + 1, 0);
    if (p.has_start != 0u) { first = max(first, doc_start[b * p.times + i]); }
    return vec2<u32>(u32(first), u32(position) + 1u);
}

@compute @workgroup_size(256)
fn decode(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) thread: u32) {
    let group = flat_group(id, groups);
    let row = group / p.pieces; // (b, i, h)
    if (row >= p.batch * p.times * p.heads) { return; }
    let h = row % p.heads;
    let i = row / p.heads % p.times;
    let b = row / p.heads / p.times;
    var s = b;
    if (p.has_slot != 0u) { s = u32(slot[b]); }
    let first_key = (s * p.kv_heads + h / (p.heads / p.kv_heads)) * p.n_keys * p.size;
    if (thread < 64u) {
        var x = vec4<f32>();
        for (var k = 0u; k < 4u; k++) {
            let d = 4u * thread + k;
            if (d < p.size) { x[k] = queries[row * p.size + d] * (p.scale * LOG2E); }
        }
        query[thread] = x;
    }
    if (thread == 0u) {
        range = seen_keys(b, i);
        range.x = min(range.x + group % p.pieces * p.piece, range.y);
        range.y = min(range.x + p.piece, range.y);
    }
    let seen = workgroupUniformLoad(&range);

    let column = thread % p.columns;
    let splits = THREADS / p.columns;
    let split = thread / p.columns;
    var peak = LOWEST;
    var sum = 0.0; // of the weights of the thread's keys
    var result = vec4<f32>();
    for (var at = seen.x; at < seen.y; at += BLOCK) {
        let n = min(BLOCK, seen.y - at);
        for (var j = thread / 4u; j < n; j += THREADS / 4u) {
            let key = first_key + (at + j) * p.size;
            var x = 0.0;
            for (var d = 4u * (thread % 4u); d < p.size; d += 16u) {
                x += dot(query[d / 4u], key_at(key + d, p.size - d));
            }
            scores[4u * j + thread % 4u] = x;
        }
        workgroupBarrier();
        var most = peak;
        for (var j = thread; j < n; j += THREADS) {
            let x = scores[4u * j] + scores[4u * j + 1u] + (scores[4u * j + 2u] + scores[4u * j + 3u]);
            scores[4u * j] = x;
            most = max(most, x);
        }
        most = greatest(most, thread);
        let shrink = exp2(peak - most);
        peak = most;
        sum *= shrink;
        for (var j = thread; j < n; j += THREADS) {
            let w = exp2(scores[4u * j] - peak);
            scores[4u * j] = w;
            sum += w;
        }
        workgroupBarrier();
        result *= shrink;
        if (4u * column < p.size) {
            for (var j = split; j < n; j += splits) {
                let value = first_key + (at + j) * p.size + 4u * column;
                result += scores[4u * j] * value_at(value, p.size - 4u * column);
            }
        }
        workgroupBarrier();
    }
    sum = total(sum, thread);
    sums[thread] = result;
    for (var n = splits / 2u; n > 0u; n /= 2u) {
        workgroupBarrier();
        if (split < n) { sums[thread] += sums[thread + n * p.columns]; }
    }
    if (split == 0u) {
        for (var k = 0u; k < 4u; k++) {
            let d = 4u * column + k;
            if (d >= p.size) { break; }
            if (p.pieces == 1u) { outs[row * p.size + d] = sums[thread][k] / sum; }
            else { parts[group * (p.size + 2u) + d] = sums[thread][k]; }
        }
    }
    if (p.pieces > 1u && thread == 0u) {
        parts[group * (p.size + 2u) + p.size] = peak;
        parts[group * (p.size + 2u) + p.size + 1u] = sum;
    }
    if (p.pieces == 1u && p.has_lse != 0u && thread == 0u) { put_lse(row, peak, sum); }
}

fn put_lse(row: u32, peak: f32, sum: f32) {
    let h = row % p.heads;
    let i = row / p.heads % p.times;
    let b = row / p.heads / p.times;
    lse[(b * p.heads + h) * p.times + i] = (peak + log2_of(sum)) * LN2;
}

// A thread for each channel of a query and head.
@compute @workgroup_size(64)
fn combine(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) thread: u32) {
    let slabs = (p.size + 63u) / 64u;
    let group = flat_group(id, groups);
    let row = group / slabs;
    let d = group % slabs * 64u + thread;
    if (row >= p.batch * p.times * p.heads || d >= p.size) { return; }
    let stride = p.size + 2u;
    let first = row * p.pieces * stride;
    var peak = parts[first + p.size];
    for (var k = 1u; k < p.pieces; k++) { peak = max(peak, parts[first + k * stride + p.size]); }
    var sum = 0.0;
    var result = 0.0;
    for (var k = 0u; k < p.pieces; k++) {
        let at = first + k * stride;
        let shrink = exp2(parts[at + p.size] - peak);
        sum += shrink * parts[at + p.size + 1u];
        result += shrink * parts[at + d];
    }
    outs[row * p.size + d] = result / sum;
    if (p.has_lse != 0u && d == 0u) { put_lse(row, peak, sum); }
}
