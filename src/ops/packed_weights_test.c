/* Weights that are packed, in f16 and int8: every op that takes them, on the reference and on a GPU, against the reference in double
 * on the values that they stand for. A GPU runs the kernels it would choose and, emulated, also those of a real one; where
 * POSTTRAIN_WEBGPU names no library, the reference alone. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

#define LITTLE 16384 /* bytes that a GPU binds at once, to see tensors in pieces */

static op_device gpus[3]; /* emulated as it is, tuned, and with little to bind */
static int n_gpus;

static void close_gpus(void)
{
    while (n_gpus) pt_device_free(gpus[--n_gpus].device);
}

static void open_gpus(void)
{
    static const char *const labels[] = {"webgpu", "webgpu tuned", "webgpu in pieces"};
    const pt_webgpu_options options[] = {
        {.software = true},
        {.software = true, .tuned = true},
        {.software = true, .tuned = true, .binding_bytes = LITTLE}};
    if (n_gpus || !getenv("POSTTRAIN_WEBGPU")) return;
    for (pt_error err = {0}; n_gpus < 3; n_gpus++) {
        gpus[n_gpus] = (op_device){.family = -1};
        snprintf(gpus[n_gpus].label, sizeof gpus[0].label, "%s", labels[n_gpus]);
        CHECK_OK(pt_device_webgpu_new(&gpus[n_gpus].device, &options[n_gpus], &err), err);
    }
    atexit(close_gpus);
}

/* The values that the packed ones stand for, in their place. */
static void unpack(op_case *c, int w)
{
    pt_tensor t = *op_tensor(c, w);
    int64_t n = pt_last_dim(&t), bytes = pt_dtype_bytes(t.dtype, n);
    char *packed = pt_alloc((size_t)pt_tensor_bytes(&t));
    op_pack(&t, c->data[w], packed);
    for (int64_t i = 0; i < pt_numel(&t); i++)
        c->data[w][i] = (double)pt_packed_at(t.dtype, packed + i / n * bytes, n, i % n);
    pt_free(packed);
}

static void check_on(const op_case *c, const op_device *d, const op_result *want, double tol)
{
    op_result got, again;
    op_run(c, d, OP_FORWARD, &got);
    op_compare(c, d, &got, want, tol, OP_LARGEST);
    op_run(c, d, OP_FORWARD, &again);
    op_compare(c, d, &again, &got, 0, OP_EXACT);
    op_result_free(&got);
    op_result_free(&again);
}

/* The case with its tensor `w` packed; `few`: also in f32, which has the kernels of few rows as well. */
static void check(op_case *c, const pt_tensor *w, double tol, bool few)
{
    int n, i = op_index(c, w);
    const op_device *d = op_devices(&n);
    open_gpus();
    for (int k = 0; k < 2 + few; k++) {
        op_tensor(c, i)->dtype = (pt_dtype[]){PT_ROWS_F16, PT_ROWS_INT8, PT_F32}[k];
        op_result want, plain;
        op_run(c, op_ref64(), OP_FORWARD, &want);
        op_refuse_nan(c, &want);
        check_on(c, &d[1], &want, tol);
        for (int g = 0; g < n_gpus; g++)
            if (g < 2 || pt_numel(w) * 4 > LITTLE) check_on(c, &gpus[g], &want, tol);
        if (k < 2) {
            op_case wide = *c;
            double *packed = c->data[i];
            wide.data[i] = pt_alloc((size_t)pt_numel(w) * sizeof(double));
            memcpy(wide.data[i], packed, (size_t)pt_numel(w) * sizeof(double));
            unpack(&wide, i);
            op_tensor(&wide, i)->dtype = PT_F32;
            op_run(&wide, op_ref64(), OP_FORWARD, &plain);
            op_compare(c, op_ref64(), &plain, &want, 0, OP_EXACT);
            op_result_free(&plain);
            pt_free(wide.data[i]);
        }
        op_result_free(&want);
    }
}

/* One row to more than the few that have a kernel of their own; rows that end within 16 bytes, a group of 32, a word of scales;
 * rows long enough for 256 threads; more bytes than are bound at once; products whose slices need memory beside the weights. */
TEST(linear)
{
    static const int64_t shapes[][3] = {{1, 1, 1},    {1, 7, 5},    {1, 64, 64},  {1, 100, 9},
                                        {3, 257, 6},  {5, 48, 10},  {8, 40, 70},  {9, 36, 21},
                                        {40, 65, 34}, {1, 1600, 3}, {1, 3100, 5}, {1, 128, 300},
                                        {12, 200, 60}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        op_case c;
        pt_linear_args *a = op_begin(&c, PT_OP_linear);
        op_in(&c, &a->x, shapes[i][0], shapes[i][1], 0, 0);
        op_in(&c, &a->w, shapes[i][2], shapes[i][1], 0, 0);
        if (i % 4 != 3) op_in(&c, &a->b, shapes[i][2], 0, 0, 0);
        op_out(&c, &a->y, shapes[i][0], shapes[i][2], 0, 0);
        check(&c, &a->w, 2e-5, shapes[i][0] <= 8);
        op_end(&c);
    }
}

/* What fills a row up meets nothing: neither the next row of x nor what lies behind it. */
TEST(linear_keeps_rows_apart)
{
    op_case c;
    pt_linear_args *a = op_begin(&c, PT_OP_linear);
    double *x = op_in(&c, &a->x, 3, 37, 0, 0);
    op_in(&c, &a->w, 6, 37, 0, 0);
    op_out(&c, &a->y, 3, 6, 0, 0);
    c.nan_ok = true;
    for (int i = 0; i < 37; i++) x[37 + i] = i % 2 ? PT_NAN : PT_INF;
    check(&c, &a->w, 2e-5, true);
    op_end(&c);
}

TEST(embedding)
{
    for (int positions = 0; positions < 2; positions++)
        for (int odd = 0; odd < 2; odd++) {
            op_case c;
            pt_embedding_args *a = op_begin(&c, PT_OP_embedding);
            int64_t B = 2, T = 13, C = odd ? 45 : 96, V = odd ? 11 : 301;
            double *ids = op_ints(&c, &a->ids, B, T);
            for (int64_t i = 0; i < B * T; i++) ids[i] = (double)(i * 67 % V);
            op_in(&c, &a->token, V, C, 0, 0);
            if (positions) op_in(&c, &a->position, T, C, 0, 0);
            op_out(&c, &a->x, B, T, C, 0);
            check(&c, &a->token, 1e-6, false);
            op_end(&c);
        }
}

TEST(crossentropy)
{
    static const int64_t shapes[][4] = {{1, 1, 2, 1}, {9, 17, 33, 4}, {20, 80, 120, 16}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
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
        check(&c, &a->w, 2e-5, false);
        op_end(&c);
    }
}

/* Refused: packed weights in a backward pass, and on a device that has no kernels for them. */
TEST(what_takes_no_packed_weights)
{
    op_case c;
    pt_linear_args *a = op_begin(&c, PT_OP_linear);
    op_in(&c, &a->x, 3, 4, 0, 0);
    op_in(&c, &a->w, 5, 4, 0, 0);
    op_out(&c, &a->y, 3, 5, 0, 0);
    op_in(&c, &a->dy, 3, 5, 0, 0);
    op_out(&c, &a->dx, 3, 4, 0, 0);
    CHECK(!op_refused(&c, PT_FORWARD) && !op_refused(&c, PT_BACKWARD));
    a->w.dtype = PT_ROWS_INT8;
    CHECK(!op_refused(&c, PT_FORWARD));
    CHECK(op_refused(&c, PT_BACKWARD));
    int n, tried = 0;
    const op_device *d = op_devices(&n);
    for (int i = 0; i < n; i++) {
        op_bound b;
        pt_error err = {0};
        if (d[i].device->packed) continue;
        op_bind(&c, &d[i], true, &b);
        CHECK_INT(pt_op_run(d[i].device, c.op, PT_FORWARD, b.args.bytes, &err), PT_INTERNAL);
        err = (pt_error){0};
        CHECK_INT(pt_device_require_packed(d[i].device, PT_ROWS_F16, &err), PT_UNSUPPORTED);
        CHECK(strstr(err.message, "webgpu") != NULL && strstr(err.message, "f16") != NULL);
        op_unbind(&b);
        tried++;
    }
    CHECK(tried > 0);
    op_end(&c);
}

PT_TEST_MAIN
