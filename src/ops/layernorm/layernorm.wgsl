// Layer normalisation. Rows are summed by side * side lanes each (sums_of_row). Backwards the sums over rows are begun
// by `part`, a thread per column and block of rows, and ended by `backward`: its first workgroups add up the parts of
// 16 columns each, of dw and then of db; the others have rows. `part` leaves mean and rstd behind its sums, because
// `backward` may not bind more tensors. SPDX-License-Identifier: MIT
struct P { rows: u32, channels: u32, side: u32, eps: f32, accumulate: u32, blocks: u32, block_rows: u32,
           column_groups: u32, biased: u32, wants_w: u32, wants_b: u32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> w: array<f32>;
@group(0) @binding(3) var<storage, read_write> b: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<storage, read_write> mean: array<f32>;
@group(0) @binding(6) var<storage, read_write> rstd: array<f32>;
@group(0) @binding(7) var<storage, read_write> dy: array<f32>;
@group(0) @binding(8) var<storage, read_write> dx: array<f32>;
@group(0) @binding(9) var<storage, read_write> dw: array<f32>;
@group(0) @binding(10) var<storage, read_write> db: array<f32>;
@group(0) @binding(11) var<storage, read_write> parts: array<f32>; // (blocks, 2, channels), then (rows, 2)

// The row of a lane: its elements begin at `base`, and the lane's are first, first + side * side and so on, below end.
struct Row { n: u32, base: u32, first: u32, end: u32 }

fn row_of(group: u32, lane: u32) -> Row {
    let lanes = p.side * p.side;
    let n = group * (256u / lanes) + lane / lanes;
    let base = n * p.channels;
    return Row(n, base, base + lane % lanes, select(0u, base + p.channels, n < p.rows));
}

@compute @workgroup_size(256)
fn forward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    let row = row_of(flat_group(id, groups), lane);
    let lanes = p.side * p.side;
    var sum = 0.0;
    for (var i = row.first; i < row.end; i += lanes) { sum += x[i]; }
    let m = sums_of_row(vec2<f32>(sum, 0.0), lane, p.side).x / f32(p.channels);
    var squares = 0.0;
    for (var i = row.first; i < row.end; i += lanes) { squares += (x[i] - m) * (x[i] - m); }
    let variance = sums_of_row(vec2<f32>(squares, 0.0), lane, p.side).x / f32(p.channels);
    let r = 1.0 / sqrt(variance + p.eps);
    for (var i = row.first; i < row.end; i += lanes) {
        var value = (x[i] - m) * r * w[i - row.base];
        if (p.biased == 1u) { value += b[i - row.base]; }
        y[i] = value;
    }
    if (row.first == row.base && row.n < p.rows) {
        mean[row.n] = m;
        rstd[row.n] = r;
    }
}

@compute @workgroup_size(256)
fn part(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let at = flat_group(id, groups) * 256u + lane;
    if (at >= p.blocks * p.channels) { return; }
    let block = at / p.channels;
    let c = at % p.channels;
    let first = block * p.block_rows;
    let last = min(first + p.block_rows, p.rows);
    var sum = vec2<f32>(0.0);
    for (var n = first; n < last; n++) {
        let d = dy[n * p.channels + c];
        sum += vec2<f32>(d * ((x[n * p.channels + c] - mean[n]) * rstd[n]), d);
    }
    parts[block * 2u * p.channels + c] = sum.x;
    parts[block * 2u * p.channels + p.channels + c] = sum.y;
    for (var n = first + c; n < last; n += p.channels) {
        parts[p.blocks * 2u * p.channels + 2u * n] = mean[n];
        parts[p.blocks * 2u * p.channels + 2u * n + 1u] = rstd[n];
    }
}

var<workgroup> column_sums: array<f32, 256>;

fn add_up_parts(group: u32, lane: u32) {
    let c = group * 16u + lane % 16u;
    var sum = 0.0;
    if (c < 2u * p.channels) {
        for (var k = lane / 16u; k < p.blocks; k += 16u) { sum += parts[k * 2u * p.channels + c]; }
    }
    column_sums[lane] = sum;
    workgroupBarrier();
    if (lane >= 16u) { return; }
    for (var k = lane + 16u; k < 256u; k += 16u) { sum += column_sums[k]; }
    if (c < p.channels) {
        if (p.wants_w == 1u) { dw[c] += sum; }
    } else if (c < 2u * p.channels && p.wants_b == 1u) {
        db[c - p.channels] += sum;
    }
}

// Mean and rstd of a row, backwards.
fn moments_of(n: u32) -> vec2<f32> {
    if (p.blocks == 0u) { return vec2<f32>(mean[n], rstd[n]); }
    let at = p.blocks * 2u * p.channels + 2u * n;
    return vec2<f32>(parts[at], parts[at + 1u]);
}

@compute @workgroup_size(256)
fn backward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) lane: u32) {
    let group = flat_group(id, groups);
    if (group < p.column_groups) {
        add_up_parts(group, lane);
        return;
    }
    let row = row_of(group - p.column_groups, lane);
    let lanes = p.side * p.side;
    let moments = moments_of(min(row.n, p.rows - 1u));
    let m = moments.x;
    let r = moments.y;
    var sums = vec2<f32>(0.0);
    for (var i = row.first; i < row.end; i += lanes) {
        let g = dy[i] * w[i - row.base];
        sums += vec2<f32>(g, g * ((x[i] - m) * r));
    }
    let means = sums_of_row(sums, lane, p.side) / f32(p.channels);
    for (var i = row.first; i < row.end; i += lanes) {
        var d = r * (dy[i] * w[i - row.base] - means.x - (x[i] - m) * r * means.y);
        if (p.accumulate == 1u) { d += dx[i]; }
        dx[i] = d;
    }
}
