// Products of matrices with multiply-adds in f16: A and B come in f16 (HALF = 1), a workgroup of 256 computes a tile of 64 x 64, a thread
// 4 x 4 of it; sums of 16 products are f16, those of these are f32.
enable f16;

// include matmul_operands

const BK: u32 = 16u;

var<workgroup> tile_a: array<vec4<f16>, 256>; // [m][k in fours]
var<workgroup> tile_b: array<vec4<f16>, 256>; // [n in fours][k]: four n

fn fetch_a(i: u32, m0: u32, k0: u32, k_end: u32) -> vec4<f16> {
    if (TA == 0u) {
        return vec4<f16>(load_a(m0 + i / 4u, k0 + i % 4u * 4u, p.m, k_end));
    }
    var v: vec4<f16>; // four k of a column
    for (var j = 0u; j < 4u; j++) {
        let m = m0 + i / 4u;
        v[j] = f16(load_a(k0 + i % 4u * 4u + j, m / 4u * 4u, k_end, p.m)[m % 4u]);
    }
    return v;
}

fn fetch_b(i: u32, n0: u32, k0: u32, k_end: u32) -> vec4<f16> {
    if (TB == 0u) {
        return vec4<f16>(load_b(k0 + i % 16u, n0 + i / 16u * 4u, k_end, p.n));
    }
    var v: vec4<f16>; // four n of a row
    for (var j = 0u; j < 4u; j++) {
        let k = k0 + i % 16u;
        v[j] = f16(load_b(n0 + i / 16u * 4u + j, k / 4u * 4u, p.n, k_end)[k % 4u]);
    }
    return v;
}

@compute @workgroup_size(256)
fn product(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let m0 = group.y * 64u;
    let n0 = group.x * 64u;
    let k_begin = group.z * p.slice_k;
    let k_end = min(k_begin + p.slice_k, p.k);
    let tm = thread / 16u * 4u;
    let tn = thread % 16u;
    var sum0 = vec4<f32>();
    var sum1 = vec4<f32>();
    var sum2 = vec4<f32>();
    var sum3 = vec4<f32>();
    for (var k0 = k_begin; k0 < k_end; k0 += BK) {
        let a = fetch_a(thread, m0, k0, k_end);
        let b = fetch_b(thread, n0, k0, k_end);
        workgroupBarrier();
        tile_a[thread] = a;
        tile_b[thread] = b;
        workgroupBarrier();
        var acc0 = vec4<f16>();
        var acc1 = vec4<f16>();
        var acc2 = vec4<f16>();
        var acc3 = vec4<f16>();
        for (var k = 0u; k < BK; k += 4u) {
            let a0 = tile_a[tm * 4u + k / 4u];
            let a1 = tile_a[tm * 4u + 4u + k / 4u];
            let a2 = tile_a[tm * 4u + 8u + k / 4u];
            let a3 = tile_a[tm * 4u + 12u + k / 4u];
            let b0 = tile_b[tn * 16u + k];
            let b1 = tile_b[tn * 16u + k + 1u];
            let b2 = tile_b[tn * 16u + k + 2u];
            let b3 = tile_b[tn * 16u + k + 3u];
            acc0 = fma(vec4<f16>(a0.x), b0, fma(vec4<f16>(a0.y), b1, fma(vec4<f16>(a0.z), b2, fma(vec4<f16>(a0.w), b3, acc0))));
            acc1 = fma(vec4<f16>(a1.x), b0, fma(vec4<f16>(a1.y), b1, fma(vec4<f16>(a1.z), b2, fma(vec4<f16>(a1.w), b3, acc1))));
            acc2 = fma(vec4<f16>(a2.x), b0, fma(vec4<f16>(a2.y), b1, fma(vec4<f16>(a2.z), b2, fma(vec4<f16>(a2.w), b3, acc2))));
            acc3 = fma(vec4<f16>(a3.x), b0, fma(vec4<f16>(a3.y), b1, fma(vec4<f16>(a3.z), b2, fma(vec4<f16>(a3.w), b3, acc3))));
        }
        sum0 += vec4<f32>(acc0);
        sum1 += vec4<f32>(acc1);
        sum2 += vec4<f32>(acc2);
        sum3 += vec4<f32>(acc3);
    }
    store(m0 + tm, n0 + tn * 4u, group.z, sum0);
    store(m0 + tm + 1u, n0 + tn * 4u, group.z, sum1);
    store(m0 + tm + 2u, n0 + tn * 4u, group.z, sum2);
    store(m0 + tm + 3u, n0 + tn * 4u, group.z, sum3);
}
