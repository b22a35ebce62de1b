// y = a + b. A thread has four elements. SPDX-License-Identifier: MIT
struct P { n: u32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn forward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    let at = four_of(flat_group(id, groups), lane);
    let i = min(at, vec4<u32>(p.n - 1u));
    let sum = vec4<f32>(a[i.x], a[i.y], a[i.z], a[i.w]) + vec4<f32>(b[i.x], b[i.y], b[i.z], b[i.w]);
    for (var k = 0u; k < 4u; k++) {
        if (at[k] < p.n) { y[at[k]] = sum[k]; }
    }
}
