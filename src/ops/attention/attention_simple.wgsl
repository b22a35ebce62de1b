// Attention without barriers, which an emulated GPU compiles and runs many times faster: a thread for each row of a
// result.
// The sums are those of the definition, one pair after the other.

struct P {
    batch: u32, times: u32, heads: u32, kv_heads: u32, size: u32, // B T H G D
    n_keys: u32, // T; cached: P
    window: u32, has_start: u32, has_offset: u32, has_slot: u32, has_lse: u32,
    cached: u32,
    scale: f32,
}
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> queries: array<f32>;
@group(0) @binding(2) var<storage, read_write> keys: array<f32>;
@group(0) @binding(3) var<storage, read_write> values: array<f32>;
@group(0) @binding(4) var<storage, read_write> outs: array<f32>;
@group(0) @binding(5) var<storage, read_write> lse: array<f32>;
@group(0) @binding(6) var<storage, read_write> doc_start: array<i32>;
@group(0) @binding(7) var<storage, read_write> offset: array<i32>;
@group(0) @binding(8) var<storage, read_write> slot: array<i32>;
@group(0) @binding(9) var<storage, read_write> d_outs: array<f32>;
@group(0) @binding(10) var<storage, read_write> delta: array<f32>;
@group(0) @binding(11) var<storage, read_write> d_queries: array<f32>;
@group(0) @binding(12) var<storage, read_write> d_keys: array<f32>;
@group(0) @binding(13) var<storage, read_write> d_values: array<f32>;

const LOG2E: f32 = 1.4426950408889634;
const LN2: f32 = 0.6931471805599453;

// exp2, and NaN of a NaN.
fn exp2_of(x: f32) -> f32 {
    if ((bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) { return x; }
    return exp2(x);
}

fn log2_of(x: f32) -> f32 {
    if (is_finite(x)) { return log2(x); }
    return x;
}

// Element 0 of query i, and of key j of a row that uses cache row s.
fn query_at(b: u32, i: u32, h: u32) -> u32 {
    return ((b * p.times + i) * p.heads + h) * p.size;
}

fn key_at(s: u32, j: u32, g: u32) -> u32 {
    if (p.cached == 0u) { return ((s * p.times + j) * p.kv_heads + g) * p.size; }
    return ((s * p.kv_heads + g) * p.n_keys + j) * p.size;
}

fn kv_head(h: u32) -> u32 {
    return h / (p.heads / p.kv_heads);
}

// The keys that query i of row b sees: from, and to before.
fn seen_keys(b: u32, i: u32) -> vec2<u32> {
    var position = i32(i);
    if (p.has_offset != 0u) { position += offset[b]; }
    var first = max(position - i32(p.window) + 1, 0);
    if (p.has_start != 0u) { first = max(first, doc_start[b * p.times + i]); }
    return vec2<u32>(u32(first), u32(position) + 1u);
}

fn score(query: u32, key: u32) -> f32 {
    var s = 0.0;
    for (var d = 0u; d < p.size; d++) { s += queries[query + d] * keys[key + d]; }
    return s * (p.scale * LOG2E);
}

@compute @workgroup_size(64)
fn forward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) index: u32) {
    let row = flat_group(id, groups) * 64u + index; // (b, i, h)
    if (row >= p.batch * p.times * p.heads) { return; }
    let h = row % p.heads;
    let i = row / p.heads % p.times;
    let b = row / p.heads / p.times;
    let g = kv_head(h);
    var s = b;
    if (p.has_slot != 0u) { s = u32(slot[b]); }
    let seen = seen_keys(b, i);
    let query = query_at(b, i, h);
    var peak = score(query, key_at(s, seen.x, g));
    for (var j = seen.x; j < seen.y; j++) { peak = max(peak, score(query, key_at(s, j, g))); }
    var sums = array<f32, 256>();
    var total = 0.0;
    for (var j = seen.x; j < seen.y; j++) {
        let key = key_at(s, j, g);
        let weight = exp2_of(score(query, key) - peak);
        total += weight;
        for (var d = 0u; d < p.size; d++) { sums[d] += weight * values[key + d]; }
    }
    for (var d = 0u; d < p.size; d++) { outs[query + d] = sums[d] / total; }
    if (p.has_lse != 0u) { lse[(b * p.heads + h) * p.times + i] = (peak + log2_of(total)) * LN2; }
}

// Of a query and a key: the weight P, and dS.
fn pair(query: u32, key: u32, stat: u32) -> vec2<f32> {
    let weight = exp2_of(score(query, key) - lse[stat] * LOG2E);
    var d_weight = 0.0;
    for (var d = 0u; d < p.size; d++) { d_weight += d_outs[query + d] * values[key + d]; }
    return vec2<f32>(weight, weight * (d_weight - delta[stat]));
}

@compute @workgroup_size(64)
fn backward_queries(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                    @builtin(local_invocation_index) index: u32) {
    let row = flat_group(id, groups) * 64u + index; // (b, i, h)
    if (row >= p.batch * p.times * p.heads) { return; }
    let h = row % p.heads;
    let i = row / p.heads % p.times;
    let b = row / p.heads / p.times;
    let seen = seen_keys(b, i);
    let query = query_at(b, i, h);
    var sums = array<f32, 256>();
    for (var j = seen.x; j < seen.y; j++) {
        let key = key_at(b, j, kv_head(h));
        let ds = pair(query, key, (b * p.heads + h) * p.times + i).y;
        for (var d = 0u; d < p.size; d++) { sums[d] += ds * keys[key + d]; }
    }
    for (var d = 0u; d < p.size; d++) { d_queries[query + d] = sums[d] * p.scale; }
}

// dk where KEYS is 1, else dv.
@compute @workgroup_size(64)
fn backward_keys(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) index: u32) {
    let row = flat_group(id, groups) * 64u + index; // (b, j, g)
    if (row >= p.batch * p.times * p.kv_heads) { return; }
    let g = row % p.kv_heads;
    let j = row / p.kv_heads % p.times;
    let b = row / p.kv_heads / p.times;
    let key = key_at(b, j, g);
    let n = p.heads / p.kv_heads;
    var sums = array<f32, 256>();
    for (var h = g * n; h < (g + 1u) * n; h++) {
        for (var i = j; i < min(p.times, j + p.window); i++) {
            if (seen_keys(b, i).x > j) { continue; }
            let query = query_at(b, i, h);
            let both = pair(query, key, (b * p.heads + h) * p.times + i);
            for (var d = 0u; d < p.size; d++) {
                if (KEYS == 1u) { sums[d] += both.y * queries[query + d]; }
                else { sums[d] += both.x * d_outs[query + d]; }
            }
        }
    }
    for (var d = 0u; d < p.size; d++) {
        if (KEYS == 1u) { d_keys[key + d] = sums[d] * p.scale; }
        else { d_values[key + d] = sums[d]; }
    }
}
