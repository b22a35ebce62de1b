/* A line that fits. SPDX-License-Identifier: MIT */
#include "base/fit_line.h"

#include "base/test.h"

static const pt_line_part parts[] = {
    {"7/10", 0, false}, {"loss 1.5", 1, false}, {"↓", 3, true}, {"ETA 2m", 2, false},
    {"–3m", 4, true},   {"1 MB", 5, false},     {"", 9, false}};

static const char *fitted(int columns)
{
    static char out[64];
    int n = pt_fit_line(out, sizeof out, parts, 7, columns);
    CHECK_INT(n, pt_text_columns(out));
    CHECK(n <= columns);
    return out;
}

TEST(the_least_important_goes_first)
{
    CHECK_STR(fitted(80), "7/10  loss 1.5↓  ETA 2m–3m  1 MB");
    CHECK_STR(fitted(32), "7/10  loss 1.5↓  ETA 2m–3m  1 MB"); /* exactly */
    CHECK_STR(fitted(31), "7/10  loss 1.5↓  ETA 2m–3m");
    CHECK_STR(fitted(25), "7/10  loss 1.5↓  ETA 2m");
    CHECK_STR(fitted(22), "7/10  loss 1.5  ETA 2m");
    CHECK_STR(fitted(21), "7/10  loss 1.5");
    CHECK_STR(fitted(13), "7/10");
    CHECK_STR(fitted(2), "7/");
    CHECK_STR(fitted(0), "");
}

TEST(characters_are_not_cut)
{
    char out[64];
    static const pt_line_part wide = {"äöü€", 0, false};
    CHECK_INT(pt_fit_line(out, sizeof out, &wide, 1, 3), 3);
    CHECK_STR(out, "äöü");
}

TEST(a_small_buffer_is_not_overrun)
{
    char out[8];
    memset(out, 'x', sizeof out);
    pt_fit_line(out, 6, parts, 7, 80);
    CHECK(out[5] == '\0' && out[6] == 'x');
}

PT_TEST_MAIN
