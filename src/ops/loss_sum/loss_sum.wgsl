// state[word] += sum of coef * logp, in one workgroup: there are as many as tokens. SPDX-License-Identifier: MIT
struct P { n: u32, word: u32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> logp: array<f32>;
@group(0) @binding(2) var<storage, read_write> coef: array<f32>;
@group(0) @binding(3) var<storage, read_write> state: array<f32>;

@compute @workgroup_size(256)
fn add_products(@builtin(local_invocation_index) lane: u32) {
    var sum = vec2<f32>(0.0);
    for (var first = 0u; first < p.n; first += 1024u) {
        let at = vec4<u32>(first) + four_of(0u, lane);
        let i = min(at, vec4<u32>(p.n - 1u));
        let l = vec4<f32>(logp[i.x], logp[i.y], logp[i.z], logp[i.w]);
        let c = vec4<f32>(coef[i.x], coef[i.y], coef[i.z], coef[i.w]);
        for (var k = 0u; k < 4u; k++) {
            if (at[k] < p.n) { sum = add_sums(sum, whole_product(l[k], c[k])); }
        }
    }
    sum = sum_of_group(sum, lane);
    if (lane == 0u) { state[p.word] = rounded_sum(add_sums(vec2<f32>(state[p.word], 0.0), sum)); }
}
