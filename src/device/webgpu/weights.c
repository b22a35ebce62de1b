/* Products with matrices of weights. SPDX-License-Identifier: MIT */
#include "device/webgpu/weights.h"

#define UNIT 16                  /* bytes that a thread reads at once */
#define LONG_ROW 192             /* units of a row that are worth 256 threads */
#define MANY_ROWS 8192           /* of B: they keep a large GPU busy with 64 threads each */
#define UNPACKED_BYTES (1 << 25) /* of B as f32 at once */

pt_wg_rows pt_wg_rows_of(const pt_tensor *w, int64_t unit)
{
    int64_t n = pt_last_dim(w);
    return (pt_wg_rows){.stored = w->dtype == PT_ROWS_F16    ? 1
                                  : w->dtype == PT_ROWS_INT8 ? 2
                                                             : 0,
                        .row = pt_dtype_bytes(w->dtype, n) / unit,
                        .scales = pt_round_up(n, 16) / unit};
}

bool pt_wg_takes_weights(const pt_device *device, const pt_wg_product *p)
{
    if (pt_is_packed(p->b.tensor->dtype)) return true;
    bool plain = !p->a.transposed && p->b.transposed && !p->accumulate && !p->mask;
    bool whole =
        p->k % 4 == 0 && p->b.ld == p->k && p->b.first == 0 && p->b.tensor->offset % 16 == 0;
    return plain && whole && p->m <= PT_WG_FEW_ROWS && !pt_wg_limits_of(device)->software;
}

static bool in_fours(const pt_wg_matrix *x, int64_t row)
{
    return row % 4 == 0 && x->ld % 4 == 0 && x->first % 4 == 0 && x->tensor->offset % 16 == 0;
}

/* Of k elements of a row of B, how many units. */
static int64_t units_of(const pt_wg_rows *rows, int64_t k)
{
    static const int elements[] = {4, 8, 16};
    return pt_div_up(k, elements[rows->stored]);
}

static void add_words(pt_wg_call *call, const pt_wg_product *p, const pt_wg_rows *rows)
{
    pt_wg_u32(call, p->m);
    pt_wg_u32(call, p->n);
    pt_wg_u32(call, p->k);
    pt_wg_u32(call, units_of(rows, p->k));
    pt_wg_u32(call, rows->row);
    pt_wg_u32(call, rows->scales);
    pt_wg_u32(call, p->a.first);
    pt_wg_u32(call, p->a.ld);
    pt_wg_u32(call, p->c.first);
    pt_wg_u32(call, p->c.ld);
    pt_wg_u32(call, p->bias && pt_present(p->bias));
}

/* Rows of A that a thread has sums for: few lengths, so that few pipelines are made. */
static uint32_t rows_of(int64_t m) { return m <= 1 ? 1 : m <= 2 ? 2 : m <= 4 ? 4 : 8; }

static pt_status few(pt_device *device, const pt_wg_product *p, pt_error *err)
{
    bool software = pt_wg_limits_of(device)->software, fours = in_fours(&p->a, p->k);
    pt_wg_rows rows = pt_wg_rows_of(p->b.tensor, UNIT);
    uint32_t side = units_of(&rows, p->k) >= LONG_ROW && p->n <= MANY_ROWS ? 16 : 8;
    pt_wg_call call = {.shader = "weights",
                       .entry = software ? "plain" : "product",
                       .tensor = {{fours ? "a4" : "a", p->a.tensor},
                                  {"b", p->b.tensor},
                                  {"c", p->c.tensor},
                                  {"bias", p->bias}},
                       .constant = {{"STORED", rows.stored},
                                    {"FOURS", fours},
                                    {"ROWS", software ? 1 : rows_of(p->m)},
                                    {"SIDE", software ? 8 : side}},
                       .work = (double)p->m * (double)p->n * (double)p->k};
    add_words(&call, p, &rows);
    call.groups[0] = software ? pt_div_up(p->m * p->n, 64) : pt_div_up(p->n, 4);
    return pt_wg_run(device, &call, err);
}

/* B as f32 into `to`. */
static pt_status unpack(pt_device *device, const pt_tensor *b, const pt_tensor *to, pt_error *err)
{
    int64_t n = b->dim[0], k = pt_last_dim(b), fours = pt_div_up(k, 4);
    pt_wg_rows rows = pt_wg_rows_of(b, UNIT);
    pt_wg_product p = {.c = {.tensor = to, .ld = k}, .m = 1, .n = n, .k = k};
    pt_wg_call call = {
        .shader = "weights",
        .entry = "unpack",
        .tensor = {{"b", b}, {k % 4 == 0 ? "c4" : "c", to}},
        .constant = {{"STORED", rows.stored}, {"FOURS", k % 4 == 0}, {"ROWS", 1}, {"SIDE", 8}},
        .groups = {pt_div_up(n * fours, 64)},
        .work = (double)n * (double)k};
    add_words(&call, &p, &rows);
    return pt_wg_run(device, &call, err);
}

/* Columns first … of C, as many as fit. */
static pt_status piece(pt_device *device, const pt_wg_product *p, int64_t first, int64_t n,
                       const pt_tensor *floats, pt_error *err)
{
    pt_tensor b = pt_slice(p->b.tensor, first, n), wide = pt_view(floats, n, p->k, 0, 0), bias;
    pt_wg_product part = *p;
    part.b = (pt_wg_matrix){&wide, 0, p->k, true};
    part.c.first += first;
    part.n = n;
    if (p->bias && pt_present(p->bias)) {
        bias = pt_slice(p->bias, first, n);
        part.bias = &bias;
    }
    pt_status s = unpack(device, &b, &wide, err);
    return s == PT_OK ? pt_wg_matmul(device, &part, err) : s;
}

static pt_status many(pt_device *device, const pt_wg_product *p, pt_error *err)
{
    pt_tensor floats, wide = {.dtype = PT_F32};
    wide = pt_view(&wide, p->n, p->k, 0, 0);
    int64_t room = pt_min_i64(pt_wg_rows_that_fit(device, &wide), UNPACKED_BYTES / (p->k * 4));
    room = pt_max_i64(room / 64 * 64, 1);
    pt_status s = pt_wg_second_scratch(device, pt_min_i64(room, p->n) * p->k * 4, &floats, err);
    for (int64_t first = 0; first < p->n && s == PT_OK; first += room)
        s = piece(device, p, first, pt_min_i64(room, p->n - first), &floats, err);
    return s;
}

pt_status pt_wg_weights_product(pt_device *device, const pt_wg_product *p, pt_error *err)
{
    return p->m <= PT_WG_FEW_ROWS ? few(device, p, err) : many(device, p, err);
}
