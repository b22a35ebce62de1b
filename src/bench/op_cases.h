/* Arguments for every op at given sizes. SPDX-License-Identifier: MIT */
#ifndef PT_BENCH_OP_CASES_H
#define PT_BENCH_OP_CASES_H

#include "bench/measure.h"

typedef struct pt_bench_sizes {
    const char *name;
    int64_t B, T, C, H, F, V;
    int64_t P; /* parameters, for what runs over all of them */
} pt_bench_sizes;

typedef struct pt_bench_op_case {
    const pt_bench_sizes *sizes;
    pt_bench_memory memory;
    union {
        max_align_t align;
        char bytes[PT_OP_MAX_ARGS_BYTES];
    } args;
    char shape[48];
    /* Per pass: nominal operations, and f32 elements read or written, each once. */
    double flop[PT_PASS_COUNT], elements[PT_PASS_COUNT];
} pt_bench_op_case;

/* Makes the tensors, both passes' in one; check case->memory.status. Release case->memory afterwards. */
void pt_bench_op_case_make(pt_bench_op_case *c, pt_op op);

#endif
