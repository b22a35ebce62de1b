// Rotary positions: a thread turns one pair of channels of some heads of a token, by an angle that it computes once.
//
// The angle is kept as a part of a whole turn, in fixed point. First freq / (2 pi), times 2^64, whole turns dropped:
// the
// 24 bits of freq's mantissa times 96 bits of 1 / (2 pi), shifted by its exponent. That times the position, an integer,
// drops whole turns again as it overflows, and is off by less than a 2^-33rd of a turn at any position. Sine and cosine
// of what lies within an eighth of a turn of a quarter are polynomials.

struct P {
    rows: u32, times: u32, heads: u32, pairs: u32, // B T, T, H, D/2
    heads_each: u32, // heads of a thread
    interleaved: u32, back: u32, has_offset: u32, has_start: u32,
}
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> freq: array<f32>;
@group(0) @binding(4) var<storage, read_write> offset: array<i32>;
@group(0) @binding(5) var<storage, read_write> doc_start: array<i32>;

// 2^96 / (2 pi), lowest word first.
const PER_TURN = array<u32, 3>(0x7f09d5f4u, 0x9391054au, 0x28be60dbu);

// a b, as low and high word.
fn wide(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u); // fits: (2^16 - 1)^2 + 2^16 - 1 < 2^32
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return vec2<u32>((other << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u));
}

// The lowest word of (high, low) shifted down by 0 to 31.
fn shifted(low: u32, high: u32, by: u32) -> u32 {
    return select((low >> by) | (high << ((32u - by) & 31u)), low, by == 0u);
}

// |f| / (2 pi) times 2^64 without whole turns, as low and high word.
fn turns_of(f: f32) -> vec2<u32> {
    let bits = bitcast<u32>(f);
    let exponent = (bits >> 23u) & 0xffu;
    var mantissa = bits & 0x7fffffu;
    if (exponent > 0u) { mantissa |= 0x800000u; }
    let a = wide(mantissa, PER_TURN[0]);
    let b = wide(mantissa, PER_TURN[1]);
    let c = wide(mantissa, PER_TURN[2]);
    // their sum, each one word above the last; the words above it are 0
    var word = array<u32, 6>(a.x, a.y + b.x, b.y + c.x, c.y, 0u, 0u);
    let carry = select(0u, 1u, word[1] < b.x);
    word[2] += carry;
    word[3] += select(0u, 1u, b.y + c.x < c.x) + select(0u, 1u, word[2] < carry);
    // f = mantissa 2^(exponent - 150), and the sum is 2^96 times too large, not 2^64 times
    let shift = clamp(182 - i32(max(exponent, 1u)), 0, 127);
    let first = u32(shift) / 32u;
    let by = u32(shift) % 32u;
    return vec2<u32>(shifted(word[first], word[first + 1u], by), shifted(word[first + 1u], word[first + 2u], by));
}

// Cosine and sine of position * f.
fn turn(position: i32, f: f32) -> vec2<f32> {
    let unit = turns_of(f);
    let n = u32(abs(position));
    let part = wide(n, unit.x).y + n * unit.y; // of 2^32
    let quarter = (part + 0x20000000u) >> 30u;
    let angle = f32(bitcast<i32>(part - (quarter << 30u))) * 1.4629180792671596e-9; // 2 pi / 2^32
    let z = angle * angle;
    let sine = angle + angle * z * (-1.6666667e-1 + z * (8.3333333e-3 + z * (-1.9841270e-4 + z * 2.7557319e-6)));
    let cosine = 1.0 - z * (0.5 + z * (-4.1666667e-2 + z * (1.3888889e-3 + z * (-2.4801587e-5 + z * 2.7557319e-7))));
    var both = vec2<f32>(cosine, sine);
    if ((quarter & 1u) != 0u) { both = vec2<f32>(-both.y, both.x); }
    if ((quarter & 2u) != 0u) { both = -both; }
    if ((position < 0) != (f < 0.0)) { both.y = -both.y; }
    return both;
}

@compute @workgroup_size(64)
fn rope(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) index: u32) {
    let thread = flat_group(id, groups) * 64u + index; // (row, block of heads, pair)
    let blocks = (p.heads + p.heads_each - 1u) / p.heads_each;
    let pair = thread % p.pairs;
    let row = thread / p.pairs / blocks;
    if (row >= p.rows) { return; }
    var position = i32(row % p.times);
    if (p.has_offset != 0u) { position += offset[row / p.times]; }
    if (p.has_start != 0u) { position -= doc_start[row]; }
    var by = turn(position, freq[pair]);
    if (p.back != 0u) { by.y = -by.y; }
    let first_head = thread / p.pairs % blocks * p.heads_each;
    for (var h = first_head; h < min(first_head + p.heads_each, p.heads); h++) {
        let head = (row * p.heads + h) * 2u * p.pairs;
        let i = head + select(pair, 2u * pair, p.interleaved != 0u);
        let j = select(i + p.pairs, i + 1u, p.interleaved != 0u);
        let a = x[i];
        let b = x[j];
        y[i] = a * by.x - b * by.y;
        y[j] = b * by.x + a * by.y;
    }
}
