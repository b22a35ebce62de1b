/* Products of matrices on the GPU: the ladder of kernels, and how one is launched. SPDX-License-Identifier: MIT */
#include "device/webgpu/choice.h"

#include "device/webgpu/weights.h"

const pt_wg_tile pt_wg_tiles[] = {
    {"naive", PT_WG_NAIVE, 0, 0, 0, 0, 0, false, false},
    {"32x32 4x4", PT_WG_TILED, 32, 32, 16, 4, 4, true, true},
    {"64x64 4x4", PT_WG_TILED, 64, 64, 16, 4, 4, true, true},
    {"64x64 4x4 scalar", PT_WG_TILED, 64, 64, 16, 4, 4, false, false},
    {"64x64 8x4", PT_WG_TILED, 64, 64, 16, 8, 4, true, true},
    {"128x64 8x4", PT_WG_TILED, 128, 64, 8, 8, 4, true, false},
    {"64x64 8x8", PT_WG_TILED, 64, 64, 16, 8, 8, true, false},
    {"128x64 8x8", PT_WG_TILED, 128, 64, 8, 8, 8, true, false},
    {"128x64 8x8 k16", PT_WG_TILED, 128, 64, 16, 8, 8, true, false},
    {"128x128 8x8", PT_WG_TILED, 128, 128, 8, 8, 8, true, false},
    {"128x128 8x8 k16", PT_WG_TILED, 128, 128, 16, 8, 8, true, false},
    {"128x64 16x8", PT_WG_TILED, 128, 64, 16, 16, 8, true, false},
    {"128x128 16x8", PT_WG_TILED, 128, 128, 8, 16, 8, true, true},
    {"128x128 16x8 k16", PT_WG_TILED, 128, 128, 16, 16, 8, true, false},
    {"128x256 16x8", PT_WG_TILED, 128, 256, 8, 16, 8, true, false},
    {"32x32 4x4 unrolled", PT_WG_UNROLLED, 32, 32, 16, 4, 4, true, true},
    {"64x64 8x4 unrolled", PT_WG_UNROLLED, 64, 64, 16, 8, 4, true, true},
    {"64x128 8x4 unrolled", PT_WG_UNROLLED, 64, 128, 16, 8, 4, true, true},
    {"128x64 8x8 unrolled", PT_WG_UNROLLED, 128, 64, 16, 8, 8, true, true},
    {"128x128 8x8 unrolled", PT_WG_UNROLLED, 128, 128, 16, 8, 8, true, true},
    {"128x128 16x8 unrolled", PT_WG_UNROLLED, 128, 128, 8, 16, 8, true, false},
    {"subgroup", PT_WG_SUBGROUP, 8, 1024, 4, 0, 0, true, false},
    {"subgroup matrix, f32 as 3 f16", PT_WG_MATRIX, 128, 128, 32, 0, 0, true, false},
    {"64x64 4x4, f16 storage", PT_WG_F16_STORAGE, 64, 64, 16, 4, 4, true, false},
    {"64x64 4x4, f16 compute", PT_WG_F16_COMPUTE, 64, 64, 16, 0, 0, true, false},
    {"subgroup matrix, f16", PT_WG_F16_MATRIX, 128, 128, 32, 0, 0, true, false},
};
enum {
    NAIVE,
    SMALL,
    MEDIUM,
    SCALAR,
    TALL,
    WIDE,
    SQUARE,
    HEAVY,
    HEAVY16,
    LARGE,
    LARGE16,
    DEEP,
    DEEPER,
    DEEPEST,
    BROAD,
    SMALL_UNROLLED,
    TALL_UNROLLED,
    BROAD_UNROLLED,
    HEAVY_UNROLLED,
    LARGE_UNROLLED,
    DEEPER_UNROLLED,
    SUBGROUP,
    MATRIX,
    F16_STORAGE,
    F16_COMPUTE,
    F16_MATRIX,
    TILES
};

_Static_assert(TILES <= PT_WG_MOST_TILES, "a table of verdicts has room for all");

int pt_wg_tile_count(void) { return TILES; }

static bool on_matrix_units(const pt_wg_tile *t)
{
    return t->kind == PT_WG_MATRIX || t->kind == PT_WG_F16_MATRIX;
}

static bool is_packed(const pt_wg_tile *t)
{
    return t->kind == PT_WG_F16_STORAGE || t->kind == PT_WG_F16_COMPUTE;
}

static bool is_tiled(const pt_wg_tile *t)
{
    return t->kind == PT_WG_TILED || t->kind == PT_WG_UNROLLED || t->kind == PT_WG_F16_STORAGE;
}

bool pt_wg_tile_approximate(const pt_wg_tile *t)
{
    return is_packed(t) || t->kind == PT_WG_F16_MATRIX;
}

#define MATRIX_BYTES \
    49152 /* of var<workgroup> in matmul_matrix.wgsl, with A and B as they need most */

/* Of var<workgroup> in matmul_unrolled.wgsl, at most. */
static int64_t unrolled_bytes(const pt_wg_tile *t) { return (t->bm + t->bn + 8) * t->bk * 4; }

const char *pt_wg_tile_lacks(const pt_device *device, const pt_wg_tile *t)
{
    const pt_wg_limits *l = pt_wg_limits_of(device);
    if (t->kind == PT_WG_SUBGROUP && !l->subgroups) return "subgroups";
    if (t->kind == PT_WG_F16_COMPUTE && !l->f16) return "shader-f16";
    if (t->kind == PT_WG_UNROLLED && l->workgroup_bytes < unrolled_bytes(t))
        return "room for its tiles";
    if (!on_matrix_units(t)) return NULL;
    if (!l->f16 || !l->subgroup_matrix) return "subgroup matrices of f16";
    return l->workgroup_bytes < MATRIX_BYTES ? "48 KiB of workgroup memory" : NULL;
}

/* ---- what follows from the shape ---- */

/* Workgroups that keep a large GPU busy. */
#define BUSY 264
/* And what keeps it busy to the end, for sums that are long enough to be cut further. */
#define MANY 1056
#define MOST_SLICES 32
#define LEAST_SLICE 64 /* of K */
#define LONG_SLICE 512
#define SLICE_UNIT 32    /* of K, a multiple of every tile's: so slices do not depend on the tile */
#define MATRIX_SLICE 512 /* at most, for its sums to be as good as those in f32 */

static int64_t tiles_of(const pt_wg_product *p, int64_t side)
{
    return pt_div_up(p->m, side) * pt_div_up(p->n, side);
}

pt_wg_size pt_wg_size_of(const pt_wg_product *p)
{
    if (pt_div_up(p->m, 128) * pt_div_up(p->n, 256) >= BUSY) return PT_WG_HUGE;
    if (tiles_of(p, 128) >= BUSY) return PT_WG_LARGE;
    return tiles_of(p, 64) >= BUSY / 4 ? PT_WG_MEDIUM : PT_WG_SMALL;
}

pt_wg_layout pt_wg_layout_of(const pt_wg_product *p)
{
    return p->a.transposed ? PT_WG_TN : p->b.transposed ? PT_WG_NT : PT_WG_NN;
}

const pt_wg_tile *pt_wg_usual_tile(pt_wg_size size)
{
    static const int usual[PT_WG_SIZES] = {SMALL, MEDIUM, DEEPER, DEEPER};
    return &pt_wg_tiles[usual[size]];
}

static int64_t choose_slices(const pt_wg_product *p, const pt_wg_tile *t)
{
    static const int64_t side[PT_WG_SIZES] = {32, 64, 128, 128};
    if (t->kind == PT_WG_MATRIX) return pt_div_up(p->k, MATRIX_SLICE);
    int64_t groups = tiles_of(p, side[pt_wg_size_of(p)]);
    int64_t most = pt_min_i64(MOST_SLICES, p->k / LEAST_SLICE);
    if (p->m * p->n > 1 << 22)
        return 1; /* the slices would be read and written for longer than they save */
    int64_t needed = BUSY / pt_max_i64(groups, 1);
    int64_t longer = pt_min_i64(p->k / LONG_SLICE, MANY / pt_max_i64(groups, 1));
    return pt_max_i64(1, pt_min_i64(most, pt_max_i64(needed, longer)));
}

/* ---- a launch ---- */

/* Rows of the stored matrix begin at multiples of four elements and are multiples of four long. */
static bool fours(const pt_wg_matrix *x, int64_t row)
{
    return row % 4 == 0 && x->ld % 4 == 0 && x->first % 4 == 0 && x->tensor->offset % 16 == 0;
}

static void add_tensor(pt_wg_call *call, const char *name, const pt_tensor *t)
{
    int i = 0;
    while (call->tensor[i].name) i++;
    call->tensor[i].name = name;
    call->tensor[i].tensor = t;
}

static void add_constant(pt_wg_call *call, const char *name, int64_t value)
{
    int i = 0;
    while (call->constant[i].name) i++;
    call->constant[i].name = name;
    call->constant[i].value = (uint32_t)value;
}

static void add_words(pt_wg_call *call, const pt_wg_product *p, int64_t slices, int64_t slice_k)
{
    pt_wg_u32(call, p->m);
    pt_wg_u32(call, p->n);
    pt_wg_u32(call, p->k);
    pt_wg_u32(call, slices);
    pt_wg_u32(call, slice_k);
    pt_wg_u32(call, (p->accumulate ? 1 : 0) | (p->bias && pt_present(p->bias) ? 2 : 0));
    const pt_wg_matrix *all[] = {&p->a, &p->b, &p->c};
    for (int i = 0; i < 3; i++) {
        pt_wg_u32(call, all[i]->first);
        pt_wg_u32(call, all[i]->ld);
    }
    pt_wg_u32(call, p->mask_first);
    if (p->mask) add_tensor(call, "mask", p->mask);
}

/* As PT_WG_UNROLLED reads it: what lies beyond the end of a row may be anything. */
static bool begins_in_fours(const pt_wg_matrix *x) { return fours(x, 0); }

static bool is_unrolled(const pt_wg_product *p, const pt_wg_tile *t)
{
    return t->kind == PT_WG_UNROLLED && begins_in_fours(&p->a) && begins_in_fours(&p->b);
}

/* The tensors, in elements of four where the tile can use them, and the pipeline's constants. */
static void add_operands(pt_wg_call *call, const pt_wg_product *p, const pt_wg_tile *t)
{
    bool half = is_packed(t); /* A and B are then the packed ones */
    bool unrolled = is_unrolled(p, t), vectors = t->vectors && !half;
    bool va = unrolled || (vectors && fours(&p->a, p->a.transposed ? p->m : p->k));
    bool vb = unrolled || (vectors && fours(&p->b, p->b.transposed ? p->k : p->n));
    bool vc = t->vectors && !on_matrix_units(t) && fours(&p->c, p->n);
    add_tensor(call, half ? "half_a" : va ? "a4" : "a", p->a.tensor);
    add_tensor(call, half ? "half_b" : vb ? "b4" : "b", p->b.tensor);
    add_tensor(call, vc ? "c4" : "c", p->c.tensor);
    if (p->bias) add_tensor(call, "bias", p->bias);
    add_constant(call, "FLAGS",
                 p->a.transposed | p->b.transposed << 1 | va << 2 | vb << 3 | vc << 4 |
                     p->mask_m << 5 | p->mask_k << 6 | half << 7);
    if (on_matrix_units(t)) add_constant(call, "PRODUCTS", t->kind == PT_WG_MATRIX ? 3 : 1);
    if (t->kind != PT_WG_NAIVE && !is_tiled(t)) return;
    add_constant(call, "BM", t->bm ? t->bm : 64);
    add_constant(call, "BN", t->bn ? t->bn : 64);
    add_constant(call, "BK", t->bk ? t->bk : 16);
    add_constant(call, "TM", t->tm ? t->tm : 4);
    add_constant(call, "TN", t->tn ? t->tn : 4);
    if (!unrolled) return;
    int threads = t->bm / t->tm * (t->bn / t->tn);
    add_constant(call, "TM4", t->tm / 4);
    add_constant(call, "TN4", t->tn / 4);
    add_constant(call, "LOADS_A", t->bm * t->bk / 4 / threads);
    add_constant(call, "LOADS_B", t->bn * t->bk / 4 / threads);
}

/* For the kernels that have no tiles. */
static void add_plain_constants(pt_wg_call *call, int64_t flags)
{
    static const char *const names[] = {"BM", "BN", "BK", "TM", "TN"};
    static const int values[] = {64, 64, 16, 4, 4};
    add_constant(call, "FLAGS", flags);
    for (int i = 0; i < 5; i++) add_constant(call, names[i], values[i]);
}

static pt_status gather(pt_device *device, const pt_wg_product *p, const pt_tensor *part,
                        int64_t slices, pt_error *err)
{
    pt_wg_call call = {.shader = "matmul", .entry = "gather"};
    add_tensor(&call, "c", p->c.tensor);
    add_tensor(&call, "part", part);
    if (p->bias) add_tensor(&call, "bias", p->bias);
    add_plain_constants(&call, p->mask_m << 5);
    add_words(&call, p, slices, 0);
    call.groups[0] = pt_div_up(p->m * p->n, 64);
    call.work = (double)p->m * (double)p->n * (double)slices;
    return pt_wg_run(device, &call, err);
}

/* A product under way, and what its kernel needs besides the operands, in one piece of scratch: made in this order. */
typedef struct job {
    pt_device *device;
    pt_wg_product p;
    const pt_wg_tile *tile;
    int64_t slices, slice_k;
    pt_tensor scale_a, scale_b; /* MATRIX: powers of two for A's rows and B's columns */
    pt_tensor half_a, half_b;   /* f16, in pairs */
    pt_tensor part;             /* M x N for each slice */
} job;

/* The next n elements of the scratch, from a multiple of 256 bytes; absent for none. */
static void cut(const pt_tensor *scratch, int64_t *at, int64_t n, pt_tensor *out)
{
    memset(out, 0, sizeof *out);
    if (n && scratch) *out = pt_slice(scratch, *at, n);
    *at += pt_round_up(n, 64);
}

/* Elements of a matrix in pairs of f16, its rows padded to fours. */
static int64_t pairs(const pt_wg_matrix *x, int64_t rows, int64_t columns)
{
    int64_t length = x->transposed ? rows : columns;
    return (x->transposed ? columns : rows) * pt_round_up(length, 4) / 2;
}

/* Cuts the scratch, or counts what it must hold. */
static int64_t cut_all(job *j, const pt_tensor *scratch)
{
    const pt_wg_product *p = &j->p;
    int64_t at = 0;
    bool scaled = j->tile->kind == PT_WG_MATRIX, packed = is_packed(j->tile);
    cut(scratch, &at, scaled ? p->m : 0, &j->scale_a);
    cut(scratch, &at, scaled ? p->n : 0, &j->scale_b);
    cut(scratch, &at, packed ? pairs(&p->a, p->m, p->k) : 0, &j->half_a);
    cut(scratch, &at, packed ? pairs(&p->b, p->k, p->n) : 0, &j->half_b);
    /* naive adds its slices up itself */
    bool sliced = j->slices > 1 && j->tile->kind != PT_WG_NAIVE;
    cut(scratch, &at, sliced ? j->slices * p->m * p->n : 0, &j->part);
    return at;
}

/* A pass over A, or over B, before the product; none where `out` is absent. */
static pt_status prepare(const job *j, const char *entry, const char *name, const pt_tensor *out,
                         int64_t groups, pt_error *err)
{
    const pt_wg_product *p = &j->p;
    bool packed = is_packed(j->tile);
    pt_wg_call call = {.shader = packed ? "matmul" : "matmul_matrix", .entry = entry};
    if (!pt_present(out)) return PT_OK;
    if (packed) {
        bool va = fours(&p->a, p->a.transposed ? p->m : p->k);
        bool vb = fours(&p->b, p->b.transposed ? p->k : p->n);
        add_tensor(&call, va ? "a4" : "a", p->a.tensor);
        add_tensor(&call, vb ? "b4" : "b", p->b.tensor);
        add_plain_constants(&call, p->a.transposed | p->b.transposed << 1 | va << 2 | vb << 3);
    } else {
        add_operands(&call, p, j->tile);
    }
    add_tensor(&call, name, out);
    add_words(&call, p, 1, 0);
    call.groups[0] = groups;
    call.work = (double)pt_max_i64(p->m, p->n) * (double)p->k;
    return pt_wg_run(j->device, &call, err);
}

static pt_status prepare_all(const job *j, pt_error *err)
{
    const pt_wg_product *p = &j->p;
    pt_status s = prepare(j, "scales_a", "scale_a", &j->scale_a,
                          pt_div_up(p->m, p->a.transposed ? 32 : 4), err);
    if (s == PT_OK)
        s = prepare(j, "scales_b", "scale_b", &j->scale_b,
                    pt_div_up(p->n, p->b.transposed ? 4 : 32), err);
    if (s == PT_OK)
        s = prepare(j, "pack_a", "half_a", &j->half_a, pt_div_up(pairs(&p->a, p->m, p->k) / 2, 64),
                    err);
    if (s == PT_OK)
        s = prepare(j, "pack_b", "half_b", &j->half_b, pt_div_up(pairs(&p->b, p->k, p->n) / 2, 64),
                    err);
    return s;
}

/* The product of the packed matrices instead. */
static void use_packed(job *j)
{
    pt_wg_product *p = &j->p;
    p->a = (pt_wg_matrix){.tensor = &j->half_a,
                          .ld = pt_round_up(p->a.transposed ? p->m : p->k, 4),
                          .transposed = p->a.transposed};
    p->b = (pt_wg_matrix){.tensor = &j->half_b,
                          .ld = pt_round_up(p->b.transposed ? p->k : p->n, 4),
                          .transposed = p->b.transposed};
}

static const struct {
    const char *shader, *entry;
} kernel_of[] = {
    [PT_WG_NAIVE] = {"matmul", "naive"},
    [PT_WG_TILED] = {"matmul", "tiled"},
    [PT_WG_UNROLLED] = {"matmul_unrolled", "product"},
    [PT_WG_SUBGROUP] = {"matmul_subgroup", "product"},
    [PT_WG_MATRIX] = {"matmul_matrix", "product"},
    [PT_WG_F16_STORAGE] = {"matmul", "tiled"},
    [PT_WG_F16_COMPUTE] = {"matmul_f16", "product"},
    [PT_WG_F16_MATRIX] = {"matmul_matrix", "product"},
};

static pt_status multiply(const job *j, pt_error *err)
{
    const pt_wg_product *p = &j->p;
    const pt_wg_tile *t = j->tile;
    bool rolled = t->kind == PT_WG_UNROLLED && !is_unrolled(p, t);
    pt_wg_kind kind = rolled ? PT_WG_TILED : t->kind;
    pt_wg_call call = {.shader = kernel_of[kind].shader, .entry = kernel_of[kind].entry};
    add_operands(&call, p, t);
    if (kind == PT_WG_MATRIX) {
        add_tensor(&call, "scale_a", &j->scale_a);
        add_tensor(&call, "scale_b", &j->scale_b);
    }
    bool by_fours = call.constant[0].value & 16;
    if (pt_present(&j->part)) add_tensor(&call, by_fours ? "part4" : "part", &j->part);
    add_words(&call, p, j->slices, j->slice_k);
    call.work = (double)p->m * (double)p->n * (double)p->k;
    if (kind == PT_WG_NAIVE) {
        call.groups[0] = pt_div_up(p->m * p->n, 64);
    } else {
        call.groups[0] = pt_div_up(p->n, t->bn);
        call.groups[1] = pt_div_up(p->m, t->bm);
        call.groups[2] = j->slices;
    }
    return pt_wg_run(j->device, &call, err);
}

pt_status pt_wg_matmul_with(pt_device *device, const pt_wg_product *product, const pt_wg_tile *tile,
                            int64_t slices, pt_error *err)
{
    job j = {.device = device, .p = *product, .tile = tile};
    pt_tensor scratch;
    const char *lacks = pt_wg_tile_lacks(device, tile);
    if (lacks)
        return pt_fail(err, PT_UNSUPPORTED, "kernel %s: this GPU has no %s", tile->name, lacks);
    if (!slices) slices = choose_slices(&j.p, tile);
    j.slice_k = pt_round_up(pt_div_up(j.p.k, slices), SLICE_UNIT);
    j.slices = pt_div_up(j.p.k, j.slice_k);
    int64_t elements = cut_all(&j, NULL);
    pt_status s = PT_OK;
    if (elements) {
        s = pt_wg_scratch(device, elements * 4, &scratch, err);
        if (s == PT_OK) cut_all(&j, &scratch);
    }
    if (s == PT_OK) s = prepare_all(&j, err);
    if (is_packed(tile)) use_packed(&j);
    if (s == PT_OK) s = multiply(&j, err);
    if (s == PT_OK && pt_present(&j.part)) s = gather(device, &j.p, &j.part, j.slices, err);
    return s;
}

pt_status pt_wg_matmul(pt_device *device, const pt_wg_product *p, pt_error *err)
{
    if (pt_wg_takes_weights(device, p)) return pt_wg_weights_product(device, p, err);
    const pt_wg_choice *choice = pt_wg_choice_of(device);
    const pt_wg_tile *tile = choice->tile[pt_wg_size_of(p)][pt_wg_layout_of(p)];
    return pt_wg_matmul_with(device, p, tile, 0, err);
}

pt_status pt_wg_column_sums(pt_device *device, const pt_wg_matrix *a, int64_t m, int64_t n,
                            const pt_tensor *sums, pt_error *err)
{
    int64_t slices = pt_max_i64(1, pt_min_i64(32, m / 64));
    int64_t slice = pt_div_up(m, slices);
    slices = pt_div_up(m, slice);
    pt_wg_product p = {.a = *a, .c = {.tensor = sums}, .m = m, .n = n, .accumulate = true};
    pt_wg_call call = {
        .shader = "matmul", .entry = "column_sums", .groups = {pt_div_up(n, 64), slices, 1}};
    pt_tensor part = {0};
    if (slices > 1) {
        pt_status s = pt_wg_scratch(device, slices * n * 4, &part, err);
        if (s) return s;
        add_tensor(&call, "part", &part);
    }
    add_tensor(&call, "a", a->tensor);
    if (slices == 1) add_tensor(&call, "c", sums);
    add_plain_constants(&call, 0);
    add_words(&call, &p, slices, slice);
    call.work = (double)m * (double)n;
    pt_status s = pt_wg_run(device, &call, err);
    p.m = 1;
    return s == PT_OK && slices > 1 ? gather(device, &p, &part, slices, err) : s;
}

const char *pt_device_webgpu_kernel(int kernel)
{
    return kernel >= 0 && kernel < TILES ? pt_wg_tiles[kernel].name : NULL;
}

const char *pt_device_webgpu_kernel_lacks(const pt_device *device, int kernel)
{
    const char *lacks = pt_wg_tile_lacks(device, &pt_wg_tiles[kernel]);
    bool failed = pt_wg_choice_of(device)->verdict[kernel] > PT_WG_RIGHT;
    return lacks ? lacks : failed ? "a trial that it passed" : NULL;
}

pt_status pt_device_webgpu_product(pt_device *device, int kernel, const pt_tensor *a,
                                   const pt_tensor *b, const pt_tensor *c, pt_error *err)
{
    pt_wg_product p = {.a = {.tensor = a, .ld = a->dim[1]},
                       .b = {.tensor = b, .ld = b->dim[1]},
                       .c = {.tensor = c, .ld = c->dim[1]},
                       .m = c->dim[0],
                       .n = c->dim[1],
                       .k = a->dim[1]};
    return pt_wg_matmul_with(device, &p, &pt_wg_tiles[kernel], 0, err);
}

#define PEAK_GROUPS 4096 /* of 256 threads */
#define PEAK_STEPS 64    /* of 256 multiply-adds */

pt_status pt_device_webgpu_fma(pt_device *device, const pt_tensor *c, double *flop, pt_error *err)
{
    pt_wg_product p = {.c = {.tensor = c}, .m = c->dim[0], .n = c->dim[1], .k = PEAK_STEPS};
    pt_wg_call call = {.shader = "matmul", .entry = "peak", .groups = {PEAK_GROUPS, 1, 1}};
    add_tensor(&call, "c", c);
    add_plain_constants(&call, 0);
    add_words(&call, &p, 1, 0);
    call.work = PEAK_GROUPS * 256.0 * 256 * PEAK_STEPS;
    *flop = 2 * call.work;
    return pt_wg_run(device, &call, err);
}
