// Appending keys and values to the cache: a thread copies one element of each. The elements are bound as words, so that
// every bit pattern passes as it is.

struct P {
    n: u32, times: u32, heads: u32, size: u32, // elements of k; T G D
    positions: u32, // P
    has_offset: u32, has_slot: u32,
}
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> k: array<u32>;
@group(0) @binding(2) var<storage, read_write> v: array<u32>;
@group(0) @binding(3) var<storage, read_write> offset: array<i32>;
@group(0) @binding(4) var<storage, read_write> slot: array<i32>;
@group(0) @binding(5) var<storage, read_write> cache_k: array<u32>;
@group(0) @binding(6) var<storage, read_write> cache_v: array<u32>;

@compute @workgroup_size(64)
fn store(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) index: u32) {
    let i = flat_group(id, groups) * 64u + index; // (b, t, g, d)
    if (i >= p.n) { return; }
    let d = i % p.size;
    let g = i / p.size % p.heads;
    let t = i / p.size / p.heads % p.times;
    let b = i / p.size / p.heads / p.times;
    var position = t;
    var s = b;
    if (p.has_offset != 0u) { position += u32(offset[b]); }
    if (p.has_slot != 0u) { s = u32(slot[b]); }
    let to = ((s * p.heads + g) * p.positions + position) * p.size + d;
    cache_k[to] = k[i];
    cache_v[to] = v[i];
}
