// The operands of a product of matrices, C (M,N) = A (M,K) B (K,N), plus what C held, plus a bias for each column: for the shaders that
// include this one.
//
// A is stored (M,K), or (K,M) where TA = 1; B is stored (K,N), or (N,K) where TB = 1. Rows may lie further apart than they
// are long (ld), and a matrix may begin within its tensor (first). a4, b4 and c4 are the same tensors in elements of four,
// for VA, VB, VC = 1: then every row begins at a multiple of four and its length is one.
// half_a and half_b, for HALF = 1: A and B rounded to f16 by pack_a and pack_b, their rows padded to multiples of four.
// K may be cut into `slices` (the grid's z); then each slice writes its own M x N of C, and `gather` adds them up in order.

struct P {
    m: u32, n: u32, k: u32, slices: u32, slice_k: u32, flags: u32,
    a_first: u32, a_ld: u32, b_first: u32, b_ld: u32, c_first: u32, c_ld: u32, mask_first: u32,
}
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
@group(0) @binding(4) var<storage, read_write> a4: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> b4: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> c4: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> bias: array<f32>;
@group(0) @binding(8) var<storage, read_write> part: array<f32>;
@group(0) @binding(9) var<storage, read_write> part4: array<vec4<f32>>;
@group(0) @binding(10) var<storage, read_write> mask: array<i32>;
@group(0) @binding(11) var<storage, read_write> half_a: array<vec2<u32>>;
@group(0) @binding(12) var<storage, read_write> half_b: array<vec2<u32>>;

// Of FLAGS, which a call gives.
const TA: u32 = FLAGS & 1u;
const TB: u32 = (FLAGS >> 1u) & 1u;
const VA: u32 = (FLAGS >> 2u) & 1u;
const VB: u32 = (FLAGS >> 3u) & 1u;
const VC: u32 = (FLAGS >> 4u) & 1u;
const MASK_M: u32 = (FLAGS >> 5u) & 1u; // rows m of C with mask[mask_first + m] < 0 are 0, whatever A and B hold
const MASK_K: u32 = (FLAGS >> 6u) & 1u; // rows k of B, stored (K,N), with mask[mask_first + k] < 0 count as 0
const HALF: u32 = (FLAGS >> 7u) & 1u;

// Of p.flags.
const ACCUMULATE: u32 = 1u;
const BIAS: u32 = 2u;

fn unpacked(pairs: vec2<u32>) -> vec4<f32> {
    return vec4<f32>(unpack2x16float(pairs.x), unpack2x16float(pairs.y));
}

fn packed(v: vec4<f32>) -> vec2<u32> {
    return vec2<u32>(pack2x16float(v.xy), pack2x16float(v.zw));
}

// Four elements of row `row` of a matrix of `length` columns, from column `col`, a multiple of four; 0 outside.
fn load_a(row: u32, col: u32, rows: u32, length: u32) -> vec4<f32> {
    if (row >= rows || col >= length) {
        return vec4<f32>();
    }
    let at = p.a_first + row * p.a_ld + col;
    if (HALF == 1u) {
        return unpacked(half_a[at / 4u]);
    }
    if (VA == 1u) {
        return a4[at / 4u];
    }
    var v = vec4<f32>(a[at], 0.0, 0.0, 0.0);
    if (col + 1u < length) { v.y = a[at + 1u]; }
    if (col + 2u < length) { v.z = a[at + 2u]; }
    if (col + 3u < length) { v.w = a[at + 3u]; }
    return v;
}

fn load_b(row: u32, col: u32, rows: u32, length: u32) -> vec4<f32> {
    if (row >= rows || col >= length) {
        return vec4<f32>();
    }
    if (MASK_K == 1u) {
        if (mask[p.mask_first + row] < 0) { return vec4<f32>(); }
    }
    let at = p.b_first + row * p.b_ld + col;
    if (HALF == 1u) {
        return unpacked(half_b[at / 4u]);
    }
    if (VB == 1u) {
        return b4[at / 4u];
    }
    var v = vec4<f32>(b[at], 0.0, 0.0, 0.0);
    if (col + 1u < length) { v.y = b[at + 1u]; }
    if (col + 2u < length) { v.z = b[at + 2u]; }
    if (col + 3u < length) { v.w = b[at + 3u]; }
    return v;
}

// Four elements of a row of C from column n.
fn store(m: u32, n: u32, slice: u32, value: vec4<f32>) {
    if (m >= p.m || n >= p.n) {
        return;
    }
    if (p.slices > 1u) {
        let at = (slice * p.m + m) * p.n + n;
        if (VC == 1u) {
            part4[at / 4u] = value;
            return;
        }
        for (var j = 0u; j < 4u; j++) {
            if (n + j < p.n) { part[at + j] = value[j]; }
        }
        return;
    }
    let at = p.c_first + m * p.c_ld + n;
    var v = value;
    if (MASK_M == 1u) {
        if (mask[p.mask_first + m] < 0) { v = vec4<f32>(); }
    }
    if ((p.flags & BIAS) != 0u) {
        for (var j = 0u; j < 4u; j++) {
            if (n + j < p.n) { v[j] += bias[n + j]; }
        }
    }
    if (VC == 1u) {
        if ((p.flags & ACCUMULATE) != 0u) { v += c4[at / 4u]; }
        c4[at / 4u] = v;
        return;
    }
    for (var j = 0u; j < 4u; j++) {
        if (n + j < p.n) {
            if ((p.flags & ACCUMULATE) != 0u) { v[j] += c[at + j]; }
            c[at + j] = v[j];
        }
    }
}

// One element of C, m < p.m and n < p.n.
fn store_one(m: u32, n: u32, slice: u32, value: f32) {
    if (p.slices > 1u) {
        part[(slice * p.m + m) * p.n + n] = value;
        return;
    }
    finish(m, n, value);
}

// The sum of all slices: masked, with the bias and what C held.
fn finish(m: u32, n: u32, value: f32) {
    let at = p.c_first + m * p.c_ld + n;
    var v = value;
    if (MASK_M == 1u) {
        if (mask[p.mask_first + m] < 0) { v = 0.0; }
    }
    if ((p.flags & BIAS) != 0u) { v += bias[n]; }
    if ((p.flags & ACCUMULATE) != 0u) { v += c[at]; }
    c[at] = v;
}
