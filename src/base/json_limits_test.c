/* The JSON reader under large and hostile inputs, and without memory.
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/test_json.h"

TEST(depth)
{
    static char text[200001];
    static const char *const openers[] = {"[", "{\"a\":", "[{\"a\":"};
    static const char *const closers[] = {"]", "}", "}]"};
    for (int kind = 0; kind < 3; kind++) {
        int per_level = kind == 2 ? 2 : 1, limit = PT_JSON_MAX_DEPTH / per_level;
        for (int levels = limit - 1; levels <= limit + 1; levels++) {
            pt_error err;
            size_t n = 0, opener = strlen(openers[kind]);
            for (int i = 0; i < levels; i++, n += opener) memcpy(text + n, openers[kind], opener);
            text[n++] = '1';
            for (int i = 0; i < levels; i++, n += strlen(closers[kind]))
                memcpy(text + n, closers[kind], strlen(closers[kind]));
            CHECK((parse(text, n, &err) != NULL) == (levels <= limit));
            if (levels <= limit) continue;
            CHECK_INT(err.offset, (size_t)limit * opener);
            CHECK(strstr(err.message, "nested more than 64 levels deep") != NULL);
        }
    }
    memset(text, '[', sizeof text);
    pt_error err;
    CHECK(parse(text, sizeof text, &err) == NULL);
    CHECK_INT(err.offset, 64);
}

static char *object_with_keys(int n, int repeated_at, size_t *len, size_t *repeated_offset)
{
    char *text = malloc((size_t)n * 24 + 2);
    size_t at = 0;
    CHECK(text != NULL);
    for (int i = 0; i < n; i++) {
        text[at++] = i ? ',' : '{';
        if (i == repeated_at) *repeated_offset = at;
        at += (size_t)snprintf(text + at, 24, "\"key%d\":%d", i == repeated_at ? i / 2 : i, i);
    }
    text[at++] = '}';
    *len = at;
    return text;
}

TEST(many_keys)
{
    static const int counts[] = {2, 15, 16, 17, 18, 31, 100, 1000, 100000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int n = counts[c];
        size_t len, offset = 0;
        pt_error err;
        char *text = object_with_keys(n, -1, &len, &offset);
        double start = pt_clock_seconds();
        const pt_json *v = parse(text, len, &err);
        CHECK(pt_clock_seconds() - start <
              5); /* a tenth of a second; all pairs would take minutes */
        CHECK(v != NULL && v->n_children == n);
        free(text);
        for (int at = 1; at < n; at = at * 2 + 1) {
            text = object_with_keys(n, at, &len, &offset);
            CHECK(parse(text, len, &err) == NULL);
            CHECK_INT(err.offset, offset);
            free(text);
        }
    }
}

TEST(the_first_of_several_repeated_keys_is_named)
{
    char text[2000];
    size_t at = 0;
    for (int i = 0; i < 50; i++)
        at += (size_t)snprintf(text + at, 32, "%c\"k%d\":0", i ? ',' : '{', i);
    size_t want = at + 1;
    at += (size_t)snprintf(text + at, 64, ",\"k49\":0,\"k3\":0,\"k49\":0,\"k20\":0}");
    pt_error err;
    CHECK(parse(text, at, &err) == NULL);
    CHECK_INT(err.offset, want);
    CHECK(strstr(err.message, "\"k49\"") != NULL);
}

TEST(a_long_key_is_cut_in_the_message)
{
    char text[400] = "{\"", *p = text + 2;
    for (int i = 0; i < 40; i++, p += 3) memcpy(p, "\xe2\x82\xac", 3);
    size_t n = (size_t)(p - text) - 2;
    memcpy(p, "\":1,\"", 5);
    memcpy(p + 5, text + 2, n);
    memcpy(p + 5 + n, "\":2}", 5);
    pt_error err;
    CHECK(parse(text, strlen(text), &err) == NULL);
    CHECK(pt_utf8_valid(err.message, strlen(err.message)));
    CHECK(strstr(err.message, "is in this object already") != NULL);
}

TEST(memory_is_bounded)
{
    static const char *const units[] = {
        "0,", "[],", "{},", "\"\",", "\"abcdefgh\",", "true,", "[0,0],", "{\"a\":0,\"b\":1},"};
    static const double times[] = {41, 28, 28, 28, 8.3, 17, 41, 18.2};
    static char text[300000];
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        size_t unit = strlen(units[u]), n = 0;
        text[n++] = '[';
        while (n + unit < sizeof text) memcpy(text + n, units[u], unit), n += unit;
        text[n - 1] = ']';
        pt_error err;
        CHECK(parse(text, n, &err) != NULL);
        CHECK((double)arena.used_bytes <= times[u] * (double)n + 200);
    }
}

TEST(every_prefix_is_refused_and_every_change_survived)
{
    static const char text[] =
        " {\"a\\u00e9\":[1,-2.5e-3,true,false,null,\"\xe2\x82\xac\\n\\ud83d\\ude00\"],"
        "\"b\":{\"c\":{}, \"d\":[[],[\"x\"]]}}";
    pt_error err;
    size_t n = sizeof text - 1;
    CHECK(parse(text, n, &err) != NULL);
    for (size_t i = 0; i < n; i++) {
        CHECK(parse(text, i, &err) == NULL);
        CHECK(err.offset >= 0 && err.offset <= (int64_t)i);
    }
    char changed[sizeof text];
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < 256; c++) {
            memcpy(changed, text, sizeof text);
            changed[i] = (char)c;
            if (!parse(changed, n, &err)) CHECK(err.offset >= 0 && err.offset <= (int64_t)n);
        }
    }
}

TEST(no_memory)
{
    char text[20000] = "[0";
    size_t n = 2;
    while (n < 12000) memcpy(text + n, ",{\"a\":[1]}", 10), n += 10;
    n += (size_t)snprintf(text + n, 8, ",{");
    for (int i = 0; i < 40; i++) n += (size_t)snprintf(text + n, 24, "%s\"%d\":0", i ? "," : "", i);
    n += (size_t)snprintf(text + n, 8, "}]");
    int failures = 0;
    for (int64_t nth = 1;; nth++) {
        pt_error err = {0};
        const pt_json *v;
        pt_arena_deinit(&arena);
        pt_alloc_fail_after(nth);
        pt_status s = pt_json_parse(text, n, &arena, &v, &err);
        pt_alloc_fail_after(0);
        if (s == PT_OK) break;
        CHECK_INT(s, PT_NO_MEMORY);
        CHECK(v == NULL && err.status == PT_NO_MEMORY);
        failures++;
    }
    CHECK(failures >= 3);
}

TEST(an_error_is_optional)
{
    const pt_json *v = NULL;
    CHECK_INT(pt_json_parse("[1,", 3, &arena, &v, NULL), PT_BAD_INPUT);
    CHECK(v == NULL);
    CHECK_INT(pt_json_parse(NULL, 0, &arena, &v, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_json_parse("{\"a\":1,\"a\":1}", 13, &arena, &v, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_json_parse("[1]", 3, &arena, &v, NULL), PT_OK);
    CHECK(v != NULL);
    pt_arena_deinit(&arena);
}

PT_TEST_MAIN
