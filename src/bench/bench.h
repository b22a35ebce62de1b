/* Measuring: how fast the products, the ops and whole training steps are on this machine, beside what it can do at most.
 *
 * Every figure is taken from blocks of calls, after a warm-up, on random data. Between two blocks the processor's peak is
 * measured for about a millisecond, so a figure can be judged by what the machine gave in that moment. That is fair while
 * other work takes a steady part of the machine, not where more threads want to run than there are processors.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BENCH_BENCH_H
#define PT_BENCH_BENCH_H

#include "device/device.h"
#include "model/config.h"

/* Values of repeated blocks. The quantiles are set by pt_bench_settle. */
typedef struct pt_bench_samples {
    double *value;
    int64_t n, capacity;
    double median, p10, p90, least, most;
} pt_bench_samples;

/* One figure. Amounts are per call; 0 = does not apply. */
typedef struct pt_bench_row {
    char name[40];  /* "NT", "gelu backward", "reference" */
    char shape[48]; /* "M2048 128->512" */
    pt_dtype dtype; /* of its products: which peak it is compared with */
    int threads;
    int neighbours; /* busy processes beside it */
    double flop;    /* exact count of the products, see the kinds below */
    double flop_6n; /* train: 6 times parameters times tokens */
    double bytes;   /* each tensor read or written once */
    double tokens;
    double params;
    pt_bench_samples seconds; /* of one call, per block */
    pt_bench_samples beside;  /* peak, flop per second, measured between the blocks */
    bool has_split; /* seconds of one step by op; a time includes the host work before its launch */
    double split[PT_OP_COUNT][PT_PASS_COUNT], split_rest;
    /* From the medians. Shares are 0 … 1. */
    double flop_rate, flop_rate_6n, byte_rate, token_rate;
    double
        of_peak; /* flop_rate to the best block of the peak at the start, same number of threads */
    double of_beside;    /* flop_rate to the peak beside it */
    double of_bandwidth; /* byte_rate to the best triad; above 1 when the data stays in cache */
    double
        speed_up; /* threads: time with 1 thread to this time, same neighbours, median of rounds */
} pt_bench_row;

/* The processor's limits with some number of threads, in its instruction set. */
typedef struct pt_bench_limit {
    int threads;
    pt_bench_samples flop_rate;      /* multiply-adds on registers alone */
    pt_bench_samples flop_rate_bf16; /* the same of bf16; empty where the device has no bf16 */
    pt_bench_samples
        byte_rate; /* a = b + s c on arrays of options.array_bytes each, 3 arrays counted */
} pt_bench_limit;

typedef struct pt_bench_options {
    double
        seconds; /* of timed work per figure, at least; a longest call runs 3 times all the same */
    int64_t array_bytes;
    const char *only;    /* figures whose name or shape has this text; NULL = all */
    const char *presets; /* train, threads: "tiny,small"; NULL = the kind's own list */
    bool bf16;           /* train, threads: activations in bf16 instead of f32 */
    /* threads: a device with so many threads; and one more busy process, or its end. */
    void *ctx;
    pt_status (*device_new)(void *ctx, int threads, pt_device **out, pt_error *err);
    pt_status (*neighbour)(void *ctx, bool start, pt_error *err);
    void (*ready)(void *ctx, const pt_bench_row *row); /* a figure is complete; may be NULL */
} pt_bench_options;

typedef struct pt_bench {
    pt_device *device; /* cpu, or a GPU, which has no limits to compare with; borrowed */
    pt_bench_options options;
    pt_bench_limit alone, all;
    pt_bench_row **rows;
    int64_t n_rows, capacity;
} pt_bench;

/* Takes the limits. Errors: BAD_INPUT for options, NO_MEMORY. */
pt_status pt_bench_begin(pt_bench *bench, pt_device *device, const pt_bench_options *options,
                         pt_error *err);
void pt_bench_end(pt_bench *bench); /* frees; zeroed is fine */

/* The three products of a linear layer, at the shapes of the presets and of GPT-2, by the linear op, in f32 and, where the
 * device has it, in bf16 ("NT bf16"):
 *   NT  y = x w^T (forward)    NN  dx = dy w    TN  dw += dy^T x     each 2 M N K operations */
pt_status pt_bench_gemm(pt_bench *bench, pt_error *err);
/* Every kernel of a GPU for products of matrices, C = A B of square matrices. For the device webgpu only. */
pt_status pt_bench_matmul(pt_bench *bench, pt_error *err);
/* Every op of ops.def, forwards and backwards, at the shapes of reference and gpt2. Operations are nominal: an elementary
 * function counts as one. */
pt_status pt_bench_ops(pt_bench *bench, pt_error *err);
/* Whole training steps: presets tiny … xl, reference, gpt2. Operations: pt_bench_step_flop. */
pt_status pt_bench_train(pt_bench *bench, pt_error *err);
/* A token of one text, presets reference and gpt2, with weights in f32 and, where the device has them, packed: f16 and int8. bytes:
 * the weights that every token reads. Operations: two for each of them. */
pt_status pt_bench_decode(pt_bench *bench, pt_error *err);
/* The same step with 1 … all threads, alone and beside a busy process, in turns. */
pt_status pt_bench_threads(pt_bench *bench, pt_error *err);

/* Operations of the products of one step on B windows of T tokens, forwards and backwards, without anything elementwise and without
 * what attention's backward pass computes again:
 *   6 B T W + 6 B L H D T (T+1)
 * W: weights of the linear layers and of the head, which every token meets (embeddings, norms and biases are not products).
 * Per query, (T+1)/2 keys on average: causal attention computes no more. */
double pt_bench_step_flop(const pt_model_config *config, int64_t B, int64_t T);

#endif
