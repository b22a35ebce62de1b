// The thread's vectors of the tiles at k0, on their way; and where the next tiles' are.
// repeat i LOADS_A
next_a$i = a4[from_a$i];
from_a$i += step_a;
// end
// repeat i LOADS_B
next_b$i = b4[from_b$i];
from_b$i += step_b;
if (MASK_K == 1u) {
    if (masked(k0 + at_b$i / N4)) { next_b$i = vec4<f32>(); }
}
// end
