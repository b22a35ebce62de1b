/* What an open GGUF file holds, and its values as numbers and texts. SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "base/safe_text.h"
#include "io/gguf_internal.h"
#include "tensor/quants.h"

int pt_gguf_version(const pt_gguf *file) { return file->version; }
int64_t pt_gguf_alignment(const pt_gguf *file) { return file->alignment; }
int64_t pt_gguf_n(const pt_gguf *file) { return file->n; }
int64_t pt_gguf_n_values(const pt_gguf *file) { return file->n_values; }

const pt_gguf_tensor *pt_gguf_at(const pt_gguf *file, int64_t index)
{
    return index >= 0 && index < file->n ? &file->tensors[index] : NULL;
}

const pt_gguf_tensor *pt_gguf_find(const pt_gguf *file, const char *name)
{
    return pt_gguf_at(file, pt_gguf_names_find(&file->names, name));
}

pt_status pt_gguf_read_f32(const pt_gguf_tensor *t, int64_t first, int64_t n, float *dst,
                           pt_error *err)
{
    int64_t block = pt_dtype_block(t->dtype);
    if (first < 0 || n < 0 || n > t->n || first > t->n - n || first % block || n % block)
        return pt_fail(err, PT_BAD_INPUT,
                       "tensor %s: it does not have %lld elements from %lld on, or they are no "
                       "whole blocks of %lld",
                       pt_show(t->name, strlen(t->name)).text, (long long)n, (long long)first,
                       (long long)block);
    pt_dequantise(t->dtype, t->data + pt_dtype_bytes(t->dtype, first), n, dst);
    return PT_OK;
}

const pt_gguf_value *pt_gguf_value_at(const pt_gguf *file, int64_t index)
{
    return index >= 0 && index < file->n_values ? &file->values[index] : NULL;
}

const pt_gguf_value *pt_gguf_value_find(const pt_gguf *file, const char *key)
{
    return pt_gguf_value_at(file, pt_gguf_names_find(&file->keys, key));
}

/* ---- elements ---- */

/* A whole number of up to 64 bits: *negative, and its size. */
static bool whole_at(const pt_gguf_value *v, int64_t i, bool *negative, uint64_t *size)
{
    if (i < 0 || i >= v->n) return false;
    int64_t x;
    const uint8_t *at = v->data + i * pt_gguf_kind_bytes(v->kind);
    switch (v->kind) {
    case PT_GGUF_U8: x = *at; break;
    case PT_GGUF_I8: x = (int8_t)*at; break;
    case PT_GGUF_U16: x = pt_load_u16(at); break;
    case PT_GGUF_I16: x = (int16_t)pt_load_u16(at); break;
    case PT_GGUF_U32: x = pt_load_u32(at); break;
    case PT_GGUF_I32: x = (int32_t)pt_load_u32(at); break;
    case PT_GGUF_I64: x = (int64_t)pt_load_u64(at); break;
    case PT_GGUF_U64:
        *negative = false;
        *size = pt_load_u64(at);
        return true;
    default: return false;
    }
    *negative = x < 0;
    *size = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    return true;
}

bool pt_gguf_i64_at(const pt_gguf_value *v, int64_t index, int64_t *out)
{
    bool negative = false;
    uint64_t size = 0;
    if (!whole_at(v, index, &negative, &size) || (!negative && size > INT64_MAX)) return false;
    *out = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

bool pt_gguf_f64_at(const pt_gguf_value *v, int64_t index, double *out)
{
    bool negative = false;
    uint64_t size = 0;
    if (whole_at(v, index, &negative, &size)) {
        *out = negative ? -(double)size : (double)size;
        return true;
    }
    if (index < 0 || index >= v->n) return false;
    if (v->kind == PT_GGUF_F32) *out = (double)pt_float_from_bits(pt_load_u32(v->data + 4 * index));
    else if (v->kind == PT_GGUF_F64) *out = pt_double_from_bits(pt_load_u64(v->data + 8 * index));
    else return false;
    return true;
}

pt_gguf_texts pt_gguf_texts_of(const pt_gguf_value *v)
{
    return (pt_gguf_texts){v->data, v->kind == PT_GGUF_TEXT ? v->n : 0};
}

bool pt_gguf_next_text(pt_gguf_texts *texts, pt_gguf_text *out)
{
    if (texts->left < 1) return false;
    int64_t n = (int64_t)pt_load_u64(texts->at); /* checked when the file was opened */
    *out = (pt_gguf_text){(const char *)texts->at + 8, n};
    texts->at += 8 + n;
    texts->left--;
    return true;
}

/* ---- values by their keys ---- */

static pt_status find(const pt_gguf *file, const char *key, const pt_gguf_value **out,
                      pt_error *err)
{
    *out = pt_gguf_value_find(file, key);
    return *out ? PT_OK : pt_fail(err, PT_NOT_FOUND, "the file has no key %s", key);
}

static pt_status wrong_kind(const pt_gguf_value *v, const char *key, const char *wanted,
                            pt_error *err)
{
    return pt_fail(err, PT_CORRUPT, "key %s: it is %s%s, must be %s", key,
                   v->array ? "an array of " : "", pt_gguf_kind_name(v->kind), wanted);
}

pt_status pt_gguf_get_i64(const pt_gguf *file, const char *key, int64_t *out, pt_error *err)
{
    const pt_gguf_value *v;
    pt_status s = find(file, key, &v, err);
    if (s || (!v->array && pt_gguf_i64_at(v, 0, out))) return s;
    return wrong_kind(v, key, "a whole number below 2^63", err);
}

pt_status pt_gguf_get_f64(const pt_gguf *file, const char *key, double *out, pt_error *err)
{
    const pt_gguf_value *v;
    pt_status s = find(file, key, &v, err);
    if (s || (!v->array && pt_gguf_f64_at(v, 0, out))) return s;
    return wrong_kind(v, key, "a number", err);
}

pt_status pt_gguf_get_bool(const pt_gguf *file, const char *key, bool *out, pt_error *err)
{
    const pt_gguf_value *v;
    pt_status s = find(file, key, &v, err);
    if (s) return s;
    if (v->array || v->kind != PT_GGUF_BOOL) return wrong_kind(v, key, "a bool", err);
    *out = *v->data != 0;
    return PT_OK;
}

pt_status pt_gguf_get_text(const pt_gguf *file, const char *key, pt_gguf_text *out, pt_error *err)
{
    const pt_gguf_value *v;
    pt_status s = find(file, key, &v, err);
    if (s) return s;
    if (v->array || v->kind != PT_GGUF_TEXT) return wrong_kind(v, key, "a string", err);
    pt_gguf_texts texts = pt_gguf_texts_of(v);
    pt_gguf_next_text(&texts, out);
    return PT_OK;
}

pt_status pt_gguf_get_array(const pt_gguf *file, const char *key, pt_gguf_kind kind, int64_t n,
                            const pt_gguf_value **out, pt_error *err)
{
    const pt_gguf_value *v;
    pt_status s = find(file, key, &v, err);
    if (s) return s;
    if (!v->array || v->kind != kind)
        return pt_fail(err, PT_CORRUPT, "key %s: it is %s%s, must be an array of %s", key,
                       v->array ? "an array of " : "", pt_gguf_kind_name(v->kind),
                       pt_gguf_kind_name(kind));
    if (n >= 0 && v->n != n)
        return pt_fail(err, PT_CORRUPT, "key %s: it has %lld elements, must have %lld", key,
                       (long long)v->n, (long long)n);
    *out = v;
    return PT_OK;
}
