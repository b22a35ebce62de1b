// What every shader may use.
const GROUP_ROW: u32 = 65535u; // most workgroups of a dimension

// The index of a workgroup of a dispatch that was given by one number.
fn flat_group(id: vec3<u32>, groups: vec3<u32>) -> u32 {
    return id.y * groups.x + id.x;
}

// Neither infinite nor NaN. A compiler may take floats for finite, so only their bits can tell.
fn is_finite(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}
