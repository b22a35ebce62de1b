/* pt_format against snprintf over a matrix of conversions.
 * SPDX-License-Identifier: MIT */
#include "base/test.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#include "base/format.h"

/* The formats here are built at run time, on purpose. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

/* Formats with both and compares text, length, the NUL, and that nothing is written behind it. */
#define SAME_TEXT(cap, ...)                                                                       \
    do {                                                                                          \
        static char want_[4096], got_[4096];                                                      \
        memset(want_, '#', sizeof want_);                                                         \
        memset(got_, '#', sizeof got_);                                                           \
        volatile size_t cap_ = (cap); /* volatile: no warning that it truncates */                \
        int want_n_ = snprintf(want_, cap_, __VA_ARGS__);                                         \
        size_t got_n_ = pt_format(got_, cap_, __VA_ARGS__);                                       \
        if ((size_t)want_n_ != got_n_ || memcmp(want_, got_, sizeof want_) != 0)                  \
            printf("got \"%.200s\" (%zu), want \"%.200s\" (%d)\n", got_, got_n_, want_, want_n_); \
        CHECK((size_t)want_n_ == got_n_ && memcmp(want_, got_, sizeof want_) == 0);               \
    } while (0)

static const char *const flags[] = {"",   "-",  "0",  "+",  " ",   "-0",  "-+",  "- ",
                                    "0+", "0 ", "+ ", "0-", "+0-", " 0-", "+ 0", "-+ 0"};
static const char *const widths[] = {"", "1", "2", "5", "12", "40", "300"};
static const char *const precisions[] = {"", ".", ".0", ".1", ".2", ".5", ".17", ".30"};
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* Calls `body` with every combination in spec, as "%" flags width precision + ending. */
#define FOR_SPECS(ending, body)                                                                    \
    for (int f_ = 0; f_ < COUNT(flags); f_++)                                                      \
        for (int w_ = 0; w_ < COUNT(widths); w_++)                                                 \
            for (int p_ = 0; p_ < COUNT(precisions); p_++) {                                       \
                char spec[64];                                                                     \
                snprintf(spec, sizeof spec, "<%%%s%s%s%s>", flags[f_], widths[w_], precisions[p_], \
                         ending);                                                                  \
                body                                                                               \
            }

TEST(integers)
{
    static const int ints[] = {0, 1, -1, 9, 10, -10, 12345, INT_MAX, INT_MIN};
    static const char *const kinds[] = {"d", "i", "u", "x", "X"};
    for (int k = 0; k < COUNT(kinds); k++)
        for (int i = 0; i < COUNT(ints); i++)
            FOR_SPECS(kinds[k], SAME_TEXT(sizeof got_, spec, ints[i]);)
}

TEST(wide_integers)
{
    static const long long v[] = {0, 1, -1, 1234567890123, LLONG_MAX, LLONG_MIN, INT_MIN, UINT_MAX};
    static const char *const kinds[] = {"d", "u", "x", "X"};
    for (int k = 0; k < COUNT(kinds); k++) {
        char l[8], ll[8], z[8], t[8], j[8];
        snprintf(l, sizeof l, "l%s", kinds[k]);
        snprintf(ll, sizeof ll, "ll%s", kinds[k]);
        snprintf(z, sizeof z, "z%s", kinds[k]);
        snprintf(t, sizeof t, "t%s", kinds[k]);
        snprintf(j, sizeof j, "j%s", kinds[k]);
        for (int i = 0; i < COUNT(v); i++) {
            FOR_SPECS(l, SAME_TEXT(sizeof got_, spec, (long)v[i]);)
            FOR_SPECS(ll, SAME_TEXT(sizeof got_, spec, v[i]);)
            FOR_SPECS(z, SAME_TEXT(sizeof got_, spec, (size_t)v[i]);)
            FOR_SPECS(t, SAME_TEXT(sizeof got_, spec, (ptrdiff_t)v[i]);)
            FOR_SPECS(j, SAME_TEXT(sizeof got_, spec, (intmax_t)v[i]);)
        }
    }
}

TEST(floats)
{
    static const double v[] = {0,          -0.0,
                               1,          -1,
                               0.5,        1.5,
                               2.5,        0.1,
                               9.5,        9.995,
                               99.95,      999999.5,
                               1000000,    123456.789,
                               1e-4,       0.00012345,
                               9.9999e-5,  1e-5,
                               1e5,        1e15,
                               1e16,       1e17,
                               1e22,       1.0 / 3,
                               -2.0 / 3e9, 3.14159265358979,
                               DBL_MAX,    DBL_MIN,
                               5e-324,     -1e-300,
                               1e100,      PT_INF,
                               -PT_INF,    0x1p-1022};
    static const char *const kinds[] = {"f", "e", "g"};
    for (int k = 0; k < COUNT(kinds); k++)
        for (int i = 0; i < COUNT(v); i++) FOR_SPECS(kinds[k], SAME_TEXT(sizeof got_, spec, v[i]);)
}

TEST(nan_has_no_sign)
{
    char out[32];
    pt_format(out, sizeof out, "%f|%e|%g|%6.2f|%-5g|%05g", PT_NAN, -PT_NAN, PT_NAN, PT_NAN, PT_NAN,
              -PT_NAN);
    CHECK_STR(out, "nan|nan|nan|   nan|nan  |  nan");
}

TEST(random_floats)
{
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double x = pt_double_from_bits(state ^ state >> 29);
        int precision = (int)(state >> 40 & 31);
        if (pt_is_nan(x)) continue;
        if (i % 2) x = (double)(int64_t)(state >> 20) / 4096;
        SAME_TEXT(sizeof got_, "%.*f %.*e %.*g %g", precision, x, precision, x, precision, x, x);
    }
}

TEST(huge_precision)
{
    static const int precisions_[] = {800, 1074, 1100, 1101, 1500, 3000};
    static const double v[] = {0, 1, 1.0 / 3, 5e-324, DBL_MIN, DBL_MAX, 1e-5, 123.456};
    for (int p = 0; p < COUNT(precisions_); p++) {
        for (int i = 0; i < COUNT(v); i++) {
            SAME_TEXT(sizeof got_, "%.*f", precisions_[p], v[i]);
            SAME_TEXT(sizeof got_, "%.*e", precisions_[p], v[i]);
            SAME_TEXT(sizeof got_, "%.*g", precisions_[p], v[i]);
        }
    }
    SAME_TEXT(sizeof got_, "%3500.3000f|", 1.5);
    SAME_TEXT(sizeof got_, "%.3000d|", -7);
}

TEST(text_and_characters)
{
    static const char *const v[] = {"", "a", "hello", "a longer text than most widths", "\xc3\xa9"};
    for (int i = 0; i < COUNT(v); i++)
        FOR_SPECS("s", if (!strchr(flags[f_], '0') && !strpbrk(flags[f_], "+ "))
                           SAME_TEXT(sizeof got_, spec, v[i]);)
    SAME_TEXT(sizeof got_, "%c%c%5c|%-5c|%c", 'a', '%', 'b', 'c', 0);
    SAME_TEXT(sizeof got_, "100%% of %s%%", "it");
    char unterminated[3] = {'x', 'y', 'z'};
    SAME_TEXT(sizeof got_, "%.3s|%.*s", unterminated, 2, unterminated);
}

TEST(null_text)
{
    char out[40];
    const char *volatile null = NULL;
    CHECK_INT(pt_format(out, sizeof out, "%s|%8s|%-8s|%.3s", null, null, null, null), 28);
    CHECK_STR(out, "(null)|  (null)|(null)  |(nu");
}

TEST(pointers)
{
    char out[40];
    int x;
    SAME_TEXT(sizeof got_, "%p|%20p|%-20p|", (void *)&x, (void *)&x, (void *)&x);
    pt_format(out, sizeof out, "%p", (void *)0);
    CHECK_STR(out, "0x0");
}

TEST(stars)
{
    SAME_TEXT(sizeof got_, "%*d|%*d|%-*d|", 6, 42, -6, 42, 6, 42);
    SAME_TEXT(sizeof got_, "%.*d|%.*d|%*.*d|", 4, 42, -1, 42, 8, 4, 42);
    SAME_TEXT(sizeof got_, "%*.*f|%-*.*e|%*s|", 10, 2, 3.14159, 14, 3, 2.5, 7, "abc");
    SAME_TEXT(sizeof got_, "%.*f|%.*s|", -3, 1.5, -1, "all");
}

/* All capacities around the length, with every kind of field at the cut. */
TEST(truncation)
{
    for (size_t cap = 0; cap <= 60; cap++) {
        SAME_TEXT(cap, "plain text");
        SAME_TEXT(cap, "a %d b %s c %5.2f d %-8x| %08d %e", 123, "text", 2.5, 255u, -42, 1e10);
        SAME_TEXT(cap, "%30s|%-30s|", "r", "l");
        SAME_TEXT(cap, "%.40f", 1.0);
    }
    CHECK_INT(pt_format(NULL, 0, "%d %s", 12, "ab"), 5);
    char one = '#';
    CHECK_INT(pt_format(&one, 1, "abc"), 3);
    CHECK_INT(one, 0);
}

static size_t through_list(char *out, size_t cap, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    size_t first = pt_vformat(NULL, 0, fmt, args); /* must leave args usable, unlike libc's */
    CHECK_INT(pt_vformat(out, cap, fmt, args), first);
    va_end(args);
    return first;
}

TEST(argument_list_is_not_consumed)
{
    char out[64];
    CHECK_INT(through_list(out, sizeof out, "%d %s %g", 1, "two", 3.5), 9);
    CHECK_STR(out, "1 two 3.5");
}

TEST(unknown_conversions_show)
{
    char out[32];
    const char *volatile odd = "a %y b";
    const char *volatile cut = "50%";
    pt_format(out, sizeof out, odd, 0);
    CHECK_STR(out, "a %y b");
    pt_format(out, sizeof out, cut, 0);
    CHECK_STR(out, "50%");
}

PT_TEST_MAIN
