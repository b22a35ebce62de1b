// GELU in both forms, and its gradient. A thread has four elements. SPDX-License-Identifier: MIT
struct P { n: u32, tanh_form: u32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> dy: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<f32>;

const SQRT_2_PI = 0.79788456080286535588; // sqrt(2 / pi)
const INV_SQRT_2PI = 0.39894228040143267794; // 1 / sqrt(2 pi)

// y = x * gate(x); slope is x * gate'(x).
struct Gelu { gate: vec4<f32>, slope: vec4<f32> }

// The normal distribution and x times its density. Its tail over e^(-x^2 / 2) is a polynomial in (a - 3) / (a + 3),
// a = |x|, to 8e-9 of itself from 0 to 14; no float shows more of the tail.
fn of_erf(v: vec4<f32>) -> Gelu {
    let a = min(abs(v), vec4<f32>(14.0));
    let s = (a - 3.0) / (a + 3.0);
    var tail = 1.15543946e-4 + s * 5.36720108e-5;
    tail = -3.39485006e-4 + s * tail;
    tail = -9.83758597e-4 + s * tail;
    tail = 2.90455623e-3 + s * tail;
    tail = 6.13207091e-3 + s * tail;
    tail = -0.0462132916 + s * tail;
    tail = 0.123225033 + s * tail;
    tail = -0.206402615 + s * tail;
    tail = 0.121513948 + s * tail;
    let bell = exp(-0.5 * a * a);
    tail *= bell;
    return Gelu(select(tail, 1.0 - tail, v > vec4<f32>(0.0)), v * (INV_SQRT_2PI * bell));
}

// (1 + tanh u) / 2 = 1 / (1 + e^(-2u)). Beyond 20 that is 0 or 1.
fn of_tanh(v: vec4<f32>) -> Gelu {
    let a = clamp(v, vec4<f32>(-20.0), vec4<f32>(20.0));
    let u2 = (2.0 * SQRT_2_PI) * (a + 0.044715 * a * a * a);
    let small = exp(-abs(u2));
    let large_part = 1.0 / (1.0 + small);
    let small_part = small * large_part;
    let inner = (2.0 * SQRT_2_PI) * (1.0 + (3.0 * 0.044715) * a * a);
    return Gelu(select(small_part, large_part, u2 >= vec4<f32>(0.0)), v * (small_part * large_part * inner));
}

fn gelu(v: vec4<f32>) -> Gelu {
    if (p.tanh_form == 1u) { return of_tanh(v); }
    return of_erf(v);
}

@compute @workgroup_size(256)
fn forward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    let at = four_of(flat_group(id, groups), lane);
    let i = min(at, vec4<u32>(p.n - 1u));
    let v = vec4<f32>(x[i.x], x[i.y], x[i.z], x[i.w]);
    let value = v * gelu(v).gate;
    for (var k = 0u; k < 4u; k++) {
        if (at[k] < p.n) { y[at[k]] = value[k]; }
    }
}

@compute @workgroup_size(256)
fn backward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) lane: u32) {
    let at = four_of(flat_group(id, groups), lane);
    let i = min(at, vec4<u32>(p.n - 1u));
    let v = vec4<f32>(x[i.x], x[i.y], x[i.z], x[i.w]);
    let g = gelu(v);
    let d = vec4<f32>(dy[i.x], dy[i.y], dy[i.z], dy[i.w]) * (g.gate + g.slope);
    for (var k = 0u; k < 4u; k++) {
        if (at[k] < p.n) { dx[at[k]] = d[k]; }
    }
}
