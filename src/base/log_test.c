/* SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "base/test.h"

static char last[2000];
static int lines, last_level;

static void keep(void *ctx, pt_log_level level, const char *line, size_t n)
{
    CHECK(ctx == &lines && n < sizeof last && line[n] == '\0');
    memcpy(last, line, n + 1);
    last_level = level;
    lines++;
}

TEST(levels)
{
    lines = 0;
    pt_log_configure(PT_LOG_WARN, keep, &lines);
    pt_log_line(PT_LOG_DEBUG, "no");
    pt_log_line(PT_LOG_INFO, "no");
    CHECK_INT(lines, 0);
    pt_log_line(PT_LOG_WARN, "%d of %s", 3, "four");
    CHECK_INT(lines, 1);
    CHECK_INT(last_level, PT_LOG_WARN);
    CHECK_STR(last, "3 of four");
    pt_log_configure(PT_LOG_DEBUG, keep, &lines);
    pt_log_line(PT_LOG_DEBUG, "%s", "");
    CHECK_INT(lines, 2);
    CHECK_STR(last, "");
    pt_log_configure(PT_LOG_WARN, NULL, NULL);
}

TEST(a_record_is_one_line)
{
    pt_log_configure(PT_LOG_INFO, keep, &lines);
    pt_log_line(PT_LOG_INFO, "a\nb\x1b[31m\tc\r\n");
    CHECK_STR(last, "a·b·[31m·c··");
    pt_log_configure(PT_LOG_WARN, NULL, NULL);
}

TEST(long_lines_are_cut_between_characters)
{
    pt_log_configure(PT_LOG_INFO, keep, &lines);
    char text[3000];
    for (int shift = 0; shift < 3; shift++) {
        memset(text, 'x', (size_t)shift);
        for (int i = 0; i < 900; i++) memcpy(text + shift + 3 * i, "\xe2\x82\xac", 4);
        pt_log_line(PT_LOG_INFO, "%s", text);
        size_t n = strlen(last);
        CHECK(n <= 1023 && n > 1023 - 3);
        CHECK_STR(last + n - 3, "...");
        CHECK(memcmp(last + n - 6, "\xe2\x82\xac", 3) == 0);
    }
    memset(text, 'y', 1023);
    text[1023] = 0;
    pt_log_line(PT_LOG_INFO, "%s", text);
    CHECK_STR(last, text); /* this one just fits */
    pt_log_configure(PT_LOG_WARN, NULL, NULL);
}

PT_TEST_MAIN
