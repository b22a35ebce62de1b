/* Separators: what is understood, what is printed, what is refused. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "train/separator.h"

static pt_error err;

/* Parses, prints, and parses the print: the same bytes. */
static void check(const char *text, const char *bytes, int n)
{
    pt_separator s, again;
    pt_strbuf printed = {0};
    CHECK_OK(pt_separator_parse(&s, text, &err), err);
    CHECK_INT(s.n, n);
    CHECK(memcmp(s.bytes, bytes, (size_t)n) == 0);
    pt_separator_print(&s, &printed);
    if (n) CHECK_OK(pt_separator_parse(&again, printed.data, &err), err);
    if (n) CHECK(again.n == n && memcmp(again.bytes, bytes, (size_t)n) == 0);
    for (size_t i = 0; i < printed.len; i++) CHECK(printed.data[i] > ' ' && printed.data[i] < 127);
    pt_strbuf_deinit(&printed);
}

TEST(escapes)
{
    check("", "", 0);
    check("\\n\\n", "\n\n", 2);
    check("\\0", "\0", 1);
    check("\\xff\\xFE\\x00a", "\xff\xfe\0a", 4);
    check("\\\\ \\t\\r", "\\ \t\r", 4);
    check("\xc3\xa9", "\xc3\xa9", 2);
}

TEST(refusals)
{
    static const char *const bad[] = {"\\", "\\q", "\\x", "\\x1", "\\xg1", "\\x1g", "abcde", "\\N"};
    pt_separator s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&err, 0, sizeof err);
        CHECK_INT(pt_separator_parse(&s, bad[i], &err), PT_BAD_INPUT);
        CHECK(strstr(err.message, bad[i]));
    }
}

PT_TEST_MAIN
