// Token and position embedding. Forwards a thread has four elements. The gradient of a table's row is a sum over the
// tokens that read it, in their order: `rank` finds each token's place among all of them, ordered by row and then by
// index, and `sum` adds up each run of one row, a workgroup for 64 channels of it. SPDX-License-Identifier: MIT
struct P { tokens: u32, channels: u32, time: u32, first_row: u32, rows: u32, // rows of the token table in this call
           placed: u32, started: u32, moved: u32, // 1: position, doc_start, offset are there
           first_table: u32, tables: u32, // 0: tokens, 1: positions
           stored: u32, row: u32, scales: u32 } // token: 0 f32, else packed, 1 f16, 2 int8; words of a row, and to its scales
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> ids: array<i32>;
@group(0) @binding(2) var<storage, read_write> token: array<f32>;
@group(0) @binding(3) var<storage, read_write> position: array<f32>;
@group(0) @binding(4) var<storage, read_write> doc_start: array<i32>;
@group(0) @binding(5) var<storage, read_write> offset: array<i32>;
@group(0) @binding(6) var<storage, read_write> x: array<f32>;
@group(0) @binding(7) var<storage, read_write> dx: array<f32>;
@group(0) @binding(8) var<storage, read_write> dtoken: array<f32>;
@group(0) @binding(9) var<storage, read_write> dposition: array<f32>;
// Per table and place: the token, and its row.
@group(0) @binding(10) var<storage, read_write> ordered: array<u32>;
@group(0) @binding(11) var<storage, read_write> packed_token: array<u32>;

fn place_of(n: u32) -> u32 {
    var place = i32(n % p.time);
    if (p.moved == 1u) { place += offset[n / p.time]; }
    if (p.started == 1u) { place -= doc_start[n]; }
    return u32(place);
}

// Of the table's rows in this call.
fn token_at(row: u32, c: u32) -> f32 {
    if (p.stored == 0u) { return token[row * p.channels + c]; }
    let first = row * p.row;
    if (p.stored == 1u) { return unpack2x16float(packed_token[first + c / 2u])[c % 2u]; }
    let scale = bf16_of(packed_token[first + p.scales + c / 64u], c / 32u % 2u);
    return signed_bytes(packed_token[first + c / 4u])[c % 4u] * scale;
}

fn value_of(i: u32) -> f32 {
    let n = i / p.channels;
    let c = i % p.channels;
    let row = min(u32(ids[n]) - p.first_row, p.rows - 1u); // what other calls have is not used
    var value = token_at(row, c);
    if (p.placed == 1u) { value += position[place_of(n) * p.channels + c]; }
    return value;
}

@compute @workgroup_size(256)
fn forward(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    let all = p.tokens * p.channels;
    let at = four_of(flat_group(id, groups), lane);
    let i = min(at, vec4<u32>(all - 1u));
    let value = vec4<f32>(value_of(i.x), value_of(i.y), value_of(i.z), value_of(i.w));
    for (var k = 0u; k < 4u; k++) {
        if (at[k] < all && u32(ids[i[k] / p.channels]) - p.first_row < p.rows) { x[at[k]] = value[k]; }
    }
}

const ROW_OF_NONE = 0xffffffffu;

fn row_of(table: u32, n: u32) -> u32 {
    if (n >= p.tokens) { return ROW_OF_NONE; }
    if (table == 0u) { return u32(ids[n]); }
    return place_of(n);
}

// 32 tokens of a workgroup, each compared with all of them: by 8 threads, which see an eighth of every tile.
var<workgroup> tile: array<vec4<u32>, 256>;
var<workgroup> counts: array<u32, 256>;

@compute @workgroup_size(256)
fn rank(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let blocks = (p.tokens + 31u) / 32u;
    let group = flat_group(id, groups);
    let table = p.first_table + group / blocks;
    let n = (group % blocks) * 32u + lane % 32u;
    let row = row_of(table, n);
    let share = lane / 32u;
    var before = vec4<u32>(0u);
    for (var first = 0u; first < p.tokens; first += 1024u) {
        let mine = first + lane * 4u;
        workgroupBarrier();
        tile[lane] = vec4<u32>(row_of(table, mine), row_of(table, mine + 1u), row_of(table, mine + 2u),
                               row_of(table, mine + 3u));
        workgroupBarrier();
        for (var k = share * 32u; k < share * 32u + 32u; k++) {
            let others = first + k * 4u + vec4<u32>(0u, 1u, 2u, 3u);
            let limit = row + select(vec4<u32>(0u), vec4<u32>(1u), others < vec4<u32>(n));
            before += select(vec4<u32>(0u), vec4<u32>(1u), tile[k] < limit);
        }
    }
    counts[lane] = before.x + before.y + before.z + before.w;
    workgroupBarrier();
    if (share == 0u && n < p.tokens && table < p.tables) {
        var place = table * p.tokens;
        for (var k = lane; k < 256u; k += 32u) { place += counts[k]; }
        ordered[2u * place] = n;
        ordered[2u * place + 1u] = row;
    }
}

// The addend at a place of the order.
fn addend(place: u32, c: u32) -> f32 {
    return dx[ordered[2u * place] * p.channels + c];
}

@compute @workgroup_size(64)
fn sum(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
       @builtin(local_invocation_index) lane: u32) {
    let slabs = (p.channels + 63u) / 64u;
    let group = flat_group(id, groups);
    let c = (group % slabs) * 64u + lane;
    var at = p.first_table * p.tokens + group / slabs;
    let table = at / p.tokens;
    let end = (table + 1u) * p.tokens;
    if (c >= p.channels || table >= p.tables) { return; }
    let row = ordered[2u * at + 1u];
    if (at > table * p.tokens && ordered[2u * at - 1u] == row) { return; } // not the first of its run
    if (table == 0u && row - p.first_row >= p.rows) { return; }
    var total = 0.0;
    for (; at + 8u <= end && ordered[2u * at + 15u] == row; at += 8u) { // eight reads are under way
        let a = vec4<f32>(addend(at, c), addend(at + 1u, c), addend(at + 2u, c), addend(at + 3u, c));
        let b = vec4<f32>(addend(at + 4u, c), addend(at + 5u, c), addend(at + 6u, c), addend(at + 7u, c));
        total = (((total + a.x) + a.y) + a.z) + a.w;
        total = (((total + b.x) + b.y) + b.z) + b.w;
    }
    for (; at < end && ordered[2u * at + 1u] == row; at++) { total += addend(at, c); }
    if (table == 0u) { dtoken[(row - p.first_row) * p.channels + c] += total; }
    else { dposition[row * p.channels + c] += total; }
}
