// What every shader may use.

// The index of a workgroup of a dispatch that was given by one number.
fn flat_group(id: vec3<u32>, groups: vec3<u32>) -> u32 {
    return id.y * groups.x + id.x;
}

// Neither infinite nor NaN. A compiler may take floats for finite, so only their bits can tell.
fn is_finite(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

// Four elements of a workgroup of 256, for one that has 1024: neighbours read neighbours, and four reads are under way.
fn four_of(group: u32, lane: u32) -> vec4<u32> {
    return group * 1024u + lane + vec4<u32>(0u, 256u, 512u, 768u);
}

// ---- packed weights: tensor/packed.h ----

// Four bytes of a word, as numbers from -128 to 127.
fn signed_bytes(word: u32) -> vec4<f32> {
    return vec4<f32>(vec4<i32>(vec4<u32>(word) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u));
}

// The bf16 in the lower or upper half (0, 1) of a word.
fn bf16_of(word: u32, half: u32) -> f32 {
    return bitcast<f32>(select(word << 16u, word & 0xffff0000u, half == 1u));
}

// ---- sums in more than f32: (whole, what its roundings lost) ----

// x as it was rounded: compilers that take (a + b) - a for b cannot look through this. The word is 0, which only the host knows.
fn rounded(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ p.at_[2].w);
}

fn add_sums(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let whole = rounded(a.x + b.x);
    let part = rounded(whole - a.x);
    return vec2<f32>(whole, a.y + b.y + ((a.x - (whole - part)) + (b.x - part)));
}

// Where a sum is not finite, what it lost is no number.
fn rounded_sum(s: vec2<f32>) -> f32 {
    return select(s.x, s.x + s.y, is_finite(s.x));
}

fn upper_half(a: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(a) & 0xfffff000u); // 12 bits: their products are exact
}

// a * b, and what its rounding lost.
fn whole_product(a: f32, b: f32) -> vec2<f32> {
    let whole = rounded(a * b);
    let a_high = upper_half(a);
    let b_high = upper_half(b);
    let a_low = a - a_high;
    let b_low = b - b_high;
    return vec2<f32>(whole, (((a_high * b_high - whole) + a_high * b_low) + a_low * b_high) + a_low * b_low);
}

// a * (factor.x + factor.y), rounded once.
fn times(a: f32, factor: vec2<f32>) -> f32 {
    let product = whole_product(a, factor.x);
    return rounded_sum(vec2<f32>(product.x, product.y + a * factor.y));
}

var<workgroup> group_sums: array<vec2<f32>, 256>;

// The sum over a workgroup of 256, for its lane 0.
fn sum_of_group(s: vec2<f32>, lane: u32) -> vec2<f32> {
    group_sums[lane] = s;
    workgroupBarrier();
    var sum = s;
    if (lane < 16u) {
        for (var k = lane + 16u; k < 256u; k += 16u) {
            sum = add_sums(sum, group_sums[k]);
        }
        group_sums[lane] = sum;
    }
    workgroupBarrier();
    if (lane == 0u) {
        for (var k = 1u; k < 16u; k++) {
            sum = add_sums(sum, group_sums[k]);
        }
    }
    return sum;
}

// ---- sums over rows: side * side lanes are a row, and 256 a workgroup. Every lane gets its row's two sums.

var<workgroup> row_parts: array<vec2<f32>, 256>;
var<workgroup> row_sums: array<vec2<f32>, 64>;

fn sums_of_row(value: vec2<f32>, lane: u32, side: u32) -> vec2<f32> {
    let within = lane % (side * side);
    let first = lane - within;
    row_parts[lane] = value;
    workgroupBarrier();
    if (within < side) {
        var column = vec2<f32>(0.0);
        for (var k = 0u; k < side; k++) {
            column += row_parts[first + within + k * side];
        }
        row_sums[first / side + within] = column;
    }
    workgroupBarrier();
    var sum = vec2<f32>(0.0);
    for (var k = 0u; k < side; k++) {
        sum += row_sums[first / side + k];
    }
    return sum;
}
