// Products of matrices without workgroup memory: the lanes of a subgroup, four or more, hold a piece of A in registers and hand it round.
// A lane computes 8 rows of four columns, a workgroup 8 x 1024.
enable subgroups;

// include matmul_operands

// Four k of row m of A.
fn four_of_a(m: u32, k: u32, k_end: u32) -> vec4<f32> {
    if (TA == 0u) {
        return load_a(m, k, p.m, k_end);
    }
    var v: vec4<f32>;
    for (var j = 0u; j < 4u; j++) { v[j] = load_a(k + j, m / 4u * 4u, k_end, p.m)[m % 4u]; }
    return v;
}

@compute @workgroup_size(256)
fn product(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32,
           @builtin(subgroup_invocation_id) lane: u32) {
    let m0 = group.y * 8u;
    let n = group.x * 1024u + thread * 4u;
    let k_begin = group.z * p.slice_k;
    let k_end = min(k_begin + p.slice_k, p.k);
    var sum0 = vec4<f32>();
    var sum1 = vec4<f32>();
    var sum2 = vec4<f32>();
    var sum3 = vec4<f32>();
    var sum4 = vec4<f32>();
    var sum5 = vec4<f32>();
    var sum6 = vec4<f32>();
    var sum7 = vec4<f32>();
    for (var k0 = k_begin; k0 < k_end; k0 += 4u) {
        let upper = four_of_a(m0 + lane % 4u, k0, k_end);
        let lower = four_of_a(m0 + 4u + lane % 4u, k0, k_end);
        var piece: array<vec4<f32>, 4>; // of B: four k of four columns
        if (TB == 0u) {
            piece[0] = load_b(k0, n, k_end, p.n);
            piece[1] = load_b(k0 + 1u, n, k_end, p.n);
            piece[2] = load_b(k0 + 2u, n, k_end, p.n);
            piece[3] = load_b(k0 + 3u, n, k_end, p.n);
        } else {
            let c0 = load_b(n, k0, p.n, k_end);
            let c1 = load_b(n + 1u, k0, p.n, k_end);
            let c2 = load_b(n + 2u, k0, p.n, k_end);
            let c3 = load_b(n + 3u, k0, p.n, k_end);
            piece[0] = vec4<f32>(c0.x, c1.x, c2.x, c3.x);
            piece[1] = vec4<f32>(c0.y, c1.y, c2.y, c3.y);
            piece[2] = vec4<f32>(c0.z, c1.z, c2.z, c3.z);
            piece[3] = vec4<f32>(c0.w, c1.w, c2.w, c3.w);
        }
        sum0 = four(subgroupShuffle(upper, 0u), piece, sum0);
        sum1 = four(subgroupShuffle(upper, 1u), piece, sum1);
        sum2 = four(subgroupShuffle(upper, 2u), piece, sum2);
        sum3 = four(subgroupShuffle(upper, 3u), piece, sum3);
        sum4 = four(subgroupShuffle(lower, 0u), piece, sum4);
        sum5 = four(subgroupShuffle(lower, 1u), piece, sum5);
        sum6 = four(subgroupShuffle(lower, 2u), piece, sum6);
        sum7 = four(subgroupShuffle(lower, 3u), piece, sum7);
    }
    store(m0, n, group.z, sum0);
    store(m0 + 1u, n, group.z, sum1);
    store(m0 + 2u, n, group.z, sum2);
    store(m0 + 3u, n, group.z, sum3);
    store(m0 + 4u, n, group.z, sum4);
    store(m0 + 5u, n, group.z, sum5);
    store(m0 + 6u, n, group.z, sum6);
    store(m0 + 7u, n, group.z, sum7);
}

fn four(left: vec4<f32>, piece: array<vec4<f32>, 4>, sum: vec4<f32>) -> vec4<f32> {
    return fma(vec4<f32>(left.w), piece[3], fma(vec4<f32>(left.z), piece[2], fma(vec4<f32>(left.y), piece[1], fma(vec4<f32>(left.x), piece[0], sum))));
}
