/* Reading .tinygpt. Every byte is hostile: nothing is used before it is checked against the size of
 * the file, and nothing is allocated but the parsed header.
 * SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "base/maths.h"
#include "base/safe_text.h"
#include "io/bytes.h"
#include "io/tinygpt_internal.h"

struct pt_tinygpt {
    const uint8_t *data; /* borrowed */
    int64_t size;
    pt_arena arena; /* the header */
    pt_tinygpt_info info;
};

/* ---- messages ---- */

/* A value of the header for a message. */
static pt_shown show(const pt_json *value)
{
    if (!value) return pt_show("absent", 6);
    switch (value->type) {
    case PT_JSON_NULL: return pt_show("null", 4);
    case PT_JSON_BOOL: return value->boolean ? pt_show("true", 4) : pt_show("false", 5);
    case PT_JSON_ARRAY: return pt_show("an array", 8);
    case PT_JSON_OBJECT: return pt_show("an object", 9);
    case PT_JSON_STRING: break;
    case PT_JSON_NUMBER: break;
    }
    return pt_show(value->text, value->text_len);
}

/* null counts as absent: the native program leaves nil fields out, others write null. */
static const pt_json *member(const pt_json *object, const char *key)
{
    const pt_json *value = pt_json_get(object, key);
    return value && value->type == PT_JSON_NULL ? NULL : value;
}

static bool is_text(const pt_json *value, const char *text)
{
    return value && value->type == PT_JSON_STRING && value->text_len == strlen(text) &&
           memcmp(value->text, text, value->text_len) == 0;
}

/* ---- configuration ---- */

/* Keys of the native program's config that change the model or its tokens. Other unknown keys only
 * steer training or inference there. */
static const char *const foreign_keys[] = {
    "nExperts",    "useMoD",        "useDifferentialAttention", "useEmbeddingRMSNorm", "useYOCO",
    "useDeepNorm", "slidingWindow", "tokenizerSource",
};

static bool is_off(const pt_json *value)
{
    if (!value) return true;
    if (value->type == PT_JSON_BOOL) return !value->boolean;
    if (value->type == PT_JSON_NUMBER) return value->number == 0;
    return is_text(value, "") || is_text(value, "byte") || is_text(value, "bytes");
}

/* *out keeps its value when the key is absent. */
static pt_status config_dim(const pt_json *config, const char *key, int64_t *out, pt_error *err)
{
    const pt_json *value = member(config, key);
    if (!value || pt_json_to_i64(value, out)) return PT_OK;
    return pt_fail(err, PT_CORRUPT, "header: config.%s is %s; it must be a whole number", key,
                   show(value).text);
}

pt_status pt_tinygpt_config_parse(const pt_json *header, pt_tinygpt_config *out, pt_error *err)
{
    const pt_json *config = member(header, "config");
    if (!config || config->type != PT_JSON_OBJECT)
        return pt_fail(err, PT_CORRUPT, "header: config is %s; it must be an object",
                       show(config).text);
    for (size_t i = 0; i < sizeof foreign_keys / sizeof foreign_keys[0]; i++) {
        const pt_json *value = member(config, foreign_keys[i]);
        if (!is_off(value))
            return pt_fail(err, PT_UNSUPPORTED,
                           "header: config.%s is %s: this model is of a kind "
                           "that only the native program of the original can run",
                           foreign_keys[i], show(value).text);
    }
    *out = (pt_tinygpt_config){.vocab = 256};
    struct {
        const char *key;
        int64_t *to;
        bool optional;
    } dims[] = {
        {"ctx", &out->ctx, false},        {"layers", &out->layers, false},
        {"heads", &out->heads, false},    {"dModel", &out->d_model, false},
        {"vocabSize", &out->vocab, true}, {"dMlp", &out->d_mlp, true},
    };
    bool has_mlp = member(config, "dMlp") != NULL;
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        if (!dims[i].optional && !member(config, dims[i].key))
            return pt_fail(err, PT_CORRUPT, "header: config.%s is missing", dims[i].key);
        pt_status s = config_dim(config, dims[i].key, dims[i].to, err);
        if (s) return s;
    }
    if (!has_mlp && !pt_mul_i64(out->d_model, 4, &out->d_mlp)) out->d_mlp = -1;
    pt_error bounds = {0};
    if (pt_tinygpt_config_check(out, &bounds))
        return pt_fail(err, PT_CORRUPT, "header: %s", bounds.message);
    return PT_OK;
}

/* ---- manifest ---- */

static bool same_shape(const pt_json *shape, const pt_tinygpt_tensor *t)
{
    if (!shape || shape->type != PT_JSON_ARRAY || shape->n_children != t->rank) return false;
    const pt_json *dim = shape->child;
    for (int i = 0; i < t->rank; i++, dim = dim->next) {
        int64_t value;
        if (!pt_json_to_i64(dim, &value) || value != t->dim[i]) return false;
    }
    return true;
}

static pt_shown show_shape(const pt_json *shape)
{
    if (!shape || shape->type != PT_JSON_ARRAY) return show(shape);
    char text[256] = "[";
    size_t n = 1;
    for (const pt_json *d = shape->child; d && n < 128; d = d->next)
        n += pt_format(text + n, sizeof text - n, "%s%s", show(d).text, d->next ? "," : "]");
    return pt_show(text, strlen(text));
}

static pt_status check_entry(const pt_json *entry, int64_t index, const pt_tinygpt_tensor *t,
                             pt_error *err)
{
    const pt_json *name = pt_json_get(entry, "name"), *shape = pt_json_get(entry, "shape");
    if (!is_text(name, t->name))
        return pt_fail(err, PT_CORRUPT, "header: manifest[%lld].name is %s; config makes it %s",
                       (long long)index, show(name).text, t->name);
    if (!same_shape(shape, t)) {
        char want[48];
        if (t->rank == 1) pt_format(want, sizeof want, "[%lld]", (long long)t->dim[0]);
        else
            pt_format(want, sizeof want, "[%lld,%lld]", (long long)t->dim[0], (long long)t->dim[1]);
        return pt_fail(err, PT_CORRUPT, "header: shape of %s is %s; config makes it %s", t->name,
                       show_shape(shape).text, want);
    }
    const pt_json *offset = member(entry, "floatOffset");
    int64_t value;
    if (offset && (!pt_json_to_i64(offset, &value) || value != t->offset))
        return pt_fail(err, PT_CORRUPT,
                       "header: floatOffset of %s is %s; the tensors before it "
                       "hold %lld floats",
                       t->name, show(offset).text, (long long)t->offset);
    return PT_OK;
}

static pt_status check_manifest(pt_tinygpt_info *info, pt_error *err)
{
    const pt_json *manifest = member(info->header, "manifest");
    info->has_manifest = manifest != NULL;
    if (!manifest) return PT_OK;
    if (manifest->type != PT_JSON_ARRAY || manifest->n_children != info->n_tensors)
        return pt_fail(err, PT_CORRUPT,
                       "header: manifest is %s of %lld entries; config makes it "
                       "an array of %lld",
                       show(manifest).text, (long long)manifest->n_children,
                       (long long)info->n_tensors);
    const pt_json *entry = manifest->child;
    for (int64_t i = 0; i < info->n_tensors; i++, entry = entry->next) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&info->config, i);
        pt_status s = check_entry(entry, i, &t, err);
        if (s) return s;
    }
    return PT_OK;
}

/* ---- body ---- */

static bool same_word(const pt_json *value, const char *lower)
{
    size_t n = strlen(lower);
    if (value->type != PT_JSON_STRING || value->text_len != n) return false;
    for (size_t i = 0; i < n; i++) {
        char c = value->text[i];
        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != lower[i]) return false;
    }
    return true;
}

/* weightDtype and includesOptimizerState name the layout. Where they leave a choice (weights only,
 * without a word on the dtype) the size of the body decides; it is exact for each layout. */
static pt_status choose_dtype(pt_tinygpt_info *info, pt_error *err)
{
    const pt_json *word = member(info->header, "weightDtype");
    const pt_json *moments = member(info->header, "includesOptimizerState");
    if (moments && moments->type != PT_JSON_BOOL)
        return pt_fail(err, PT_CORRUPT,
                       "header: includesOptimizerState is %s; it must be true or "
                       "false",
                       show(moments).text);
    bool weights_only = moments && !moments->boolean;
    if (!word || same_word(word, "fp32")) {
        info->dtype = weights_only ? PT_TINYGPT_F32_WEIGHTS : PT_TINYGPT_F32;
        int64_t half = pt_tinygpt_body_bytes(&info->config, PT_TINYGPT_F16);
        if (weights_only && !word && info->body_bytes == half) info->dtype = PT_TINYGPT_F16;
        return PT_OK;
    }
    if (same_word(word, "fp16")) info->dtype = PT_TINYGPT_F16;
    else if (same_word(word, "int4")) info->dtype = PT_TINYGPT_INT4;
    else
        return pt_fail(err, PT_UNSUPPORTED,
                       "header: weightDtype is %s; known are fp32, fp16 and "
                       "int4",
                       show(word).text);
    if (moments && !weights_only)
        return pt_fail(err, PT_CORRUPT,
                       "header: includesOptimizerState is true, but a body of "
                       "weightDtype %s has no moments",
                       show(word).text);
    return PT_OK;
}

/* A header field, if there, has the value that the layout gives. */
static pt_status check_number(const pt_json *header, const char *key, int64_t want, pt_error *err)
{
    const pt_json *value = member(header, key);
    int64_t found;
    if (!value || (pt_json_to_i64(value, &found) && found == want)) return PT_OK;
    return pt_fail(err, PT_CORRUPT, "header: %s is %s; this model's is %lld", key, show(value).text,
                   (long long)want);
}

static pt_status check_body(pt_tinygpt_info *info, pt_error *err)
{
    pt_status s = choose_dtype(info, err);
    if (s) return s;
    int64_t want = pt_tinygpt_body_bytes(&info->config, info->dtype);
    if (info->body_bytes != want)
        return pt_fail_offset(err, PT_CORRUPT, info->body_offset,
                              "the body has %lld bytes; a %s "
                              "body of %lld parameters has %lld: the file is %s",
                              (long long)info->body_bytes, pt_tinygpt_dtype_name(info->dtype),
                              (long long)info->n_params, (long long)want,
                              info->body_bytes < want ? "cut short" : "too long");
    s = check_number(info->header, "stateByteLength", want, err);
    if (s || info->dtype != PT_TINYGPT_INT4) return s;
    int64_t blocks = pt_tinygpt_blocks_before(&info->config, info->n_tensors);
    s = check_number(info->header, "int4BlockSize", PT_TINYGPT_BLOCK, err);
    if (s == PT_OK) s = check_number(info->header, "int4ScalesBytes", 2 * blocks, err);
    if (s == PT_OK)
        s = check_number(info->header, "int4PackedBytes", PT_TINYGPT_BLOCK_BYTES * blocks, err);
    return s;
}

static pt_status read_crc(pt_tinygpt_info *info, pt_error *err)
{
    const pt_json *value = member(member(info->header, "posttrain"), PT_TINYGPT_CRC);
    if (!value) return PT_OK;
    if (value->type != PT_JSON_STRING || value->text_len != 8 ||
        !pt_unhex_u32(value->text, &info->crc))
        return pt_fail(err, PT_CORRUPT,
                       "header: posttrain." PT_TINYGPT_CRC " is %s; it must be 8 "
                       "hex digits",
                       show(value).text);
    info->has_crc = true;
    return PT_OK;
}

/* ---- opening ---- */

static pt_status check_prefix(pt_tinygpt *file, pt_error *err)
{
    int64_t size = file->size;
    if (size < 4 || memcmp(file->data, "TGPT", 4) != 0)
        return pt_fail_offset(err, PT_BAD_INPUT, 0,
                              "not a .tinygpt file: it does not begin with "
                              "TGPT");
    if (size < PT_TINYGPT_PREFIX + 4)
        return pt_fail(err, PT_CORRUPT, "the file is cut short: it has %lld bytes",
                       (long long)size);
    uint32_t version = pt_load_u32(file->data + 4), header_len = pt_load_u32(file->data + 8);
    if (version != 1 && version != 2)
        return pt_fail_offset(err, PT_UNSUPPORTED, 4, "version is %u; this program reads 1 and 2",
                              (unsigned)version);
    if (header_len > PT_TINYGPT_MAX_HEADER)
        return pt_fail_offset(err, PT_UNSUPPORTED, 8,
                              "header_len is %u; this program reads "
                              "headers of up to %d bytes",
                              (unsigned)header_len, PT_TINYGPT_MAX_HEADER);
    if (header_len > size - PT_TINYGPT_PREFIX - 4)
        return pt_fail_offset(err, PT_CORRUPT, 8,
                              "header_len is %u, but the file has only %lld "
                              "bytes for header and body: it is cut short",
                              (unsigned)header_len, (long long)(size - PT_TINYGPT_PREFIX));
    file->info.version = (int)version;
    file->info.header_bytes = header_len;
    file->info.body_offset = PT_TINYGPT_PREFIX + (int64_t)header_len;
    file->info.body_bytes = size - file->info.body_offset;
    return PT_OK;
}

static pt_status parse_header(pt_tinygpt *file, pt_error *err)
{
    pt_error why = {0};
    pt_status s =
        pt_json_parse((const char *)file->data + PT_TINYGPT_PREFIX, (size_t)file->info.header_bytes,
                      &file->arena, &file->info.header, &why);
    if (s)
        return pt_fail_offset(err, s == PT_BAD_INPUT ? PT_CORRUPT : s,
                              why.offset < 0 ? -1 : PT_TINYGPT_PREFIX + why.offset, "header: %s",
                              why.message);
    if (file->info.header->type != PT_JSON_OBJECT)
        return pt_fail_offset(err, PT_CORRUPT, PT_TINYGPT_PREFIX,
                              "header: it is %s; it must be "
                              "an object",
                              show(file->info.header).text);
    return PT_OK;
}

static pt_status open_file(pt_tinygpt *file, pt_error *err)
{
    pt_tinygpt_info *info = &file->info;
    pt_status s = check_prefix(file, err);
    if (s == PT_OK) s = parse_header(file, err);
    if (s == PT_OK) s = pt_tinygpt_config_parse(info->header, &info->config, err);
    if (s) return s;
    info->n_tensors = pt_tinygpt_n_tensors(&info->config);
    info->n_params = pt_tinygpt_n_params(&info->config);
    s = check_manifest(info, err);
    if (s == PT_OK) s = check_body(info, err);
    if (s == PT_OK) s = read_crc(info, err);
    if (s) return s;
    info->step = (int32_t)pt_load_u32(file->data + info->body_offset);
    if (info->step < 0)
        return pt_fail_offset(err, PT_CORRUPT, info->body_offset,
                              "step is %lld; it cannot be "
                              "negative",
                              (long long)info->step);
    return PT_OK;
}

pt_status pt_tinygpt_open(pt_tinygpt **out, const uint8_t *data, int64_t size, pt_error *err)
{
    *out = NULL;
    pt_tinygpt *file = pt_alloc(sizeof *file);
    if (!file) return pt_fail(err, PT_NO_MEMORY, "no memory to open a .tinygpt file");
    file->data = data;
    file->size = size;
    pt_status s = open_file(file, err);
    if (s) pt_tinygpt_close(file);
    else *out = file;
    return s;
}

void pt_tinygpt_close(pt_tinygpt *file)
{
    if (!file) return;
    pt_arena_deinit(&file->arena);
    pt_free(file);
}

const pt_tinygpt_info *pt_tinygpt_get(const pt_tinygpt *file) { return &file->info; }

pt_status pt_tinygpt_verify(const pt_tinygpt *file, pt_error *err)
{
    const pt_tinygpt_info *info = &file->info;
    if (!info->has_crc) return PT_OK;
    uint32_t crc = pt_crc32c(0, file->data + info->body_offset, (size_t)info->body_bytes);
    if (crc == info->crc) return PT_OK;
    return pt_fail(err, PT_CORRUPT,
                   "the file is damaged: the checksum of its weights is %08x, the "
                   "header says %08x",
                   (unsigned)crc, (unsigned)info->crc);
}

/* ---- decoding ---- */

/* Where one tensor's numbers lie. */
typedef struct source {
    const uint8_t *numbers; /* f32 or f16 of the wanted part, or nibbles */
    const uint8_t *scales;  /* int4 */
    pt_tinygpt_dtype dtype;
} source;

static source source_of(const pt_tinygpt *file, int64_t index, const pt_tinygpt_tensor *t,
                        pt_tinygpt_part part)
{
    const pt_tinygpt_info *info = &file->info;
    const uint8_t *start = file->data + info->body_offset + 4;
    source s = {.dtype = info->dtype};
    switch (info->dtype) {
    case PT_TINYGPT_F32: s.numbers = start + 12 * t->offset + 4 * t->n * (int64_t)part; break;
    case PT_TINYGPT_F32_WEIGHTS: s.numbers = start + 4 * t->offset; break;
    case PT_TINYGPT_F16: s.numbers = start + 2 * t->offset; break;
    case PT_TINYGPT_INT4: {
        int64_t before = pt_tinygpt_blocks_before(&info->config, index);
        int64_t all = pt_tinygpt_blocks_before(&info->config, info->n_tensors);
        s.scales = start + 2 * before;
        s.numbers = start + 2 * all + PT_TINYGPT_BLOCK_BYTES * before;
        break;
    }
    }
    return s;
}

/* n numbers from `first` on, in stored order. */
static void decode(const source *s, int64_t first, int64_t n, float *dst)
{
    switch (s->dtype) {
    case PT_TINYGPT_F32:
    case PT_TINYGPT_F32_WEIGHTS:
        memcpy(dst, s->numbers + 4 * first, (size_t)n * sizeof *dst);
        break;
    case PT_TINYGPT_F16:
        for (int64_t i = 0; i < n; i++)
            dst[i] = pt_float_from_half(pt_load_u16(s->numbers + 2 * (first + i)));
        break;
    case PT_TINYGPT_INT4:
        for (int64_t i = first; i < first + n; i++) {
            float scale = pt_float_from_half(pt_load_u16(s->scales + 2 * (i / PT_TINYGPT_BLOCK)));
            int nibble = s->numbers[i / 2] >> (i % 2 ? 4 : 0) & 15;
            dst[i - first] = (float)(nibble - 8) * scale;
        }
        break;
    }
}

/* Decodes a stored [in,out] matrix into dst [out,in], tile by tile so that both sides are read and
 * written in whole cache lines. */
static void decode_transposed(const source *s, const pt_tinygpt_tensor *t, float *dst)
{
    enum { TILE_IN = 16, TILE_OUT = 128 };
    float tile[TILE_IN * TILE_OUT];
    int64_t n_out = t->dim[0], n_in = t->dim[1];
    for (int64_t i0 = 0; i0 < n_in; i0 += TILE_IN)
        for (int64_t o0 = 0; o0 < n_out; o0 += TILE_OUT) {
            int64_t rows = pt_min_i64(TILE_IN, n_in - i0), cols = pt_min_i64(TILE_OUT, n_out - o0);
            for (int64_t i = 0; i < rows; i++)
                decode(s, (i0 + i) * n_out + o0, cols, tile + i * TILE_OUT);
            for (int64_t o = 0; o < cols; o++)
                for (int64_t i = 0; i < rows; i++)
                    dst[(o0 + o) * n_in + i0 + i] = tile[i * TILE_OUT + o];
        }
}

pt_status pt_tinygpt_read(const pt_tinygpt *file, int64_t tensor, pt_tinygpt_part part, float *dst,
                          pt_error *err)
{
    const pt_tinygpt_info *info = &file->info;
    if (tensor < 0 || tensor >= info->n_tensors)
        return pt_fail(err, PT_BAD_INPUT, "there is no tensor %lld; the file has %lld",
                       (long long)tensor, (long long)info->n_tensors);
    pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&info->config, tensor);
    if (part != PT_TINYGPT_W && info->dtype != PT_TINYGPT_F32) {
        memset(dst, 0, (size_t)t.n * sizeof *dst);
        return PT_OK;
    }
    source s = source_of(file, tensor, &t, part);
    if (t.transposed) decode_transposed(&s, &t, dst);
    else decode(&s, 0, t.n, dst);
    return PT_OK;
}
