/* Text made harmless: every kind of character, and where a line is cut. SPDX-License-Identifier: MIT */
#include "base/safe_text.h"
#include "base/test.h"

#define BAD "\xef\xbf\xbd"

static void check_lines(const char *text, size_t n, const char *want)
{
    pt_strbuf out = {0};
    pt_put_safely(&out, text, n, "> ");
    CHECK_STR(out.data ? out.data : "", want);
    pt_strbuf_deinit(&out);
}
#define CHECK_LINES(text, want) check_lines(text, sizeof text - 1, want)

TEST(lines_of_any_bytes)
{
    CHECK_LINES("", "");
    CHECK_LINES("plain, é, 鯨, \xf0\x9f\x90\x8b", "plain, é, 鯨, \xf0\x9f\x90\x8b");
    CHECK_LINES("a\nb\n", "a\n> b\n> ");
    CHECK_LINES("a\033[2J\tb\r\x7f\0", "a·[2J·b···");
    CHECK_LINES("a\xc2\x9b"
                "2J\xc2\x80\xc2\xa0.",
                "a·2J·\xc2\xa0.");
    CHECK_LINES("a\xff\xe9t\xc0\xaf.", "a" BAD BAD "t" BAD BAD ".");
    CHECK_LINES("a\xe2\x80\xae"
                "b\xe2\x81\xa6\xd8\x9c\xe2\x80\x8e.",
                "a" BAD "b" BAD BAD BAD ".");
    CHECK_LINES("a\xe9\xaf", "a"); /* the begin of a character, which is still to come */
}

TEST(a_line_is_one_line_and_fits)
{
    char out[12];
    CHECK_INT(pt_safe_line(out, sizeof out, "a\nb\033", 4), 6);
    CHECK_STR(out, "a·b·");
    CHECK_INT(pt_safe_line(out, sizeof out, "01234567890", 11), 11);
    CHECK_STR(out, "01234567890");
    CHECK_INT(pt_safe_line(out, sizeof out, "012345678901", 12), 11);
    CHECK_STR(out, "01234567...");
    CHECK_INT(pt_safe_line(out, sizeof out, "0123456é9012", 13), 10);
    CHECK_STR(out, "0123456...");
    CHECK_INT(pt_safe_line(out, sizeof out, "\n\n\n\n\n\n\n", 7), 11);
    CHECK_STR(out, "····...");
    CHECK_INT(pt_safe_line(out, 4, "wide", 4), 3);
    CHECK_STR(out, "...");
    CHECK_INT(pt_safe_line(out, sizeof out, "", 0), 0);
    CHECK_STR(out, "");
}

TEST(a_word_in_a_message_is_short)
{
    char long_word[200];
    memset(long_word, 'x', sizeof long_word);
    CHECK_INT(strlen(pt_show(long_word, sizeof long_word).text), 63);
    CHECK_STR(pt_show("gpt\n2", 5).text, "gpt·2");
}

PT_TEST_MAIN
