// Products of matrices on the units for 16 x 16 x 16 products of f16 with sums in f32, for M, N and K of any size.
//
// PRODUCTS = 3: A and B count in f32. Each row of A and column of B is scaled by a power of two, its largest element to 2^14 … 2^15, and
// each element is the sum of two f16, high and low, which hold 22 or 23 of its 24 bits; a b is high high + high low + low high. The
// units cut off what a sum cannot hold instead of rounding it: a slice of K should be 512 at most, then the error is that of sums in f32
// (Ootomo, Yokota: Recovering single precision accuracy from Tensor Cores, 2022). What an infinity meets may become NaN.
// PRODUCTS = 1: A and B are rounded to f16, high alone.
//
// A workgroup of 8 subgroups of 32 computes a tile of 128 x 128, a subgroup 64 x 32 of it.
enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

// include matmul_operands

@group(0) @binding(11) var<storage, read_write> scale_a: array<f32>; // of row m of A
@group(0) @binding(12) var<storage, read_write> scale_b: array<f32>; // of column n of B

const BM: u32 = 128u;
const BN: u32 = 128u;
const BK: u32 = 32u;
const THREADS: u32 = 256u;
const LOADS: u32 = BM * BK / 4u / THREADS; // vectors of a tile of A, or of B, that a thread brings in
// The tiles keep the order of memory: A's is [m][k], or [k][m] where TA = 1; B's is [k][n], or [n][k]. Rows end in 16 unused bytes, so
// that eight rows lie in different banks.
const LD_A: u32 = select(BK, BM, TA == 1u) + 8u;
const LD_B: u32 = select(BN, BK, TB == 1u) + 8u;
const SIZE_A: u32 = LD_A * select(BM, BK, TA == 1u);
const SIZE_B: u32 = LD_B * select(BK, BN, TB == 1u);
const STEP_A: u32 = select(LD_A, 1u, TA == 1u); // from m to m + 1
const NEXT_A: u32 = select(1u, LD_A, TA == 1u); // from k to k + 1
const STEP_B: u32 = select(1u, LD_B, TB == 1u); // from n to n + 1
const NEXT_B: u32 = select(LD_B, 1u, TB == 1u);

var<workgroup> high_a: array<f16, SIZE_A>;
var<workgroup> low_a: array<f16, SIZE_A>;
var<workgroup> high_b: array<f16, SIZE_B>;
var<workgroup> low_b: array<f16, SIZE_B>;
var<workgroup> stage: array<f32, 2048>; // 16 x 16 for each subgroup

// Where the vector that thread `i` brings in lies in the tile: (row, column) of the matrix as it is stored.
fn place_a(i: u32) -> vec2<u32> {
    const vectors = select(BK, BM, TA == 1u) / 4u;
    return vec2<u32>(i / vectors, i % vectors * 4u);
}

fn place_b(i: u32) -> vec2<u32> {
    const vectors = select(BN, BK, TB == 1u) / 4u;
    return vec2<u32>(i / vectors, i % vectors * 4u);
}

fn fetch_a(i: u32, m0: u32, k0: u32, k_end: u32) -> vec4<f32> {
    let at = place_a(i);
    let row = at.x + select(m0, k0, TA == 1u);
    let col = at.y + select(k0, m0, TA == 1u);
    let rows = select(p.m, k_end, TA == 1u);
    let length = select(k_end, p.m, TA == 1u);
    if (VA == 0u) {
        return load_a(row, col, rows, length);
    }
    // Without a branch around the read, the next need not wait for it; outside it is the first element's.
    let inside = row < rows && col < length;
    return select(vec4<f32>(), a4[(p.a_first + select(0u, row * p.a_ld + col, inside)) / 4u], inside);
}

fn fetch_b(i: u32, n0: u32, k0: u32, k_end: u32) -> vec4<f32> {
    let at = place_b(i);
    let row = at.x + select(k0, n0, TB == 1u);
    let col = at.y + select(n0, k0, TB == 1u);
    let rows = select(k_end, p.n, TB == 1u);
    let length = select(p.n, k_end, TB == 1u);
    if (VB == 0u || MASK_K == 1u) {
        return load_b(row, col, rows, length);
    }
    let inside = row < rows && col < length;
    return select(vec4<f32>(), b4[(p.b_first + select(0u, row * p.b_ld + col, inside)) / 4u], inside);
}

fn scales_of_a(i: u32, m0: u32) -> vec4<f32> {
    if (PRODUCTS == 1u) {
        return vec4<f32>(1.0);
    }
    let at = place_a(i);
    if (TA == 0u) {
        return vec4<f32>(scale_a[min(m0 + at.x, p.m - 1u)]);
    }
    let m = min(m0 + at.y + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.m - 1u));
    return vec4<f32>(scale_a[m.x], scale_a[m.y], scale_a[m.z], scale_a[m.w]);
}

fn scales_of_b(i: u32, n0: u32) -> vec4<f32> {
    if (PRODUCTS == 1u) {
        return vec4<f32>(1.0);
    }
    let at = place_b(i);
    if (TB == 1u) {
        return vec4<f32>(scale_b[min(n0 + at.x, p.n - 1u)]);
    }
    let n = min(n0 + at.y + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.n - 1u));
    return vec4<f32>(scale_b[n.x], scale_b[n.y], scale_b[n.z], scale_b[n.w]);
}

// Four elements as f16, as they were rounded: compilers that take f32(f16(x)) for x cannot look through this. The word is 0, which only
// the host knows.
fn rounded_pairs(value: vec4<f32>) -> vec2<u32> { return packed(value) ^ vec2<u32>(p.at_[2].w); }

fn put_a(i: u32, value: vec4<f32>) {
    let place = place_a(i);
    let at = place.x * LD_A + place.y;
    let pairs = rounded_pairs(value);
    let high = vec4<f16>(bitcast<vec2<f16>>(pairs.x), bitcast<vec2<f16>>(pairs.y));
    high_a[at] = high.x;
    high_a[at + 1u] = high.y;
    high_a[at + 2u] = high.z;
    high_a[at + 3u] = high.w;
    if (PRODUCTS == 3u) {
        let low = vec4<f16>(value - unpacked(pairs));
        low_a[at] = low.x;
        low_a[at + 1u] = low.y;
        low_a[at + 2u] = low.z;
        low_a[at + 3u] = low.w;
    }
}

fn put_b(i: u32, value: vec4<f32>) {
    let place = place_b(i);
    let at = place.x * LD_B + place.y;
    let pairs = rounded_pairs(value);
    let high = vec4<f16>(bitcast<vec2<f16>>(pairs.x), bitcast<vec2<f16>>(pairs.y));
    high_b[at] = high.x;
    high_b[at + 1u] = high.y;
    high_b[at + 2u] = high.z;
    high_b[at + 3u] = high.w;
    if (PRODUCTS == 3u) {
        let low = vec4<f16>(value - unpacked(pairs));
        low_b[at] = low.x;
        low_b[at + 1u] = low.y;
        low_b[at + 2u] = low.z;
        low_b[at + 3u] = low.w;
    }
}

// A subgroup's 16 x 16 from the stage to C at (m, n), scaled back.
fn store_stage(m: u32, n: u32, slice: u32, own: u32, lane: u32) {
    let column = n + lane % 16u;
    for (var j = 0u; j < 8u; j++) {
        let row = m + lane / 16u + 2u * j;
        if (row < p.m && column < p.n) {
            var v = stage[own + lane + 32u * j];
            if (PRODUCTS == 3u) {
                // 1 / scale, exact, multiplied first: either may be beyond f32 where their product is not
                v *= bitcast<f32>(0x7f000000u - bitcast<u32>(scale_a[row])) * bitcast<f32>(0x7f000000u - bitcast<u32>(scale_b[column]));
            }
            store_one(row, column, slice, v);
        }
    }
}

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;

@compute @workgroup_size(THREADS)
fn product(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let m0 = group.y * BM;
    let n0 = group.x * BN;
    let k_begin = group.z * p.slice_k;
    let k_end = min(k_begin + p.slice_k, p.k);
    let lane = thread % 32u;
    let warp = thread / 32u;
    let m_warp = warp / 4u * 64u;
    let n_warp = warp % 4u * 32u;
    let own = warp * 256u;
    var c00 = Sum(); var c01 = Sum();
    var c10 = Sum(); var c11 = Sum();
    var c20 = Sum(); var c21 = Sum();
    var c30 = Sum(); var c31 = Sum();
    var next_a: array<vec4<f32>, LOADS>;
    var next_b: array<vec4<f32>, LOADS>;

    for (var i = 0u; i < LOADS; i++) {
        let v = thread + i * THREADS;
        put_a(v, fetch_a(v, m0, k_begin, k_end) * scales_of_a(v, m0));
        put_b(v, fetch_b(v, n0, k_begin, k_end) * scales_of_b(v, n0));
    }
    workgroupBarrier();
    for (var k0 = k_begin; k0 < k_end; k0 += BK) {
        let more = k0 + BK < k_end;
        if (more) {
            for (var i = 0u; i < LOADS; i++) {
                let v = thread + i * THREADS;
                next_a[i] = fetch_a(v, m0, k0 + BK, k_end);
                next_b[i] = fetch_b(v, n0, k0 + BK, k_end);
            }
        }
        for (var k = 0u; k < BK; k += 16u) {
            let at_a = m_warp * STEP_A + k * NEXT_A;
            let at_b = n_warp * STEP_B + k * NEXT_B;
            let high_b0 = subgroupMatrixLoad<Right>(&high_b, at_b + 0u * STEP_B, TB == 1u, LD_B);
            let high_b1 = subgroupMatrixLoad<Right>(&high_b, at_b + 16u * STEP_B, TB == 1u, LD_B);
            if (PRODUCTS == 3u) {
                let low_b0 = subgroupMatrixLoad<Right>(&low_b, at_b + 0u * STEP_B, TB == 1u, LD_B);
                let low_b1 = subgroupMatrixLoad<Right>(&low_b, at_b + 16u * STEP_B, TB == 1u, LD_B);
                let high_a0 = subgroupMatrixLoad<Left>(&high_a, at_a + 0u * STEP_A, TA == 1u, LD_A);
                let low_a0 = subgroupMatrixLoad<Left>(&low_a, at_a + 0u * STEP_A, TA == 1u, LD_A);
                c00 = subgroupMatrixMultiplyAccumulate(low_a0, high_b0, c00);
                c01 = subgroupMatrixMultiplyAccumulate(low_a0, high_b1, c01);
                c00 = subgroupMatrixMultiplyAccumulate(high_a0, low_b0, c00);
                c01 = subgroupMatrixMultiplyAccumulate(high_a0, low_b1, c01);
                c00 = subgroupMatrixMultiplyAccumulate(high_a0, high_b0, c00);
                c01 = subgroupMatrixMultiplyAccumulate(high_a0, high_b1, c01);
                let high_a1 = subgroupMatrixLoad<Left>(&high_a, at_a + 16u * STEP_A, TA == 1u, LD_A);
                let low_a1 = subgroupMatrixLoad<Left>(&low_a, at_a + 16u * STEP_A, TA == 1u, LD_A);
                c10 = subgroupMatrixMultiplyAccumulate(low_a1, high_b0, c10);
                c11 = subgroupMatrixMultiplyAccumulate(low_a1, high_b1, c11);
                c10 = subgroupMatrixMultiplyAccumulate(high_a1, low_b0, c10);
                c11 = subgroupMatrixMultiplyAccumulate(high_a1, low_b1, c11);
                c10 = subgroupMatrixMultiplyAccumulate(high_a1, high_b0, c10);
                c11 = subgroupMatrixMultiplyAccumulate(high_a1, high_b1, c11);
                let high_a2 = subgroupMatrixLoad<Left>(&high_a, at_a + 32u * STEP_A, TA == 1u, LD_A);
                let low_a2 = subgroupMatrixLoad<Left>(&low_a, at_a + 32u * STEP_A, TA == 1u, LD_A);
                c20 = subgroupMatrixMultiplyAccumulate(low_a2, high_b0, c20);
                c21 = subgroupMatrixMultiplyAccumulate(low_a2, high_b1, c21);
                c20 = subgroupMatrixMultiplyAccumulate(high_a2, low_b0, c20);
                c21 = subgroupMatrixMultiplyAccumulate(high_a2, low_b1, c21);
                c20 = subgroupMatrixMultiplyAccumulate(high_a2, high_b0, c20);
                c21 = subgroupMatrixMultiplyAccumulate(high_a2, high_b1, c21);
                let high_a3 = subgroupMatrixLoad<Left>(&high_a, at_a + 48u * STEP_A, TA == 1u, LD_A);
                let low_a3 = subgroupMatrixLoad<Left>(&low_a, at_a + 48u * STEP_A, TA == 1u, LD_A);
                c30 = subgroupMatrixMultiplyAccumulate(low_a3, high_b0, c30);
                c31 = subgroupMatrixMultiplyAccumulate(low_a3, high_b1, c31);
                c30 = subgroupMatrixMultiplyAccumulate(high_a3, low_b0, c30);
                c31 = subgroupMatrixMultiplyAccumulate(high_a3, low_b1, c31);
                c30 = subgroupMatrixMultiplyAccumulate(high_a3, high_b0, c30);
                c31 = subgroupMatrixMultiplyAccumulate(high_a3, high_b1, c31);
            } else {
                let high_a0 = subgroupMatrixLoad<Left>(&high_a, at_a + 0u * STEP_A, TA == 1u, LD_A);
                c00 = subgroupMatrixMultiplyAccumulate(high_a0, high_b0, c00);
                c01 = subgroupMatrixMultiplyAccumulate(high_a0, high_b1, c01);
                let high_a1 = subgroupMatrixLoad<Left>(&high_a, at_a + 16u * STEP_A, TA == 1u, LD_A);
                c10 = subgroupMatrixMultiplyAccumulate(high_a1, high_b0, c10);
                c11 = subgroupMatrixMultiplyAccumulate(high_a1, high_b1, c11);
                let high_a2 = subgroupMatrixLoad<Left>(&high_a, at_a + 32u * STEP_A, TA == 1u, LD_A);
                c20 = subgroupMatrixMultiplyAccumulate(high_a2, high_b0, c20);
                c21 = subgroupMatrixMultiplyAccumulate(high_a2, high_b1, c21);
                let high_a3 = subgroupMatrixLoad<Left>(&high_a, at_a + 48u * STEP_A, TA == 1u, LD_A);
                c30 = subgroupMatrixMultiplyAccumulate(high_a3, high_b0, c30);
                c31 = subgroupMatrixMultiplyAccumulate(high_a3, high_b1, c31);
            }
        }
        workgroupBarrier();
        if (more) {
            for (var i = 0u; i < LOADS; i++) {
                let v = thread + i * THREADS;
                put_a(v, next_a[i] * scales_of_a(v, m0));
                put_b(v, next_b[i] * scales_of_b(v, n0));
            }
        }
        workgroupBarrier();
    }
    subgroupMatrixStore(&stage, own, c00, false, 16u);
    workgroupBarrier();
    store_stage(m0 + m_warp + 0u, n0 + n_warp + 0u, group.z, own, lane);
    workgroupBarrier();
    subgroupMatrixStore(&stage, own, c01, false, 16u);
    workgroupBarrier();
    store_stage(m0 + m_warp + 0u, n0 + n_warp + 16u, group.z, own, lane);
    workgroupBarrier();
    subgroupMatrixStore(&stage, own, c10, false, 16u);
    workgroupBarrier();
    store_stage(m0 + m_warp + 16u, n0 + n_warp + 0u, group.z, own, lane);
    workgroupBarrier();
    subgroupMatrixStore(&stage, own, c11, false, 16u);
    workgroupBarrier();
    store_stage(m0 + m_warp + 16u, n0 + n_warp + 16u, group.z, own, lane);
    workgroupBarrier();
    subgroupMatrixStore(&stage, own, c20, false, 16u);
    workgroupBarrier();
    store_stage(m0 + m_warp + 32u, n0 + n_warp + 0u, group.z, own, lane);
    workgroupBarrier();
    subgroupMatrixStore(&stage, own, c21, false, 16u);
    workgroupBarrier();
    store_stage(m0 + m_warp + 32u, n0 + n_warp + 16u, group.z, own, lane);
    workgroupBarrier();
    subgroupMatrixStore(&stage, own, c30, false, 16u);
    workgroupBarrier();
    store_stage(m0 + m_warp + 48u, n0 + n_warp + 0u, group.z, own, lane);
    workgroupBarrier();
    subgroupMatrixStore(&stage, own, c31, false, 16u);
    workgroupBarrier();
    store_stage(m0 + m_warp + 48u, n0 + n_warp + 16u, group.z, own, lane);
    workgroupBarrier();
}

// ---- the scales: powers of two that bring the largest element of a row of A, or of a column of B, to 2^14 … 2^15

var<workgroup> largest: array<f32, 256>;

fn scale_for(most: f32) -> f32 {
    let exponent = bitcast<u32>(most) >> 23u; // behind 127
    return bitcast<f32>(clamp(268u - exponent, 2u, 252u) << 23u);
}

fn largest_of(v: vec4<f32>) -> f32 {
    let size = abs(v);
    return max(max(size.x, size.y), max(size.z, size.w));
}

// Rows that lie along memory: a workgroup for four of them, 64 lanes each. Rows that lie across: for 32 of them, 8 lanes of four rows by 32 of k.
@compute @workgroup_size(256)
fn scales_a(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if (TA == 0u) {
        let m = group.x * 4u + lane / 64u;
        var most = 0.0;
        for (var k = lane % 64u * 4u; k < p.k; k += 256u) { most = max(most, largest_of(load_a(m, k, p.m, p.k))); }
        most = largest_of_lanes(most, lane, lane / 64u * 64u, 64u, 1u);
        if (lane % 64u == 0u && m < p.m) { scale_a[m] = scale_for(most); }
        return;
    }
    let m = group.x * 32u + lane % 8u * 4u;
    var most = vec4<f32>();
    for (var k = lane / 8u; k < p.k; k += 32u) { most = max(most, abs(load_a(k, m, p.k, p.m))); }
    for (var j = 0u; j < 4u; j++) {
        let all = largest_of_lanes(most[j], lane, lane % 8u, 32u, 8u);
        if (lane < 8u && m + j < p.m) { scale_a[m + j] = scale_for(all); }
    }
}

@compute @workgroup_size(256)
fn scales_b(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if (TB == 1u) {
        let n = group.x * 4u + lane / 64u;
        var most = 0.0;
        for (var k = lane % 64u * 4u; k < p.k; k += 256u) { most = max(most, largest_of(load_b(n, k, p.n, p.k))); }
        most = largest_of_lanes(most, lane, lane / 64u * 64u, 64u, 1u);
        if (lane % 64u == 0u && n < p.n) { scale_b[n] = scale_for(most); }
        return;
    }
    let n = group.x * 32u + lane % 8u * 4u;
    var most = vec4<f32>();
    for (var k = lane / 8u; k < p.k; k += 32u) { most = max(most, abs(load_b(k, n, p.k, p.n))); }
    for (var j = 0u; j < 4u; j++) {
        let all = largest_of_lanes(most[j], lane, lane % 8u, 32u, 8u);
        if (lane < 8u && n + j < p.n) { scale_b[n + j] = scale_for(all); }
    }
}

// The largest of `count` lanes from `first`, `step` apart.
fn largest_of_lanes(value: f32, lane: u32, first: u32, count: u32, step: u32) -> f32 {
    workgroupBarrier();
    largest[lane] = value;
    workgroupBarrier();
    var most = 0.0;
    for (var i = 0u; i < count; i++) { most = max(most, largest[first + i * step]); }
    return most;
}
