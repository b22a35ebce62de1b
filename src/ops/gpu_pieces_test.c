/* A GPU that binds less than a tensor takes: ops on flat arrays and tables are cut into pieces, and it does not show.
 * Where POSTTRAIN_WEBGPU names no library, there is nothing to test. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

#define BINDING 16384 /* bytes: pieces of 3072 floats */
#define N 10007       /* floats: four pieces */

/* The case on such a GPU, aligned, and skewed with its workgroups folded, against ref in double. */
static void check(const op_case *c, unsigned passes, double tol, op_match match)
{
    if (!getenv("POSTTRAIN_WEBGPU")) return;
    pt_error err = {0};
    for (int skew = 0; skew < 2; skew++) {
        pt_webgpu_options options = {
            .software = true, .binding_bytes = BINDING, .groups = skew ? 2 : 0};
        op_device d = {.label = "webgpu in pieces", .family = -1, .skew = skew};
        op_result want, got;
        CHECK_OK(pt_device_webgpu_new(&d.device, &options, &err), err);
        op_run(c, op_ref64(), passes, &want);
        op_run(c, &d, passes, &got);
        op_compare(c, &d, &got, &want, tol, match);
        op_result_free(&want);
        op_result_free(&got);
        pt_device_free(d.device);
    }
}

TEST(add)
{
    op_case c;
    pt_add_args *a = op_begin(&c, PT_OP_add);
    op_in(&c, &a->a, N, 0, 0, 0);
    op_in(&c, &a->b, N, 0, 0, 0);
    op_out(&c, &a->y, N, 0, 0, 0);
    check(&c, OP_FORWARD, 6e-8, OP_EACH);
    op_end(&c);
}

TEST(scale)
{
    op_case c;
    pt_scale_args *a = op_begin(&c, PT_OP_scale);
    op_in(&c, &a->x, N, 0, 0, 0);
    op_out(&c, &a->y, N, 0, 0, 0);
    a->factor = 0.1;
    check(&c, OP_FORWARD, 6e-8, OP_EACH);
    op_end(&c);
}

TEST(sqnorm)
{
    op_case c;
    pt_sqnorm_args *a = op_begin(&c, PT_OP_sqnorm);
    op_in(&c, &a->x, N, 0, 0, 0);
    op_acc(&c, &a->state, PT_STATE_COUNT, 0, 0, 0);
    c.data[1][PT_STATE_SQNORM] = 2;
    check(&c, OP_FORWARD, 1e-7, OP_EACH);
    op_end(&c);
}

TEST(check_finite)
{
    for (int64_t at = 0; at < N; at += 1111) {
        op_case c;
        pt_check_finite_args *a = op_begin(&c, PT_OP_check_finite);
        op_in(&c, &a->x, N, 0, 0, 0)[at] = PT_NAN;
        op_acc(&c, &a->state, PT_STATE_COUNT, 0, 0, 0)[PT_STATE_FIRST_BAD] = PT_STATE_NO_BAD;
        a->id = 7;
        check(&c, OP_FORWARD, 0, OP_EACH);
        op_end(&c);
    }
}

/* Every piece begins at a block of its own in `decay`. */
TEST(adamw)
{
    op_case c;
    pt_adamw_args *a = op_begin(&c, PT_OP_adamw);
    op_acc(&c, &a->w, N, 0, 0, 0);
    op_in(&c, &a->g, N, 0, 0, 0);
    op_acc(&c, &a->m, N, 0, 0, 0);
    double *v = op_acc(&c, &a->v, N, 0, 0, 0);
    for (int64_t i = 0; i < N; i++) v[i] = pt_fabs(v[i]);
    int64_t blocks = pt_div_up(N, PT_ADAMW_BLOCK);
    double *decay = op_add(&c, &a->decay, OP_ROLE_IN, PT_U8, (int64_t[4]){blocks, 0, 0, 0});
    for (int64_t i = 0; i < blocks; i++) decay[i] = i % 5 != 1;
    double *state = op_in(&c, &a->state, PT_STATE_COUNT, 0, 0, 0);
    state[PT_STATE_LR] = 0.0625;
    state[PT_STATE_CORRECTION1] = state[PT_STATE_CORRECTION2] = 2;
    state[PT_STATE_FACTOR] = state[PT_STATE_OK] = 1;
    state[PT_STATE_SKIPPED] = 0;
    op_add(&c, &a->copy, OP_ROLE_WORK, PT_BF16, (int64_t[4]){N, 0, 0, 0});
    a->beta1 = 0.9, a->beta2 = 0.95, a->eps = 1e-8, a->weight_decay = 0.5;
    check(&c, OP_FORWARD, 1e-6, OP_LARGEST);
    op_end(&c);
}

/* A table of 1001 rows of which 323 fit. */
TEST(embedding)
{
    enum { B = 3, T = 40, C = 12, V = 1001 };
    op_case c;
    pt_embedding_args *a = op_begin(&c, PT_OP_embedding);
    double *ids = op_ints(&c, &a->ids, B, T);
    for (int i = 0; i < B * T; i++) ids[i] = i % 5 ? (i * 611) % V : V - 1;
    op_in(&c, &a->token, V, C, 0, 0);
    op_in(&c, &a->position, T, C, 0, 0);
    op_out(&c, &a->x, B, T, C, 0);
    op_in(&c, &a->dx, B, T, C, 0);
    op_acc(&c, &a->dtoken, V, C, 0, 0);
    op_acc(&c, &a->dposition, T, C, 0, 0);
    check(&c, OP_BOTH, 1e-6, OP_LARGEST);
    op_end(&c);
}

/* A cache so long that several workgroups share a query, which is a real GPU's kernel: texts that fill the first piece only, end with
 * one, and fill all; windows; a query that scores an infinity. */
TEST(attention_over_a_long_cache)
{
    static const struct {
        int64_t B, T, H, G, D, P, window;
        double offset[2];
    } sizes[] = {{2, 1, 2, 1, 6, 1500, 0, {3, 1499}},
                 {1, 2, 2, 2, 64, 1100, 0, {1022, 0}},
                 {2, 1, 1, 1, 36, 2100, 1030, {600, 2000}},
                 {1, 1, 1, 1, 130, 2600, 0, {2599, 0}}};
    if (!getenv("POSTTRAIN_WEBGPU")) return;
    pt_error err = {0};
    op_device d = {.label = "webgpu tuned", .family = -1};
    CHECK_OK(pt_device_webgpu_new(&d.device, &(pt_webgpu_options){.software = true, .tuned = true},
                                  &err),
             err);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int64_t B = sizes[i].B, T = sizes[i].T, H = sizes[i].H, D = sizes[i].D;
        op_case c;
        pt_attention_args *a = op_begin(&c, PT_OP_attention);
        op_in(&c, &a->q, B, T, H, D);
        op_in(&c, &a->k, B, sizes[i].G, sizes[i].P, D);
        op_in(&c, &a->v, B, sizes[i].G, sizes[i].P, D);
        memcpy(op_ints(&c, &a->offset, B, 0), sizes[i].offset, (size_t)B * sizeof(double));
        op_out(&c, &a->o, B, T, H, D);
        op_out(&c, &a->lse, B, H, T, 0);
        a->cached = true;
        a->window = sizes[i].window;
        for (int infinite = 0; infinite < 2; infinite++) {
            op_result want, got, again;
            c.nan_ok = infinite;
            if (infinite) c.data[op_index(&c, &a->q)][0] = PT_INF;
            op_run(&c, op_ref64(), OP_FORWARD, &want);
            op_run(&c, &d, OP_FORWARD, &got);
            op_compare(&c, &d, &got, &want, 2e-5, OP_LARGEST);
            op_run(&c, &d, OP_FORWARD, &again);
            op_compare(&c, &d, &again, &got, 0, OP_EXACT);
            op_result_free(&want);
            op_result_free(&got);
            op_result_free(&again);
        }
        op_end(&c);
    }
    pt_device_free(d.device);
}

/* 300 rows of weights of which 128 go at once. */
TEST(linear)
{
    enum { ROWS = 11, I = 24, O = 300 };
    op_case c;
    pt_linear_args *a = op_begin(&c, PT_OP_linear);
    op_in(&c, &a->x, ROWS, I, 0, 0);
    op_in(&c, &a->w, O, I, 0, 0);
    op_in(&c, &a->b, O, 0, 0, 0);
    op_out(&c, &a->y, ROWS, O, 0, 0);
    op_in(&c, &a->dy, ROWS, O, 0, 0);
    op_out(&c, &a->dx, ROWS, I, 0, 0);
    op_acc(&c, &a->dw, O, I, 0, 0);
    op_acc(&c, &a->db, O, 0, 0, 0);
    check(&c, OP_BOTH, 1e-6, OP_LARGEST);
    op_acc(&c, &a->dx, ROWS, I, 0, 0);
    a->dx_accumulate = true;
    check(&c, OP_BOTH, 1e-6, OP_LARGEST);
    op_end(&c);
}

/* A head of 700 words of which 336 go at once, some rows masked. */
TEST(crossentropy)
{
    enum { ROWS = 9, C = 12, V = 700, CHUNK = 5 };
    op_case c;
    pt_crossentropy_args *a = op_begin(&c, PT_OP_crossentropy);
    op_in(&c, &a->x, ROWS, C, 0, 0);
    op_in(&c, &a->w, V, C, 0, 0);
    double *target = op_ints(&c, &a->target, ROWS, 0);
    for (int i = 0; i < ROWS; i++) target[i] = i % 4 == 2 ? -1 : (i * 87) % V;
    op_out(&c, &a->logp, ROWS, 0, 0, 0);
    op_out(&c, &a->lse, ROWS, 0, 0, 0);
    op_in(&c, &a->coef, ROWS, 0, 0, 0);
    op_out(&c, &a->dx, ROWS, C, 0, 0);
    op_acc(&c, &a->dw, V, C, 0, 0);
    op_work(&c, &a->logits, CHUNK, V, 0, 0);
    check(&c, OP_BOTH, 2e-6, OP_LARGEST);
    op_end(&c);
}

/* ---- activations, which are not cut: a plan with a larger one is refused before it is made (train/memory.h) ---- */

static void check_refused(const op_case *c, unsigned passes, const char *shader)
{
    if (!getenv("POSTTRAIN_WEBGPU")) return;
    pt_error err = {0};
    pt_webgpu_options options = {.software = true, .binding_bytes = BINDING};
    op_device d = {.label = "webgpu in pieces", .family = -1};
    op_bound b;
    CHECK_OK(pt_device_webgpu_new(&d.device, &options, &err), err);
    op_bind(c, &d, false, &b);
    pt_pass pass = passes == OP_FORWARD ? PT_FORWARD : PT_BACKWARD;
    CHECK_INT(pt_device_launch(d.device, c->op, pass, b.args.bytes, sizeof b.args, &err),
              PT_UNSUPPORTED);
    if (!strstr(err.message, shader)) printf("%s\n", err.message);
    CHECK(strstr(err.message, shader) && strstr(err.message, "this GPU binds 0.00 GB at once"));
    op_unbind(&b);
    pt_device_free(d.device);
}

TEST(an_activation_beyond_a_binding_is_refused)
{
    op_case c;
    pt_gelu_args *a = op_begin(&c, PT_OP_gelu);
    op_in(&c, &a->x, N, 0, 0, 0);
    op_out(&c, &a->y, N, 0, 0, 0);
    op_in(&c, &a->dy, N, 0, 0, 0);
    op_out(&c, &a->dx, N, 0, 0, 0);
    check_refused(&c, OP_FORWARD, "shader gelu: x takes ");
    check_refused(&c, OP_BACKWARD, "shader gelu: x takes ");
    op_end(&c);
    pt_layernorm_args *n = op_begin(&c, PT_OP_layernorm);
    op_in(&c, &n->x, N / 10, 10, 0, 0);
    op_in(&c, &n->w, 10, 0, 0, 0);
    op_out(&c, &n->y, N / 10, 10, 0, 0);
    op_out(&c, &n->mean, N / 10, 0, 0, 0);
    op_out(&c, &n->rstd, N / 10, 0, 0, 0);
    check_refused(&c, OP_FORWARD, "shader layernorm: x takes ");
    op_end(&c);
}

PT_TEST_MAIN
