// AdamW, elementwise; nothing is read or written where the step state says so. A thread has four elements.
// SPDX-License-Identifier: MIT
struct P { n: u32, decay_first: u32, // in bytes
           beta1: f32, beta2: f32, rest1: f32, rest2: f32, eps: f32, weight_decay: f32,
           lr: u32, correction1: u32, correction2: u32, factor: u32, ok: u32, skipped: u32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> w: array<f32>;
@group(0) @binding(2) var<storage, read_write> g: array<f32>;
@group(0) @binding(3) var<storage, read_write> m: array<f32>;
@group(0) @binding(4) var<storage, read_write> v: array<f32>;
@group(0) @binding(5) var<storage, read_write> decay: array<u32>; // bytes, one per 64 elements
@group(0) @binding(6) var<storage, read_write> state: array<f32>;

fn decays(i: u32) -> f32 {
    let byte = p.decay_first + i / 64u;
    return f32((decay[byte / 4u] >> (8u * (byte % 4u))) & 255u);
}

@compute @workgroup_size(256)
fn update(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    if (state[p.ok] == 0.0 || state[p.skipped] != 0.0) { return; }
    let at = four_of(flat_group(id, groups), lane);
    let i = min(at, vec4<u32>(p.n - 1u));
    let gradient = state[p.factor] * vec4<f32>(g[i.x], g[i.y], g[i.z], g[i.w]);
    let w_old = vec4<f32>(w[i.x], w[i.y], w[i.z], w[i.w]);
    let m_new = p.beta1 * vec4<f32>(m[i.x], m[i.y], m[i.z], m[i.w]) + p.rest1 * gradient;
    let v_new = p.beta2 * vec4<f32>(v[i.x], v[i.y], v[i.z], v[i.w]) + p.rest2 * (gradient * gradient);
    let shrink = p.weight_decay * vec4<f32>(decays(i.x), decays(i.y), decays(i.z), decays(i.w)) * w_old;
    let size = sqrt(v_new * state[p.correction2]) + p.eps;
    let change = state[p.lr] * (m_new * state[p.correction1] / size + shrink);
    for (var k = 0u; k < 4u; k++) {
        if (at[k] < p.n) {
            w[at[k]] = w_old[k] - change[k];
            m[at[k]] = m_new[k];
            v[at[k]] = v_new[k];
        }
    }
}
