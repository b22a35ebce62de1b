// Dropout: result = source * keep / (1 - rate), keep from the counter-based generator of base/rng.c. A thread has one
// counter: four elements side by side. SPDX-License-Identifier: MIT
struct P { n: u32, counter_low: u32, counter_high: u32, seed_low: u32, seed_high: u32, stream: u32, site: u32,
           keep_from: u32, keeps: u32, factor: f32, factor_rest: f32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> source: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;

// The upper word of a * b.
fn high_word(a: u32, b: u32) -> u32 {
    let a_low = a & 0xffffu;
    let b_low = b & 0xffffu;
    let a_high = a >> 16u;
    let b_high = b >> 16u;
    let once = a_high * b_low + ((a_low * b_low) >> 16u);
    let twice = a_low * b_high + (once & 0xffffu);
    return a_high * b_high + (once >> 16u) + (twice >> 16u);
}

// Philox4x32-10.
fn philox(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
    var c = counter;
    var k = key;
    for (var round = 0u; round < 10u; round++) {
        c = vec4<u32>(high_word(c.z, 0xcd9e8d57u) ^ c.y ^ k.x, c.z * 0xcd9e8d57u,
                      high_word(c.x, 0xd2511f53u) ^ c.w ^ k.y, c.x * 0xd2511f53u);
        k += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    }
    return c;
}

@compute @workgroup_size(256)
fn drop(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let block = flat_group(id, groups) * 256u + lane;
    let at = block * 4u + vec4<u32>(0u, 1u, 2u, 3u);
    let i = min(at, vec4<u32>(p.n - 1u));
    let v = vec4<f32>(source[i.x], source[i.y], source[i.z], source[i.w]);
    let low = p.counter_low + block;
    let high = p.counter_high + select(0u, 1u, low < block);
    let word = philox(vec4<u32>(low, high, p.stream, p.site), vec2<u32>(p.seed_low, p.seed_high));
    for (var k = 0u; k < 4u; k++) {
        let kept = word[k] >= p.keep_from && p.keeps == 1u;
        if (at[k] < p.n) { result[at[k]] = select(0.0, times(v[k], vec2<f32>(p.factor, p.factor_rest)), kept); }
    }
}
