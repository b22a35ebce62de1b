/* A kernel of the ladder on trial: products whose results are known, twice, before it is used.
 *
 * The products are few and small, and between them have what a kernel can get wrong: A and B stored either way, M, N and K that no
 * tile divides, several workgroups along M and N, elements read one by one and by fours, a bias, what C held, slices of k, masked
 * rows, rows further apart than they are long. The results are the host's, in double, within the tolerance of linear.h; what lies
 * between the rows of C must stay; and two runs must agree in every bit. matmul.wgsl writes single components of vectors in
 * workgroup memory from several threads, which WGSL lets an implementation get wrong: this is what stands guard.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_SELFTEST_H
#define PT_DEVICE_WEBGPU_SELFTEST_H

#include "device/webgpu/matmul.h"

typedef enum pt_wg_verdict {
    PT_WG_UNTRIED,
    PT_WG_RIGHT,
    PT_WG_NOT_COMPILED,
    PT_WG_TOO_SLOW, /* to compile */
    PT_WG_WRONG,
    PT_WG_UNSTEADY, /* right, but other bits each time */
    PT_WG_VERDICTS
} pt_wg_verdict;
/* "does not compile", … */
const char *pt_wg_verdict_words(pt_wg_verdict verdict);

typedef struct pt_wg_selftest pt_wg_selftest;
/* Errors: NO_MEMORY. */
pt_status pt_wg_selftest_new(pt_wg_selftest **out, pt_device *device, pt_error *err);
void pt_wg_selftest_free(pt_wg_selftest *test); /* NULL is fine */
/* Puts a kernel on trial with some of the products, by bit, when the last one has its verdict. Its programs stay compiled if it
 * passes. */
pt_status pt_wg_selftest_begin(pt_wg_selftest *test, const pt_wg_tile *tile, unsigned products,
                               pt_error *err);
/* PT_PENDING; PT_OK with its verdict; or an error of the GPU. */
pt_status pt_wg_selftest_poll(pt_wg_selftest *test, pt_wg_verdict *verdict, pt_error *err);

/* The products of the trial, of which some are timed at other sizes. */
#define PT_WG_TRIALS 7
#define PT_WG_ALL_TRIALS ((1u << PT_WG_TRIALS) - 1)
/* Of `m` x `n` x `k`; the matrices' tensors must be there, the bias with n elements. The first three are PT_WG_NN, NT and TN by fours, the
 * next three the same one by one. */
typedef struct pt_wg_operands {
    pt_tensor a, b, c, bias, mask;
} pt_wg_operands;
pt_wg_product pt_wg_trial_product(int trial, const pt_wg_operands *operands, int64_t m, int64_t n,
                                  int64_t k);

#endif
