// Attention in flash form: scores are made tile by tile and never stored.
//
// `forward` and `backward`: a workgroup of 64 threads owns 32 rows of a result (queries for o and dq, keys for dk and dv) and walks over
// tiles of 32 of the others, keys or queries. A thread holds a patch of the 32 x 32 scores: own rows 4 ty to 4 ty + 3, others tx, tx + 8,
// tx + 16, tx + 24; and of the result its own rows times the columns tx of every chunk. What it holds has names (docs/ledger.md: arrays
// that loops index lie in memory).
// A head is cut into CHUNKS of 4 WIDE channels (WIDE 4 or 8), so that its size does not matter to workgroup memory. With WIDE 4 the
// threads tx and tx + 4 share columns and take every other row of the sum. Who sees nobody in a tile does not walk there; long walks
// are started first.
// `backward` is one dispatch of all three results where the GPU binds enough tensors, else one for each (n_dk, n_dv, n_dq); the scores
// are computed anew for each of them, so that no two workgroups write one element. `differences` goes before it.
// Few queries over a long cache: attention_decode.wgsl.
//
// Scores are kept times log2 e, for exp2. VEC 1: heads are multiples of four and begin at multiples of four, and the tensors are given
// in elements of four.

struct P {
    batch: u32, times: u32, heads: u32, kv_heads: u32, size: u32, // B T H G D
    n_keys: u32, // T; cached: P
    cached: u32, window: u32, has_start: u32, has_offset: u32, has_slot: u32, has_lse: u32,
    n_dk: u32, n_dv: u32, n_dq: u32, // backward: workgroups of each kind for each tile of T
    scale: f32,
}
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> queries: array<f32>;
@group(0) @binding(2) var<storage, read_write> queries4: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> keys: array<f32>;
@group(0) @binding(4) var<storage, read_write> keys4: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> values: array<f32>;
@group(0) @binding(6) var<storage, read_write> values4: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> outs: array<f32>;
@group(0) @binding(8) var<storage, read_write> outs4: array<vec4<f32>>;
@group(0) @binding(9) var<storage, read_write> d_outs: array<f32>;
@group(0) @binding(10) var<storage, read_write> d_outs4: array<vec4<f32>>;
@group(0) @binding(11) var<storage, read_write> d_queries: array<f32>;
@group(0) @binding(12) var<storage, read_write> d_queries4: array<vec4<f32>>;
@group(0) @binding(13) var<storage, read_write> d_keys: array<f32>;
@group(0) @binding(14) var<storage, read_write> d_keys4: array<vec4<f32>>;
@group(0) @binding(15) var<storage, read_write> d_values: array<f32>;
@group(0) @binding(16) var<storage, read_write> d_values4: array<vec4<f32>>;
@group(0) @binding(17) var<storage, read_write> lse: array<f32>;
@group(0) @binding(18) var<storage, read_write> delta: array<f32>;
@group(0) @binding(19) var<storage, read_write> doc_start: array<i32>;
@group(0) @binding(20) var<storage, read_write> offset: array<i32>;
@group(0) @binding(21) var<storage, read_write> slot: array<i32>;

const LOG2E: f32 = 1.4426950408889634;
const LN2: f32 = 0.6931471805599453;
const UNSEEN: f32 = -3.0e38; // the score of a pair that does not see each other
const LOWEST: f32 = -1.0e38; // the maximum of no scores: far above UNSEEN, so that exp2 of the difference is 0

// ---- tensors ----

const Q: u32 = 0u;
const K: u32 = 1u;
const V: u32 = 2u;
const O: u32 = 3u;
const D_O: u32 = 4u;
const D_Q: u32 = 5u;
const D_K: u32 = 6u;
const D_V: u32 = 7u;

fn element(what: u32, i: u32) -> f32 {
    switch what {
        case Q: { return queries[i]; }
        case K: { return keys[i]; }
        case V: { return values[i]; }
        case O: { return outs[i]; }
        default: { return d_outs[i]; }
    }
}

// Four elements from i on, of which `left` are there, at least one; 0 for the others.
fn fetch(what: u32, i: u32, left: u32) -> vec4<f32> {
    if (VEC == 1u) {
        let j = i / 4u;
        switch what {
            case Q: { return queries4[j]; }
            case K: { return keys4[j]; }
            case V: { return values4[j]; }
            case O: { return outs4[j]; }
            default: { return d_outs4[j]; }
        }
    }
    var x = vec4<f32>(element(what, i), 0.0, 0.0, 0.0);
    if (left > 1u) { x.y = element(what, i + 1u); }
    if (left > 2u) { x.z = element(what, i + 2u); }
    if (left > 3u) { x.w = element(what, i + 3u); }
    return x;
}

fn put(what: u32, i: u32, left: u32, x: vec4<f32>) {
    if (VEC == 1u) {
        let j = i / 4u;
        switch what {
            case O: { outs4[j] = x; }
            case D_Q: { d_queries4[j] = x; }
            case D_K: { d_keys4[j] = x; }
            default: { d_values4[j] = x; }
        }
        return;
    }
    for (var k = 0u; k < min(left, 4u); k++) {
        switch what {
            case O: { outs[i + k] = x[k]; }
            case D_Q: { d_queries[i + k] = x[k]; }
            case D_K: { d_keys[i + k] = x[k]; }
            default: { d_values[i + k] = x[k]; }
        }
    }
}

// Rows of one head: element 0 of row 0, and the elements from a row to the next.
struct Rows { at: u32, step: u32 }

fn query_rows(b: u32, h: u32) -> Rows {
    return Rows((b * p.times * p.heads + h) * p.size, p.heads * p.size);
}

fn key_rows(b: u32, g: u32) -> Rows {
    if (p.cached == 0u) {
        return Rows((b * p.times * p.kv_heads + g) * p.size, p.kv_heads * p.size);
    }
    var s = b;
    if (p.has_slot != 0u) { s = u32(slot[b]); }
    return Rows((s * p.kv_heads + g) * p.n_keys * p.size, p.size);
}

fn kv_head(h: u32) -> u32 {
    return h / (p.heads / p.kv_heads);
}

// Where query 0 of a row stands.
fn first_position(b: u32) -> i32 {
    if (p.has_offset == 0u) { return 0; }
    return offset[b];
}

// The first key that query i, at `position`, sees.
fn first_seen(b: u32, i: u32, position: i32) -> i32 {
    var first = max(position - i32(p.window) + 1, 0);
    if (p.has_start != 0u) { first = max(first, doc_start[b * p.times + i]); }
    return first;
}

// ---- tiles ----

const ROWS: u32 = 32u; // of a tile
const THREADS: u32 = 64u;
const SPLIT: u32 = 8u / WIDE;

var<workgroup> tile: array<vec4<f32>, 2u * ROWS * WIDE>; // of own rows, of others; see spot
var<workgroup> weights: array<vec4<f32>, 8u * ROWS>; // of an other: of 4 own rows; see weight_spot
var<workgroup> starts: array<i32, ROWS>; // of other queries: the first key of their document
var<workgroup> near: array<vec4<f32>, THREADS>; // what the threads tell each other
var<workgroup> extreme: array<i32, THREADS>;
var<workgroup> range: vec2<u32>;

var<private> thread: u32;
var<private> tx: u32;
var<private> ty: u32;
var<private> own: vec4<i32>; // the thread's keys; 0 when it owns queries
var<private> low: vec4<i32>; // the others that its rows can see
var<private> high: vec4<i32>;
// repeat k 4
var<private> s$k: vec4<f32>; // of four own rows and an other: the score, or what a product makes
// end
// repeat c CHUNKS
// repeat r 4
var<private> sum$c_$r: vec4<f32>; // of an own row: four channels of the result, in the last chunk but c
// end
// end

fn begin(index: u32) {
    thread = index;
    tx = index % 8u;
    ty = index / 8u;
    for (var j = index; j < ROWS; j += THREADS) { starts[j] = 0; }
}

// Where a vector lies: turned so that eight threads read one column of eight rows without waiting for each other.
fn spot(side: u32, row: u32, column: u32) -> u32 {
    let turn = select((row >> 1u) & 3u, row & 7u, WIDE == 8u);
    return (side * ROWS + row) * WIDE + (column ^ turn);
}

// A tile of rows of a tensor: those from `first` of n. Callers name the tensor by a constant, or each read is a choice and waits.
struct Side { what: u32, rows: Rows, first: u32, n: u32 }

// A vector of a tile, by its number: row by row of one chunk of channels; 0 outside.
fn vector_of(side: Side, chunk: u32, e: u32) -> vec4<f32> {
    let row = side.first + e / WIDE;
    let d = 4u * (chunk * WIDE + e % WIDE);
    if (row < side.n && d < p.size) {
        return fetch(side.what, side.rows.at + row * side.rows.step + d, p.size - d);
    }
    return vec4<f32>();
}

// Brings a chunk of others in when all are done with the one before: all reads are under way before the first is waited for.
fn load_others(b: Side, chunk: u32) {
    // repeat i LOADS
    let y$i = vector_of(b, chunk, thread + THREADS * $iu);
    // end
    workgroupBarrier();
    // repeat i LOADS
    tile[spot(1u, (thread + THREADS * $iu) / WIDE, thread % WIDE)] = y$i;
    // end
    workgroupBarrier();
}

// And one of own rows with it.
fn load_both(a: Side, b: Side, chunk: u32) {
    // repeat i LOADS
    let x$i = vector_of(a, chunk, thread + THREADS * $iu);
    // end
    // repeat i LOADS
    let y$i = vector_of(b, chunk, thread + THREADS * $iu);
    // end
    workgroupBarrier();
    // repeat i LOADS
    tile[spot(0u, (thread + THREADS * $iu) / WIDE, thread % WIDE)] = x$i;
    // end
    // repeat i LOADS
    tile[spot(1u, (thread + THREADS * $iu) / WIDE, thread % WIDE)] = y$i;
    // end
    workgroupBarrier();
}

// Own rows times others: the thread's patch.
fn multiply(a: Side, b: Side) {
    // repeat k 4
    s$k = vec4<f32>();
    // end
    for (var chunk = 0u; chunk < CHUNKS; chunk++) {
        load_both(a, b, chunk);
        // repeat c WIDE
        {
            let own_rows = transpose(mat4x4<f32>(
                tile[spot(0u, 4u * ty, $cu)], tile[spot(0u, 4u * ty + 1u, $cu)],
                tile[spot(0u, 4u * ty + 2u, $cu)], tile[spot(0u, 4u * ty + 3u, $cu)]));
            // repeat k 4
            let x$k = tile[spot(1u, tx + 8u * $ku, $cu)];
            s$k = fma(own_rows[0], vec4<f32>(x$k.x), s$k);
            s$k = fma(own_rows[1], vec4<f32>(x$k.y), s$k);
            s$k = fma(own_rows[2], vec4<f32>(x$k.z), s$k);
            s$k = fma(own_rows[3], vec4<f32>(x$k.w), s$k);
            // end
        }
        // end
    }
}

// Where the weights of other j lie, of the thread's own rows.
fn weight_spot(j: u32) -> u32 {
    return j * 8u + (ty ^ (j & 7u));
}

// result += weights times the others' rows of a tensor, whose last chunk lies in `tile` already if `loaded`. Where not all is seen a
// weight of 0 is no factor: who is not seen may hold a NaN.
fn accumulate(other: Side, loaded: bool, all_seen: bool) {
    let column = tx % WIDE;
    // repeat c CHUNKS
    if ($cu == 0u && loaded) {
        workgroupBarrier(); // the weights are there
    } else {
        load_others(other, CHUNKS - 1u - $cu);
    }
    if (all_seen) {
        for (var j = tx / WIDE; j < ROWS; j += SPLIT) {
            let x = tile[spot(1u, j, column)];
            let w = weights[weight_spot(j)];
            sum$c_0 += x * w.x;
            sum$c_1 += x * w.y;
            sum$c_2 += x * w.z;
            sum$c_3 += x * w.w;
        }
    } else {
        for (var j = tx / WIDE; j < ROWS; j += SPLIT) {
            let x = tile[spot(1u, j, column)];
            let w = weights[weight_spot(j)];
            let seen = sees(other.first, j);
            if (seen.x) { sum$c_0 += x * w.x; }
            if (seen.y) { sum$c_1 += x * w.y; }
            if (seen.z) { sum$c_2 += x * w.z; }
            if (seen.w) { sum$c_3 += x * w.w; }
        }
    }
    // end
}

// Which of the thread's rows see other j of the tile at `first`.
fn sees(first: u32, j: u32) -> vec4<bool> {
    let other = vec4<i32>(i32(first + j));
    return (other >= low) & (other <= high) & (vec4<i32>(starts[j]) <= own);
}

// Whether all of them see the whole tile.
fn sees_all(first: u32) -> bool {
    var latest = 0;
    if (p.has_start != 0u && own.w > 0) { // own keys
        for (var j = 0u; j < ROWS; j++) { latest = max(latest, starts[j]); }
    }
    return all(low <= vec4<i32>(i32(first))) && all(high >= vec4<i32>(i32(first + ROWS - 1u))) &&
        all(vec4<i32>(latest) <= own);
}

// Adds up what threads that share columns have; those of tx < WIDE hold the sum. They share where there is one chunk.
fn settle() {
    if (SPLIT == 1u) { return; }
    workgroupBarrier();
    if (tx >= WIDE) {
        // repeat r 4
        tile[4u * (ty * WIDE + tx % WIDE) + $ru] = sum0_$r;
        // end
    }
    workgroupBarrier();
    if (tx < WIDE) {
        // repeat r 4
        sum0_$r += tile[4u * (ty * WIDE + tx) + $ru];
        // end
    }
}

fn store_row(what: u32, rows: Rows, row: u32, n: u32, chunk: u32, x: vec4<f32>) {
    let d = 4u * (chunk * WIDE + tx);
    if (row < n && d < p.size) { put(what, rows.at + row * rows.step + d, p.size - d, x); }
}

// The result times `factor`.
fn store(what: u32, rows: Rows, first: u32, n: u32, factor: f32) {
    if (tx >= WIDE) { return; }
    // repeat c CHUNKS
    // repeat r 4
    store_row(what, rows, first + 4u * ty + $ru, n, CHUNKS - 1u - $cu, sum$c_$r * factor);
    // end
    // end
}

// Own queries from `first` on: which keys they see. Returns the keys that any of them sees: from, and to before.
fn look_at_keys(b: u32, first: u32) -> vec2<u32> {
    let position = first_position(b);
    var least = i32(p.n_keys);
    for (var r = 0u; r < 4u; r++) {
        let i = min(first + 4u * ty + r, p.times - 1u);
        high[r] = position + i32(i);
        low[r] = first_seen(b, i, high[r]);
        least = min(least, low[r]);
    }
    own = vec4<i32>();
    extreme[thread] = least;
    workgroupBarrier();
    if (thread == 0u) {
        for (var j = 1u; j < THREADS; j++) { least = min(least, extreme[j]); }
        range = vec2<u32>(u32(least), u32(position) + min(first + ROWS, p.times));
    }
    return workgroupUniformLoad(&range);
}

// Own keys from `first` on, the same for queries.
fn look_at_queries(b: u32, first: u32) -> vec2<u32> {
    for (var r = 0u; r < 4u; r++) { own[r] = i32(first + 4u * ty + r); }
    low = own;
    high = min(own + i32(p.window) - 1, vec4<i32>(i32(p.times) - 1));
    let last_key = i32(first + ROWS - 1u);
    var last = i32(first);
    for (var i = first + thread; i < p.times; i += THREADS) {
        if (first_seen(b, i, i32(i)) <= last_key) { last = i32(i); }
    }
    extreme[thread] = last;
    workgroupBarrier();
    if (thread == 0u) {
        for (var j = 1u; j < THREADS; j++) { last = max(last, extreme[j]); }
        range = vec2<u32>(first, u32(last) + 1u);
    }
    return workgroupUniformLoad(&range);
}

// ---- forward ----

// What the eight threads of the same rows hold, one way or the other.
fn greatest(x: vec4<f32>) -> vec4<f32> {
    workgroupBarrier();
    near[thread] = x;
    workgroupBarrier();
    var y = x;
    for (var j = 0u; j < 8u; j++) { y = max(y, near[ty * 8u + j]); }
    return y;
}

fn total(x: vec4<f32>) -> vec4<f32> {
    workgroupBarrier();
    near[thread] = x;
    workgroupBarrier();
    var y = vec4<f32>();
    for (var j = 0u; j < 8u; j++) { y += near[ty * 8u + j]; }
    return y;
}

// A sum of weights is infinite or NaN only where a score was; some GPUs make a number of it again, or an infinity of a NaN.
fn log2_of(x: f32) -> f32 {
    if (is_finite(x)) { return log2(x); }
    return bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u); // a NaN
}

@compute @workgroup_size(64)
fn forward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) index: u32) {
    let group = flat_group(id, groups);
    let n_tiles = (p.times + ROWS - 1u) / ROWS;
    let rank = group / (p.batch * p.heads);
    if (rank >= n_tiles) { return; }
    begin(index);
    let b = group / p.heads % p.batch;
    let h = group % p.heads;
    let first = (n_tiles - 1u - rank) * ROWS;
    let seen = look_at_keys(b, first);
    let own_rows = query_rows(b, h);
    let other_rows = key_rows(b, kv_head(h));
    let factor = p.scale * LOG2E;
    var peak = vec4<f32>(LOWEST);
    var whole = vec4<f32>(); // the sum of weights of the thread's others
    for (var at = seen.x / ROWS * ROWS; at < seen.y; at += ROWS) {
        multiply(Side(Q, own_rows, first, p.times), Side(K, other_rows, at, seen.y));
        let all_seen = sees_all(at);
        let before = peak;
        // repeat k 4
        s$k = select(vec4<f32>(UNSEEN), s$k * factor, sees(at, tx + 8u * $ku));
        peak = max(peak, s$k);
        // end
        peak = greatest(peak);
        let shrink = exp2(before - peak);
        whole *= shrink;
        // repeat k 4
        s$k = exp2(s$k - peak);
        whole += s$k;
        weights[weight_spot(tx + 8u * $ku)] = s$k;
        // end
        // repeat c CHUNKS
        // repeat r 4
        sum$c_$r *= shrink[$r];
        // end
        // end
        accumulate(Side(V, other_rows, at, seen.y), false, all_seen);
    }
    settle();
    whole = total(whole);
    // repeat c CHUNKS
    // repeat r 4
    sum$c_$r *= 1.0 / whole[$r];
    // end
    // end
    if (p.has_lse != 0u && tx == 0u) {
        for (var r = 0u; r < 4u; r++) {
            let i = first + 4u * ty + r;
            if (i < p.times) { lse[(b * p.heads + h) * p.times + i] = (peak[r] + log2_of(whole[r])) * LN2; }
        }
    }
    store(O, own_rows, first, p.times, 1.0);
}

// ---- backward ----

// delta: of each query the product of o and d_o. A thread for each.
@compute @workgroup_size(64)
fn differences(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) index: u32) {
    let row = flat_group(id, groups) * 64u + index; // (b, i, h)
    if (row >= p.batch * p.times * p.heads) { return; }
    var sum = vec4<f32>();
    for (var d = 0u; d < p.size; d += 4u) {
        sum += fetch(O, row * p.size + d, p.size - d) * fetch(D_O, row * p.size + d, p.size - d);
    }
    let h = row % p.heads;
    let i = row / p.heads % p.times;
    let b = row / p.heads / p.times;
    delta[(b * p.heads + h) * p.times + i] = sum.x + sum.y + sum.z + sum.w;
}

// The thread's patch waits where its weights will be.
fn put_aside() {
    // repeat k 4
    weights[weight_spot(tx + 8u * $ku)] = s$k;
    // end
}

// For each pair the weight P, or dS, of the tile of others at `at`: from its score, and from the gradient of its weight, put aside.
fn weigh(what: u32, stat: u32, first: u32, at: u32) {
    var of_query = vec4<f32>(); // lse of the pair's query
    var less = vec4<f32>(); // its delta
    for (var r = 0u; r < 4u && what == D_Q; r++) {
        let i = stat + min(first + 4u * ty + r, p.times - 1u);
        of_query[r] = lse[i];
        less[r] = delta[i];
    }
    // repeat k 4
    let j$k = tx + 8u * $ku;
    if (what != D_Q) {
        let i = stat + min(at + j$k, p.times - 1u);
        of_query = vec4<f32>(lse[i]);
        if (what == D_K) { less = vec4<f32>(delta[i]); }
    }
    var w$k = exp2((s$k * p.scale - of_query) * LOG2E);
    if (what != D_V) { w$k *= weights[weight_spot(j$k)] - less; }
    weights[weight_spot(j$k)] = select(vec4<f32>(), w$k, sees(at, j$k));
    // end
}

// Which of the three results a workgroup makes, and which part of it.
struct Piece { what: u32, b: u32, g: u32, head: u32, n_heads: u32, rank: u32 }

fn piece_of(group: u32) -> Piece {
    let n = p.n_dk + p.n_dv + p.n_dq;
    let shared_by = p.heads / p.kv_heads;
    let rank = group / n;
    var i = group % n;
    if (i >= p.n_dk + p.n_dv) {
        i -= p.n_dk + p.n_dv;
        let h = i % p.heads;
        return Piece(D_Q, i / p.heads, kv_head(h), h, 1u, rank);
    }
    var what = D_K;
    if (i >= p.n_dk) {
        i -= p.n_dk;
        what = D_V;
    }
    let g = i % p.kv_heads;
    return Piece(what, i / p.kv_heads, g, g * shared_by, shared_by, rank);
}

@compute @workgroup_size(64)
fn backward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) index: u32) {
    let n_tiles = (p.times + ROWS - 1u) / ROWS;
    let piece = piece_of(flat_group(id, groups));
    let what = piece.what;
    if (piece.rank >= n_tiles) { return; }
    begin(index);
    var first = piece.rank * ROWS;
    var seen = vec2<u32>();
    if (what == D_Q) {
        first = (n_tiles - 1u - piece.rank) * ROWS;
        seen = look_at_keys(piece.b, first);
    } else {
        seen = look_at_queries(piece.b, first);
    }
    let of_keys = key_rows(piece.b, piece.g);
    var of_queries = query_rows(piece.b, piece.head);
    for (var head = piece.head; head < piece.head + piece.n_heads; head++) {
        let stat = (piece.b * p.heads + head) * p.times;
        of_queries = query_rows(piece.b, head);
        for (var at = seen.x / ROWS * ROWS; at < seen.y; at += ROWS) {
            if (what == D_Q) {
                let others = Side(K, of_keys, at, p.times);
                multiply(Side(D_O, of_queries, first, p.times), Side(V, of_keys, at, p.times));
                put_aside();
                multiply(Side(Q, of_queries, first, p.times), others);
                weigh(D_Q, stat, first, at);
                accumulate(others, true, sees_all(at));
                continue;
            }
            if (p.has_start != 0u) {
                workgroupBarrier();
                for (var j = thread; j < ROWS; j += THREADS) {
                    starts[j] = doc_start[piece.b * p.times + min(at + j, p.times - 1u)];
                }
            }
            let others = Side(Q, of_queries, at, p.times);
            let d_others = Side(D_O, of_queries, at, p.times);
            if (what == D_K) {
                multiply(Side(V, of_keys, first, p.times), d_others);
                put_aside();
                multiply(Side(K, of_keys, first, p.times), others);
                weigh(D_K, stat, first, at);
                accumulate(others, true, sees_all(at));
            } else {
                multiply(Side(K, of_keys, first, p.times), others);
                weigh(D_V, stat, first, at);
                accumulate(d_others, false, sees_all(at));
            }
        }
    }
    settle();
    if (what == D_Q) {
        store(D_Q, of_queries, first, p.times, p.scale);
    } else {
        store(what, of_keys, first, p.times, select(p.scale, 1.0, what == D_V));
    }
}
