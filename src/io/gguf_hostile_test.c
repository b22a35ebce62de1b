/* GGUF files that are wrong: each is refused with a sentence, at once and without memory to speak of.
 * SPDX-License-Identifier: MIT */
#include <sys/resource.h>
#include <time.h>

#include "base/fs.h"
#include "base/test.h"
#include "io/test_gguf.h"

#define MOST_SECONDS (PT_SANITIZED ? 1.0 : 0.05) /* of this process: others may run meanwhile */
#define MOST_BYTES ((rlim_t)4 << 20)             /* of address space, beyond what is in use */

/* Lets the process have only little more memory; returns what it could have before. */
static struct rlimit limit_memory(void)
{
    struct rlimit before, now;
    char *statm = NULL;
    int64_t size = 0;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    if (PT_SANITIZED || pt_fs_read("/proc/self/statm", 4096, &statm, &size, NULL)) return before;
    now = before;
    now.rlim_cur = (rlim_t)strtoull(statm, NULL, 10) * 4096 + MOST_BYTES;
    pt_free(statm);
    CHECK(setrlimit(RLIMIT_AS, &now) == 0);
    return before;
}

static pt_status open_bytes(const uint8_t *bytes, int64_t size, pt_error *err)
{
    uint8_t *copy = malloc((size_t)size + 1); /* its own end, for the sanitizer */
    pt_gguf *file;
    if (size) memcpy(copy, bytes, (size_t)size);
    struct rlimit before = limit_memory();
    clock_t begin = clock();
    pt_status s = pt_gguf_open(&file, copy, size, err);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK((s == PT_OK) == (file != NULL));
    CHECK(seconds < MOST_SECONDS);
    pt_gguf_close(file);
    free(copy);
    return s;
}

static pt_status open_buf(const pt_strbuf *buf, pt_error *err)
{
    CHECK(!buf->failed);
    return open_bytes((const uint8_t *)buf->data, (int64_t)buf->len, err);
}

static void refuse(const pt_strbuf *buf, pt_status status, const char *words)
{
    pt_error err = {0};
    pt_status s = open_buf(buf, &err);
    if (s != status || !strstr(err.message, words))
        printf("gives %s: %s\n  not %s\n", pt_status_name(s), err.message, words);
    CHECK_INT(s, status);
    CHECK(strstr(err.message, words));
}

static void accept(const pt_strbuf *buf)
{
    pt_error err = {0};
    CHECK_OK(open_buf(buf, &err), err);
}

/* ---- the begin ---- */

TEST(magic_and_version)
{
    pt_strbuf b = {0};
    put_begin(&b, 3, 0, 0);
    accept(&b);
    memcpy(b.data, "gguf", 4);
    refuse(&b, PT_CORRUPT, "does not begin with GGUF");
    memcpy(b.data, "FUGG", 4);
    refuse(&b, PT_CORRUPT, "does not begin with GGUF");
    put_begin(&b, 2, 0, 0);
    accept(&b);
    static const uint32_t versions[] = {0, 1, 4, 0x7fffffff, 0xffffffff};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        put_begin(&b, versions[i], 0, 0);
        refuse(&b, PT_UNSUPPORTED, "reads versions 2 and 3");
    }
    put_begin(&b, 3u << 24, 0, 0);
    refuse(&b, PT_UNSUPPORTED, "big-endian");
    put_begin(&b, 3u << 16, 0, 0);
    refuse(&b, PT_UNSUPPORTED, "big-endian");
    put_begin(&b, 3, 0, 0);
    for (b.len = 0; b.len < 4; b.len++) refuse(&b, PT_CORRUPT, "does not begin with GGUF");
    for (b.len = 4; b.len < 24; b.len++) refuse(&b, PT_CORRUPT, "too few for a GGUF file");
    pt_strbuf_deinit(&b);
}

TEST(counts_that_the_file_is_too_small_for)
{
    static const uint64_t counts[][2] = {
        {UINT64_MAX, 0},
        {0, UINT64_MAX},
        {UINT64_MAX, UINT64_MAX},
        {UINT64_MAX / 25 + 1, 0},
        {0, UINT64_MAX / 14 + 1},
        {(uint64_t)1 << 63, 0},
        {0, (uint64_t)1 << 32},
        {1, 0},
        {0, 1},
        {1, 3},
    };
    pt_strbuf b = {0};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        put_begin(&b, 3, counts[i][0], counts[i][1]);
        put_zeros(&b, counts[i][0] == 1 && counts[i][1] == 3 ? 25 + 3 * 14 - 1 : 13);
        refuse(&b, PT_CORRUPT, "do not fit into");
    }
    pt_strbuf_deinit(&b);
}

/* ---- keys and values ---- */

TEST(keys)
{
    pt_strbuf b = {0};
    static const uint64_t lengths[] = {UINT64_MAX, (uint64_t)INT64_MAX, (uint64_t)1 << 63, 17,
                                       UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        put_begin(&b, 3, 0, 1);
        put_u64(&b, lengths[i]);
        put_zeros(&b, 16);
        refuse(&b, PT_CORRUPT, "a key would have");
    }
    put_begin(&b, 3, 0, 1);
    put_key(&b, "", PT_GGUF_U8);
    put_zeros(&b, 8);
    refuse(&b, PT_CORRUPT, "a key is empty");
    put_begin(&b, 3, 0, 1);
    put_key(&b, "a\xff", PT_GGUF_U8);
    put_zeros(&b, 8);
    refuse(&b, PT_CORRUPT, "not UTF-8");
    put_begin(&b, 3, 0, 1);
    put_u64(&b, 2);
    put_zeros(&b, 20);
    refuse(&b, PT_CORRUPT, "has a NUL in it");
    put_begin(&b, 3, 0, 1);
    put_u64(&b, PT_GGUF_MAX_KEY + 1);
    for (int i = 0; i < PT_GGUF_MAX_KEY + 1; i++) pt_strbuf_putc(&b, 'k');
    put_zeros(&b, 8);
    refuse(&b, PT_CORRUPT, "at most 65535");
    put_begin(&b, 3, 0, 3);
    for (int i = 0; i < 3; i++) {
        put_key(&b, i == 1 ? "b" : "a", PT_GGUF_U8);
        put_zeros(&b, 1);
    }
    refuse(&b, PT_CORRUPT, "key a: it is there twice");
    pt_strbuf_deinit(&b);
}

TEST(kinds_of_values)
{
    pt_strbuf b = {0};
    static const uint32_t bad[] = {13, 14, 255, 0x80000000, UINT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put_begin(&b, 3, 0, 1);
        put_key(&b, "x", bad[i]);
        put_zeros(&b, 16);
        refuse(&b, PT_CORRUPT, "key x: its value is of kind");
        put_begin(&b, 3, 0, 1);
        put_array(&b, "x", bad[i], 1);
        put_zeros(&b, 16);
        refuse(&b, PT_CORRUPT, "key x: its value is of kind");
    }
    put_begin(&b, 3, 0, 1);
    put_array(&b, "x", PT_GGUF_ARRAY, 1);
    put_zeros(&b, 16);
    refuse(&b, PT_UNSUPPORTED, "key x: an array of arrays");
    for (int value = 0; value < 256; value += 1) {
        put_begin(&b, 3, 0, 1);
        put_key(&b, "x", PT_GGUF_BOOL);
        pt_strbuf_putc(&b, (char)value);
        if (value < 2) accept(&b);
        else refuse(&b, PT_CORRUPT, "must be 0 or 1");
    }
    put_begin(&b, 3, 0, 1);
    put_array(&b, "x", PT_GGUF_BOOL, 3);
    pt_strbuf_append(&b, "\1\0\2", 3);
    refuse(&b, PT_CORRUPT, "a bool is 2");
    pt_strbuf_deinit(&b);
}

TEST(strings_beyond_the_file_or_the_limit)
{
    pt_strbuf b = {0};
    static const uint64_t lengths[] = {UINT64_MAX, (uint64_t)INT64_MAX, (uint64_t)1 << 63, 5};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        put_begin(&b, 3, 0, 1);
        put_key(&b, "x", PT_GGUF_TEXT);
        put_u64(&b, lengths[i]);
        put_zeros(&b, 4);
        refuse(&b, PT_CORRUPT, "key x: a string would have");
        put_begin(&b, 3, 0, 1);
        put_array(&b, "x", PT_GGUF_TEXT, 2);
        put_text(&b, "a");
        put_u64(&b, lengths[i]);
        put_zeros(&b, 4);
        refuse(&b, PT_CORRUPT, "key x: a string would have");
    }
    pt_strbuf_deinit(&b);
    int64_t n = 24 + 13 + 8 + PT_GGUF_MAX_TEXT + 1; /* not through open_buf, which makes a copy */
    uint8_t *bytes = calloc(1, (size_t)n);
    put_begin(&b, 3, 0, 1);
    put_key(&b, "x", PT_GGUF_TEXT);
    put_u64(&b, PT_GGUF_MAX_TEXT + 1);
    memcpy(bytes, b.data, b.len);
    pt_error err = {0};
    pt_gguf *file;
    CHECK_INT(pt_gguf_open(&file, bytes, n, &err), PT_UNSUPPORTED);
    CHECK(strstr(err.message, "key x: a string has 16777217 bytes"));
    pt_store_u64(bytes + 24 + 13, PT_GGUF_MAX_TEXT);
    CHECK_INT(pt_gguf_open(&file, bytes, n, NULL), PT_OK);
    pt_gguf_close(file);
    free(bytes);
    pt_strbuf_deinit(&b);
}

TEST(arrays_beyond_the_file_or_the_limit)
{
    pt_strbuf b = {0};
    static const int sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 0, 8, 8, 8};
    static const uint64_t counts[] = {UINT64_MAX,        (uint64_t)1 << 63,
                                      (uint64_t)1 << 61, (uint64_t)1 << 62,
                                      UINT32_MAX,        ((uint64_t)1 << 61) + 1};
    for (uint32_t kind = 0; kind < PT_GGUF_KIND_COUNT; kind++) {
        if (kind == PT_GGUF_ARRAY) continue;
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            put_begin(&b, 3, 0, 1);
            put_array(&b, "x", kind, counts[i]);
            put_zeros(&b, 16);
            refuse(&b, PT_CORRUPT, "do not fit into the 16 bytes");
        }
        put_begin(&b, 3, 0, 1);
        put_array(&b, "x", kind, 4);
        put_zeros(&b, 4 * sizes[kind]);
        accept(&b);
        b.len--;
        refuse(&b, PT_CORRUPT, "do not fit into");
        put_begin(&b, 3, 0, 1);
        put_array(&b, "x", kind, 0);
        accept(&b);
    }
    put_begin(&b, 3, 0, 1);
    put_array(&b, "x", PT_GGUF_U8, (uint64_t)PT_GGUF_MAX_ARRAY + 1);
    int64_t n = (int64_t)b.len + PT_GGUF_MAX_ARRAY + 1;
    uint8_t *bytes = calloc(1, (size_t)n);
    memcpy(bytes, b.data, b.len);
    pt_error err = {0};
    pt_gguf *file;
    CHECK_INT(pt_gguf_open(&file, bytes, n, &err), PT_UNSUPPORTED);
    CHECK(strstr(err.message, "key x: an array of 67108865"));
    free(bytes);
    pt_strbuf_deinit(&b);
}

TEST(alignments)
{
    pt_strbuf b = {0};
    static const uint32_t bad[] = {0, 3, 48, 1u << 21, 0x80000000, UINT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put_begin(&b, 3, 0, 1);
        put_key(&b, "general.alignment", PT_GGUF_U32);
        put_u32(&b, bad[i]);
        refuse(&b, PT_CORRUPT, "must be a power of two from 1 to 1048576");
    }
    for (uint32_t good = 1; good <= PT_GGUF_MAX_ALIGNMENT; good *= 2) {
        put_begin(&b, 3, 0, 1);
        put_key(&b, "general.alignment", PT_GGUF_U32);
        put_u32(&b, good);
        accept(&b);
    }
    for (uint32_t kind = 0; kind < PT_GGUF_KIND_COUNT; kind++) {
        if (kind == PT_GGUF_U32 || kind == PT_GGUF_ARRAY) continue;
        put_begin(&b, 3, 0, 1);
        put_key(&b, "general.alignment", kind);
        put_zeros(&b, 8);
        refuse(&b, PT_CORRUPT, "must be a u32");
    }
    put_begin(&b, 3, 0, 1);
    put_array(&b, "general.alignment", PT_GGUF_U32, 1);
    put_u32(&b, 32);
    refuse(&b, PT_CORRUPT, "it is an array of u32, must be a u32");
    pt_strbuf_deinit(&b);
}

/* ---- tensors ---- */

/* A file of n tensors and bytes of data. */
static void build(pt_strbuf *b, const test_tensor *tensors, int n, int64_t bytes)
{
    put_begin(b, 3, (uint64_t)n, 0);
    for (int i = 0; i < n; i++) put_tensor(b, tensors[i]);
    put_data(b, 32, bytes);
}

static void refuse_tensor(test_tensor t, pt_status status, const char *words)
{
    pt_strbuf b = {0};
    build(&b, &t, 1, 4096);
    refuse(&b, status, words);
    pt_strbuf_deinit(&b);
}

static void accept_tensor(test_tensor t, int64_t bytes)
{
    pt_strbuf b = {0};
    build(&b, &t, 1, bytes);
    accept(&b);
    if (bytes) {
        b.len--;
        refuse(&b, PT_CORRUPT, "cut short");
    }
    pt_strbuf_deinit(&b);
}

#define LONG "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

TEST(names_of_tensors)
{
    accept_tensor((test_tensor){LONG, 1, 0, {4}, 0}, 16);
    refuse_tensor((test_tensor){LONG "f", 1, 0, {4}, 0}, PT_CORRUPT, "has 64 bytes, at most 63");
    refuse_tensor((test_tensor){"", 1, 0, {4}, 0}, PT_CORRUPT, "name is empty");
    refuse_tensor((test_tensor){"\xc3", 1, 0, {4}, 0}, PT_CORRUPT, "not UTF-8");
    pt_strbuf b = {0};
    test_tensor twice[] = {
        {"a", 1, 0, {8}, 0}, {"b", 1, 0, {8}, 32}, {"c", 1, 0, {8}, 64}, {"a", 1, 0, {8}, 96}};
    build(&b, twice, 4, 128);
    refuse(&b, PT_CORRUPT, "tensor a: it is there twice");
    put_begin(&b, 3, 1, 0);
    put_u64(&b, UINT64_MAX);
    put_zeros(&b, 64);
    refuse(&b, PT_CORRUPT, "a tensor's name would have");
    pt_strbuf_deinit(&b);
}

TEST(shapes)
{
    const uint64_t half = (uint64_t)1 << 32, most = INT64_MAX;
    accept_tensor((test_tensor){"x", 0, 0, {0}, 0}, 4);
    accept_tensor((test_tensor){"x", 4, 0, {2, 3, 1, 2}, 0}, 48);
    refuse_tensor((test_tensor){"x", 5, 0, {1, 1, 1, 1}, 0}, PT_UNSUPPORTED, "5 dimensions");
    refuse_tensor((test_tensor){"x", UINT32_MAX, 0, {1}, 0}, PT_UNSUPPORTED, "dimensions, at most");
    refuse_tensor((test_tensor){"x", 2, 0, {4, UINT64_MAX}, 0}, PT_CORRUPT,
                  "dimension 0 of its shape is not a count");
    refuse_tensor((test_tensor){"x", 2, 0, {most + 1, 4}, 0}, PT_CORRUPT, "dimension 1 of");
    refuse_tensor((test_tensor){"x", 2, 0, {half, half}, 0}, PT_CORRUPT, "more elements than");
    refuse_tensor((test_tensor){"x", 4, 0, {half / 2, half / 2, half, half}, 0}, PT_CORRUPT,
                  "more elements than");
    refuse_tensor((test_tensor){"x", 3, 0, {half, half, 0}, 0}, PT_CORRUPT, "more elements than");
    refuse_tensor((test_tensor){"x", 1, 0, {most}, 0}, PT_CORRUPT, "more bytes than");
    refuse_tensor((test_tensor){"x", 2, 0, {half, half / 4}, 0}, PT_CORRUPT, "more bytes than");
    refuse_tensor((test_tensor){"x", 2, 0, {half, half / 16}, 0}, PT_CORRUPT, "cut short");
    refuse_tensor((test_tensor){"x", 2, 8, {half, half / 2 - 1}, 0}, PT_CORRUPT, "more bytes than");
}

/* Empty tensors are fine, wherever the 0 stands, and also at the end of a file that is not filled up. */
TEST(dimensions_of_0_are_empty)
{
    accept_tensor((test_tensor){"x", 1, 0, {0}, 0}, 0);
    accept_tensor((test_tensor){"x", 2, 0, {0, 7}, 0}, 0);
    accept_tensor((test_tensor){"x", 2, 0, {7, 0}, 0}, 0);
    accept_tensor((test_tensor){"x", 2, 12, {256, 0}, 0}, 0);
    accept_tensor((test_tensor){"x", 2, 12, {0, 3}, 0}, 0);
    refuse_tensor((test_tensor){"x", 2, 12, {7, 0}, 0}, PT_CORRUPT, "whole number of blocks");
    pt_strbuf b = {0};
    test_tensor last[] = {{"a", 1, 0, {1}, 0}, {"b", 1, 0, {0}, 32}, {"c", 1, 0, {0}, 32}};
    build(&b, last, 3, 4);
    accept(&b);
    build(&b, last, 3, 3);
    refuse(&b, PT_CORRUPT, "tensor a: its bytes are 0 to 4, but the file has 3");
    pt_strbuf_deinit(&b);
}

TEST(types_of_tensors)
{
    static const struct {
        uint32_t id;
        uint64_t elements;
        int64_t bytes;
    } known[] = {{0, 1, 4},      {1, 1, 2},      {2, 32, 18}, {3, 32, 20},
                 {6, 32, 22},    {7, 32, 24},    {8, 32, 34}, {12, 256, 144},
                 {13, 256, 176}, {14, 256, 210}, {30, 1, 2}};
    size_t k = 0;
    for (uint32_t id = 0; id < 300; id++) {
        if (k < sizeof known / sizeof known[0] && known[k].id == id) {
            uint64_t block = known[k].elements;
            accept_tensor((test_tensor){"x", 2, id, {block, 3}, 0}, 3 * known[k].bytes);
            accept_tensor((test_tensor){"x", 1, id, {2 * block}, 0}, 2 * known[k].bytes);
            for (uint64_t row = block / 2; row && block > 1 && row < 2 * block; row++)
                if (row != block)
                    refuse_tensor((test_tensor){"x", 2, id, {row, 2 * block}, 0}, PT_CORRUPT,
                                  "not a whole number of blocks");
            if (block > 1)
                refuse_tensor((test_tensor){"x", 0, id, {0}, 0}, PT_CORRUPT, "number of blocks");
            k++;
        } else {
            refuse_tensor((test_tensor){"x", 1, id, {256}, 0}, PT_UNSUPPORTED, "is not known here");
        }
    }
    CHECK_INT(k, sizeof known / sizeof known[0]);
    refuse_tensor((test_tensor){"x", 1, UINT32_MAX, {256}, 0}, PT_UNSUPPORTED, "type 4294967295");
    refuse_tensor((test_tensor){"x", 1, 0x80000000, {256}, 0}, PT_UNSUPPORTED, "is not known");
}

/* ---- places ---- */

TEST(offsets)
{
    pt_strbuf b = {0};
    test_tensor t[] = {{"a", 1, 0, {9}, 0}, {"b", 1, 0, {8}, 64}, {"c", 1, 0, {1}, 96}};
    build(&b, t, 3, 100);
    accept(&b);
    b.len--;
    refuse(&b, PT_CORRUPT, "tensor c: its bytes are 96 to 100, but the file has 99");
    static const struct {
        uint64_t offset;
        const char *words;
    } bad[] = {
        {32, "tensor b begins at byte 32; it overlaps one that ends at 64"},
        {0, "it overlaps one"},
        {96, "tensor b begins at byte 96; the one before it ends at 64"},
        {68, "its offset 68 is no multiple of the alignment 32"},
        {65, "no multiple"},
        {UINT64_MAX, "no multiple"},
        {UINT64_MAX - 31, "the one before it ends at 64"},
        {(uint64_t)1 << 63, "the one before it ends at 64"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        t[1].offset = bad[i].offset;
        build(&b, t, 3, 128);
        refuse(&b, PT_CORRUPT, bad[i].words);
    }
    test_tensor first = {"a", 1, 0, {9}, 32};
    build(&b, &first, 1, 256);
    refuse(&b, PT_CORRUPT, "tensor a begins at byte 32; the one before it ends at 0");
    pt_strbuf_deinit(&b);
}

/* Sizes whose sum wraps around, so that all would seem to lie in the file. */
TEST(sums_of_sizes_do_not_overflow)
{
    pt_strbuf b = {0};
    const uint64_t quarter = (uint64_t)1 << 60; /* floats: 2^62 bytes */
    test_tensor t[] = {{"a", 1, 0, {quarter}, 0},
                       {"b", 1, 0, {quarter}, 4 * quarter},
                       {"c", 1, 0, {quarter}, 8 * quarter},
                       {"d", 1, 0, {quarter}, 12 * quarter},
                       {"e", 1, 0, {8}, 0}};
    build(&b, t, 5, 64);
    refuse(&b, PT_CORRUPT, "tensor a: its bytes are 0 to 4611686018427387904");
    t[0].dim[0] = 2 * quarter - 1; /* filled up, 2^63 */
    build(&b, t, 5, 64);
    refuse(&b, PT_CORRUPT, "tensor a: its bytes are 0 to 9223372036854775804");
    pt_strbuf_deinit(&b);
}

/* ---- every cut, every byte ---- */

TEST(cut_files)
{
    pt_file_view view;
    pt_error err = {0};
    CHECK_OK(pt_file_view_open(&view, "tests/golden/gguf/types.gguf", &err), err);
    for (int64_t size = 0; size < view.size - 32; size += size < 1600 ? 1 : 97) {
        err = (pt_error){0};
        CHECK_INT(open_bytes(view.data, size, &err), PT_CORRUPT);
        CHECK(err.message[0]);
    }
    pt_file_view_close(&view);
}

TEST(damaged_bytes_are_refused_or_read)
{
    pt_file_view view;
    pt_error err = {0};
    CHECK_OK(pt_file_view_open(&view, "tests/golden/gguf/types.gguf", &err), err);
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    uint8_t *copy = malloc((size_t)view.size);
    for (int64_t at = 0; at < 1600; at++) {
        for (size_t v = 0; v < sizeof values; v++) {
            pt_gguf *file;
            memcpy(copy, view.data, (size_t)view.size);
            copy[at] = values[v];
            pt_gguf_open(&file, copy, view.size, NULL);
            for (int64_t i = 0; file && i < pt_gguf_n(file); i++) {
                const pt_gguf_tensor *t = pt_gguf_at(file, i);
                CHECK(t->data >= copy && t->bytes >= 0 && t->bytes <= view.size - (t->data - copy));
            }
            pt_gguf_close(file);
        }
    }
    free(copy);
    pt_file_view_close(&view);
}

/* ---- many ---- */

enum { MANY = 100000 };

TEST(many_keys_and_tensors)
{
    pt_strbuf b = {0};
    char name[32];
    put_begin(&b, 3, MANY, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "k%d", (int)(i * 70001LL % MANY));
        put_key(&b, name, PT_GGUF_U8);
        pt_strbuf_putc(&b, (char)i);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "t%d", (int)(i * 70001LL % MANY));
        put_tensor(&b, (test_tensor){name, 1, 0, {8}, 32 * (uint64_t)i});
    }
    put_data(&b, 32, 32 * (int64_t)MANY);
    pt_gguf *file;
    pt_error err = {0};
    clock_t begin = clock();
    CHECK_OK(pt_gguf_open(&file, (uint8_t *)b.data, (int64_t)b.len, &err), err);
    CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 2); /* n^2 would take minutes */
    for (int i = 0; i < MANY; i += 7) {
        snprintf(name, sizeof name, "t%d", (int)(i * 70001LL % MANY));
        CHECK(pt_gguf_find(file, name) == pt_gguf_at(file, i));
        name[0] = 'k';
        CHECK(pt_gguf_value_find(file, name) == pt_gguf_value_at(file, i));
    }
    CHECK(!pt_gguf_find(file, "t100000") && !pt_gguf_find(file, "k1") && !pt_gguf_find(file, ""));
    pt_gguf_close(file);
    pt_strbuf_deinit(&b);
}

TEST(no_memory_is_reported)
{
    pt_file_view view;
    pt_error err = {0};
    CHECK_OK(pt_file_view_open(&view, "tests/golden/gguf/types.gguf", &err), err);
    int64_t nth = 1;
    for (pt_status s = PT_NO_MEMORY; s != PT_OK; nth++) {
        pt_gguf *file;
        pt_alloc_fail_after(nth);
        s = pt_gguf_open(&file, view.data, view.size, NULL);
        pt_alloc_fail_after(0);
        CHECK(s == PT_OK ? file != NULL : s == PT_NO_MEMORY && !file);
        pt_gguf_close(file);
    }
    CHECK(nth > 3);
    pt_file_view_close(&view);
}

PT_TEST_MAIN
