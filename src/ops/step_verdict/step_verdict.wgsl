// The end of a step's gradients, in one thread. Only finite numbers are compared: of others, a compiler may assume
// anything. SPDX-License-Identifier: MIT
struct P { slot: u32, lr: u32, clip: u32, loss: u32, sqnorm: u32, limit: u32, halt: u32, norm: u32, factor: u32,
           ok: u32, skipped: u32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> state: array<f32>;
@group(0) @binding(2) var<storage, read_write> ring: array<f32>;

const INFINITY_BITS = 0x7f800000u;

fn clip_factor(norm: f32, clip: f32) -> f32 {
    if (clip <= 0.0) { return 1.0; }
    if (!is_finite(norm)) { return select(1.0, 0.0, bitcast<u32>(norm) == INFINITY_BITS); }
    return select(1.0, clip / (norm + 1e-6), norm > clip);
}

@compute @workgroup_size(1)
fn judge() {
    let square = state[p.sqnorm];
    let loss = state[p.loss];
    let limit = state[p.limit];
    let loss_counts = is_finite(loss);
    let norm_counts = is_finite(square);
    var norm = square;
    if (norm_counts) { norm = sqrt(square); }
    let skipped = loss_counts && is_finite(limit) && limit > 0.0 && loss > limit;
    let counts = select(norm_counts, state[p.halt] == 0.0, skipped);
    let ok = state[p.ok] != 0.0 && loss_counts && counts;
    state[p.norm] = norm;
    state[p.factor] = clip_factor(norm, state[p.clip]);
    state[p.ok] = select(0.0, 1.0, ok);
    state[p.skipped] = select(0.0, 1.0, skipped);
    ring[p.slot * 5u] = loss;
    ring[p.slot * 5u + 1u] = norm;
    ring[p.slot * 5u + 2u] = select(0.0, 1.0, ok);
    ring[p.slot * 5u + 3u] = state[p.lr];
    ring[p.slot * 5u + 4u] = select(0.0, 1.0, skipped);
}
