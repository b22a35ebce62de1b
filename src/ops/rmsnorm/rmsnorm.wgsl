// RMS normalisation. Rows are summed by side * side lanes each (sums_of_row). Backwards the sums over rows are begun by
// `part`, a thread per column and block of rows, and ended by `backward`: its first workgroups add up the parts of 16
// columns each, the others have rows. SPDX-License-Identifier: MIT
struct P { rows: u32, channels: u32, side: u32, eps: f32, accumulate: u32, blocks: u32, block_rows: u32,
           column_groups: u32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> w: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read_write> rstd: array<f32>;
@group(0) @binding(5) var<storage, read_write> dy: array<f32>;
@group(0) @binding(6) var<storage, read_write> dx: array<f32>;
@group(0) @binding(7) var<storage, read_write> dw: array<f32>;
@group(0) @binding(8) var<storage, read_write> parts: array<f32>; // (blocks, channels)

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
    var squares = 0.0;
    for (var i = row.first; i < row.end; i += lanes) { squares += x[i] * x[i]; }
    let mean = sums_of_row(vec2<f32>(squares, 0.0), lane, p.side).x / f32(p.channels);
    let r = 1.0 / sqrt(mean + p.eps);
    for (var i = row.first; i < row.end; i += lanes) { y[i] = x[i] * r * w[i - row.base]; }
    if (row.first == row.base && row.n < p.rows) { rstd[row.n] = r; }
}

@compute @workgroup_size(256)
fn part(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let at = flat_group(id, groups) * 256u + lane;
    if (at >= p.blocks * p.channels) { return; }
    let first = at / p.channels * p.block_rows;
    var sum = 0.0;
    for (var n = first; n < min(first + p.block_rows, p.rows); n++) {
        let i = n * p.channels + at % p.channels;
        sum += dy[i] * x[i] * rstd[n];
    }
    parts[at] = sum;
}

var<workgroup> column_sums: array<f32, 256>;

fn add_up_parts(group: u32, lane: u32) {
    let c = group * 16u + lane % 16u;
    var sum = 0.0;
    if (c < p.channels) {
        for (var b = lane / 16u; b < p.blocks; b += 16u) { sum += parts[b * p.channels + c]; }
    }
    column_sums[lane] = sum;
    workgroupBarrier();
    if (lane >= 16u || c >= p.channels) { return; }
    for (var k = lane + 16u; k < 256u; k += 16u) { sum += column_sums[k]; }
    dw[c] += sum;
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
    var products = 0.0;
    for (var i = row.first; i < row.end; i += lanes) { products += dy[i] * w[i - row.base] * x[i]; }
    let mean = sums_of_row(vec2<f32>(products, 0.0), lane, p.side).x / f32(p.channels);
    let r = rstd[min(row.n, p.rows - 1u)];
    let of_x = r * r * mean;
    for (var i = row.first; i < row.end; i += lanes) {
        var d = r * (dy[i] * w[i - row.base] - x[i] * of_x);
        if (p.accumulate == 1u) { d += dx[i]; }
        dx[i] = d;
    }
}
