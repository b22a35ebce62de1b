// SwiGLU's elementwise part and its gradients. A thread has four elements. SPDX-License-Identifier: MIT
struct P { n: u32, wants_gate: u32, wants_up: u32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> gate: array<f32>;
@group(0) @binding(2) var<storage, read_write> up: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read_write> dy: array<f32>;
@group(0) @binding(5) var<storage, read_write> dgate: array<f32>;
@group(0) @binding(6) var<storage, read_write> dup: array<f32>;

// sigmoid(v) and 1 - sigmoid(v): neither cancels, and the exponential does not overflow.
struct Sigmoid { part: vec4<f32>, rest: vec4<f32> }

fn sigmoid(v: vec4<f32>) -> Sigmoid {
    let small = exp(-abs(v));
    let large_part = 1.0 / (1.0 + small);
    let small_part = small * large_part;
    let positive = v >= vec4<f32>(0.0);
    return Sigmoid(select(small_part, large_part, positive), select(large_part, small_part, positive));
}

@compute @workgroup_size(256)
fn forward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    let at = four_of(flat_group(id, groups), lane);
    let i = min(at, vec4<u32>(p.n - 1u));
    let g = vec4<f32>(gate[i.x], gate[i.y], gate[i.z], gate[i.w]);
    let u = vec4<f32>(up[i.x], up[i.y], up[i.z], up[i.w]);
    let value = g * sigmoid(g).part * u;
    for (var k = 0u; k < 4u; k++) {
        if (at[k] < p.n) { y[at[k]] = value[k]; }
    }
}

@compute @workgroup_size(256)
fn backward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) lane: u32) {
    let at = four_of(flat_group(id, groups), lane);
    let i = min(at, vec4<u32>(p.n - 1u));
    let g = vec4<f32>(gate[i.x], gate[i.y], gate[i.z], gate[i.w]);
    let u = vec4<f32>(up[i.x], up[i.y], up[i.z], up[i.w]);
    let d = vec4<f32>(dy[i.x], dy[i.y], dy[i.z], dy[i.w]);
    let s = sigmoid(g);
    let by_up = d * g * s.part;
    let by_gate = d * u * s.part * (1.0 + g * s.rest);
    for (var k = 0u; k < 4u; k++) {
        if (at[k] < p.n) {
            if (p.wants_gate == 1u) { dgate[at[k]] = by_gate[k]; }
            if (p.wants_up == 1u) { dup[at[k]] = by_up[k]; }
        }
    }
}
