/* More workgroups than a GPU takes along one dimension, 65,535: they are folded into two, and it does not show. Here two along a
 * dimension are the most. What is cut as well is in gpu_pieces_test.c.
 * Where POSTTRAIN_WEBGPU names no library, there is nothing to test. SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "ops/test_checks.h"

#define GROUPS 2
#define N 4099 /* floats: five workgroups */

/* The case on such a GPU, with the kernels of an emulated one and with the tuned, against ref in double. */
static void check(const op_case *c, unsigned passes, double tol)
{
    if (!getenv("POSTTRAIN_WEBGPU")) return;
    pt_error err = {0};
    op_result want, got;
    op_run(c, op_ref64(), passes, &want);
    for (int tuned = 0; tuned < 2; tuned++) {
        pt_webgpu_options options = {.software = true, .tuned = tuned, .groups = GROUPS};
        op_device d = {.label = "webgpu folded", .family = -1};
        CHECK_OK(pt_device_webgpu_new(&d.device, &options, &err), err);
        op_run(c, &d, passes, &got);
        op_compare(c, &d, &got, &want, tol, OP_LARGEST);
        op_result_free(&got);
        pt_device_free(d.device);
    }
    op_result_free(&want);
}

TEST(gelu)
{
    op_case c;
    pt_gelu_args *a = op_begin(&c, PT_OP_gelu);
    op_in(&c, &a->x, N, 0, 0, 0);
    op_out(&c, &a->y, N, 0, 0, 0);
    op_in(&c, &a->dy, N, 0, 0, 0);
    op_out(&c, &a->dx, N, 0, 0, 0);
    check(&c, OP_BOTH, 1e-6);
    op_end(&c);
}

TEST(swiglu)
{
    op_case c;
    pt_swiglu_args *a = op_begin(&c, PT_OP_swiglu);
    op_in(&c, &a->gate, N, 0, 0, 0);
    op_in(&c, &a->up, N, 0, 0, 0);
    op_out(&c, &a->y, N, 0, 0, 0);
    op_in(&c, &a->dy, N, 0, 0, 0);
    op_out(&c, &a->dgate, N, 0, 0, 0);
    op_out(&c, &a->dup, N, 0, 0, 0);
    check(&c, OP_BOTH, 1e-6);
    op_end(&c);
}

TEST(dropout)
{
    op_case c;
    pt_dropout_args *a = op_begin(&c, PT_OP_dropout);
    op_in(&c, &a->x, N, 0, 0, 0);
    op_out(&c, &a->y, N, 0, 0, 0);
    op_in(&c, &a->dy, N, 0, 0, 0);
    op_out(&c, &a->dx, N, 0, 0, 0);
    a->p = 0.3, a->seed = 11, a->first = 8, a->site = 3;
    check(&c, OP_BOTH, 1e-7);
    op_end(&c);
}

TEST(add_and_scale)
{
    op_case c;
    pt_add_args *a = op_begin(&c, PT_OP_add);
    op_in(&c, &a->a, N, 0, 0, 0);
    op_in(&c, &a->b, N, 0, 0, 0);
    op_out(&c, &a->y, N, 0, 0, 0);
    check(&c, OP_FORWARD, 1e-7);
    op_end(&c);
    pt_scale_args *s = op_begin(&c, PT_OP_scale);
    op_in(&c, &s->x, N, 0, 0, 0);
    op_out(&c, &s->y, N, 0, 0, 0);
    s->factor = 0.1;
    check(&c, OP_FORWARD, 1e-7);
    op_end(&c);
}

/* Of rows 16 to a workgroup; dw and db have one for each eight columns besides. */
TEST(layernorm)
{
    enum { ROWS = 90, C = 40 };
    op_case c;
    pt_layernorm_args *a = op_begin(&c, PT_OP_layernorm);
    op_in(&c, &a->x, ROWS, C, 0, 0);
    op_in(&c, &a->w, C, 0, 0, 0);
    op_in(&c, &a->b, C, 0, 0, 0);
    op_out(&c, &a->y, ROWS, C, 0, 0);
    op_out(&c, &a->mean, ROWS, 0, 0, 0);
    op_out(&c, &a->rstd, ROWS, 0, 0, 0);
    op_in(&c, &a->dy, ROWS, C, 0, 0);
    op_out(&c, &a->dx, ROWS, C, 0, 0);
    op_acc(&c, &a->dw, C, 0, 0, 0);
    op_acc(&c, &a->db, C, 0, 0, 0);
    a->eps = 1e-5;
    check(&c, OP_BOTH, 1e-5);
    op_end(&c);
}

TEST(rmsnorm)
{
    enum { ROWS = 90, C = 40 };
    op_case c;
    pt_rmsnorm_args *a = op_begin(&c, PT_OP_rmsnorm);
    op_in(&c, &a->x, ROWS, C, 0, 0);
    op_in(&c, &a->w, C, 0, 0, 0);
    op_out(&c, &a->y, ROWS, C, 0, 0);
    op_out(&c, &a->rstd, ROWS, 0, 0, 0);
    op_in(&c, &a->dy, ROWS, C, 0, 0);
    op_out(&c, &a->dx, ROWS, C, 0, 0);
    op_acc(&c, &a->dw, C, 0, 0, 0);
    a->eps = 1e-6;
    check(&c, OP_BOTH, 1e-5);
    op_end(&c);
}

TEST(rope)
{
    enum { B = 2, T = 17, H = 3, D = 8 };
    op_case c;
    pt_rope_args *a = op_begin(&c, PT_OP_rope);
    op_in(&c, &a->x, B, T, H, D);
    double *freq = op_in(&c, &a->freq, D / 2, 0, 0, 0);
    for (int i = 0; i < D / 2; i++) freq[i] = (double)(float)pt_pow(10000, -2.0 * i / D);
    op_out(&c, &a->y, B, T, H, D);
    op_in(&c, &a->dy, B, T, H, D);
    op_out(&c, &a->dx, B, T, H, D);
    check(&c, OP_BOTH, 1e-5);
    op_end(&c);
}

TEST(kv_store)
{
    enum { B = 3, T = 5, G = 2, D = 16, PLACES = 9 };
    op_case c;
    pt_kv_store_args *a = op_begin(&c, PT_OP_kv_store);
    op_in(&c, &a->k, B, T, G, D);
    op_in(&c, &a->v, B, T, G, D);
    op_acc(&c, &a->cache_k, B, G, PLACES, D);
    op_acc(&c, &a->cache_v, B, G, PLACES, D);
    double *offset = op_ints(&c, &a->offset, B, 0);
    for (int i = 0; i < B; i++) offset[i] = i;
    check(&c, OP_FORWARD, 1e-7);
    op_end(&c);
}

TEST(attention)
{
    enum { B = 2, T = 40, H = 4, G = 2, D = 8 };
    op_case c;
    pt_attention_args *a = op_begin(&c, PT_OP_attention);
    op_in(&c, &a->q, B, T, H, D);
    op_in(&c, &a->k, B, T, G, D);
    op_in(&c, &a->v, B, T, G, D);
    op_out(&c, &a->o, B, T, H, D);
    op_out(&c, &a->lse, B, H, T, 0);
    op_in(&c, &a->d_o, B, T, H, D);
    op_out(&c, &a->dq, B, T, H, D);
    op_out(&c, &a->dk, B, T, G, D);
    op_out(&c, &a->dv, B, T, G, D);
    op_work(&c, &a->delta, B, H, T, 0);
    check(&c, OP_BOTH, 1e-5);
    op_end(&c);
}

/* One query over a cache, a workgroup for each head and row. */
TEST(attention_over_a_cache)
{
    enum { B = 3, H = 4, G = 2, D = 8, PLACES = 20 };
    op_case c;
    pt_attention_args *a = op_begin(&c, PT_OP_attention);
    op_in(&c, &a->q, B, 1, H, D);
    op_in(&c, &a->k, B, G, PLACES, D);
    op_in(&c, &a->v, B, G, PLACES, D);
    op_out(&c, &a->o, B, 1, H, D);
    double *offset = op_ints(&c, &a->offset, B, 0);
    for (int i = 0; i < B; i++) offset[i] = 5 * i + 3;
    a->cached = true;
    check(&c, OP_FORWARD, 1e-5);
    op_end(&c);
}

PT_TEST_MAIN
