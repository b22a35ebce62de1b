/* The same functions compiled strictly, whatever the rest of the build is: their bits must agree across
 * instruction sets. SPDX-License-Identifier: MIT */
#undef PT_STRICT
#define PT_STRICT 1
#define PT_SIMD_MATHS_NAME simd_maths_strict
#include "device/cpu/simd_maths_selftest_cpu.c"
