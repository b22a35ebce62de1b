// Products of few rows with a matrix of weights: C (M,N) = A (M,K) times B (N,K) transposed, plus a bias for each column. B is f32, f16
// or int8 (STORED 0, 1, 2; tensor/packed.h), and read 16 bytes, a unit, at a time.
//
// `product`: a workgroup of SIDE x SIDE threads for four rows of B, along which all of them walk, each with sums for up to ROWS rows of
// A. The threads' sums are added up in two steps of SIDE, so the order is always the same.
// `plain`: a thread an element, without barriers, for emulated GPUs.
// `unpack`: B as f32 into C (N,K), a thread for four elements.
//
// FOURS 1: rows of A (unpack: of C) begin at multiples of four and are multiples of four long, and it is given as a4 (c4).

struct P {
    m: u32, n: u32, k: u32,
    units: u32, // of K elements
    row: u32, scales: u32, // units from one row of B to the next, and to its scales
    a_first: u32, a_ld: u32, c_first: u32, c_ld: u32, has_bias: u32,
}
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> a4: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> b: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> c: array<f32>;
@group(0) @binding(5) var<storage, read_write> c4: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> bias: array<f32>;

const PARTS: u32 = 1u << STORED; // a unit holds so many times four elements
const THREADS: u32 = SIDE * SIDE;

// Part `i` of a unit of B; int8: without its scale.
fn four_of_unit(unit: vec4<u32>, i: u32) -> vec4<f32> {
    if (STORED == 0u) { return bitcast<vec4<f32>>(unit); }
    if (STORED == 1u) { return vec4<f32>(unpack2x16float(unit[2u * i]), unpack2x16float(unit[2u * i + 1u])); }
    return signed_bytes(unit[i]);
}

// Of unit i of the row of B that begins at unit `row`.
fn scale_of(row: u32, i: u32) -> f32 {
    if (STORED != 2u) { return 1.0; }
    let group = i / 2u; // of 32
    return bf16_of(b[row + p.scales + group / 8u][group / 2u % 4u], group % 2u);
}

// Four elements of row m of A from column `col` on; 0 behind its end.
fn load_a(m: u32, col: u32) -> vec4<f32> {
    if (col >= p.k) { return vec4<f32>(); }
    let at = p.a_first + m * p.a_ld + col;
    if (FOURS == 1u) { return a4[at / 4u]; }
    var v = vec4<f32>(a[at], 0.0, 0.0, 0.0);
    if (col + 1u < p.k) { v.y = a[at + 1u]; }
    if (col + 2u < p.k) { v.z = a[at + 2u]; }
    if (col + 3u < p.k) { v.w = a[at + 3u]; }
    return v;
}

fn store(m: u32, n: u32, value: f32) {
    if (m >= p.m || n >= p.n) { return; }
    var v = value;
    if (p.has_bias != 0u) { v += bias[n]; }
    c[p.c_first + m * p.c_ld + n] = v;
}

var<workgroup> sums_of_threads: array<vec4<f32>, THREADS>;
var<workgroup> sums_of_columns: array<vec4<f32>, SIDE>;

@compute @workgroup_size(THREADS)
fn product(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) thread: u32) {
    let n = 4u * flat_group(id, groups);
    if (n >= p.n) { return; }
    let rows = min(n + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.n - 1u)) * p.row;
    var sums: array<vec4<f32>, ROWS>;
    for (var i = thread; i < p.units; i += THREADS) {
        let u0 = b[rows.x + i];
        let u1 = b[rows.y + i];
        let u2 = b[rows.z + i];
        let u3 = b[rows.w + i];
        let scale = vec4<f32>(scale_of(rows.x, i), scale_of(rows.y, i), scale_of(rows.z, i), scale_of(rows.w, i));
        var unit_sums = array<vec4<f32>, ROWS>(); // written out: there are compilers that keep those of the last round
        for (var part = 0u; part < PARTS; part++) {
            let w0 = four_of_unit(u0, part);
            let w1 = four_of_unit(u1, part);
            let w2 = four_of_unit(u2, part);
            let w3 = four_of_unit(u3, part);
            for (var m = 0u; m < ROWS; m++) {
                let x = load_a(min(m, p.m - 1u), 4u * (PARTS * i + part));
                unit_sums[m] += vec4<f32>(dot(w0, x), dot(w1, x), dot(w2, x), dot(w3, x));
            }
        }
        for (var m = 0u; m < ROWS; m++) { sums[m] += scale * unit_sums[m]; }
    }
    for (var m = 0u; m < ROWS; m++) {
        sums_of_threads[thread] = sums[m];
        workgroupBarrier();
        if (thread < SIDE) {
            var sum = sums_of_threads[thread];
            for (var k = 1u; k < SIDE; k++) { sum += sums_of_threads[thread + k * SIDE]; }
            sums_of_columns[thread] = sum;
        }
        workgroupBarrier();
        if (thread < 4u) {
            var sum = sums_of_columns[0][thread];
            for (var k = 1u; k < SIDE; k++) { sum += sums_of_columns[k][thread]; }
            store(m, n + thread, sum);
        }
    }
}

@compute @workgroup_size(64)
fn plain(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) thread: u32) {
    let i = flat_group(id, groups) * 64u + thread;
    if (i >= p.m * p.n) { return; }
    let row = i % p.n * p.row;
    var sum = 0.0;
    for (var unit = 0u; unit < p.units; unit++) {
        let u = b[row + unit];
        var unit_sum = 0.0;
        for (var part = 0u; part < PARTS; part++) {
            unit_sum += dot(four_of_unit(u, part), load_a(i / p.n, 4u * (PARTS * unit + part)));
        }
        sum += scale_of(row, unit) * unit_sum;
    }
    store(i / p.n, i % p.n, sum);
}

@compute @workgroup_size(64)
fn unpack(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) thread: u32) {
    let fours = (p.k + 3u) / 4u;
    let i = flat_group(id, groups) * 64u + thread;
    if (i >= p.n * fours) { return; }
    let row = i / fours * p.row;
    let unit = i % fours / PARTS;
    let v = four_of_unit(b[row + unit], i % fours % PARTS) * scale_of(row, unit);
    if (FOURS == 1u) {
        c4[i] = v;
        return;
    }
    let col = 4u * (i % fours);
    for (var j = 0u; j < min(4u, p.k - col); j++) { c[i / fours * p.k + col + j] = v[j]; }
}
