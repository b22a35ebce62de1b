// The sums, plus column $k of A's tile times row $k of B's: of the vectors a$i and b$j.
// repeat i TM4
// repeat j TN4
x$i_$j = fma(vec4<f32>(a$i.x), b$j, x$i_$j);
// end
// repeat j TN4
y$i_$j = fma(vec4<f32>(a$i.y), b$j, y$i_$j);
// end
// repeat j TN4
z$i_$j = fma(vec4<f32>(a$i.z), b$j, z$i_$j);
// end
// repeat j TN4
w$i_$j = fma(vec4<f32>(a$i.w), b$j, w$i_$j);
// end
// end
