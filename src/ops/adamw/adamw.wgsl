// AdamW, elementwise; nothing is read or written where the step state says so. A thread has four elements. `round` then
// makes the copy in bf16, a thread per word: two elements. SPDX-License-Identifier: MIT
struct P { n: u32, decay_first: u32, // in bytes
           beta1: f32, beta2: f32, rest1: f32, rest2: f32, eps: f32, weight_decay: f32,
           lr: u32, correction1: u32, correction2: u32, factor: u32, ok: u32, skipped: u32,
           copy_first: u32 } // in halves of a word
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> w: array<f32>;
@group(0) @binding(2) var<storage, read_write> g: array<f32>;
@group(0) @binding(3) var<storage, read_write> m: array<f32>;
@group(0) @binding(4) var<storage, read_write> v: array<f32>;
@group(0) @binding(5) var<storage, read_write> decay: array<u32>; // bytes, one per 64 elements
@group(0) @binding(6) var<storage, read_write> state: array<f32>;
@group(0) @binding(7) var<storage, read_write> copy: array<u32>;

fn takes_step() -> bool { return state[p.ok] != 0.0 && state[p.skipped] == 0.0; }

fn decays(i: u32) -> f32 {
    let byte = p.decay_first + i / 64u;
    return f32((decay[byte / 4u] >> (8u * (byte % 4u))) & 255u);
}

@compute @workgroup_size(256)
fn update(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    if (!takes_step()) { return; }
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

// bf16 to nearest even; a NaN stays one.
fn bf16(value: u32) -> u32 {
    if ((value & 0x7fffffffu) > 0x7f800000u) { return (value >> 16u) | 0x40u; }
    return (value + 0x7fffu + ((value >> 16u) & 1u)) >> 16u;
}

@compute @workgroup_size(256)
fn round(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
    let word = flat_group(id, groups) * 256u + lane;
    let i = 2u * word - p.copy_first; // of its lower half; beyond n where that is somebody else's
    if (!takes_step() || (i >= p.n && i + 1u >= p.n)) { return; }
    var halves = copy[word];
    if (i < p.n) { halves = (halves & 0xffff0000u) | bf16(bitcast<u32>(w[i])); }
    if (i + 1u < p.n) { halves = (halves & 0xffffu) | (bf16(bitcast<u32>(w[i + 1u])) << 16u); }
    copy[word] = halves;
}
