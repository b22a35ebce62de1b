/* Which tensors a .tinygpt file holds, in which order, shape and storage order.
 * SPDX-License-Identifier: MIT */
#include "io/tinygpt_internal.h"

enum { HEAD_SLOTS = 4, BLOCK_SLOTS = 16 };

/* A dimension by its letter: C d_model, M d_mlp, T ctx, V vocab; 0: none. Two letters of a block
 * tensor make a Linear weight [out,in], which is the transposed kind. */
typedef struct slot {
    const char *name;
    char rows, cols;
} slot;

static const slot head_slots[HEAD_SLOTS] = {
    {"token_embedding.weight", 'V', 'C'},
    {"position_embedding.weight", 'T', 'C'},
    {"ln_final.weight", 'C', 0},
    {"ln_final.bias", 'C', 0},
};

static const slot block_slots[BLOCK_SLOTS] = {
    {"ln1.weight", 'C', 0},           {"ln1.bias", 'C', 0},
    {"attn.q_proj.weight", 'C', 'C'}, {"attn.q_proj.bias", 'C', 0},
    {"attn.k_proj.weight", 'C', 'C'}, {"attn.k_proj.bias", 'C', 0},
    {"attn.v_proj.weight", 'C', 'C'}, {"attn.v_proj.bias", 'C', 0},
    {"attn.o_proj.weight", 'C', 'C'}, {"attn.o_proj.bias", 'C', 0},
    {"ln2.weight", 'C', 0},           {"ln2.bias", 'C', 0},
    {"mlp.fc_in.weight", 'M', 'C'},   {"mlp.fc_in.bias", 'M', 0},
    {"mlp.fc_out.weight", 'C', 'M'},  {"mlp.fc_out.bias", 'C', 0},
};

pt_status pt_tinygpt_config_check(const pt_tinygpt_config *config, pt_error *err)
{
    const struct {
        const char *name;
        int64_t value, most;
    } bounds[] = {
        {"layers", config->layers, 1024},
        {"dModel", config->d_model, 1 << 16},
        {"heads", config->heads, config->d_model},
        {"dMlp", config->d_mlp, 1 << 18},
        {"ctx", config->ctx, 1 << 20},
        {"vocabSize", config->vocab, 1 << 22},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (bounds[i].value < 1 || bounds[i].value > bounds[i].most)
            return pt_fail(err, PT_BAD_INPUT, "config.%s is %lld; it must be 1 to %lld",
                           bounds[i].name, (long long)bounds[i].value, (long long)bounds[i].most);
    if (config->d_model % config->heads)
        return pt_fail(err, PT_BAD_INPUT, "config.heads is %lld, which does not divide dModel %lld",
                       (long long)config->heads, (long long)config->d_model);
    return PT_OK;
}

static int64_t dim_of(const pt_tinygpt_config *config, char letter)
{
    switch (letter) {
    case 'C': return config->d_model;
    case 'M': return config->d_mlp;
    case 'T': return config->ctx;
    case 'V': return config->vocab;
    default: return 1;
    }
}

static int64_t slot_numel(const pt_tinygpt_config *config, const slot *s)
{
    return dim_of(config, s->rows) * dim_of(config, s->cols);
}

/* Sums of numel or of int4 blocks over the first n slots. */
static int64_t sum_slots(const pt_tinygpt_config *config, const slot *slots, int64_t n, bool blocks)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t numel = slot_numel(config, &slots[i]);
        sum += blocks ? pt_tinygpt_blocks(numel) : numel;
    }
    return sum;
}

static int64_t sum_before(const pt_tinygpt_config *config, int64_t index, bool blocks)
{
    if (index <= HEAD_SLOTS) return sum_slots(config, head_slots, index, blocks);
    int64_t layer = (index - HEAD_SLOTS) / BLOCK_SLOTS, rest = (index - HEAD_SLOTS) % BLOCK_SLOTS;
    return sum_slots(config, head_slots, HEAD_SLOTS, blocks) +
           layer * sum_slots(config, block_slots, BLOCK_SLOTS, blocks) +
           sum_slots(config, block_slots, rest, blocks);
}

int64_t pt_tinygpt_n_tensors(const pt_tinygpt_config *config)
{
    return HEAD_SLOTS + BLOCK_SLOTS * config->layers;
}

int64_t pt_tinygpt_n_params(const pt_tinygpt_config *config)
{
    return sum_before(config, pt_tinygpt_n_tensors(config), false);
}

int64_t pt_tinygpt_blocks_before(const pt_tinygpt_config *config, int64_t index)
{
    return sum_before(config, index, true);
}

pt_tinygpt_tensor pt_tinygpt_tensor_at(const pt_tinygpt_config *config, int64_t index)
{
    if (index < 0 || index >= pt_tinygpt_n_tensors(config)) __builtin_trap(); /* our own bug */
    bool head = index < HEAD_SLOTS;
    int64_t within = head ? index : index - HEAD_SLOTS;
    const slot *s = head ? &head_slots[within] : &block_slots[within % BLOCK_SLOTS];
    pt_tinygpt_tensor t = {.rank = s->cols ? 2 : 1,
                           .dim = {dim_of(config, s->rows), dim_of(config, s->cols)},
                           .n = slot_numel(config, s),
                           .offset = sum_before(config, index, false),
                           .transposed = !head && s->cols};
    if (head) pt_format(t.name, sizeof t.name, "%s", s->name);
    else
        pt_format(t.name, sizeof t.name, "blocks.%lld.%s", (long long)(within / BLOCK_SLOTS),
                  s->name);
    return t;
}

/* dst [cols,rows] = the transpose of src [rows,cols], in tiles that stay in the cache. */
static void transpose(float *restrict dst, const float *restrict src, int64_t rows, int64_t cols)
{
    enum { TILE = 32 };
    for (int64_t r0 = 0; r0 < rows; r0 += TILE)
        for (int64_t c0 = 0; c0 < cols; c0 += TILE) {
            int64_t r1 = pt_min_i64(r0 + TILE, rows), c1 = pt_min_i64(c0 + TILE, cols);
            for (int64_t r = r0; r < r1; r++)
                for (int64_t c = c0; c < c1; c++) dst[c * rows + r] = src[r * cols + c];
        }
}

void pt_tinygpt_from_stored(const pt_tinygpt_tensor *t, float *dst, const float *stored)
{
    if (t->transposed) transpose(dst, stored, t->dim[1], t->dim[0]);
    else memcpy(dst, stored, (size_t)t->n * sizeof *dst);
}

void pt_tinygpt_to_stored(const pt_tinygpt_tensor *t, float *stored, const float *src)
{
    if (t->transposed) transpose(stored, src, t->dim[0], t->dim[1]);
    else memcpy(stored, src, (size_t)t->n * sizeof *stored);
}

const char *pt_tinygpt_dtype_name(pt_tinygpt_dtype dtype)
{
    static const char *const names[] = {"f32", "f32 weights", "f16", "int4"};
    return (unsigned)dtype < sizeof names / sizeof names[0] ? names[dtype] : "?";
}

int64_t pt_tinygpt_body_bytes(const pt_tinygpt_config *config, pt_tinygpt_dtype dtype)
{
    int64_t n = pt_tinygpt_n_params(config);
    switch (dtype) {
    case PT_TINYGPT_F32: return 4 + 12 * n;
    case PT_TINYGPT_F32_WEIGHTS: return 4 + 4 * n;
    case PT_TINYGPT_F16: return 4 + 2 * n;
    case PT_TINYGPT_INT4:
        return 4 + (2 + PT_TINYGPT_BLOCK_BYTES) *
                       pt_tinygpt_blocks_before(config, pt_tinygpt_n_tensors(config));
    }
    return -1;
}
