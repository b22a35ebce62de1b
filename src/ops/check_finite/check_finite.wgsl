// state[word] = min(state[word], identity) if x holds an infinity or NaN. A thread has four elements. Whoever finds one
// writes the same number, so their order does not matter. SPDX-License-Identifier: MIT
struct P { n: u32, word: u32, identity: f32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> state: array<f32>;

@compute @workgroup_size(256)
fn look(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = min(four_of(flat_group(id, groups), lane), vec4<u32>(p.n - 1u));
    let fine = is_finite(x[i.x]) && is_finite(x[i.y]) && is_finite(x[i.z]) && is_finite(x[i.w]);
    if (!fine && p.identity < state[p.word]) { state[p.word] = p.identity; }
}
