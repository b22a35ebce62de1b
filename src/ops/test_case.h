/* The test harness of the ops: one description of a case gives its value, parity, gradient and refusal
 * tests on every device of this build. For x_test.c files only; hosted.
 *
 *   op_case c;
 *   pt_linear_args *a = op_begin(&c, PT_OP_linear);
 *   op_in(&c, &a->x, N, I, 0, 0); … op_out(&c, &a->y, N, O, 0, 0); …   random values, to be overwritten
 *   op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);     every device against ref in double
 *   op_end(&c);
 *
 * Values are held in double and are exact in float, so every device sees the same inputs. Each tensor lies in a
 * buffer of its own between guard bytes. Every run checks that the guards and the inputs were left alone and that
 * nothing was allocated; assigned outputs start as NaN, so an element that is not written shows.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_TEST_CASE_H
#define PT_OPS_TEST_CASE_H

#include "base/rng.h"
#include "base/test.h"
#include "device/step_state.h"
#include "ops/ops.h"

typedef enum op_role {
    OP_ROLE_ABSENT,
    OP_ROLE_IN,   /* read, must not change */
    OP_ROLE_OUT,  /* assigned */
    OP_ROLE_ACC,  /* read and written */
    OP_ROLE_WORK, /* written, its contents mean nothing */
} op_role;

typedef union op_args {
    void *align;
    int64_t align_too;
    unsigned char bytes[PT_OP_MAX_ARGS_BYTES];
} op_args;

typedef struct op_case {
    pt_op op;
    op_args args; /* the op's struct; its tensors have shapes and dtypes but no buffers */
    op_role role[PT_OP_MAX_TENSORS];
    double *data[PT_OP_MAX_TENSORS]; /* owned; initial values */
    int alias[PT_OP_MAX_TENSORS]; /* 1 + index of the tensor whose memory this one uses, else 0 */
    int64_t shift[PT_OP_MAX_TENSORS]; /* bytes added to the offset */
    int pair_out[4][2], n_pair_out;   /* output, its gradient */
    int pair_in[4][2], n_pair_in;     /* input, its gradient */
    bool nan_ok;                      /* the reference may answer NaN */
} op_case;

enum { OP_FORWARD = 1, OP_BACKWARD = 2, OP_BOTH = 3 };

/* ---- describing a case ---- */

static inline void *op_begin(op_case *c, pt_op op)
{
    memset(c, 0, sizeof *c);
    c->op = op;
    return c->args.bytes;
}

static inline void op_end(op_case *c)
{
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) pt_free(c->data[i]);
    memset(c->data, 0, sizeof c->data);
}

static inline pt_tensor *op_tensor(op_case *c, int i) { return (pt_tensor *)c->args.bytes + i; }
static inline int op_index(const op_case *c, const pt_tensor *t)
{
    return (int)(t - (const pt_tensor *)c->args.bytes);
}

/* N(0,1), rounded to float; the same for every run of the test. */
static inline double op_random(uint32_t substream, int64_t i)
{
    double four[4];
    pt_rng_normal4(2024, PT_STREAM_TEST, substream, (uint64_t)i / 4, four);
    return (double)(float)four[i % 4];
}

static inline double *op_add(op_case *c, pt_tensor *t, op_role role, pt_dtype dtype,
                             const int64_t dim[4])
{
    int i = op_index(c, t);
    t->dtype = dtype;
    *t = pt_view(t, dim[0], dim[1], dim[2], dim[3]);
    int64_t n = pt_numel(t);
    pt_free(c->data[i]);
    c->data[i] = pt_alloc((size_t)n * sizeof(double));
    c->role[i] = role;
    bool random = dtype == PT_F32 && (role == OP_ROLE_IN || role == OP_ROLE_ACC);
    for (int64_t e = 0; e < n && random; e++)
        c->data[i][e] = op_random((uint32_t)c->op * PT_OP_MAX_TENSORS + (uint32_t)i, e);
    return c->data[i];
}

/* Adds a tensor and returns its values, ready to be changed. Unused dimensions: 0. Real tensors are f32 here
 * and get the dtype of the device that runs the case. */
static inline double *op_in(op_case *c, pt_tensor *t, int64_t d0, int64_t d1, int64_t d2,
                            int64_t d3)
{
    return op_add(c, t, OP_ROLE_IN, PT_F32, (int64_t[4]){d0, d1, d2, d3});
}
static inline double *op_ints(op_case *c, pt_tensor *t, int64_t d0, int64_t d1)
{
    return op_add(c, t, OP_ROLE_IN, PT_I32, (int64_t[4]){d0, d1, 0, 0});
}
static inline double *op_acc(op_case *c, pt_tensor *t, int64_t d0, int64_t d1, int64_t d2,
                             int64_t d3)
{
    return op_add(c, t, OP_ROLE_ACC, PT_F32, (int64_t[4]){d0, d1, d2, d3});
}
static inline void op_out(op_case *c, pt_tensor *t, int64_t d0, int64_t d1, int64_t d2, int64_t d3)
{
    op_add(c, t, OP_ROLE_OUT, PT_F32, (int64_t[4]){d0, d1, d2, d3});
}
static inline void op_work(op_case *c, pt_tensor *t, int64_t d0, int64_t d1, int64_t d2, int64_t d3)
{
    op_add(c, t, OP_ROLE_WORK, PT_F32, (int64_t[4]){d0, d1, d2, d3});
}
static inline void op_absent(op_case *c, pt_tensor *t) { c->role[op_index(c, t)] = OP_ROLE_ABSENT; }
/* First tokens of documents of mixed lengths, in the numbering offset[b] + t (offset may be NULL). */
static inline void op_fill_doc_start(double *start, const double *offset, int64_t B, int64_t T)
{
    for (int64_t b = 0; b < B; b++) {
        double base = offset ? offset[b] : 0, first = base > 1 ? base - 1 : 0;
        for (int64_t t = 0; t < T; t++) {
            if ((t * t + 3 * b + t) % 7 == 3) first = base + (double)t;
            start[b * T + t] = first;
        }
    }
}
/* Scales and shifts the values of a real tensor, keeping them exact in float. */
static inline void op_stretch(op_case *c, const pt_tensor *t, double factor, double add)
{
    double *x = c->data[op_index(c, t)];
    for (int64_t e = 0; e < pt_numel(t); e++) x[e] = (double)(float)(x[e] * factor + add);
}
/* From now on `t` uses the memory of `other` (not on ref in double, which gives the wanted values). */
static inline void op_alias(op_case *c, const pt_tensor *t, const pt_tensor *other)
{
    c->alias[op_index(c, t)] = op_index(c, other) + 1;
}
/* For the gradient check: L = sum of d_out * out over these pairs, and dL/d_in is checked. */
static inline void op_pair_out(op_case *c, const pt_tensor *out, const pt_tensor *gradient)
{
    c->pair_out[c->n_pair_out][0] = op_index(c, out);
    c->pair_out[c->n_pair_out++][1] = op_index(c, gradient);
}
static inline void op_pair_in(op_case *c, const pt_tensor *in, const pt_tensor *gradient)
{
    c->pair_in[c->n_pair_in][0] = op_index(c, in);
    c->pair_in[c->n_pair_in++][1] = op_index(c, gradient);
}

/* ---- devices ---- */

typedef struct op_device {
    pt_device *device;
    char label[32];
    int family;            /* runs of one family must give the same bits; -1: none */
    int64_t skew;          /* elements by which every tensor is moved off its alignment */
    int64_t most_elements; /* of all tensors together, for a case to run here; 0: any */
    bool owned;
} op_device;

#define OP_MAX_DEVICES 64
static op_device op_device_list[OP_MAX_DEVICES];
static int op_n_devices;

static inline void op_devices_free(void)
{
    for (int i = 0; i < op_n_devices; i++)
        if (op_device_list[i].owned) pt_device_free(op_device_list[i].device);
    op_n_devices = 0;
}

static inline void op_devices_add(pt_device *device, const char *isa, int threads, int family,
                                  int64_t skew)
{
    op_device *d = &op_device_list[op_n_devices++];
    *d = (op_device){.device = device, .family = family, .skew = skew, .owned = true};
    for (int i = 0; i < op_n_devices - 1; i++)
        if (op_device_list[i].device == device) d->owned = false;
    snprintf(d->label, sizeof d->label, "%s %.16s x%d%s", device->name, isa, threads,
             skew ? " skewed" : "");
}

static inline void op_devices_add_cpu(const char *isa, int family)
{
    static const int threads[] = {1, 2, 3, 8};
    pt_error err = {0};
    pt_device *device = NULL;
    for (int i = 0; i < 4; i++) {
        CHECK_OK(pt_device_cpu_new(&device, &(pt_cpu_options){threads[i], isa}, &err), err);
        op_devices_add(device, isa, threads[i], family, 0);
        if (threads[i] != 3) continue;
        op_devices_add(device, isa, 3, family, 0); /* the same run twice */
        op_devices_add(device, isa, 3, -1, 1);
    }
}

/* A GPU, also an emulated one, where POSTTRAIN_TEST_GPU asks for it: "all" runs each case with the simple and the tuned
 * kernels, twice and skewed, and once with so few workgroups along a dimension that they are folded into two; "quick" small
 * cases once, folded, as the device chooses its kernels. */
#define OP_QUICK_ELEMENTS 3000
#define OP_FEW_GROUPS 3

static inline void op_devices_add_gpu(void)
{
    pt_error err = {0};
    pt_device *device = NULL;
    const char *wanted = getenv("POSTTRAIN_TEST_GPU");
    if (!wanted || !*wanted) return;
    bool quick = strcmp(wanted, "all") != 0;
    for (int kind = 0; kind < (quick ? 1 : 4); kind++) {
        bool tuned = kind / 2, folded = quick || kind % 2;
        pt_webgpu_options options = {
            .software = true, .tuned = tuned, .groups = folded ? OP_FEW_GROUPS : 0};
        CHECK_OK(pt_device_webgpu_new(&device, &options, &err), err);
        for (int i = 0; i < (folded ? 1 : 3) && device; i++)
            op_devices_add(device,
                           folded  ? "folded"
                           : tuned ? "tuned"
                                   : "simple",
                           1, i < 2 ? OP_MAX_DEVICES + tuned : -1, i == 2);
        if (quick) op_device_list[op_n_devices - 1].most_elements = OP_QUICK_ELEMENTS;
    }
}

/* [0] ref in double, [1] ref in float, then cpu: every instruction set this machine runs with 1, 2, 3 and 8
 * threads; then a GPU. */
static inline const op_device *op_devices(int *n)
{
    if (op_n_devices == 0) {
        pt_error err = {0};
        pt_device *device = NULL;
        CHECK_OK(pt_device_ref_new(&device, PT_F64, &err), err);
        op_devices_add(device, "f64", 1, -1, 0);
        CHECK_OK(pt_device_ref_new(&device, PT_F32, &err), err);
        op_devices_add(device, "f32", 1, -1, 0);
        const char *const *isa = pt_device_cpu_isas();
        for (int i = 0; isa[i]; i++) op_devices_add_cpu(isa[i], i);
        op_devices_add_gpu();
        atexit(op_devices_free);
    }
    *n = op_n_devices;
    return op_device_list;
}

static inline const op_device *op_ref64(void)
{
    int n;
    return &op_devices(&n)[0];
}

/* ---- running ---- */

#define OP_GUARD 256
#define OP_POISON 0xA5

/* A case with its memory on one device. */
typedef struct op_bound {
    op_args args;
    pt_buffer *buffer[PT_OP_MAX_TENSORS]; /* owned; NULL for absent and aliased ones */
} op_bound;

/* The tensors' values after a run. */
typedef struct op_result {
    double *value[PT_OP_MAX_TENSORS];
} op_result;

static inline pt_tensor *op_bound_tensor(op_bound *b, int i)
{
    return (pt_tensor *)b->args.bytes + i;
}

static inline double op_get_packed(const pt_tensor *t, int64_t i)
{
    int64_t n = pt_last_dim(t);
    const char *row = (const char *)pt_host(t) + i / n * pt_dtype_bytes(t->dtype, n);
    return (double)pt_packed_at(t->dtype, row, n, i % n);
}

static inline double op_get(const pt_tensor *t, int64_t i)
{
    const void *p = pt_host(t);
    switch (t->dtype) {
    case PT_F64: return ((const double *)p)[i];
    case PT_I32: return ((const int32_t *)p)[i];
    case PT_U8: return ((const uint8_t *)p)[i];
    case PT_BF16: return (double)pt_float_from_bf16(((const uint16_t *)p)[i]);
    case PT_ROWS_F16:
    case PT_ROWS_INT8: return op_get_packed(t, i);
    default: return (double)((const float *)p)[i];
    }
}

static inline void op_put(const pt_tensor *t, int64_t i, double v)
{
    void *p = pt_host(t);
    switch (t->dtype) {
    case PT_F64: ((double *)p)[i] = v; break;
    case PT_I32: ((int32_t *)p)[i] = (int32_t)v; break;
    case PT_U8: ((uint8_t *)p)[i] = (uint8_t)v; break;
    case PT_BF16: ((uint16_t *)p)[i] = pt_bf16_from_float((float)v); break;
    default: ((float *)p)[i] = (float)v;
    }
}

static inline bool op_has(const op_case *c, int i) { return c->role[i] != OP_ROLE_ABSENT; }

/* The rows of a packed tensor from its values. */
static inline void op_pack(const pt_tensor *t, const double *values, char *to)
{
    int64_t n = pt_last_dim(t), bytes = pt_dtype_bytes(t->dtype, n);
    float *row = pt_alloc((size_t)n * sizeof *row);
    for (int64_t r = 0; r < pt_rows(t); r++) {
        for (int64_t e = 0; e < n; e++) row[e] = (float)values[r * n + e];
        CHECK(pt_pack_row(t->dtype, row, n, to + r * bytes));
    }
    pt_free(row);
}

/* On a device that has no host addresses: the test then keeps an image of the buffer where its address would be. */
static inline bool op_is_remote(const pt_buffer *buffer) { return buffer->handle != 0; }

/* Makes the buffers, all poison. */
static inline void op_bind(const op_case *c, const op_device *d, bool aliases, op_bound *b)
{
    memset(b, 0, sizeof *b);
    b->args = c->args;
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) {
        if (!op_has(c, i) || (aliases && c->alias[i])) continue;
        pt_tensor *t = op_bound_tensor(b, i);
        if (t->dtype == PT_F32) t->dtype = d->device->compute;
        int64_t bytes = pt_max_i64(pt_tensor_bytes(t), 0);
        pt_error err = {0};
        CHECK_OK(pt_buffer_new(d->device, bytes + 2 * OP_GUARD, &b->buffer[i], &err), err);
        if (op_is_remote(b->buffer[i])) b->buffer[i]->data = pt_alloc((size_t)b->buffer[i]->bytes);
        memset(b->buffer[i]->data, OP_POISON, (size_t)bytes + 2 * OP_GUARD);
        t->buffer = b->buffer[i];
        t->offset = OP_GUARD / 2 + d->skew * pt_dtype_bytes(t->dtype, 1) + c->shift[i];
    }
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) {
        if (!op_has(c, i) || !aliases || !c->alias[i]) continue;
        pt_tensor *t = op_bound_tensor(b, i), *other = op_bound_tensor(b, c->alias[i] - 1);
        if (t->dtype == PT_F32) t->dtype = d->device->compute;
        t->buffer = other->buffer;
        t->offset = other->offset + c->shift[i];
    }
}

static inline void op_unbind(op_bound *b)
{
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) {
        if (b->buffer[i] && op_is_remote(b->buffer[i])) pt_free(b->buffer[i]->data);
        pt_buffer_free(b->buffer[i]);
    }
}

/* The images to the device, or back. */
static inline void op_exchange(const op_device *d, op_bound *b, bool back)
{
    pt_error err = {0};
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) {
        pt_buffer *buffer = b->buffer[i];
        if (!buffer || !op_is_remote(buffer)) continue;
        pt_tensor whole = {.buffer = buffer, .dtype = PT_U8};
        whole = pt_view(&whole, buffer->bytes, 0, 0, 0);
        if (!back) CHECK_OK(pt_upload(d->device, &whole, buffer->data, buffer->bytes, &err), err);
        if (!back) continue;
        pt_download download;
        pt_status s =
            pt_download_begin(d->device, &whole, buffer->data, buffer->bytes, &download, &err);
        if (s == PT_OK) s = pt_submit(d->device, &err);
        while (s == PT_OK && (s = pt_download_poll(d->device, &download, &err)) == PT_PENDING)
            s = PT_OK;
        CHECK_OK(s, err);
    }
}

static inline void op_fill(const op_case *c, op_bound *b)
{
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) {
        if (!b->buffer[i]) continue;
        const pt_tensor *t = op_bound_tensor(b, i);
        bool nan = c->role[i] == OP_ROLE_OUT || c->role[i] == OP_ROLE_WORK;
        if (pt_is_packed(t->dtype)) {
            op_pack(t, c->data[i], pt_host(t));
            continue;
        }
        for (int64_t e = 0; e < pt_numel(t); e++) op_put(t, e, nan ? PT_NAN : c->data[i][e]);
    }
}

static inline void op_complain(const op_case *c, const op_device *d, int i, const char *what)
{
    char text[96];
    printf("op %s on %s: tensor %d %s; tensors:", pt_op_info_of(c->op)->name, d->label, i, what);
    for (int j = 0; j < PT_OP_MAX_TENSORS; j++) {
        if (!op_has(c, j)) continue;
        pt_tensor_describe((const pt_tensor *)c->args.bytes + j, text, sizeof text);
        printf(" %d%s", j, text);
    }
    printf("\n");
}

static inline void op_check_guards(const op_case *c, const op_device *d, op_bound *b)
{
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) {
        if (!b->buffer[i]) continue;
        const pt_tensor *t = op_bound_tensor(b, i);
        const unsigned char *p = b->buffer[i]->data;
        bool whole = true;
        for (int64_t e = 0; e < t->offset; e++) whole &= p[e] == OP_POISON;
        for (int64_t e = t->offset + pt_tensor_bytes(t); e < b->buffer[i]->bytes; e++)
            whole &= p[e] == OP_POISON;
        if (!whole) op_complain(c, d, i, "was written outside its bounds");
        CHECK(whole);
    }
}

static inline void op_check_inputs(const op_case *c, const op_device *d, op_bound *b)
{
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) {
        bool shared = false;
        for (int j = 0; j < PT_OP_MAX_TENSORS; j++) shared |= op_has(c, j) && c->alias[j] == i + 1;
        if (c->role[i] != OP_ROLE_IN || !b->buffer[i] || (shared && d != op_ref64())) continue;
        const pt_tensor *t = op_bound_tensor(b, i);
        bool same = true;
        if (pt_is_packed(t->dtype)) {
            char *then = pt_alloc((size_t)pt_tensor_bytes(t));
            op_pack(t, c->data[i], then);
            same = memcmp(then, pt_host(t), (size_t)pt_tensor_bytes(t)) == 0;
            pt_free(then);
        }
        for (int64_t e = 0; e < pt_numel(t) && !pt_is_packed(t->dtype); e++) {
            double now = op_get(t, e), then = c->data[i][e];
            same &= now == then || (pt_is_nan(now) && pt_is_nan(then));
        }
        if (!same) op_complain(c, d, i, "is an input and was changed");
        CHECK(same);
    }
}

static inline void op_launch(const op_case *c, const op_device *d, unsigned passes, op_bound *b)
{
    pt_error err = {0};
    op_exchange(d, b, false);
    int64_t allocations = pt_alloc_count();
    if (passes & OP_FORWARD)
        CHECK_OK(pt_op_run(d->device, c->op, PT_FORWARD, b->args.bytes, &err), err);
    if (passes & OP_BACKWARD)
        CHECK_OK(pt_op_run(d->device, c->op, PT_BACKWARD, b->args.bytes, &err), err);
    if (strcmp(d->device->name, "webgpu") != 0) CHECK_INT(pt_alloc_count(), allocations);
    op_exchange(d, b, true);
}

/* Runs the case; the result holds every present tensor. Release with op_result_free. */
static inline void op_run(const op_case *c, const op_device *d, unsigned passes, op_result *r)
{
    op_bound b;
    memset(r, 0, sizeof *r);
    op_bind(c, d, d != op_ref64(), &b);
    op_fill(c, &b);
    op_launch(c, d, passes, &b);
    op_check_guards(c, d, &b);
    op_check_inputs(c, d, &b);
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) {
        if (!op_has(c, i)) continue;
        const pt_tensor *t = op_bound_tensor(&b, i);
        r->value[i] = pt_alloc((size_t)pt_numel(t) * sizeof(double));
        for (int64_t e = 0; e < pt_numel(t); e++) r->value[i][e] = op_get(t, e);
    }
    op_unbind(&b);
}

static inline void op_result_free(op_result *r)
{
    for (int i = 0; i < PT_OP_MAX_TENSORS; i++) pt_free(r->value[i]);
    memset(r, 0, sizeof *r);
}

#endif
