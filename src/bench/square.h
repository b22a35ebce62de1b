/* Products of square matrices, to be timed. SPDX-License-Identifier: MIT */
#ifndef PT_BENCH_SQUARE_H
#define PT_BENCH_SQUARE_H

#include "bench/measure.h"

#define PT_BENCH_LINEAR (-1) /* as a kernel */
#define PT_BENCH_MOST_SQUARE (1 << 14)

typedef struct pt_bench_square {
    int kernel; /* of the GPU (pt_device_webgpu_kernel): C = A B; or the linear op: y = x w^T */
    int64_t n;  /* 0: nothing is there */
    pt_bench_memory memory;
    pt_tensor a, b, c; /* f32 (n,n), random */
} pt_bench_square;

/* Makes the matrices, in place of those of another size or device. Errors: NO_MEMORY; there are none then. */
pt_status pt_bench_square_make(pt_bench_square *square, pt_device *device, int64_t n,
                               pt_error *err);
void pt_bench_square_release(pt_bench_square *square); /* zeroed is fine */
/* Operations of one product. */
double pt_bench_square_flop(int64_t n);
/* One product; ctx: the square. Of pt_bench_work. */
pt_status pt_bench_square_call(void *ctx, pt_error *err);

#endif
