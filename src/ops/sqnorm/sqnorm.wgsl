// state[word] += sum of x^2. Workgroups walk over x side by side and leave a sum each; one workgroup adds those up.
// Where there is one workgroup only, it does that itself. SPDX-License-Identifier: MIT
struct P { n: u32, word: u32, groups: u32, first_part: u32, alone: u32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> parts: array<f32>;
@group(0) @binding(3) var<storage, read_write> state: array<f32>;

fn add_to_state(sum: vec2<f32>) {
    state[p.word] = rounded_sum(add_sums(vec2<f32>(state[p.word], 0.0), sum));
}

@compute @workgroup_size(256)
fn add_squares(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let group = flat_group(id, groups);
    if (group >= p.groups) { return; }
    var sum = vec2<f32>(0.0);
    for (var tile = group; tile * 1024u < p.n; tile += p.groups) {
        let at = four_of(tile, lane);
        let i = min(at, vec4<u32>(p.n - 1u));
        let v = vec4<f32>(x[i.x], x[i.y], x[i.z], x[i.w]);
        for (var k = 0u; k < 4u; k++) {
            if (at[k] < p.n) { sum = add_sums(sum, vec2<f32>(v[k] * v[k], 0.0)); }
        }
    }
    sum = sum_of_group(sum, lane);
    if (lane != 0u) { return; }
    if (p.alone == 1u) {
        add_to_state(sum);
        return;
    }
    parts[2u * (p.first_part + group)] = sum.x;
    parts[2u * (p.first_part + group) + 1u] = sum.y;
}

@compute @workgroup_size(256)
fn add_parts(@builtin(local_invocation_index) lane: u32) {
    var sum = vec2<f32>(0.0);
    for (var i = lane; i < p.n; i += 256u) {
        sum = add_sums(sum, vec2<f32>(parts[2u * i], parts[2u * i + 1u]));
    }
    sum = sum_of_group(sum, lane);
    if (lane == 0u) { add_to_state(sum); }
}
