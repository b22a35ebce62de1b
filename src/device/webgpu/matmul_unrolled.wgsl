// Products of matrices on vectors, for matrices that lie in fours: what `tiled` of matmul.wgsl computes, in the same order, with all
// that is of one tile written out. Compilers then keep sums in registers and reads under way that they do not with loops (docs/ledger.md).
//
// A workgroup computes a tile of BM x BN, a thread TM x TN of it, in steps of BK along K. A and B begin in fours, and so do their
// rows; what lies beyond the end of a row, or outside M or N, counts for nothing, so it may be anything. The host adds what is
// counted: TM4 and TN4, a thread's vectors along M and N; LOADS_A and LOADS_B, the vectors that it brings in for a tile.
// Places are stepped on, after the read: either otherwise costs a quarter.

// include matmul_operands

const THREADS: u32 = (BM / TM) * (BN / TN);
const M4: u32 = BM / 4u;
const N4: u32 = BN / 4u;
const K4: u32 = BK / 4u;
const LANES_M: u32 = select(8u, 4u, TM == 16u); // of 32 threads that run together
const LANES_N: u32 = 32u / LANES_M;
const WARPS_N: u32 = BN / TN / LANES_N;

// A vector more in each row spares the banks where columns become rows. The first index is a constant in the products: checks of the
// other, which some compilers add, are then done once.
var<workgroup> tile_a: array<array<vec4<f32>, M4 + 1u - TA>, BK>; // [k][m]
var<workgroup> tile_b: array<array<vec4<f32>, N4 + TB>, BK>;      // [k][n]

fn place_a(i: u32, m0: u32, k: u32) -> u32 {
    if (TA == 1u) {
        return p.a_first / 4u + (k + i / M4) * (p.a_ld / 4u) + min(m0 / 4u + i % M4, (p.m - 1u) / 4u);
    }
    return p.a_first / 4u + min(m0 + i / K4, p.m - 1u) * (p.a_ld / 4u) + k / 4u + i % K4;
}

fn place_b(i: u32, n0: u32, k: u32) -> u32 {
    if (TB == 1u) {
        return p.b_first / 4u + min(n0 + i / K4, p.n - 1u) * (p.b_ld / 4u) + k / 4u + i % K4;
    }
    return p.b_first / 4u + (k + i / N4) * (p.b_ld / 4u) + min(n0 / 4u + i % N4, (p.n - 1u) / 4u);
}

// Whether row k of B, stored (K,N), counts as 0.
fn masked(k: u32) -> bool {
    if (MASK_K == 1u) { return mask[p.mask_first + k] < 0; }
    return false;
}

// Single elements, for what is left of K.
fn a_of(m: u32, k: u32) -> f32 {
    let row = min(m, p.m - 1u);
    let at = p.a_first + select(row * p.a_ld + k, k * p.a_ld + row, TA == 1u);
    return a4[at / 4u][at % 4u];
}

fn b_of(n: u32, k: u32) -> f32 {
    if (masked(k)) { return 0.0; }
    let column = min(n, p.n - 1u);
    let at = p.b_first + select(k * p.b_ld + column, column * p.b_ld + k, TB == 1u);
    return b4[at / 4u][at % 4u];
}

@compute @workgroup_size(THREADS)
fn product(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let m0 = group.y * BM;
    let n0 = group.x * BN;
    let k_begin = group.z * p.slice_k;
    let k_end = min(k_begin + p.slice_k, p.k);
    let whole = k_begin + (k_end - k_begin) / BK * BK; // tiles of K end there
    let lane = thread % 32u;
    let warp = thread / 32u;
    let tm = warp / WARPS_N * LANES_M * TM4 + lane / LANES_N; // the first of the thread's vectors in a row of A's tile
    let tn = warp % WARPS_N * LANES_N * TN4 + lane % LANES_N; // and of B's; the next come LANES_M and LANES_N later
    // repeat i TM4
    // repeat j TN4
    var x$i_$j = vec4<f32>(); // sums of four columns: of the first, second, third and fourth row
    var y$i_$j = vec4<f32>();
    var z$i_$j = vec4<f32>();
    var w$i_$j = vec4<f32>();
    // end
    // end

    // repeat i LOADS_A
    let at_a$i = thread + $iu * THREADS;
    var from_a$i = place_a(at_a$i, m0, k_begin);
    let k_a$i = select(at_a$i % K4 * 4u, at_a$i / M4, TA == 1u);
    let m_a$i = select(at_a$i / K4 / 4u, at_a$i % M4, TA == 1u);
    let c_a$i = at_a$i / K4 % 4u;
    var next_a$i: vec4<f32>;
    // end
    // repeat i LOADS_B
    let at_b$i = thread + $iu * THREADS;
    var from_b$i = place_b(at_b$i, n0, k_begin);
    let k_b$i = select(at_b$i / N4, at_b$i % K4 * 4u, TB == 1u);
    let n_b$i = select(at_b$i % N4, at_b$i / K4 / 4u, TB == 1u);
    let c_b$i = at_b$i / K4 % 4u;
    var next_b$i: vec4<f32>;
    // end
    let step_a = select(BK / 4u, BK * (p.a_ld / 4u), TA == 1u);
    let step_b = select(BK * (p.b_ld / 4u), BK / 4u, TB == 1u);
    if (k_begin < whole) {
        let k0 = k_begin;
// include matmul_unrolled_read
// include matmul_unrolled_write
    }
    workgroupBarrier();
    for (var k0 = k_begin + BK; k0 <= whole; k0 += BK) {
        if (k0 < whole) {
// include matmul_unrolled_read
        }
        // repeat k BK
        {
            // repeat i TM4
            let a$i = tile_a[$k][tm + $iu * LANES_M];
            // end
            // repeat j TN4
            let b$j = tile_b[$k][tn + $ju * LANES_N];
            // end
// include matmul_unrolled_sums
        }
        // end
        workgroupBarrier();
        if (k0 < whole) {
// include matmul_unrolled_write
        }
        workgroupBarrier();
    }
    for (var k = whole; k < k_end; k++) {
        // repeat i TM4
        let at_m$i = m0 + (tm + $iu * LANES_M) * 4u;
        let a$i = vec4<f32>(a_of(at_m$i, k), a_of(at_m$i + 1u, k), a_of(at_m$i + 2u, k), a_of(at_m$i + 3u, k));
        // end
        // repeat j TN4
        let at_n$j = n0 + (tn + $ju * LANES_N) * 4u;
        let b$j = vec4<f32>(b_of(at_n$j, k), b_of(at_n$j + 1u, k), b_of(at_n$j + 2u, k), b_of(at_n$j + 3u, k));
        // end
// include matmul_unrolled_sums
    }
    // repeat i TM4
    // repeat j TN4
    store(m0 + (tm + $iu * LANES_M) * 4u, n0 + (tn + $ju * LANES_N) * 4u, group.z, x$i_$j);
    store(m0 + (tm + $iu * LANES_M) * 4u + 1u, n0 + (tn + $ju * LANES_N) * 4u, group.z, y$i_$j);
    store(m0 + (tm + $iu * LANES_M) * 4u + 2u, n0 + (tn + $ju * LANES_N) * 4u, group.z, z$i_$j);
    store(m0 + (tm + $iu * LANES_M) * 4u + 3u, n0 + (tn + $ju * LANES_N) * 4u, group.z, w$i_$j);
    // end
    // end
}
