/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/rng.h"
#include "base/test.h"

static pt_strbuf buf;

static pt_json_writer start(int indent)
{
    pt_strbuf_deinit(&buf);
    return pt_json_writer_begin(&buf, indent);
}

static void write_sample(int indent)
{
    pt_json_writer w = start(indent);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "name", "gpt");
    pt_json_i64(&w, "layers", 12);
    pt_json_begin_array(&w, "losses");
    pt_json_double(&w, NULL, 4.25);
    pt_json_null(&w, NULL);
    pt_json_begin_object(&w, NULL);
    pt_json_end_object(&w);
    pt_json_begin_array(&w, NULL);
    pt_json_end_array(&w);
    pt_json_end_array(&w);
    pt_json_begin_object(&w, "more");
    pt_json_bool(&w, "tied", true);
    pt_json_bool(&w, "bias", false);
    pt_json_end_object(&w);
    pt_json_end_object(&w);
    CHECK_INT(w.depth, 0);
}

TEST(one_line)
{
    write_sample(0);
    CHECK_STR(buf.data, "{\"name\":\"gpt\",\"layers\":12,\"losses\":[4.25,null,{},[]],"
                        "\"more\":{\"tied\":true,\"bias\":false}}");
}

TEST(indented)
{
    write_sample(2);
    CHECK_STR(buf.data, "{\n"
                        "  \"name\": \"gpt\",\n"
                        "  \"layers\": 12,\n"
                        "  \"losses\": [\n"
                        "    4.25,\n"
                        "    null,\n"
                        "    {},\n"
                        "    []\n"
                        "  ],\n"
                        "  \"more\": {\n"
                        "    \"tied\": true,\n"
                        "    \"bias\": false\n"
                        "  }\n"
                        "}");
    pt_json_writer w = start(11); /* deep indents are longer than the writer's row of spaces */
    for (int i = 0; i < 3; i++) pt_json_begin_array(&w, NULL);
    pt_json_i64(&w, NULL, 1);
    for (int i = 0; i < 3; i++) pt_json_end_array(&w);
    CHECK(strstr(buf.data, "\n                                 1\n") != NULL);
}

TEST(top_level_scalars)
{
    pt_json_writer w = start(4);
    pt_json_i64(&w, NULL, INT64_MIN);
    CHECK_STR(buf.data, "-9223372036854775808");
    w = start(0);
    pt_json_i64(&w, NULL, INT64_MAX);
    CHECK_STR(buf.data, "9223372036854775807");
    w = start(0);
    pt_json_string(&w, NULL, NULL);
    CHECK_STR(buf.data, "null");
    w = start(0);
    pt_json_string(&w, NULL, "");
    CHECK_STR(buf.data, "\"\"");
    w = start(0);
    pt_json_value(&w, NULL, NULL);
    CHECK_STR(buf.data, "null");
}

static void check_string(const char *bytes, size_t n, const char *want)
{
    pt_json_writer w = start(0);
    pt_json_string_n(&w, NULL, bytes, n);
    CHECK_STR(buf.data, want);
}

TEST(escapes)
{
    static const char *const shorts[128] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\b'] = "\\b", ['\f'] = "\\f",
        ['\n'] = "\\n", ['\r'] = "\\r",  ['\t'] = "\\t"};
    for (int c = 0; c < 128; c++) {
        char byte = (char)c, want[10];
        if (shorts[c]) snprintf(want, sizeof want, "\"%s\"", shorts[c]);
        else if (c >= 0x20) snprintf(want, sizeof want, "\"%c\"", c);
        else snprintf(want, sizeof want, "\"\\u%04x\"", (unsigned)c);
        check_string(&byte, 1, want);
    }
}

TEST(utf8_is_kept_and_anything_else_replaced)
{
    static const char euro[] = "\xe2\x82\xac \xf0\x9f\x98\x80 \xc3\xa9";
    check_string(euro, sizeof euro - 1, "\"\xe2\x82\xac \xf0\x9f\x98\x80 \xc3\xa9\"");
#define R "\xef\xbf\xbd"
    static const struct {
        const char *bytes, *want;
    } cases[] = {
        {"\x80", "\"" R "\""},
        {"a\xff\x62", "\"a" R "b\""},
        {"\xc3", "\"" R "\""},
        {"\xe2\x82", "\"" R "\""},
        {"\xe2\x82(", "\"" R "(\""},
        {"\xf0\x9f\x98\"", "\"" R "\\\"\""},
        {"\xc0\x80", "\"" R R "\""},
        {"\xed\xa0\x80", "\"" R R R "\""},
        {"\xf4\x90\x80\x80", "\"" R R R R "\""},
        {"\xf0\x80\x80\x41", "\"" R R R "A\""},
        /* the example of Unicode 15, section 3.9, table 3-8 */
        {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", "\"" R R R R R R R R "A\""},
        {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "\"" R R R R "A\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_string(cases[i].bytes, strlen(cases[i].bytes), cases[i].want);
    check_string("a\0b", 3, "\"a\\u0000b\"");
    pt_json_writer w = start(0);
    pt_json_begin_object(&w, NULL);
    pt_json_null(&w, "k\xff\n");
    pt_json_end_object(&w);
    CHECK_STR(buf.data, "{\"k" R "\\n\":null}");
}

TEST(doubles)
{
    static const struct {
        double value;
        const char *want;
    } cases[] = {{0.1, "0.1"},
                 {3, "3"},
                 {1e30, "1e+30"},
                 {-0.0, "-0"},
                 {2.5e-7, "2.5e-07"},
                 {0x1p-1074, "5e-324"},
                 {__builtin_inf(), "null"},
                 {-__builtin_inf(), "null"},
                 {__builtin_nan(""), "null"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pt_json_writer w = start(0);
        pt_json_double(&w, NULL, cases[i].value);
        CHECK_STR(buf.data, cases[i].want);
        w = start(0);
        pt_json_digits(&w, NULL, cases[i].value, 17);
        CHECK(strtod(buf.data, NULL) == cases[i].value || strcmp(buf.data, "null") == 0);
    }
    pt_json_writer w = start(0);
    pt_json_begin_array(&w, NULL);
    pt_json_digits(&w, NULL, 3.14159265, 4);
    pt_json_digits(&w, NULL, 1234567, 3);
    pt_json_digits(&w, NULL, 0.000012345, 2);
    pt_json_digits(&w, NULL, 2, 0);
    pt_json_digits(&w, NULL, 2, 99);
    pt_json_digits(&w, NULL, __builtin_nan(""), 3);
    pt_json_end_array(&w);
    CHECK_STR(buf.data, "[3.142,1.23e+06,1.2e-05,2,2,null]");
}

TEST(too_deep_fails_the_buffer)
{
    for (int levels = 64; levels <= 66; levels++) {
        pt_json_writer w = start(0);
        for (int i = 0; i < levels; i++) pt_json_begin_array(&w, NULL);
        for (int i = 0; i < levels; i++) pt_json_end_array(&w);
        CHECK(buf.failed == (levels > 64));
        CHECK_INT(w.depth, 0);
    }
    pt_arena arena = {0}; /* a value that can be read but not be put one level deeper */
    char text[129];
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    const pt_json *v;
    CHECK_INT(pt_json_parse(text, 128, &arena, &v, NULL), PT_OK);
    pt_json_writer w = start(0);
    pt_json_value(&w, NULL, v);
    CHECK(!buf.failed && buf.len == 128 && memcmp(buf.data, text, 128) == 0);
    w = start(0);
    pt_json_begin_object(&w, NULL);
    pt_json_value(&w, "deep", v);
    pt_json_bool(&w, "after", true);
    pt_json_end_object(&w);
    CHECK(buf.failed);
    pt_arena_deinit(&arena);
}

TEST(no_memory_fails_the_buffer)
{
    write_sample(2);
    int64_t before = pt_alloc_count();
    write_sample(2);
    int64_t n = pt_alloc_count() - before;
    CHECK(n > 1);
    for (int64_t nth = 1; nth <= n; nth++) {
        pt_alloc_fail_after(nth);
        write_sample(2);
        CHECK(buf.failed);
    }
    pt_alloc_fail_after(0);
    pt_strbuf_deinit(&buf);
}

/* ---- round trips ---- */

static void check_equal(const pt_json *a, const pt_json *b)
{
    CHECK(a->type == b->type && a->boolean == b->boolean && a->n_children == b->n_children);
    CHECK(a->text_len == b->text_len && a->key_len == b->key_len);
    CHECK(!a->text == !b->text && (!a->text || memcmp(a->text, b->text, a->text_len) == 0));
    CHECK(!a->key == !b->key && (!a->key || memcmp(a->key, b->key, a->key_len) == 0));
    CHECK(pt_double_bits(a->number) == pt_double_bits(b->number));
    const pt_json *x = a->child, *y = b->child;
    for (; x && y; x = x->next, y = y->next) check_equal(x, y);
    CHECK(!x && !y);
}

static uint32_t draw(uint64_t seed, uint64_t *counter)
{
    uint32_t w[4];
    pt_rng_u32x4(seed, PT_STREAM_TEST, 0, (*counter)++, w);
    return w[0];
}

static void write_random(pt_json_writer *w, const char *key, uint64_t seed, uint64_t *counter)
{
    char bytes[12];
    uint32_t kind = draw(seed, counter) % (w->depth < 8 ? 8 : 6), n = draw(seed, counter) % 12;
    switch (kind) {
    case 0: pt_json_null(w, key); return;
    case 1: pt_json_bool(w, key, n & 1); return;
    case 2: pt_json_i64(w, key, (int64_t)((uint64_t)draw(seed, counter) << 32 | n)); return;
    case 3: pt_json_double(w, key, draw(seed, counter) * 0x1p-40 - 1e-3); return;
    case 4:
    case 5:
        for (uint32_t i = 0; i < n; i++) bytes[i] = (char)draw(seed, counter);
        pt_json_string_n(w, key, bytes, n);
        return;
    case 6:
        pt_json_begin_array(w, key);
        for (uint32_t i = 0; i < n; i++) write_random(w, NULL, seed, counter);
        pt_json_end_array(w);
        return;
    default:
        pt_json_begin_object(w, key);
        for (uint32_t i = 0; i < n; i++) {
            snprintf(bytes, sizeof bytes, "\n%u\"", i * 7);
            write_random(w, bytes, seed, counter);
        }
        pt_json_end_object(w);
    }
}

TEST(random_values_survive_a_round_trip)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        uint64_t counter = 0;
        pt_json_writer w = start((int)seed % 3);
        write_random(&w, NULL, seed, &counter);
        CHECK(!buf.failed && w.depth == 0 && pt_utf8_valid(buf.data, buf.len));
        pt_arena arena = {0};
        pt_error err = {0};
        const pt_json *first, *second;
        CHECK_OK(pt_json_parse(buf.data, buf.len, &arena, &first, &err), err);
        pt_strbuf again = {0};
        w = pt_json_writer_begin(&again, (int)seed % 3);
        pt_json_value(&w, NULL, first);
        CHECK_STR(again.data, buf.data);
        CHECK_OK(pt_json_parse(again.data, again.len, &arena, &second, &err), err);
        check_equal(first, second);
        pt_strbuf_deinit(&again);
        pt_arena_deinit(&arena);
    }
}

TEST(a_value_keeps_keys_with_nul_and_takes_a_new_key)
{
    static const char text[] = "{\"a\\u0000b\":[1.50,\"\\u0000\"],\"c\":1e5}";
    pt_arena arena = {0};
    const pt_json *v;
    CHECK_INT(pt_json_parse(text, sizeof text - 1, &arena, &v, NULL), PT_OK);
    pt_json_writer w = start(0);
    pt_json_begin_object(&w, NULL);
    pt_json_value(&w, "copy", v);
    pt_json_value(&w, "renamed", v->child);
    pt_json_end_object(&w);
    CHECK_STR(buf.data, "{\"copy\":{\"a\\u0000b\":[1.50,\"\\u0000\"],\"c\":1e5},"
                        "\"renamed\":[1.50,\"\\u0000\"]}");
    pt_arena_deinit(&arena);
}

/* ---- our own bugs trap ---- */

static void key_in_array(pt_json_writer *w)
{
    pt_json_begin_array(w, NULL);
    pt_json_null(w, "k");
}
static void no_key_in_object(pt_json_writer *w)
{
    pt_json_begin_object(w, NULL);
    pt_json_null(w, NULL);
}
static void key_at_top(pt_json_writer *w) { pt_json_null(w, "k"); }
static void two_values(pt_json_writer *w)
{
    pt_json_null(w, NULL);
    pt_json_null(w, NULL);
}
static void wrong_end(pt_json_writer *w)
{
    pt_json_begin_array(w, NULL);
    pt_json_end_object(w);
}
static void end_too_many(pt_json_writer *w) { pt_json_end_array(w); }
static void proper(pt_json_writer *w) { pt_json_null(w, NULL); }

static bool dies(void (*fn)(pt_json_writer *w))
{
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        pt_json_writer w = start(0);
        pt_log_configure(PT_LOG_ERROR + 1, NULL, NULL);
        fn(&w);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(misuse_traps)
{
    CHECK(!dies(proper));
    CHECK(dies(key_in_array));
    CHECK(dies(no_key_in_object));
    CHECK(dies(key_at_top));
    CHECK(dies(two_values));
    CHECK(dies(wrong_end));
    CHECK(dies(end_too_many));
}

PT_TEST_MAIN
