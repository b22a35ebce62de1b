// Products of matrices on vectors.
//
// `tiled`: a workgroup computes a tile of BM x BN, a thread TM x TN of it (4, 8 or 16 by 4 or 8), in steps of BK along K. The tiles of A and B lie in
// workgroup memory; the next pair is on its way to registers while one is used.
// `naive`: a thread an element, without barriers; it adds its slices up itself, so that its sums are those of `tiled`.

// include matmul_operands

const THREADS: u32 = (BM / TM) * (BN / TN);
const A4: u32 = BM * BK / 4u; // vectors of a tile
const B4: u32 = BN * BK / 4u;
const LOADS_A: u32 = (A4 + THREADS - 1u) / THREADS;
const LOADS_B: u32 = (B4 + THREADS - 1u) / THREADS;
const WHOLE: bool = VA == 1u && VB == 1u && HALF == 0u && MASK_K == 0u && A4 % THREADS == 0u && B4 % THREADS == 0u;
const M4: u32 = BM / 4u;
const N4: u32 = BN / 4u;
const RM: u32 = BM / TM; // threads along M
const RN: u32 = BN / TN;
// A thread's vectors of a column of the tile lie so far apart. With 16 x 8 a thread, 32 threads that run together share a part of
// the tile, 4 x 8 of them; else they follow each other along N.
const STEP_M: u32 = select(RM, 4u, TM == 16u);
const STEP_N: u32 = select(RN, 8u, TM == 16u);

var<workgroup> tile_a: array<vec4<f32>, A4>; // [k][m]
var<workgroup> tile_b: array<vec4<f32>, B4>; // [k][n]

// The vector of A that thread `i` brings in for the tile at (m0, k0): of four m where A is stored (K,M), else of four k.
fn fetch_a(i: u32, m0: u32, k0: u32, k_end: u32) -> vec4<f32> {
    if (TA == 1u) {
        return load_a(k0 + i / M4, m0 + i % M4 * 4u, k_end, p.m);
    }
    return load_a(m0 + i / (BK / 4u), k0 + i % (BK / 4u) * 4u, p.m, k_end);
}

fn fetch_b(i: u32, n0: u32, k0: u32, k_end: u32) -> vec4<f32> {
    if (TB == 1u) {
        return load_b(n0 + i / (BK / 4u), k0 + i % (BK / 4u) * 4u, p.n, k_end);
    }
    return load_b(k0 + i / N4, n0 + i % N4 * 4u, k_end, p.n);
}

// Where fetch_a and fetch_b find it among the tensor's vectors, and how far on the next tile's lies.
fn place_a(i: u32, m0: u32, k0: u32) -> u32 {
    if (TA == 1u) {
        return (p.a_first + (k0 + i / M4) * p.a_ld + m0) / 4u + i % M4;
    }
    return (p.a_first + (m0 + i / (BK / 4u)) * p.a_ld + k0) / 4u + i % (BK / 4u);
}

fn place_b(i: u32, n0: u32, k0: u32) -> u32 {
    if (TB == 1u) {
        return (p.b_first + (n0 + i / (BK / 4u)) * p.b_ld + k0) / 4u + i % (BK / 4u);
    }
    return (p.b_first + (k0 + i / N4) * p.b_ld + n0) / 4u + i % N4;
}

fn put_a(i: u32, v: vec4<f32>) {
    if (TA == 1u) {
        tile_a[i] = v;
        return;
    }
    let m = i / (BK / 4u);
    let k = i % (BK / 4u) * 4u;
    let at = k * M4 + m / 4u;
    tile_a[at][m % 4u] = v.x;
    tile_a[at + M4][m % 4u] = v.y;
    tile_a[at + 2u * M4][m % 4u] = v.z;
    tile_a[at + 3u * M4][m % 4u] = v.w;
}

fn put_b(i: u32, v: vec4<f32>) {
    if (TB == 0u) {
        tile_b[i] = v;
        return;
    }
    let n = i / (BK / 4u);
    let k = i % (BK / 4u) * 4u;
    let at = k * N4 + n / 4u;
    tile_b[at][n % 4u] = v.x;
    tile_b[at + N4][n % 4u] = v.y;
    tile_b[at + 2u * N4][n % 4u] = v.z;
    tile_b[at + 3u * N4][n % 4u] = v.w;
}

@compute @workgroup_size(THREADS)
fn tiled(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let m0 = group.y * BM;
    let n0 = group.x * BN;
    let k_begin = group.z * p.slice_k;
    let k_end = min(k_begin + p.slice_k, p.k);
    var tm = thread / RN;
    var tn = thread % RN;
    if (TM == 16u) {
        let lane = thread % 32u;
        let warp = thread / 32u;
        tm = warp / (RN / 8u) * 16u + lane / 8u;
        tn = warp % (RN / 8u) * 16u + lane % 8u;
    }
    var acc: array<vec4<f32>, 32>; // of rows 0 … 15: the first four columns, then the next; those beyond TM x TN are not used
    var next_a: array<vec4<f32>, LOADS_A>;
    var next_b: array<vec4<f32>, LOADS_B>;
    // Where no tile is cut off, a vector's place only moves on.
    let whole = WHOLE && m0 + BM <= p.m && n0 + BN <= p.n && (k_end - k_begin) % BK == 0u;
    let step_a = select(BK, BK * p.a_ld, TA == 1u) / 4u;
    let step_b = select(BK * p.b_ld, BK, TB == 1u) / 4u;
    var at_a: array<u32, LOADS_A>;
    var at_b: array<u32, LOADS_B>;

    for (var i = 0u; i < LOADS_A; i++) {
        let v = thread + i * THREADS;
        if (A4 % THREADS == 0u || v < A4) { put_a(v, fetch_a(v, m0, k_begin, k_end)); }
        at_a[i] = place_a(v, m0, k_begin) + step_a;
    }
    for (var i = 0u; i < LOADS_B; i++) {
        let v = thread + i * THREADS;
        if (B4 % THREADS == 0u || v < B4) { put_b(v, fetch_b(v, n0, k_begin, k_end)); }
        at_b[i] = place_b(v, n0, k_begin) + step_b;
    }
    workgroupBarrier();
    for (var k0 = k_begin; k0 < k_end; k0 += BK) {
        let more = k0 + BK < k_end;
        if (more && whole) {
            for (var i = 0u; i < LOADS_A; i++) {
                next_a[i] = a4[at_a[i]];
                at_a[i] += step_a;
            }
            for (var i = 0u; i < LOADS_B; i++) {
                next_b[i] = b4[at_b[i]];
                at_b[i] += step_b;
            }
        } else if (more) {
            for (var i = 0u; i < LOADS_A; i++) {
                let v = thread + i * THREADS;
                if (A4 % THREADS == 0u || v < A4) { next_a[i] = fetch_a(v, m0, k0 + BK, k_end); }
            }
            for (var i = 0u; i < LOADS_B; i++) {
                let v = thread + i * THREADS;
                if (B4 % THREADS == 0u || v < B4) { next_b[i] = fetch_b(v, n0, k0 + BK, k_end); }
            }
        }
        for (var k = 0u; k < BK; k++) {
            let row_a = k * M4 + tm;
            let row_b = k * N4 + tn;
            let a0 = tile_a[row_a];
            let b0 = tile_b[row_b];
            var b1: vec4<f32>;
            if (TN == 8u) { b1 = tile_b[row_b + STEP_N]; }
            acc[0] = fma(vec4<f32>(a0.x), b0, acc[0]);
            acc[1] = fma(vec4<f32>(a0.y), b0, acc[1]);
            acc[2] = fma(vec4<f32>(a0.z), b0, acc[2]);
            acc[3] = fma(vec4<f32>(a0.w), b0, acc[3]);
            if (TN == 8u) {
                acc[16] = fma(vec4<f32>(a0.x), b1, acc[16]);
                acc[17] = fma(vec4<f32>(a0.y), b1, acc[17]);
                acc[18] = fma(vec4<f32>(a0.z), b1, acc[18]);
                acc[19] = fma(vec4<f32>(a0.w), b1, acc[19]);
            }
            if (TM >= 8u) {
                let a1 = tile_a[row_a + 1u * STEP_M];
                acc[4] = fma(vec4<f32>(a1.x), b0, acc[4]);
                acc[5] = fma(vec4<f32>(a1.y), b0, acc[5]);
                acc[6] = fma(vec4<f32>(a1.z), b0, acc[6]);
                acc[7] = fma(vec4<f32>(a1.w), b0, acc[7]);
                if (TN == 8u) {
                    acc[20] = fma(vec4<f32>(a1.x), b1, acc[20]);
                    acc[21] = fma(vec4<f32>(a1.y), b1, acc[21]);
                    acc[22] = fma(vec4<f32>(a1.z), b1, acc[22]);
                    acc[23] = fma(vec4<f32>(a1.w), b1, acc[23]);
                }
            }
            if (TM == 16u) {
                let a2 = tile_a[row_a + 2u * STEP_M];
                acc[8] = fma(vec4<f32>(a2.x), b0, acc[8]);
                acc[9] = fma(vec4<f32>(a2.y), b0, acc[9]);
                acc[10] = fma(vec4<f32>(a2.z), b0, acc[10]);
                acc[11] = fma(vec4<f32>(a2.w), b0, acc[11]);
                if (TN == 8u) {
                    acc[24] = fma(vec4<f32>(a2.x), b1, acc[24]);
                    acc[25] = fma(vec4<f32>(a2.y), b1, acc[25]);
                    acc[26] = fma(vec4<f32>(a2.z), b1, acc[26]);
                    acc[27] = fma(vec4<f32>(a2.w), b1, acc[27]);
                }
            }
            if (TM == 16u) {
                let a3 = tile_a[row_a + 3u * STEP_M];
                acc[12] = fma(vec4<f32>(a3.x), b0, acc[12]);
                acc[13] = fma(vec4<f32>(a3.y), b0, acc[13]);
                acc[14] = fma(vec4<f32>(a3.z), b0, acc[14]);
                acc[15] = fma(vec4<f32>(a3.w), b0, acc[15]);
                if (TN == 8u) {
                    acc[28] = fma(vec4<f32>(a3.x), b1, acc[28]);
                    acc[29] = fma(vec4<f32>(a3.y), b1, acc[29]);
                    acc[30] = fma(vec4<f32>(a3.z), b1, acc[30]);
                    acc[31] = fma(vec4<f32>(a3.w), b1, acc[31]);
                }
            }
        }
        workgroupBarrier();
        if (more) {
            for (var i = 0u; i < LOADS_A; i++) {
                let v = thread + i * THREADS;
                if (A4 % THREADS == 0u || v < A4) { put_a(v, next_a[i]); }
            }
            for (var i = 0u; i < LOADS_B; i++) {
                let v = thread + i * THREADS;
                if (B4 % THREADS == 0u || v < B4) { put_b(v, next_b[i]); }
            }
        }
        workgroupBarrier();
    }
    store(m0 + tm * 4u + 0u, n0 + tn * 4u, group.z, acc[0]);
    store(m0 + tm * 4u + 1u, n0 + tn * 4u, group.z, acc[1]);
    store(m0 + tm * 4u + 2u, n0 + tn * 4u, group.z, acc[2]);
    store(m0 + tm * 4u + 3u, n0 + tn * 4u, group.z, acc[3]);
    if (TN == 8u) {
        store(m0 + tm * 4u + 0u, n0 + (tn + STEP_N) * 4u, group.z, acc[16]);
        store(m0 + tm * 4u + 1u, n0 + (tn + STEP_N) * 4u, group.z, acc[17]);
        store(m0 + tm * 4u + 2u, n0 + (tn + STEP_N) * 4u, group.z, acc[18]);
        store(m0 + tm * 4u + 3u, n0 + (tn + STEP_N) * 4u, group.z, acc[19]);
    }
    if (TM >= 8u) {
        store(m0 + (tm + 1u * STEP_M) * 4u + 0u, n0 + tn * 4u, group.z, acc[4]);
        store(m0 + (tm + 1u * STEP_M) * 4u + 1u, n0 + tn * 4u, group.z, acc[5]);
        store(m0 + (tm + 1u * STEP_M) * 4u + 2u, n0 + tn * 4u, group.z, acc[6]);
        store(m0 + (tm + 1u * STEP_M) * 4u + 3u, n0 + tn * 4u, group.z, acc[7]);
        if (TN == 8u) {
            store(m0 + (tm + 1u * STEP_M) * 4u + 0u, n0 + (tn + STEP_N) * 4u, group.z, acc[20]);
            store(m0 + (tm + 1u * STEP_M) * 4u + 1u, n0 + (tn + STEP_N) * 4u, group.z, acc[21]);
            store(m0 + (tm + 1u * STEP_M) * 4u + 2u, n0 + (tn + STEP_N) * 4u, group.z, acc[22]);
            store(m0 + (tm + 1u * STEP_M) * 4u + 3u, n0 + (tn + STEP_N) * 4u, group.z, acc[23]);
        }
    }
    if (TM == 16u) {
        store(m0 + (tm + 2u * STEP_M) * 4u + 0u, n0 + tn * 4u, group.z, acc[8]);
        store(m0 + (tm + 2u * STEP_M) * 4u + 1u, n0 + tn * 4u, group.z, acc[9]);
        store(m0 + (tm + 2u * STEP_M) * 4u + 2u, n0 + tn * 4u, group.z, acc[10]);
        store(m0 + (tm + 2u * STEP_M) * 4u + 3u, n0 + tn * 4u, group.z, acc[11]);
        store(m0 + (tm + 3u * STEP_M) * 4u + 0u, n0 + tn * 4u, group.z, acc[12]);
        store(m0 + (tm + 3u * STEP_M) * 4u + 1u, n0 + tn * 4u, group.z, acc[13]);
        store(m0 + (tm + 3u * STEP_M) * 4u + 2u, n0 + tn * 4u, group.z, acc[14]);
        store(m0 + (tm + 3u * STEP_M) * 4u + 3u, n0 + tn * 4u, group.z, acc[15]);
        if (TN == 8u) {
            store(m0 + (tm + 2u * STEP_M) * 4u + 0u, n0 + (tn + STEP_N) * 4u, group.z, acc[24]);
            store(m0 + (tm + 2u * STEP_M) * 4u + 1u, n0 + (tn + STEP_N) * 4u, group.z, acc[25]);
            store(m0 + (tm + 2u * STEP_M) * 4u + 2u, n0 + (tn + STEP_N) * 4u, group.z, acc[26]);
            store(m0 + (tm + 2u * STEP_M) * 4u + 3u, n0 + (tn + STEP_N) * 4u, group.z, acc[27]);
            store(m0 + (tm + 3u * STEP_M) * 4u + 0u, n0 + (tn + STEP_N) * 4u, group.z, acc[28]);
            store(m0 + (tm + 3u * STEP_M) * 4u + 1u, n0 + (tn + STEP_N) * 4u, group.z, acc[29]);
            store(m0 + (tm + 3u * STEP_M) * 4u + 2u, n0 + (tn + STEP_N) * 4u, group.z, acc[30]);
            store(m0 + (tm + 3u * STEP_M) * 4u + 3u, n0 + (tn + STEP_N) * 4u, group.z, acc[31]);
        }
    }
}

@compute @workgroup_size(64)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) thread: u32) {
    let i = flat_group(group, groups) * 64u + thread;
    if (i >= p.m * p.n) {
        return;
    }
    var sum = 0.0;
    for (var s = 0u; s < p.slices; s++) { sum += part[s * p.m * p.n + i]; }
    finish(i / p.n, i % p.n, sum);
}

@compute @workgroup_size(64)
fn naive(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) thread: u32) {
    let i = flat_group(group, groups) * 64u + thread;
    if (i >= p.m * p.n) {
        return;
    }
    let m = i / p.n;
    let n = i % p.n;
    let step_a = select(1u, p.a_ld, TA == 1u);
    let step_b = select(p.b_ld, 1u, TB == 1u);
    var at_a = p.a_first + m * select(p.a_ld, 1u, TA == 1u);
    var at_b = p.b_first + n * select(1u, p.b_ld, TB == 1u);
    var sum = 0.0;
    var k = 0u;
    for (var slice = 0u; slice < p.slices; slice++) {
        let k_end = min((slice + 1u) * p.slice_k, p.k);
        var slice_sum = 0.0;
        for (; k < k_end; k++) {
            var seen = true;
            if (MASK_K == 1u) { seen = mask[p.mask_first + k] >= 0; }
            if (seen) { slice_sum = fma(a[at_a], b[at_b], slice_sum); }
            at_a += step_a;
            at_b += step_b;
        }
        sum += slice_sum;
    }
    finish(m, n, sum);
}

// C (1,N) += the sums of the columns of A (M,N): a workgroup for 64 columns, four threads a column.
var<workgroup> partial: array<f32, 256>;

@compute @workgroup_size(256)
fn column_sums(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let n = group.x * 64u + thread % 64u;
    var sum = 0.0;
    if (n < p.n) {
        for (var m = group.y * p.slice_k + thread / 64u; m < min((group.y + 1u) * p.slice_k, p.m); m += 4u) {
            sum += a[p.a_first + m * p.a_ld + n];
        }
    }
    partial[thread] = sum;
    workgroupBarrier();
    if (thread < 64u && n < p.n) {
        let all = ((partial[thread] + partial[thread + 64u]) + partial[thread + 128u]) + partial[thread + 192u];
        if (p.slices > 1u) {
            part[group.y * p.n + n] = all;
        } else {
            c[p.c_first + n] += all;
        }
    }
}

// A and B rounded to f16, rows padded to multiples of four: an invocation for four elements.
@compute @workgroup_size(64)
fn pack_a(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) thread: u32) {
    let rows = select(p.m, p.k, TA == 1u);
    let length = select(p.k, p.m, TA == 1u);
    let vectors = (length + 3u) / 4u;
    let i = flat_group(group, groups) * 64u + thread;
    if (i < rows * vectors) { half_a[i] = packed(load_a(i / vectors, i % vectors * 4u, rows, length)); }
}

@compute @workgroup_size(64)
fn pack_b(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) thread: u32) {
    let rows = select(p.k, p.n, TB == 1u);
    let length = select(p.n, p.k, TB == 1u);
    let vectors = (length + 3u) / 4u;
    let i = flat_group(group, groups) * 64u + thread;
    if (i < rows * vectors) { half_b[i] = packed(load_b(i / vectors, i % vectors * 4u, rows, length)); }
}

// Multiply-adds on registers alone: what the GPU can do at most. C gets a number that depends on all of them.
@compute @workgroup_size(256)
fn peak(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let x = vec4<f32>(f32(thread) * 1e-9 + 0.999999);
    let y = vec4<f32>(1e-7);
    // repeat i 16
    var s$i = vec4<f32>(1.0) + f32($iu) * y;
    // end
    for (var i = 0u; i < p.k; i++) {
        // repeat r 4
        // repeat i 16
        s$i = fma(s$i, x, y);
        // end
        // end
    }
    var all = vec4<f32>();
    // repeat i 16
    all += s$i;
    // end
    c[(group.x * 256u + thread) % (p.m * p.n)] = (all.x + all.y) + (all.z + all.w);
}
