/* GGUF: a file of the original library (tests/golden/gguf/types.gguf, PyPI gguf 0.19.0), and what we write.
 * SPDX-License-Identifier: MIT */
#include "io/gguf.h"

#include "base/fs.h"
#include "base/test.h"

static pt_error err;

/* ---- the original library's file ---- */

typedef struct golden {
    pt_file_view view;
    pt_gguf *file;
} golden;

static golden open_golden(void)
{
    golden g;
    err = (pt_error){0};
    CHECK_OK(pt_file_view_open(&g.view, "tests/golden/gguf/types.gguf", &err), err);
    CHECK_OK(pt_gguf_open(&g.file, g.view.data, g.view.size, &err), err);
    return g;
}

static void close_golden(golden *g)
{
    pt_gguf_close(g->file);
    pt_file_view_close(&g->view);
}

static bool same_text(pt_gguf_text text, const char *want)
{
    return text.n == (int64_t)strlen(want) && memcmp(text.bytes, want, (size_t)text.n) == 0;
}

TEST(numbers_of_every_kind)
{
    golden g = open_golden();
    static const struct {
        const char *key;
        int64_t want;
    } whole[] = {{"a.u8", 255},       {"a.i8", -128},        {"a.u16", 65535},
                 {"a.i16", -32768},   {"a.u32", UINT32_MAX}, {"a.i32", INT32_MIN},
                 {"a.i64", INT64_MIN}};
    int64_t i = 0;
    double x = 0;
    for (size_t k = 0; k < sizeof whole / sizeof whole[0]; k++) {
        CHECK_OK(pt_gguf_get_i64(g.file, whole[k].key, &i, &err), err);
        CHECK_INT(i, whole[k].want);
        CHECK_OK(pt_gguf_get_f64(g.file, whole[k].key, &x, &err), err);
        CHECK(x == (double)whole[k].want);
    }
    i = 5;
    CHECK_INT(pt_gguf_get_i64(g.file, "a.u64", &i, &err), PT_CORRUPT);
    CHECK(i == 5 && strstr(err.message, "key a.u64: it is u64, must be a whole number below 2^63"));
    CHECK_INT(pt_gguf_get_f64(g.file, "a.u64", &x, NULL), PT_OK);
    CHECK(x == 0x1p64);
    CHECK_INT(pt_gguf_get_f64(g.file, "a.f32", &x, NULL), PT_OK);
    CHECK(x == 1.5);
    CHECK_INT(pt_gguf_get_f64(g.file, "a.f64", &x, NULL), PT_OK);
    CHECK(x == 0.1);
    bool flag = false;
    CHECK_INT(pt_gguf_get_bool(g.file, "a.bool", &flag, NULL), PT_OK);
    CHECK(flag);
    pt_gguf_text text = {0};
    CHECK_INT(pt_gguf_get_text(g.file, "a.text", &text, NULL), PT_OK);
    CHECK(same_text(text, "h\xc3\xa9llo"));
    CHECK((const uint8_t *)text.bytes > g.view.data); /* where it lies, not a copy */
    CHECK((const uint8_t *)text.bytes < g.view.data + g.view.size);
    close_golden(&g);
}

TEST(values_of_another_kind_are_refused)
{
    golden g = open_golden();
    int64_t i = 0;
    double x = 0;
    bool flag = false;
    pt_gguf_text text;
    const pt_gguf_value *v = NULL;
    static const char *const not_whole[] = {"a.f32", "a.f64", "a.bool", "a.text",
                                            "tokenizer.ggml.token_type"};
    for (size_t k = 0; k < 5; k++)
        CHECK_INT(pt_gguf_get_i64(g.file, not_whole[k], &i, NULL), PT_CORRUPT);
    CHECK_INT(pt_gguf_get_f64(g.file, "a.bool", &x, NULL), PT_CORRUPT);
    CHECK_INT(pt_gguf_get_f64(g.file, "a.text", &x, NULL), PT_CORRUPT);
    CHECK_INT(pt_gguf_get_f64(g.file, "tokenizer.ggml.scores", &x, NULL), PT_CORRUPT);
    CHECK_INT(pt_gguf_get_bool(g.file, "a.u8", &flag, NULL), PT_CORRUPT);
    CHECK_INT(pt_gguf_get_bool(g.file, "a.flags", &flag, NULL), PT_CORRUPT);
    CHECK_INT(pt_gguf_get_text(g.file, "a.u8", &text, NULL), PT_CORRUPT);
    CHECK_INT(pt_gguf_get_text(g.file, "tokenizer.ggml.tokens", &text, &err), PT_CORRUPT);
    CHECK(strstr(err.message, "it is an array of string, must be a string"));
    err = (pt_error){0};
    CHECK_INT(pt_gguf_get_i64(g.file, "a.none", &i, &err), PT_NOT_FOUND);
    CHECK(strstr(err.message, "no key a.none"));
    err = (pt_error){0};
    CHECK_INT(pt_gguf_get_array(g.file, "tokenizer.ggml.scores", PT_GGUF_I32, -1, &v, &err),
              PT_CORRUPT);
    CHECK(strstr(err.message, "an array of f32, must be an array of i32"));
    err = (pt_error){0};
    CHECK_INT(pt_gguf_get_array(g.file, "tokenizer.ggml.scores", PT_GGUF_F32, 5, &v, &err),
              PT_CORRUPT);
    CHECK(strstr(err.message, "it has 4 elements, must have 5"));
    CHECK_INT(pt_gguf_get_array(g.file, "a.u32", PT_GGUF_U32, 1, &v, NULL), PT_CORRUPT);
    CHECK(!v);
    close_golden(&g);
}

TEST(arrays)
{
    golden g = open_golden();
    const pt_gguf_value *v;
    CHECK_OK(pt_gguf_get_array(g.file, "tokenizer.ggml.tokens", PT_GGUF_TEXT, 4, &v, &err), err);
    static const char *const want[] = {"<s>", "a",
                                       "\xc4\xa0"
                                       "b",
                                       ""};
    pt_gguf_texts at = pt_gguf_texts_of(v);
    pt_gguf_text text;
    for (int i = 0; i < 4; i++) {
        CHECK(pt_gguf_next_text(&at, &text));
        CHECK(same_text(text, want[i]));
        CHECK((const uint8_t *)text.bytes > v->data);
        CHECK((const uint8_t *)text.bytes + text.n <= v->data + v->bytes);
    }
    CHECK(!pt_gguf_next_text(&at, &text));
    int64_t i = 0;
    double x = 0;
    CHECK(!pt_gguf_i64_at(v, 0, &i) && !pt_gguf_f64_at(v, 0, &x));
    CHECK_OK(pt_gguf_get_array(g.file, "tokenizer.ggml.token_type", PT_GGUF_I32, -1, &v, &err),
             err);
    CHECK(pt_gguf_i64_at(v, 0, &i) && i == 3);
    CHECK(pt_gguf_i64_at(v, 3, &i) && i == 6);
    CHECK(!pt_gguf_i64_at(v, 4, &i) && !pt_gguf_i64_at(v, -1, &i));
    at = pt_gguf_texts_of(v);
    CHECK(!pt_gguf_next_text(&at, &text));
    CHECK_OK(pt_gguf_get_array(g.file, "tokenizer.ggml.scores", PT_GGUF_F32, -1, &v, &err), err);
    CHECK(pt_gguf_f64_at(v, 1, &x) && x == -1.5);
    CHECK(!pt_gguf_f64_at(v, 4, &x) && !pt_gguf_f64_at(v, -1, &x) && !pt_gguf_i64_at(v, 1, &i));
    close_golden(&g);
}

/* Random blocks of each type, and what the original library makes of them. */
TEST(tensors_of_every_type)
{
    static const struct {
        const char *name;
        pt_dtype dtype;
        int64_t row;
    } want[] = {{"q4_0", PT_Q4_0, 64},  {"q4_1", PT_Q4_1, 64},  {"q5_0", PT_Q5_0, 64},
                {"q5_1", PT_Q5_1, 64},  {"q8_0", PT_Q8_0, 64},  {"q4_k", PT_Q4_K, 256},
                {"q5_k", PT_Q5_K, 256}, {"q6_k", PT_Q6_K, 256}, {"f16", PT_F16, 8},
                {"bf16", PT_BF16, 8}};
    golden g = open_golden();
    CHECK_INT(pt_gguf_n(g.file), 21);
    CHECK_INT(pt_gguf_version(g.file), 3);
    CHECK_INT(pt_gguf_alignment(g.file), 32);
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
        char name[32];
        float x[512], y[512];
        pt_format(name, sizeof name, "%s.weight", want[k].name);
        const pt_gguf_tensor *t = pt_gguf_find(g.file, name);
        CHECK(t == pt_gguf_at(g.file, 2 * (int64_t)k));
        CHECK_STR(t->name, name);
        CHECK(t->dtype == want[k].dtype && t->rank == 2 && t->dim[0] == 2);
        CHECK(t->dim[1] == want[k].row && t->dim[2] == 1 && t->n == 2 * want[k].row);
        pt_format(name, sizeof name, "%s.want", want[k].name);
        const pt_gguf_tensor *f = pt_gguf_find(g.file, name);
        CHECK(f && f->dtype == PT_F32 && f->n == t->n);
        CHECK_OK(pt_gguf_read_f32(t, 0, t->n, x, &err), err);
        CHECK_OK(pt_gguf_read_f32(f, 0, t->n, y, &err), err);
        for (int64_t i = 0; i < t->n; i++) CHECK(pt_float_bits(x[i]) == pt_float_bits(y[i]));
        CHECK_OK(pt_gguf_read_f32(t, want[k].row, want[k].row, x, &err), err);
        CHECK(memcmp(x, y + want[k].row, (size_t)want[k].row * sizeof *x) == 0);
        CHECK_INT(pt_gguf_read_f32(t, 0, t->n + pt_dtype_block(t->dtype), x, NULL), PT_BAD_INPUT);
        CHECK_INT(pt_gguf_read_f32(t, t->n, pt_dtype_block(t->dtype), x, NULL), PT_BAD_INPUT);
        CHECK_INT(pt_gguf_read_f32(t, -pt_dtype_block(t->dtype), 0, x, NULL), PT_BAD_INPUT);
        CHECK_INT(pt_gguf_read_f32(t, 0, INT64_MIN, x, NULL), PT_BAD_INPUT);
        if (pt_dtype_block(t->dtype) == 1) continue;
        CHECK_INT(pt_gguf_read_f32(t, 1, 31, x, NULL), PT_BAD_INPUT);
        CHECK_INT(pt_gguf_read_f32(t, 0, 31, x, NULL), PT_BAD_INPUT);
    }
    const pt_gguf_tensor *t = pt_gguf_find(g.file, "three");
    CHECK(t && t->rank == 3 && t->dim[0] == 2 && t->dim[1] == 3 && t->dim[2] == 4);
    CHECK(!pt_gguf_at(g.file, 21) && !pt_gguf_at(g.file, -1) && !pt_gguf_find(g.file, "thre"));
    close_golden(&g);
    pt_gguf_close(NULL);
}

/* ---- writing ---- */

/* What was read, written again: the original library's bytes, since it writes as we do. */
TEST(the_original_librarys_file_comes_back)
{
    golden g = open_golden();
    pt_gguf_metadata m = {0};
    pt_gguf_entry entries[21];
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    for (int64_t i = 0; i < pt_gguf_n_values(g.file); i++)
        pt_gguf_put_value(&m, pt_gguf_value_at(g.file, i));
    for (int64_t i = 0; i < 21; i++) {
        const pt_gguf_tensor *t = pt_gguf_at(g.file, i);
        entries[i] =
            (pt_gguf_entry){.name = t->name, .dtype = t->dtype, .rank = t->rank, .data = t->data};
        memcpy(entries[i].dim, t->dim, sizeof t->dim);
    }
    CHECK_OK(pt_gguf_write(&m, entries, 21, &sink, &err), err);
    CHECK_INT(out.len, g.view.size);
    CHECK(memcmp(out.data, g.view.data, out.len) == 0);
    pt_strbuf_deinit(&out);
    pt_gguf_metadata_deinit(&m);
    close_golden(&g);
}

static const float floats[6] = {1, -2, 3.5f, 0, 1e-30f, 7};
static const uint8_t blocks[2 * 22] = {1, 2, 3, 4, 5, 6, 7, 8, 9, [40] = 1, 2, 3, 4};
static const uint16_t halves[3] = {0x3c00, 0x7c00, 0x8001};

static const pt_gguf_entry entries[] = {
    {.name = "a.weight", .dtype = PT_F32, .rank = 2, .dim = {2, 3}, .data = floats},
    {.name = "none", .dtype = PT_F16, .rank = 3, .dim = {4, 0, 2}},
    {.name = "b.\xc3\xa9", .dtype = PT_Q5_0, .rank = 2, .dim = {2, 32, 9, 9}, .data = blocks},
    {.name = "c", .dtype = PT_BF16, .rank = 4, .dim = {1, 3, 1, 1}, .data = halves},
    {.name = "one", .dtype = PT_F32, .rank = 0, .data = floats},
    {.name = "nothing", .dtype = PT_Q6_K, .rank = 1, .dim = {0}},
};
enum { N_ENTRIES = sizeof entries / sizeof entries[0], DATA_BYTES = 24 + 44 + 6 + 4 };

static void put_all(pt_gguf_metadata *m)
{
    static const int64_t longs[] = {-1, INT64_MAX};
    static const pt_gguf_text texts[] = {{"a\0b", 3}, {NULL, 0}, {"\xff", 1}};
    int16_t small = -7;
    pt_gguf_put_text(m, "general.architecture", "llama");
    pt_gguf_put_u32(m, "u32", 7);
    pt_gguf_put_f32(m, "f32", 0.5f);
    pt_gguf_put_bool(m, "yes", true);
    pt_gguf_put_bool(m, "no", false);
    pt_gguf_put_number(m, "i16", PT_GGUF_I16, &small);
    pt_gguf_put_array(m, "longs", PT_GGUF_I64, longs, 2);
    pt_gguf_put_array(m, "empty", PT_GGUF_F64, NULL, 0);
    pt_gguf_put_texts(m, "texts", texts, 3);
    pt_gguf_put_texts(m, "no texts", NULL, 0);
}

static void check_values(const pt_gguf *file)
{
    int64_t i = 0;
    double x = 0;
    bool yes = false, no = true;
    pt_gguf_text text;
    const pt_gguf_value *v;
    CHECK_OK(pt_gguf_get_text(file, "general.architecture", &text, &err), err);
    CHECK(same_text(text, "llama"));
    CHECK(pt_gguf_get_i64(file, "u32", &i, NULL) == PT_OK && i == 7);
    CHECK(pt_gguf_get_i64(file, "i16", &i, NULL) == PT_OK && i == -7);
    CHECK(pt_gguf_get_f64(file, "f32", &x, NULL) == PT_OK && x == 0.5);
    CHECK(pt_gguf_get_bool(file, "yes", &yes, NULL) == PT_OK && yes);
    CHECK(pt_gguf_get_bool(file, "no", &no, NULL) == PT_OK && !no);
    CHECK_OK(pt_gguf_get_array(file, "longs", PT_GGUF_I64, 2, &v, &err), err);
    CHECK(pt_gguf_i64_at(v, 0, &i) && i == -1);
    CHECK(pt_gguf_i64_at(v, 1, &i) && i == INT64_MAX);
    CHECK_OK(pt_gguf_get_array(file, "empty", PT_GGUF_F64, 0, &v, &err), err);
    CHECK_OK(pt_gguf_get_array(file, "no texts", PT_GGUF_TEXT, 0, &v, &err), err);
    CHECK_OK(pt_gguf_get_array(file, "texts", PT_GGUF_TEXT, 3, &v, &err), err);
    pt_gguf_texts at = pt_gguf_texts_of(v);
    CHECK(pt_gguf_next_text(&at, &text) && text.n == 3 && memcmp(text.bytes, "a\0b", 3) == 0);
    CHECK(pt_gguf_next_text(&at, &text) && text.n == 0);
    CHECK(pt_gguf_next_text(&at, &text) && same_text(text, "\xff"));
    CHECK(!pt_gguf_next_text(&at, &text));
}

static void check_written(const pt_strbuf *out, int version, int64_t alignment)
{
    pt_gguf *file;
    CHECK_OK(pt_gguf_open(&file, (uint8_t *)out->data, (int64_t)out->len, &err), err);
    CHECK_INT(out->len % (size_t)alignment, 0);
    CHECK_INT(pt_gguf_version(file), version);
    CHECK_INT(pt_gguf_alignment(file), alignment);
    CHECK_INT(pt_gguf_n_values(file), 10 + (alignment != 32));
    check_values(file);
    CHECK_INT(pt_gguf_n(file), N_ENTRIES);
    for (int i = 0; i < N_ENTRIES; i++) {
        const pt_gguf_tensor *t = pt_gguf_at(file, i);
        CHECK(t == pt_gguf_find(file, entries[i].name) && t->rank == entries[i].rank);
        CHECK(t->dtype == entries[i].dtype);
        for (int d = 0; d < PT_GGUF_MAX_RANK; d++)
            CHECK_INT(t->dim[d], d < t->rank ? entries[i].dim[d] : 1);
        CHECK_INT(((const char *)t->data - out->data) % alignment, 0);
        CHECK(t->bytes == 0 || memcmp(t->data, entries[i].data, (size_t)t->bytes) == 0);
    }
    CHECK_INT(pt_gguf_at(file, 1)->bytes + pt_gguf_at(file, 5)->bytes, 0);
    CHECK_INT(pt_gguf_at(file, 2)->bytes, 44);
    pt_gguf_close(file);
}

static void write_pieces(const pt_gguf_metadata *m, int64_t piece, const pt_strbuf *want)
{
    uint8_t data[DATA_BYTES], *at = data;
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_gguf_writer *w;
    static const int64_t sizes[N_ENTRIES] = {24, 0, 44, 6, 4, 0};
    for (int i = 0; i < N_ENTRIES; at += sizes[i++])
        if (sizes[i]) memcpy(at, entries[i].data, (size_t)sizes[i]);
    CHECK_OK(pt_gguf_writer_begin(&w, m, entries, N_ENTRIES, &sink, &err), err);
    for (int64_t i = 0; i < DATA_BYTES; i += piece)
        CHECK_OK(pt_gguf_writer_put(w, data + i, pt_min_i64(piece, DATA_BYTES - i), &err), err);
    CHECK_OK(pt_gguf_writer_end(w, &err), err);
    CHECK(out.len == want->len && memcmp(out.data, want->data, out.len) == 0);
    pt_strbuf_deinit(&out);
}

TEST(what_is_written_is_read)
{
    static const int64_t alignments[] = {0, 1, 8, 32, 64, 4096};
    for (int version = 2; version <= 3; version++)
        for (size_t a = 0; a < sizeof alignments / sizeof alignments[0]; a++) {
            pt_gguf_metadata m = {.version = version, .alignment = alignments[a]};
            pt_strbuf out = {0};
            pt_sink sink = pt_sink_to_strbuf(&out);
            put_all(&m);
            CHECK_OK(pt_gguf_write(&m, entries, N_ENTRIES, &sink, &err), err);
            check_written(&out, version, alignments[a] ? alignments[a] : 32);
            for (int64_t piece = 1; piece <= DATA_BYTES; piece += 7) write_pieces(&m, piece, &out);
            pt_strbuf_deinit(&out);
            pt_gguf_metadata_deinit(&m);
        }
}

TEST(an_empty_file)
{
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_gguf *file;
    CHECK_OK(pt_gguf_write(NULL, NULL, 0, &sink, &err), err);
    CHECK_INT(out.len, 32);
    CHECK_OK(pt_gguf_open(&file, (uint8_t *)out.data, (int64_t)out.len, &err), err);
    CHECK(pt_gguf_n(file) == 0 && pt_gguf_n_values(file) == 0 && !pt_gguf_at(file, 0));
    CHECK(!pt_gguf_value_at(file, 0) && !pt_gguf_value_find(file, "general.architecture"));
    pt_gguf_close(file);
    pt_strbuf_deinit(&out);
}

/* ---- what cannot be written ---- */

static void refuse(const pt_gguf_metadata *m, const pt_gguf_entry *e, int64_t n, const char *words)
{
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_gguf_writer *w;
    pt_error why = {0};
    CHECK_INT(pt_gguf_writer_begin(&w, m, e, n, &sink, &why), PT_BAD_INPUT);
    if (!strstr(why.message, words)) printf("gives %s, not %s\n", why.message, words);
    CHECK(!w && out.len == 0 && why.status == PT_BAD_INPUT && strstr(why.message, words));
    pt_strbuf_deinit(&out);
}

TEST(entries_that_are_refused)
{
    static const struct {
        pt_gguf_entry entry;
        const char *words;
    } bad[] = {
        {{.name = "", .dtype = PT_F32}, "name is empty"},
        {{.name = NULL, .dtype = PT_F32}, "name is empty"},
        {{.name = "\xff", .dtype = PT_F32}, "not UTF-8"},
        {{.name = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
         "at most 63"},
        {{.name = "x", .dtype = PT_F64, .rank = 1, .dim = {32}},
         "x: a GGUF file does not hold f64"},
        {{.name = "x", .dtype = PT_ROWS_INT8, .rank = 1, .dim = {32}}, "int8 rows"},
        {{.name = "x", .dtype = PT_DTYPE_COUNT}, "does not hold ?"},
        {{.name = "x", .dtype = PT_F32, .rank = 5}, "rank 5, must be 0 to 4"},
        {{.name = "x", .dtype = PT_F32, .rank = -1}, "rank -1"},
        {{.name = "x", .dtype = PT_F32, .rank = 1, .dim = {-1}}, "more elements"},
        {{.name = "x", .dtype = PT_F32, .rank = 2, .dim = {INT64_MAX, 2}}, "more elements"},
        {{.name = "x", .dtype = PT_F32, .rank = 1, .dim = {INT64_MAX / 2}}, "more bytes"},
        {{.name = "x", .dtype = PT_F32, .rank = 1, .dim = {INT64_MAX / 5}}, "too large"},
        {{.name = "x", .dtype = PT_Q4_K, .rank = 2, .dim = {256, 32}}, "whole number of blocks"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuse(NULL, &bad[i].entry, 1, bad[i].words);
    pt_gguf_entry twice[3] = {entries[0], entries[3], entries[0]};
    refuse(NULL, twice, 3, "tensor a.weight: it is there twice");
    twice[0].dim[0] = twice[1].dim[1] = INT64_MAX / 64; /* each would do */
    twice[2].name = "c2";
    twice[2].dim[0] = INT64_MAX / 32;
    refuse(NULL, twice, 3, "too large");
    refuse(NULL, entries, -1, "cannot be -1 tensors");
    refuse(NULL, entries, INT64_MAX, "tensors");
}

static void refuse_metadata(pt_gguf_metadata *m, const char *words)
{
    refuse(m, entries, N_ENTRIES, words);
    pt_gguf_metadata_deinit(m);
}

TEST(metadata_that_is_refused)
{
    static const int64_t alignments[] = {-1, 3, PT_GGUF_MAX_ALIGNMENT * 2, INT64_MAX, INT64_MIN};
    static const pt_gguf_text no_size = {"a", -1};
    pt_gguf_metadata m = {0};
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++) {
        m.alignment = alignments[i];
        refuse_metadata(&m, "must be a power of two");
    }
    m.version = 1;
    refuse_metadata(&m, "version 1");
    m.version = -3;
    refuse_metadata(&m, "version");
    pt_gguf_put_u32(&m, NULL, 1);
    refuse_metadata(&m, "has no key or cannot be");
    pt_gguf_put_text(&m, "a", NULL);
    refuse_metadata(&m, "has no key or cannot be");
    pt_gguf_put_number(&m, "a", PT_GGUF_TEXT, "12345678");
    refuse_metadata(&m, "has no key or cannot be");
    pt_gguf_put_array(&m, "a", PT_GGUF_ARRAY, "12345678", 1);
    refuse_metadata(&m, "has no key or cannot be");
    pt_gguf_put_array(&m, "a", (pt_gguf_kind)99, "12345678", 1);
    refuse_metadata(&m, "has no key or cannot be");
    pt_gguf_put_array(&m, "a", PT_GGUF_U8, "12345678", -1);
    refuse_metadata(&m, "has no key or cannot be");
    pt_gguf_put_texts(&m, "a", &no_size, 1);
    refuse_metadata(&m, "has no key or cannot be");
    pt_gguf_put_u32(&m, "", 1);
    refuse_metadata(&m, "a key is empty");
    pt_gguf_put_u32(&m, "a", 1);
    pt_gguf_put_f32(&m, "a", 1);
    refuse_metadata(&m, "key a: it is there twice");
    pt_gguf_put_array(&m, "a", PT_GGUF_BOOL, "\1\2", 2);
    refuse_metadata(&m, "must be 0 or 1");
    m.alignment = 64;
    pt_gguf_put_u32(&m, "general.alignment", 64);
    refuse_metadata(&m, "key general.alignment: it is there twice");
    pt_gguf_put_u32(&m, "general.alignment", 48);
    refuse_metadata(&m, "must be a power of two");
}

/* The places of tensors follow m.alignment: a key that says something else would make a file that cannot be read. */
TEST(an_alignment_of_the_callers_is_checked)
{
    pt_gguf_metadata m = {0};
    pt_gguf_put_u32(&m, "general.alignment", 64);
    refuse_metadata(&m, "no multiple of the alignment 64");
}

TEST(bytes_too_many_or_too_few)
{
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_gguf_writer *w;
    pt_error why = {0};
    CHECK_OK(pt_gguf_writer_begin(&w, NULL, entries, 1, &sink, &why), why);
    CHECK_OK(pt_gguf_writer_put(w, floats, 20, &why), why);
    CHECK_INT(pt_gguf_writer_end(w, &why), PT_BAD_INPUT);
    CHECK(strstr(why.message, "4 bytes of data missing"));
    pt_strbuf_clear(&out);
    why = (pt_error){0};
    CHECK_OK(pt_gguf_writer_begin(&w, NULL, entries, 1, &sink, &why), why);
    CHECK_INT(pt_gguf_writer_put(w, floats, 25, &why), PT_BAD_INPUT);
    CHECK(strstr(why.message, "25 bytes come where 24 are due"));
    CHECK_INT(pt_gguf_writer_put(w, floats, 24, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_gguf_writer_end(w, NULL), PT_BAD_INPUT);
    CHECK_OK(pt_gguf_writer_begin(&w, NULL, entries, 1, &sink, &why), why);
    CHECK_INT(pt_gguf_writer_put(w, floats, -1, NULL), PT_BAD_INPUT);
    pt_gguf_writer_discard(w);
    pt_gguf_writer_discard(NULL);
    pt_strbuf_deinit(&out);
}

/* A sink whose nth write fails. */
static pt_status write_or_fail(void *ctx, const void *bytes, int64_t n, pt_error *e)
{
    (void)bytes, (void)n;
    return --*(int *)ctx ? PT_OK : pt_fail(e, PT_IO, "no space left");
}

TEST(a_sink_that_fails)
{
    for (int nth = 1, last = 0; !last; nth++) {
        int left = nth;
        pt_sink sink = {.write = write_or_fail, .ctx = &left};
        pt_error why = {0};
        pt_status s = pt_gguf_write(NULL, entries, N_ENTRIES, &sink, &why);
        last = s == PT_OK;
        CHECK(last ? nth == 10 : s == PT_IO && strstr(why.message, "no space left"));
    }
}

TEST(no_memory_is_reported)
{
    int64_t nth = 1;
    for (pt_status s = PT_NO_MEMORY; s != PT_OK; nth++) {
        pt_gguf_metadata m = {.alignment = 64};
        pt_strbuf out = {0};
        pt_sink sink = pt_sink_to_strbuf(&out);
        pt_gguf_writer *w = NULL;
        pt_alloc_fail_after(nth);
        put_all(&m);
        s = pt_gguf_writer_begin(&w, &m, entries, N_ENTRIES, &sink, NULL);
        pt_alloc_fail_after(0);
        CHECK(s == PT_OK ? w != NULL : s == PT_NO_MEMORY && !w);
        pt_gguf_writer_discard(w);
        pt_strbuf_deinit(&out);
        pt_gguf_metadata_deinit(&m);
    }
    CHECK(nth > 6);
}

PT_TEST_MAIN
