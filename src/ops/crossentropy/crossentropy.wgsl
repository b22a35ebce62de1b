// The chunked head's softmax: a workgroup of 256 for each row of the logits.
// `forward` writes logp and lse; `backward` also turns the row of logits into dL/dz. Rows whose target is negative are masked.

struct P { v: u32, ld: u32, first: u32, flags: u32 } // a row of v logits, and from one to the next
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> logits: array<f32>;
@group(0) @binding(2) var<storage, read_write> target_id: array<i32>;
@group(0) @binding(3) var<storage, read_write> logp: array<f32>;
@group(0) @binding(4) var<storage, read_write> lse: array<f32>;
@group(0) @binding(5) var<storage, read_write> coef: array<f32>;

const HAS_LOGP: u32 = 1u;
const HAS_LSE: u32 = 2u;

var<workgroup> partial: array<f32, 256>;

fn largest_of_all(mine: f32, thread: u32) -> f32 {
    partial[thread] = mine;
    workgroupBarrier();
    for (var half = 128u; half > 0u; half >>= 1u) {
        if (thread < half) { partial[thread] = max(partial[thread], partial[thread + half]); }
        workgroupBarrier();
    }
    let all = partial[0];
    workgroupBarrier();
    return all;
}

fn sum_of_all(mine: f32, thread: u32) -> f32 {
    partial[thread] = mine;
    workgroupBarrier();
    for (var half = 128u; half > 0u; half >>= 1u) {
        if (thread < half) { partial[thread] += partial[thread + half]; }
        workgroupBarrier();
    }
    let all = partial[0];
    workgroupBarrier();
    return all;
}

fn row_lse(row: u32, thread: u32) -> f32 {
    var most = logits[row * p.ld];
    for (var i = thread; i < p.v; i += 256u) { most = max(most, logits[row * p.ld + i]); }
    most = largest_of_all(most, thread);
    var sum = 0.0;
    for (var i = thread; i < p.v; i += 256u) { sum += exp(logits[row * p.ld + i] - most); }
    return most + log(sum_of_all(sum, thread));
}

fn tell(row: u32, id: i32, row_lse: f32) {
    let n = p.first + row;
    let masked = id < 0;
    if ((p.flags & HAS_LSE) != 0u) { lse[n] = select(row_lse, 0.0, masked); }
    if ((p.flags & HAS_LOGP) != 0u) {
        if (masked) { logp[n] = 0.0; } else { logp[n] = logits[row * p.ld + u32(id)] - row_lse; }
    }
}

@compute @workgroup_size(256)
fn forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let row = group.x;
    let log_sum = row_lse(row, thread);
    if (thread == 0u) { tell(row, target_id[p.first + row], log_sum); }
}

@compute @workgroup_size(256)
fn backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let row = group.x;
    let id = target_id[p.first + row];
    let log_sum = row_lse(row, thread);
    if (thread == 0u) { tell(row, id, log_sum); }
    storageBarrier();
    workgroupBarrier();
    let factor = coef[p.first + row];
    for (var i = thread; i < p.v; i += 256u) {
        let hit = select(0.0, 1.0, i32(i) == id);
        let dz = factor * (hit - exp(logits[row * p.ld + i] - log_sum));
        logits[row * p.ld + i] = select(dz, 0.0, id < 0);
    }
}
