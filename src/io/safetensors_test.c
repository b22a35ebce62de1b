/* .safetensors: a file of the original library (tests/golden/mixed.safetensors, safetensors 0.8.0),
 * what we write, and files that are wrong. SPDX-License-Identifier: MIT */
#include "io/safetensors.h"

#include "base/fs.h"
#include "base/maths.h"
#include "base/test.h"

/* ---- the original library's file ---- */

static const pt_safetensors_tensor *find(const pt_safetensors *file, const char *name,
                                         pt_safetensors_dtype dtype, int rank, int64_t n)
{
    const pt_safetensors_tensor *t = pt_safetensors_find(file, name);
    CHECK(t);
    CHECK_STR(t->name, name);
    CHECK_INT(t->dtype, dtype);
    CHECK_INT(t->rank, rank);
    CHECK_INT(t->n, n);
    return t;
}

static void check_values(const pt_safetensors_tensor *t, const float *want)
{
    float got[8];
    pt_error err = {0};
    CHECK_OK(pt_safetensors_read_f32(t, 0, t->n, got, &err), err);
    for (int64_t i = 0; i < t->n; i++) CHECK(pt_float_bits(got[i]) == pt_float_bits(want[i]));
    for (int64_t i = 0; i < t->n; i++) {
        CHECK_OK(pt_safetensors_read_f32(t, i, 1, got, &err), err);
        CHECK(pt_float_bits(got[0]) == pt_float_bits(want[i]));
    }
}

TEST(a_file_of_the_original_library)
{
    pt_file_view view;
    pt_safetensors *file;
    pt_error err = {0};
    float x[8];
    CHECK_OK(pt_file_view_open(&view, "tests/golden/mixed.safetensors", &err), err);
    CHECK_OK(pt_safetensors_open(&file, view.data, view.size, &err), err);
    CHECK_INT(pt_safetensors_n(file), 9);
    CHECK_STR(pt_safetensors_metadata(file, "who"), "the safetensors library");
    CHECK_STR(pt_safetensors_metadata(file, "\xc3\xa9"), "\xc3\xbc");
    CHECK(!pt_safetensors_metadata(file, "format"));
    const pt_safetensors_tensor *t = find(file, "half", PT_SAFETENSORS_F16, 2, 6);
    CHECK(t->dim[0] == 2 && t->dim[1] == 3 && t->dim[2] == 1 && t->bytes == 12);
    check_values(t, (float[]){1, -2, 0.5f, 65504, 0x1p-24f, (float)PT_INF});
    t = find(file, "double", PT_SAFETENSORS_F64, 1, 2);
    check_values(t, (float[]){1.0f / 3, -(float)PT_INF});
    t = find(file, "long", PT_SAFETENSORS_I64, 1, 2);
    check_values(t, (float[]){-0x1p53f, 0x1p24f}); /* 2^24+1 ties to even */
    t = find(file, "int", PT_SAFETENSORS_I32, 2, 2);
    check_values(t, (float[]){-7, 0x1p31f});
    t = find(file, "byte", PT_SAFETENSORS_U8, 1, 3);
    check_values(t, (float[]){0, 255, 128});
    t = find(file, "float", PT_SAFETENSORS_F32, 3, 6);
    check_values(t, (float[]){0, 1.0f / 3, 2.0f / 3, 1, 4.0f / 3, 5.0f / 3});
    t = find(file, "scalar", PT_SAFETENSORS_F32, 0, 1);
    check_values(t, (float[]){2.5f});
    t = find(file, "empty", PT_SAFETENSORS_F32, 2, 0);
    CHECK(t->dim[0] == 0 && t->dim[1] == 4);
    CHECK_INT(pt_safetensors_read_f32(t, 0, 0, x, &err), PT_OK);
    t = find(file, "mask", PT_SAFETENSORS_BOOL, 1, 2);
    CHECK_INT(pt_safetensors_read_f32(t, 0, 1, x, &err), PT_UNSUPPORTED);
    CHECK(strstr(err.message, "tensor mask: dtype BOOL"));
    CHECK(!pt_safetensors_find(file, "hal") && !pt_safetensors_find(file, ""));
    CHECK(!pt_safetensors_find(file, "zz") && !pt_safetensors_find(file, "__metadata__"));
    for (int64_t i = 1; i < 9; i++)
        CHECK(pt_safetensors_at(file, i)->data ==
              pt_safetensors_at(file, i - 1)->data + pt_safetensors_at(file, i - 1)->bytes);
    CHECK(!pt_safetensors_at(file, 9) && !pt_safetensors_at(file, -1));
    static const int64_t bad[][2] = {{-1, 1}, {0, 4}, {3, 1}, {2, 2}, {0, -1}, {1, INT64_MAX}};
    t = pt_safetensors_find(file, "byte");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(pt_safetensors_read_f32(t, bad[i][0], bad[i][1], x, NULL), PT_BAD_INPUT);
    pt_safetensors_close(file);
    pt_safetensors_close(NULL);
    pt_file_view_close(&view);
}

/* ---- writing ---- */

static const float floats[6] = {1, -2, 3.5f, 0, 1e-30f, 7};
static const uint16_t halves[3] = {0x3c00, 0x7c00, 0x8001};

static const pt_safetensors_entry entries[] = {
    {.name = "a.weight", .dtype = PT_F32, .rank = 2, .dim = {2, 3}, .data = floats},
    {.name = "b\"\xc3\xa9", .dtype = PT_BF16, .rank = 1, .dim = {3}, .data = halves},
    {.name = "c", .dtype = PT_F16, .rank = 4, .dim = {1, 3, 1, 1}, .data = halves},
    {.name = "none", .dtype = PT_I32, .rank = 1, .dim = {0}},
    {.name = "one", .dtype = PT_U8, .rank = 0, .data = "\x2a"},
};
enum { N_ENTRIES = sizeof entries / sizeof entries[0], DATA_BYTES = 24 + 6 + 6 + 1 };

static void check_written(const pt_strbuf *out)
{
    pt_safetensors *file;
    pt_error err = {0};
    uint64_t header_bytes;
    memcpy(&header_bytes, out->data, 8);
    CHECK_INT(header_bytes % 8, 0);
    CHECK_INT(out->len, 8 + header_bytes + DATA_BYTES);
    CHECK_OK(pt_safetensors_open(&file, (uint8_t *)out->data, (int64_t)out->len, &err), err);
    CHECK_INT(pt_safetensors_n(file), N_ENTRIES);
    CHECK_STR(pt_safetensors_metadata(file, "format"), "pt");
    for (int i = 0; i < N_ENTRIES; i++) {
        const pt_safetensors_tensor *t = pt_safetensors_find(file, entries[i].name);
        CHECK(t && t->rank == entries[i].rank);
        for (int d = 0; d < t->rank; d++) CHECK_INT(t->dim[d], entries[i].dim[d]);
        CHECK_INT(t->bytes, pt_dtype_bytes(entries[i].dtype, t->n));
        CHECK(t->bytes == 0 || memcmp(t->data, entries[i].data, (size_t)t->bytes) == 0);
    }
    check_values(pt_safetensors_find(file, "b\"\xc3\xa9"),
                 (float[]){0x1p-7f, 0x1p121f, -0x1p-133f});
    check_values(pt_safetensors_find(file, "c"), (float[]){1, (float)PT_INF, -0x1p-24f});
    pt_safetensors_close(file);
}

TEST(what_is_written_is_read)
{
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_error err = {0};
    CHECK_OK(pt_safetensors_write(entries, N_ENTRIES, NULL, &sink, &err), err);
    check_written(&out);
    for (int64_t piece = 1; piece < 40; piece += 6) {
        uint8_t data[DATA_BYTES];
        pt_safetensors_writer *w;
        pt_strbuf again = {0};
        pt_sink to = pt_sink_to_strbuf(&again);
        memcpy(data, out.data + out.len - DATA_BYTES, DATA_BYTES);
        CHECK_OK(pt_safetensors_writer_begin(&w, entries, N_ENTRIES, &to, &err), err);
        for (int64_t at = 0; at < DATA_BYTES; at += piece)
            CHECK_OK(
                pt_safetensors_writer_put(w, data + at, pt_min_i64(piece, DATA_BYTES - at), &err),
                err);
        CHECK_OK(pt_safetensors_writer_end(w, &err), err);
        CHECK(again.len == out.len && memcmp(again.data, out.data, out.len) == 0);
        pt_strbuf_deinit(&again);
    }
    pt_strbuf_deinit(&out);
}

TEST(metadata)
{
    pt_arena arena = {0};
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_error err = {0};
    const pt_json *json;
    const char good[] = "{\"format\":\"np\",\"x\":\"\\u00e9\"}", bad[] = "{\"x\":1}";
    CHECK_OK(pt_json_parse(good, strlen(good), &arena, &json, &err), err);
    CHECK_OK(pt_safetensors_write(entries, 1, json, &sink, &err), err);
    pt_safetensors *file;
    CHECK_OK(pt_safetensors_open(&file, (uint8_t *)out.data, (int64_t)out.len, &err), err);
    CHECK_STR(pt_safetensors_metadata(file, "format"), "pt");
    CHECK_STR(pt_safetensors_metadata(file, "x"), "\xc3\xa9");
    pt_safetensors_close(file);
    CHECK_OK(pt_json_parse(bad, strlen(bad), &arena, &json, &err), err);
    CHECK_INT(pt_safetensors_write(entries, 1, json, &sink, &err), PT_BAD_INPUT);
    pt_strbuf_deinit(&out);
    pt_arena_deinit(&arena);
}

TEST(entries_that_are_refused)
{
    static const pt_safetensors_entry bad[] = {
        {.name = "", .dtype = PT_F32},
        {.name = NULL, .dtype = PT_F32},
        {.name = "\xff", .dtype = PT_F32},
        {.name = "__metadata__", .dtype = PT_F32},
        {.name = "x", .dtype = PT_Q4_0, .rank = 1, .dim = {32}},
        {.name = "x", .dtype = PT_DTYPE_COUNT},
        {.name = "x", .dtype = PT_F32, .rank = 9},
        {.name = "x", .dtype = PT_F32, .rank = -1},
        {.name = "x", .dtype = PT_F32, .rank = 1, .dim = {-1}},
        {.name = "x", .dtype = PT_F32, .rank = 2, .dim = {INT64_MAX, 2}},
        {.name = "x", .dtype = PT_F32, .rank = 1, .dim = {INT64_MAX / 2}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pt_strbuf out = {0};
        pt_sink sink = pt_sink_to_strbuf(&out);
        pt_error err = {0};
        pt_safetensors_writer *w;
        CHECK_INT(pt_safetensors_writer_begin(&w, &bad[i], 1, &sink, &err), PT_BAD_INPUT);
        CHECK(!w && out.len == 0 && err.message[0]);
        pt_strbuf_deinit(&out);
    }
    pt_safetensors_entry twice[40];
    char names[40][16];
    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i == 37 ? 5 : i);
        twice[i] = (pt_safetensors_entry){.name = names[i], .dtype = PT_F32};
    }
    pt_sink none = {0};
    pt_error err = {0};
    CHECK_INT(pt_safetensors_write(twice, 40, NULL, &none, &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "t5: two tensors"));
}

TEST(bytes_too_many_or_too_few)
{
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_error err = {0};
    pt_safetensors_writer *w;
    CHECK_OK(pt_safetensors_writer_begin(&w, entries, 1, &sink, &err), err);
    CHECK_OK(pt_safetensors_writer_put(w, floats, 20, &err), err);
    CHECK_INT(pt_safetensors_writer_end(w, &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "4 bytes of data missing"));
    pt_strbuf_clear(&out);
    err = (pt_error){0};
    CHECK_OK(pt_safetensors_writer_begin(&w, entries, 1, &sink, &err), err);
    CHECK_INT(pt_safetensors_writer_put(w, floats, 25, &err), PT_BAD_INPUT);
    CHECK_INT(pt_safetensors_writer_put(w, floats, 24, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_safetensors_writer_end(w, NULL), PT_BAD_INPUT);
    pt_safetensors_writer_discard(NULL);
    pt_strbuf_deinit(&out);
}

/* ---- files that are wrong ---- */

static pt_status open_with(const char *header, int64_t data_bytes, pt_error *err)
{
    size_t n = strlen(header);
    int64_t size = 8 + (int64_t)n + data_bytes;
    uint8_t *bytes = calloc(1, (size_t)size);
    uint64_t len = n;
    memcpy(bytes, &len, 8);
    memcpy(bytes + 8, header, n);
    pt_safetensors *file;
    pt_status s = pt_safetensors_open(&file, bytes, size, err);
    CHECK((s == PT_OK) == (file != NULL));
    pt_safetensors_close(file);
    free(bytes);
    return s;
}

static void refuse(const char *header, int64_t data_bytes, pt_status status, const char *words)
{
    pt_error err = {0};
    pt_status s = open_with(header, data_bytes, &err);
    if (s != status || !strstr(err.message, words))
        printf("%s\n  gives %s: %s\n  not %s\n", header, pt_status_name(s), err.message, words);
    CHECK_INT(s, status);
    CHECK(strstr(err.message, words));
}

#define X(dtype, shape, begin, end) \
    "{\"x\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}}"

TEST(wrong_entries)
{
    pt_error err = {0};
    CHECK_OK(open_with(X("F32", "[2,3]", "0", "24"), 24, &err), err);
    CHECK_OK(open_with(X("F32", "[2,3]", "0", "24") "   ", 24, &err), err);
    CHECK_OK(open_with("{}", 0, &err), err);
    refuse("{}", 1, PT_CORRUPT, "the tensors take 0 bytes, but the file has 1");
    refuse(X("F32", "[2,3]", "0", "24"), 23, PT_CORRUPT,
           "its bytes are 0 to 24, but the file has 23");
    refuse(X("F32", "[2,3]", "0", "24"), 25, PT_CORRUPT, "too long");
    refuse(X("F32", "[2,3]", "0", "20"), 20, PT_CORRUPT, "6 elements of F32 do not take 20");
    refuse(X("F32", "[2,3]", "1", "25"), 25, PT_CORRUPT, "tensor x begins at byte 1");
    refuse(X("F32", "[2,3]", "24", "0"), 24, PT_CORRUPT, "its bytes are 24 to 0");
    refuse(X("F32", "[2,3]", "-24", "0"), 24, PT_CORRUPT, "its bytes are -24");
    refuse(X("F32", "[2,3]", "0", "9223372036854775807"), 24, PT_CORRUPT, "922337203685477580");
    refuse(X("F32", "[2,3]", "0", "9223372036854775808"), 24, PT_CORRUPT, "pair of numbers");
    refuse(X("F32", "[2,3]", "0", "24.5"), 24, PT_CORRUPT, "pair of numbers");
    refuse(X("F32", "[2,3]", "0", "NaN"), 24, PT_CORRUPT, "header: ");
    refuse(X("F32", "[2,-3]", "0", "24"), 24, PT_CORRUPT, "dimension 1 of its shape");
    refuse(X("F32", "[2,3.5]", "0", "24"), 24, PT_CORRUPT, "dimension 1 of its shape");
    refuse(X("F32", "[\"2\",3]", "0", "24"), 24, PT_CORRUPT, "dimension 0 of its shape");
    refuse(X("F32", "[4294967296,4294967296]", "0", "24"), 24, PT_CORRUPT, "more elements");
    refuse(X("F64", "[4294967296,1073741824]", "0", "24"), 24, PT_CORRUPT, "do not take 24");
    refuse(X("F32", "[4611686018427387904,0]", "0", "24"), 24, PT_CORRUPT, "0 elements of F32");
    refuse(X("F32", "[1,1,1,1,1,1,1,1,1]", "0", "4"), 4, PT_UNSUPPORTED, "it has 9 dimensions");
    refuse(X("F32", "6", "0", "24"), 24, PT_CORRUPT, "it has no shape");
    refuse(X("F4", "[6]", "0", "24"), 24, PT_UNSUPPORTED, "dtype F4 is not known");
    refuse(X("F32\\u0000", "[6]", "0", "24"), 24, PT_UNSUPPORTED, "dtype F32· is not known");
    refuse("{\"x\":7}", 0, PT_CORRUPT, "tensor x: its entry is not an object");
    refuse("{\"x\":{}}", 0, PT_CORRUPT, "it has no dtype");
    refuse("{\"x\":{\"dtype\":\"F32\"}}", 0, PT_CORRUPT, "it has no shape");
    refuse("{\"x\":{\"dtype\":\"F32\",\"shape\":[0]}}", 0, PT_CORRUPT, "data_offsets");
    refuse("{\"x\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0]}}", 0, PT_CORRUPT, "pair");
    refuse("{\"\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0, PT_CORRUPT,
           "empty");
    refuse("{\"a\\u0000\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0, PT_CORRUPT,
           "tensor 'a·'");
    refuse("{\"__metadata__\":[]}", 0, PT_CORRUPT, "__metadata__ is not an object");
    refuse("{\"__metadata__\":{\"a\":1}}", 0, PT_CORRUPT, "__metadata__: a is not a text");
    refuse("[]", 0, PT_CORRUPT, "not an object");
    refuse("{\"a\":{},\"a\":{}}", 0, PT_CORRUPT, "header: ");
    refuse("{\"__metadata__\":{\"a\":\"\xff\"}}", 0, PT_CORRUPT, "header: ");
    refuse("", 0, PT_CORRUPT, "header: ");
}

#define PART(name, begin, end) \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" begin "," end "]}"

TEST(gaps_and_overlaps)
{
    pt_error err = {0};
    CHECK_OK(open_with("{" PART("b", "4", "8") "," PART("a", "8", "12") "," PART("c", "0", "4") "}",
                       12, &err),
             err);
    refuse("{" PART("a", "0", "4") "," PART("b", "3", "7") "}", 7, PT_CORRUPT,
           "tensor b begins at byte 3; it overlaps one that ends at 4");
    refuse("{" PART("a", "0", "4") "," PART("b", "0", "4") "}", 4, PT_CORRUPT, "overlaps");
    refuse("{" PART("a", "5", "9") "," PART("b", "0", "4") "}", 9, PT_CORRUPT,
           "tensor a begins at byte 5; the one before it ends at 4");
}

/* Many tensors in a bad order: sorted and found in n log n. */
TEST(many_tensors)
{
    enum { MANY = 3000 };
    pt_strbuf text = {0};
    for (int i = 0; i < MANY; i++) {
        int at = i * 1009 % MANY;
        pt_strbuf_printf(&text,
                         "%s\"n%d\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
                         i ? "," : "{", at * 7 % MANY, at, at + 1);
    }
    pt_strbuf_puts(&text, "}");
    int64_t size = 8 + (int64_t)text.len + MANY;
    uint8_t *bytes = calloc(1, (size_t)size);
    uint64_t len = text.len;
    memcpy(bytes, &len, 8);
    memcpy(bytes + 8, text.data, text.len);
    pt_safetensors *file;
    pt_error err = {0};
    CHECK_OK(pt_safetensors_open(&file, bytes, size, &err), err);
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i * 7 % MANY);
        CHECK(pt_safetensors_find(file, name) == pt_safetensors_at(file, i));
        CHECK(pt_safetensors_at(file, i)->data == bytes + 8 + text.len + i);
    }
    pt_safetensors_close(file);
    pt_strbuf_deinit(&text);
    free(bytes);
}

TEST(cut_and_damaged_files)
{
    pt_file_view view;
    pt_error err = {0};
    CHECK_OK(pt_file_view_open(&view, "tests/golden/mixed.safetensors", &err), err);
    for (int64_t size = 0; size < view.size; size++) {
        uint8_t *copy = malloc((size_t)size + 1);
        memcpy(copy, view.data, (size_t)size);
        pt_safetensors *file;
        err = (pt_error){0};
        CHECK_INT(pt_safetensors_open(&file, copy, size, &err), PT_CORRUPT);
        CHECK(!file && err.message[0]);
        free(copy);
    }
    static const uint64_t lengths[] = {UINT64_MAX, (uint64_t)INT64_MAX, 1ull << 32, 599,
                                       601,        (uint64_t)1 << 63,   686,        0};
    uint8_t *copy = malloc((size_t)view.size);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        pt_safetensors *file;
        memcpy(copy, view.data, (size_t)view.size);
        memcpy(copy, &lengths[i], 8);
        CHECK_INT(pt_safetensors_open(&file, copy, view.size, NULL), PT_CORRUPT);
    }
    free(copy);
    pt_file_view_close(&view);
}

TEST(no_memory_is_reported)
{
    pt_file_view view;
    pt_error err = {0};
    CHECK_OK(pt_file_view_open(&view, "tests/golden/mixed.safetensors", &err), err);
    int64_t nth = 1;
    for (pt_status s = PT_NO_MEMORY; s != PT_OK; nth++) {
        pt_safetensors *file;
        pt_alloc_fail_after(nth);
        s = pt_safetensors_open(&file, view.data, view.size, NULL);
        pt_alloc_fail_after(0);
        CHECK(s == PT_OK ? file != NULL : s == PT_NO_MEMORY && !file);
        pt_safetensors_close(file);
    }
    CHECK(nth > 3);
    nth = 1;
    for (pt_status s = PT_NO_MEMORY; s != PT_OK; nth++) {
        pt_strbuf out = {0};
        pt_sink sink = pt_sink_to_strbuf(&out);
        pt_safetensors_writer *w = NULL;
        pt_alloc_fail_after(nth);
        s = pt_safetensors_writer_begin(&w, entries, N_ENTRIES, &sink, NULL);
        pt_alloc_fail_after(0);
        CHECK(s == PT_OK ? w != NULL : s == PT_NO_MEMORY && !w);
        pt_safetensors_writer_discard(w);
        pt_strbuf_deinit(&out);
    }
    CHECK(nth > 3);
    pt_file_view_close(&view);
}

PT_TEST_MAIN
