/* Activations and matrix weights stored in bf16: every op that takes them, on every instruction set, against the
 * reference in double on the same inputs; and against the f32 kernel of the same instruction set, rounded.
 * SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static double rounded(double x) { return (double)pt_float_from_bf16(pt_bf16_from_float((float)x)); }

/* The case with the tensors that `stored` marks with an s in bf16; the inputs of both are rounded. */
static op_case in_bf16(op_case *c, const char *stored)
{
    for (int i = 0; stored[i]; i++)
        for (int64_t e = 0; stored[i] == 's' && op_has(c, i) && e < pt_numel(op_tensor(c, i)); e++)
            c->data[i][e] = rounded(c->data[i][e]);
    op_case narrow = *c;
    for (int i = 0; stored[i]; i++)
        if (stored[i] == 's') op_tensor(&narrow, i)->dtype = PT_BF16;
    return narrow;
}

/* got is what f32 gives, rounded where it is stored in bf16. */
static void expect_rounded(op_case *c, const op_device *d, const char *stored, unsigned passes,
                           const op_result *got)
{
    op_result wide;
    op_run(c, d, passes, &wide);
    for (int i = 0; stored[i]; i++)
        for (int64_t e = 0; op_written(c, i) && e < pt_numel(op_tensor(c, i)); e++)
            if (stored[i] == 's') wide.value[i][e] = rounded(wide.value[i][e]);
    op_compare(c, d, got, &wide, 0, OP_EXACT);
    op_result_free(&wide);
}

/* `exact`: the kernel does the same arithmetic as that of f32. Results do not depend on threads or alignment. */
static void check(op_case *c, const char *stored, unsigned passes, double tol, bool exact)
{
    CHECK_INT(strlen(stored), pt_op_info_of(c->op)->n_tensors);
    int n, family = -1;
    const op_device *d = op_devices(&n);
    op_case narrow = in_bf16(c, stored);
    op_result want, first = {0};
    op_run(c, op_ref64(), passes, &want);
    op_refuse_nan(c, &want);
    for (int i = 2; i < n; i++) {
        op_result got;
        if (!d[i].device->bf16) continue;
        op_run(&narrow, &d[i], passes, &got);
        op_compare(&narrow, &d[i], &got, &want, tol, OP_LARGEST);
        if (exact) expect_rounded(c, &d[i], stored, passes, &got);
        if (d[i].family >= 0 && d[i].family == family)
            op_compare(&narrow, &d[i], &got, &first, 0, OP_EXACT);
        if (d[i].family < 0 || d[i].family == family) {
            op_result_free(&got);
            continue;
        }
        op_result_free(&first);
        first = got;
        family = d[i].family;
    }
    CHECK(family >= 0);
    op_result_free(&first);
    op_result_free(&want);
}

static const int64_t lengths[] = {1, 3, 15, 16, 17, 33, 100, 4097, 40000};
#define EACH(i, list) for (size_t i = 0; i < sizeof(list) / sizeof((list)[0]); i++)

TEST(add)
{
    EACH(i, lengths)
    {
        op_case c;
        pt_add_args *a = op_begin(&c, PT_OP_add);
        op_in(&c, &a->a, lengths[i], 0, 0, 0);
        op_in(&c, &a->b, lengths[i], 0, 0, 0);
        op_out(&c, &a->y, lengths[i], 0, 0, 0);
        check(&c, "sss", OP_FORWARD, 5e-3, true);
        op_end(&c);
    }
}

TEST(gelu)
{
    EACH(i, lengths)
    {
        op_case c;
        pt_gelu_args *a = op_begin(&c, PT_OP_gelu);
        op_in(&c, &a->x, lengths[i], 0, 0, 0);
        op_out(&c, &a->y, lengths[i], 0, 0, 0);
        op_in(&c, &a->dy, lengths[i], 0, 0, 0);
        op_out(&c, &a->dx, lengths[i], 0, 0, 0);
        a->tanh_form = i % 2;
        check(&c, "ssss", OP_BOTH, 5e-3, true);
        op_alias(&c, &a->dx, &a->dy);
        check(&c, "ssss", OP_BOTH, 5e-3, true);
        op_end(&c);
    }
}

TEST(swiglu)
{
    EACH(i, lengths)
    {
        op_case c;
        pt_swiglu_args *a = op_begin(&c, PT_OP_swiglu);
        op_in(&c, &a->gate, lengths[i], 0, 0, 0);
        op_in(&c, &a->up, lengths[i], 0, 0, 0);
        op_out(&c, &a->y, lengths[i], 0, 0, 0);
        op_in(&c, &a->dy, lengths[i], 0, 0, 0);
        op_out(&c, &a->dgate, lengths[i], 0, 0, 0);
        op_out(&c, &a->dup, lengths[i], 0, 0, 0);
        check(&c, "ssssss", OP_BOTH, 5e-3, true);
        op_end(&c);
    }
}

TEST(dropout)
{
    EACH(i, lengths)
    {
        op_case c;
        pt_dropout_args *a = op_begin(&c, PT_OP_dropout);
        op_in(&c, &a->x, lengths[i], 0, 0, 0);
        op_out(&c, &a->y, lengths[i], 0, 0, 0);
        op_in(&c, &a->dy, lengths[i], 0, 0, 0);
        op_out(&c, &a->dx, lengths[i], 0, 0, 0);
        a->p = i % 4 == 3 ? 1 - 1e-12 : 0.25;
        a->seed = 7;
        check(&c, "ssss", OP_BOTH, 5e-3, true);
        op_end(&c);
    }
}

static const int64_t rows[][2] = {{1, 1}, {3, 17}, {5, 64}, {300, 33}, {7, 100}, {40, 768}};

TEST(norms)
{
    EACH(i, rows)
    {
        int64_t N = rows[i][0], C = rows[i][1];
        op_case c;
        pt_layernorm_args *a = op_begin(&c, PT_OP_layernorm);
        op_in(&c, &a->x, N, C, 0, 0);
        op_stretch(&c, &a->x, 2, 1);
        op_in(&c, &a->w, C, 0, 0, 0);
        op_in(&c, &a->b, C, 0, 0, 0);
        op_out(&c, &a->y, N, C, 0, 0);
        op_out(&c, &a->mean, N, 0, 0, 0);
        op_out(&c, &a->rstd, N, 0, 0, 0);
        op_in(&c, &a->dy, N, C, 0, 0);
        op_acc(&c, &a->dx, N, C, 0, 0);
        op_acc(&c, &a->dw, C, 0, 0, 0);
        op_acc(&c, &a->db, C, 0, 0, 0);
        a->eps = 1e-5;
        a->dx_accumulate = true;
        check(&c, "s--s--ss--", OP_BOTH, 5e-3, true);
        op_end(&c);
        pt_rmsnorm_args *r = op_begin(&c, PT_OP_rmsnorm);
        op_in(&c, &r->x, N, C, 0, 0);
        op_in(&c, &r->w, C, 0, 0, 0);
        op_out(&c, &r->y, N, C, 0, 0);
        op_out(&c, &r->rstd, N, 0, 0, 0);
        op_in(&c, &r->dy, N, C, 0, 0);
        op_out(&c, &r->dx, N, C, 0, 0);
        op_acc(&c, &r->dw, C, 0, 0, 0);
        r->eps = 1e-5;
        check(&c, "s-s-ss-", OP_BOTH, 5e-3, true);
        op_end(&c);
    }
}

TEST(embedding)
{
    for (int positions = 0; positions < 2; positions++) {
        op_case c;
        pt_embedding_args *a = op_begin(&c, PT_OP_embedding);
        int64_t B = 3, T = 21, C = 45, V = 11;
        double *ids = op_ints(&c, &a->ids, B, T);
        for (int64_t i = 0; i < B * T; i++) ids[i] = (double)(i * 7 % V);
        op_in(&c, &a->token, V, C, 0, 0);
        if (positions) op_in(&c, &a->position, T, C, 0, 0);
        op_out(&c, &a->x, B, T, C, 0);
        op_in(&c, &a->dx, B, T, C, 0);
        op_acc(&c, &a->dtoken, V, C, 0, 0);
        if (positions) op_acc(&c, &a->dposition, T, C, 0, 0);
        check(&c, "-ss--ss--", OP_BOTH, 5e-3, true);
        op_end(&c);
    }
}

TEST(rope)
{
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        op_case c;
        pt_rope_args *a = op_begin(&c, PT_OP_rope);
        op_in(&c, &a->x, 2, 5, 3, 38);
        op_in(&c, &a->freq, 19, 0, 0, 0);
        op_out(&c, &a->y, 2, 5, 3, 38);
        op_in(&c, &a->dy, 2, 5, 3, 38);
        op_out(&c, &a->dx, 2, 5, 3, 38);
        a->interleaved = interleaved;
        check(&c, "s---sss", OP_BOTH, 5e-3, true);
        op_end(&c);
    }
}

TEST(kv_store)
{
    op_case c;
    pt_kv_store_args *a = op_begin(&c, PT_OP_kv_store);
    op_in(&c, &a->k, 2, 3, 2, 5);
    op_in(&c, &a->v, 2, 3, 2, 5);
    op_ints(&c, &a->offset, 2, 0)[1] = 2;
    op_acc(&c, &a->cache_k, 2, 2, 6, 5);
    op_acc(&c, &a->cache_v, 2, 2, 6, 5);
    check(&c, "ss--ss", OP_FORWARD, 0, true);
    op_end(&c);
}

/* A sum of products: exact inputs, f32 sums, one rounding where the result is stored. */
static void check_linear(int64_t N, int64_t I, int64_t O, bool wide_y)
{
    op_case c;
    pt_linear_args *a = op_begin(&c, PT_OP_linear);
    op_in(&c, &a->x, N, I, 0, 0);
    op_in(&c, &a->w, O, I, 0, 0);
    op_in(&c, &a->b, O, 0, 0, 0);
    op_out(&c, &a->y, N, O, 0, 0);
    op_in(&c, &a->dy, N, O, 0, 0);
    op_acc(&c, &a->dx, N, I, 0, 0);
    op_acc(&c, &a->dw, O, I, 0, 0);
    op_acc(&c, &a->db, O, 0, 0, 0);
    a->dx_accumulate = N % 2;
    check(&c, wide_y ? "ss--ss--" : "ss-sss--", OP_BOTH, 5e-3, false);
    op_absent(&c, &a->dx); /* what stays f32 is as good as f32's */
    op_absent(&c, &a->b);
    check(&c, "ss--s---", OP_BOTH, 2e-5, false);
    op_end(&c);
}

TEST(linear)
{
    static const int64_t shapes[][3] = {
        {1, 1, 1},       {1, 3, 5},     {3, 5, 1},      {5, 1, 17},    {17, 33, 3},  {33, 17, 64},
        {64, 64, 64},    {1, 100, 97},  {100, 1, 33},   {31, 100, 37}, {2, 257, 65}, {8, 768, 7},
        {4, 64, 515},    {7, 13, 131},  {130, 300, 67}, {67, 520, 97}, {257, 9, 34}, {16, 1100, 34},
        {300, 530, 290}, {2, 4200, 97}, {97, 34, 2100}, {2100, 40, 33}};
    EACH(i, shapes) check_linear(shapes[i][0], shapes[i][1], shapes[i][2], i % 3 == 0);
}

TEST(attention)
{
    static const struct {
        int64_t B, T, H, G, D, window;
    } sizes[] = {{1, 1, 1, 1, 1, 0},    {2, 5, 2, 1, 6, 0},   {2, 70, 4, 2, 17, 9},
                 {1, 130, 2, 2, 64, 0}, {9, 33, 1, 1, 32, 0}, {1, 65, 1, 1, 256, 0}};
    EACH(i, sizes)
    {
        int64_t B = sizes[i].B, T = sizes[i].T, H = sizes[i].H, G = sizes[i].G, D = sizes[i].D;
        op_case c;
        pt_attention_args *a = op_begin(&c, PT_OP_attention);
        op_in(&c, &a->q, B, T, H, D);
        op_in(&c, &a->k, B, T, G, D);
        op_in(&c, &a->v, B, T, G, D);
        op_out(&c, &a->o, B, T, H, D);
        op_out(&c, &a->lse, B, H, T, 0);
        a->window = sizes[i].window;
        check(&c, "sss---s------", OP_FORWARD, 5e-3, true);
        op_in(&c, &a->d_o, B, T, H, D);
        op_out(&c, &a->dq, B, T, H, D);
        op_out(&c, &a->dk, B, T, G, D);
        op_out(&c, &a->dv, B, T, G, D);
        op_work(&c, &a->delta, B, H, T, 0);
        check(&c, "sss---s-ssss-", OP_BOTH, 1e-2, false);
        op_end(&c);
    }
}

TEST(crossentropy)
{
    static const int64_t shapes[][4] = {{1, 1, 2, 1}, {9, 17, 33, 4}, {70, 33, 257, 32}};
    EACH(i, shapes)
    {
        int64_t N = shapes[i][0], C = shapes[i][1], V = shapes[i][2];
        op_case c;
        pt_crossentropy_args *a = op_begin(&c, PT_OP_crossentropy);
        op_in(&c, &a->x, N, C, 0, 0);
        op_in(&c, &a->w, V, C, 0, 0);
        double *target = op_ints(&c, &a->target, N, 0);
        for (int64_t n = 0; n < N; n++) target[n] = n % 5 == 3 ? -1 : (double)(n * 13 % V);
        op_out(&c, &a->logp, N, 0, 0, 0);
        op_out(&c, &a->lse, N, 0, 0, 0);
        op_work(&c, &a->logits, shapes[i][3], V, 0, 0);
        check(&c, "ss-------", OP_FORWARD, 2e-5, false);
        op_in(&c, &a->coef, N, 0, 0, 0);
        op_out(&c, &a->dx, N, C, 0, 0);
        op_acc(&c, &a->dw, V, C, 0, 0);
        check(&c, "ss----s--", OP_BOTH, 1e-2, false);
        op_end(&c);
    }
}

TEST(bad_values_are_found)
{
    op_case c;
    pt_check_finite_args *a = op_begin(&c, PT_OP_check_finite);
    op_in(&c, &a->x, 70, 0, 0, 0);
    op_acc(&c, &a->state, PT_STATE_COUNT, 0, 0, 0);
    c.data[1][PT_STATE_FIRST_BAD] = 9;
    a->id = 3;
    check(&c, "s-", OP_FORWARD, 0, true);
    c.data[0][69] = PT_INF;
    check(&c, "s-", OP_FORWARD, 0, true);
    op_end(&c);
}

/* Refused: a device without bf16, and tensors of one call that are stored in different ways. */
TEST(what_is_stored_is_stored_alike)
{
    op_case c;
    pt_add_args *a = op_begin(&c, PT_OP_add);
    op_in(&c, &a->a, 5, 0, 0, 0);
    op_in(&c, &a->b, 5, 0, 0, 0);
    op_out(&c, &a->y, 5, 0, 0, 0);
    op_case narrow = in_bf16(&c, "sss"), mixed = in_bf16(&c, "ss-");
    CHECK(op_refused(&narrow, PT_FORWARD));
    int n, tried = 0;
    const op_device *d = op_devices(&n);
    for (int i = 2; i < n; i++) {
        op_bound b;
        pt_error err = {0};
        op_bind(&mixed, &d[i], true, &b);
        CHECK_INT(pt_op_run(d[i].device, c.op, PT_FORWARD, b.args.bytes, &err), PT_INTERNAL);
        op_unbind(&b);
        op_bind(&narrow, &d[i], true, &b);
        pt_status want = d[i].device->bf16 ? PT_OK : PT_INTERNAL;
        CHECK_INT(pt_op_run(d[i].device, c.op, PT_FORWARD, b.args.bytes, &err), want);
        op_unbind(&b);
        tried++;
    }
    CHECK(tried > 0);
    op_end(&c);
}

PT_TEST_MAIN
