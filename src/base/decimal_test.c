/* Decimal conversions against glibc's strtod, strtof and printf, which are correctly rounded.
 * SPDX-License-Identifier: MIT */
#include "base/test.h"

#include <errno.h>
#include <float.h>
#include <math.h>

#include "base/decimal.h"

static uint64_t rng_state = 20240607;
static uint64_t next_u64(void)
{
    uint64_t z = (rng_state += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
static int below(int n) { return (int)(next_u64() % (uint64_t)n); }

/* Reads text both ways; prints and fails on the first difference. */
static bool reads_like_libc(const char *text)
{
    char *end;
    double want = strtod(text, &end), got = 12345;
    float want32 = strtof(text, NULL), got32 = 12345;
    size_t n = strlen(text), used = pt_decimal_to_double(text, n, &got);
    size_t used32 = pt_decimal_to_float(text, n, &got32);
    bool same = used == (size_t)(end - text) && used32 == used &&
                (used == 0 || (pt_double_bits(got) == pt_double_bits(want) &&
                               pt_float_bits(got32) == pt_float_bits(want32)));
    if (!same)
        printf("\"%.100s\": read %zu bytes as %a and %a, want %td, %a, %a\n", text, used, got,
               (double)got32, end - text, want, (double)want32);
    return same;
}

/* From the papers and bug reports of this field: near halfway points, range ends, PHP and Java
 * hangs, subnormal ties. */
static const char *const hard_cases[] = {
    "2.2250738585072011e-308",
    "2.2250738585072012e-308",
    "2.2250738585072014e-308",
    "4.9406564584124654e-324",
    "2.4703282292062327208e-324",
    "2.4703282292062328e-324",
    "2.4703282292062327e-324",
    "7.4109846876186981626e-324",
    "1e-323",
    "1e-324",
    "5e-324",
    "3e-324",
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "1.7976931348623159e308",
    "179769313486231580793e289",
    "1.797693134862315807e308",
    "1e308",
    "1e309",
    "9e308",
    "1e400",
    "9007199254740993",
    "9007199254740992.5",
    "9007199254740993.00000000000000000000000000001",
    "9007199254740995",
    "9007199254740994.99999999999999999",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "1152921504606846977",
    "1e23",
    "8.5e22",
    "8.41e21",
    "9.5e-322",
    "6.8e-322",
    "1.0020284025808569e-134",
    "1.8014398509481984e16",
    "6929495644600919.5",
    "3.7455744005952583e15",
    "2.47032822920623272e-324",
    "6.631236846766476e-316",
    "3.237883913302901289588352412501532174863037669423108e-319",
    "5.8339553793802237e-316",
    "0.500000000000000166533453693773481063544750213623046875",
    "3.518437208883201171875e13",
    "62.5364939768271845828",
    "8.10109172351e-10",
    "1.50000000000000011102230246251565",
    "9007199254740991.4999999999999999999999999999999995",
    "30078505129381147446200",
    "1777820000000000000001",
    "0.500000000000000166547006220929549868",
    "2.98023223876953125e-8",
    "1.00000005960464477539062499",
    "1.00000005960464477539062500",
    "1.00000005960464477539062501",
    "16777217",
    "16777219",
    "3.4028235e38",
    "3.40282356e38",
    "3.4028236e38",
    "3.40282357e38",
    "1.4e-45",
    "7e-46",
    "7.006492321624085e-46",
    "7.0064923216240854e-46",
    "7.1e-46",
    "1.1754942e-38",
    "1.17549435e-38",
    "0.1",
    "-0",
    "0e999",
    "-0.0e-999",
    "00000000000000000000000000000000000001",
    "0.00000000000000000000000000000000001",
    "1e27",
    "1e28",
    "1e-27",
    "1e-28",
    "9999999999999999999e27",
    "9999999999999999999e-27",
    "9999999999999999999e28",
    "1e99999999999999999999999",
    "1e-99999999999999999999999",
    "0e99999999999999999999999",
    "123456789012345678901234567890",
    "1e310",
    "0.0001e312"};

TEST(hard_cases)
{
    for (size_t i = 0; i < sizeof hard_cases / sizeof *hard_cases; i++)
        CHECK(reads_like_libc(hard_cases[i]));
}

TEST(grammar)
{
    static const struct {
        const char *text;
        size_t used;
        double value;
    } cases[] = {{"", 0, 0},         {"+", 0, 0},       {"-", 0, 0},        {".", 0, 0},
                 {"-.", 0, 0},       {"e5", 0, 0},      {".e5", 0, 0},      {" 1", 0, 0},
                 {"abc", 0, 0},      {"inf", 0, 0},     {"nan", 0, 0},      {"--1", 0, 0},
                 {"+-1", 0, 0},      {"1", 1, 1},       {"1.", 2, 1},       {".5", 2, 0.5},
                 {"-.5e1", 5, -5},   {"1e", 1, 1},      {"1e+", 1, 1},      {"1e-x", 1, 1},
                 {"1e5", 3, 1e5},    {"1E+5", 4, 1e5},  {"1e-05", 5, 1e-5}, {"1.5.5", 3, 1.5},
                 {"1..5", 2, 1},     {"0x10", 1, 0},    {"1,5", 1, 1},      {"+7 ", 2, 7},
                 {"1e5.5", 3, 1e5},  {"1e5e5", 3, 1e5}, {"12abc", 2, 12},   {"0001.50", 7, 1.5},
                 {"1e0005", 6, 1e5}, {"1e+-5", 1, 1},   {"1_000", 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double got = 77;
        float got32 = 77;
        size_t n = strlen(cases[i].text);
        CHECK_INT(pt_decimal_to_double(cases[i].text, n, &got), cases[i].used);
        CHECK_INT(pt_decimal_to_float(cases[i].text, n, &got32), cases[i].used);
        CHECK(got == (cases[i].used ? cases[i].value : 77)); /* untouched when there is no number */
        CHECK(got32 == (float)(cases[i].used ? cases[i].value : 77));
    }
}

/* The text need not be terminated: with n bytes, byte n is never looked at. */
TEST(length_is_respected)
{
    double v = 0;
    CHECK_INT(pt_decimal_to_double("1234", 2, &v), 2);
    CHECK(v == 12);
    CHECK_INT(pt_decimal_to_double("1e5", 2, &v), 1);
    CHECK(v == 1);
    CHECK_INT(pt_decimal_to_double("1.5", 2, &v), 2);
    CHECK(v == 1);
    CHECK_INT(pt_decimal_to_double("-5", 1, &v), 0);
    CHECK_INT(pt_decimal_to_double(NULL, 0, &v), 0);
    char *exact = malloc(5); /* the address sanitizer watches its end */
    CHECK(exact);
    memcpy(exact, "1.5e2", 5);
    CHECK_INT(pt_decimal_to_double(exact, 5, &v), 5);
    CHECK_INT(pt_decimal_to_double(exact, 4, &v), 3);
    free(exact);
    CHECK(v == 1.5);
}

TEST(random_decimals)
{
    char text[1100];
    for (int i = 0; i < 200000; i++) {
        int n = 0, digits = i % 50 ? 1 + below(i % 3 ? 19 : 30) : 1 + below(1000);
        int point = below(3) ? below(digits + 1) : -1;
        if (below(2)) text[n++] = '-';
        for (int k = 0; k < digits; k++) {
            if (k == point) text[n++] = '.';
            text[n++] = (char)('0' + (below(8) ? below(10) : 9 * below(2)));
        }
        int range = below(3) == 0 ? 700 : below(2) ? 60 : 12;
        if (below(4)) snprintf(text + n, sizeof text - (size_t)n, "e%d", below(range) - range / 2);
        else text[n] = 0;
        CHECK(reads_like_libc(text));
    }
}

/* The exact midpoint above a random double (as many as 768 digits), and that with its last digit
 * changed, digits added, or zeros and a one far behind. */
TEST(halfway_cases)
{
    char text[2500];
    for (int i = 0; i < 6000; i++) {
        bool narrow = i % 2; /* midpoints of floats instead */
        long double middle;
        if (narrow) {
            float x = pt_float_from_bits((uint32_t)(next_u64() >> 33));
            if (i % 10 == 1) x = pt_float_from_bits((uint32_t)next_u64() & 0x7fffff);
            if (!isfinite(x)) continue;
            middle = ((long double)x + (long double)nextafterf(x, (float)PT_INF)) / 2;
        } else {
            double x = pt_double_from_bits(next_u64() >> 1);
            if (i % 10 == 0) x = pt_double_from_bits(next_u64() & 0xfffffffffffff);
            if (!isfinite(x)) continue;
            middle = ((long double)x + (long double)nextafter(x, PT_INF)) / 2;
        }
        if (LDBL_MANT_DIG < 64 || !isfinite(middle)) continue;
        int n = snprintf(text, sizeof text, "%.1100Le", middle);
        CHECK(n > 0 && reads_like_libc(text));
        char *e = strchr(text, 'e'), tail[16];
        CHECK(e && strlen(e) < sizeof tail);
        memcpy(tail, e, strlen(e) + 1);
        char *last = e - 1;
        while (*last == '0') last--;
        if (*last == '.') continue;
        memcpy(last + 1, tail, strlen(tail) + 1); /* without the trailing zeros */
        CHECK(reads_like_libc(text));
        char *far = last + 1 + below(1000);
        for (char *p = last + 1; p < far; p++) *p = '0';
        snprintf(far, 20, "1%s", tail);
        CHECK(reads_like_libc(text));
        memcpy(last + 1, tail, strlen(tail) + 1);
        --*last;
        CHECK(reads_like_libc(text));
    }
}

/* A number of many thousand digits, and one whose exponent undoes its zeros. */
TEST(very_long_input)
{
    enum { N = 20000 };
    char *text = malloc(N + 20);
    CHECK(text);
    memset(text, '7', N);
    snprintf(text + N, 20, "e-%d", N);
    bool ok = reads_like_libc(text);
    memset(text + 2, '0', N - 2);
    memcpy(text, "0.", 2);
    snprintf(text + N, 20, "12345e%d", N);
    ok &= reads_like_libc(text);
    memset(text + 1, '0', N - 1);
    text[0] = '3';
    snprintf(text + N, 20, "e-%d", N + 300);
    ok &= reads_like_libc(text);
    free(text);
    CHECK(ok);
}

/* Decimal significand and exponent of a printed number, trailing zeros dropped. */
static int count_digits(const char *text)
{
    int n = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0')) continue;
        n++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return n - zeros;
}

static bool reads_back(const char *text, double value, bool narrow)
{
    return narrow ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* The text reads back; no decimal with one digit less does; and none as short is nearer. */
static bool is_shortest(double value, bool narrow, const char *text, size_t length)
{
    char other[64];
    int digits = count_digits(text);
    if (strlen(text) != length || length >= PT_DECIMAL_MAX || !reads_back(text, value, narrow))
        return false;
    snprintf(other, sizeof other, "%.*e", digits - 1, value);
    if (reads_back(other, value, narrow) && strtold(other, NULL) != strtold(text, NULL))
        return false;
    if (digits == 1) return true;
    /* The neighbours below and above with one digit less. */
    snprintf(other, sizeof other, "%.*e", digits - 2, value);
    if (reads_back(other, value, narrow)) return false;
    char *e = strchr(other, 'e');
    int exponent = (int)strtol(e + 1, NULL, 10);
    *e = 0;
    char packed[32], moved[64];
    int n = 0;
    for (char *p = other; *p; p++)
        if (*p >= '0' && *p <= '9') packed[n++] = *p;
    packed[n] = 0;
    long long w = strtoll(packed, NULL, 10);
    for (int d = -1; d <= 1; d += 2) {
        snprintf(moved, sizeof moved, "%llde%d", w + d, exponent - n + 1);
        if (reads_back(moved, fabs(value), narrow)) return false;
    }
    return true;
}

static bool shown_if_not_shortest(double value, bool narrow, const char *text, size_t length)
{
    if (is_shortest(value, narrow, text, length)) return true;
    printf("%a printed as \"%s\" (%.17g)\n", value, text, value);
    return false;
}

static void check_shortest64(double x)
{
    char text[PT_DECIMAL_MAX];
    if (!isfinite(x) || x == 0) return;
    size_t n = pt_double_to_shortest(x, text);
    CHECK(shown_if_not_shortest(x, false, text, n));
}
static void check_shortest32(float x)
{
    char text[PT_DECIMAL_MAX];
    if (!isfinite(x) || x == 0) return;
    size_t n = pt_float_to_shortest(x, text);
    CHECK(shown_if_not_shortest((double)x, true, text, n));
}

TEST(shortest_of_random_bits)
{
    for (int i = 0; i < 100000; i++) {
        check_shortest64(pt_double_from_bits(next_u64()));
        check_shortest32(pt_float_from_bits((uint32_t)next_u64()));
        if (i % 4) continue;
        check_shortest64(pt_double_from_bits(next_u64() & 0x800fffffffffffff)); /* subnormal */
        check_shortest32(pt_float_from_bits((uint32_t)next_u64() & 0x807fffff));
        check_shortest64((double)(int64_t)next_u64());
        check_shortest64((double)(next_u64() >> below(64)) / (double)(1 + below(1000)));
        check_shortest32((float)(next_u64() >> below(64)) / (float)(1 + below(1000)));
    }
}

TEST(shortest_at_powers_and_nice_values)
{
    for (int e = -1074; e < 1024; e++) {
        double x = ldexp(1, e);
        check_shortest64(x);
        check_shortest64(nextafter(x, 0));
        check_shortest64(nextafter(x, PT_INF));
    }
    for (int e = -149; e < 128; e++) {
        float x = ldexpf(1, e);
        check_shortest32(x);
        check_shortest32(nextafterf(x, 0));
        check_shortest32(nextafterf(x, (float)PT_INF));
    }
    for (int i = 0; i < 50000; i++) {
        char text[64], back[PT_DECIMAL_MAX];
        int digits = 1 + below(15);
        snprintf(text, sizeof text, "%.*e", digits - 1,
                 ldexp((double)(next_u64() >> 1), below(200) - 140));
        double x = strtod(text, NULL);
        check_shortest64(x);
        pt_double_to_shortest(x, back);
        CHECK(count_digits(back) <= digits); /* at most 15 digits always come back */
        snprintf(text, sizeof text, "%.*e", below(6), x);
        check_shortest32(strtof(text, NULL));
    }
}

TEST(shortest_style)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1e30, "1e+30"},
                 {-0.0, "-0"},
                 {0, "0"},
                 {3, "3"},
                 {-2.5, "-2.5"},
                 {100, "100"},
                 {1e16, "10000000000000000"},
                 {1e17, "1e+17"},
                 {1.5e300, "1.5e+300"},
                 {0.0001, "0.0001"},
                 {0.00001, "1e-05"},
                 {1.25e-7, "1.25e-07"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {123456.789, "123456.789"},
                 {5.684341886080802e-14, "5.684341886080802e-14"},
                 {9007199254740993.0, "9007199254740992"},
                 {1e23, "1e+23"},
                 {9.999999999999997e22, "9.999999999999997e+22"},
                 {0.30000000000000004, "0.30000000000000004"},
                 {-1e-5, "-1e-05"},
                 {1.0 / 3, "0.3333333333333333"},
                 {PT_INF, "inf"},
                 {-PT_INF, "-inf"},
                 {PT_NAN, "nan"},
                 {-PT_NAN, "nan"}};
    char text[PT_DECIMAL_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(pt_double_to_shortest(cases[i].value, text), strlen(cases[i].text));
        CHECK_STR(text, cases[i].text);
    }
    static const struct {
        float value;
        const char *text;
    } cases32[] = {{0.1f, "0.1"},
                   {16777216, "16777216"},
                   {123456784, "123456780"},
                   {1e9f, "1e+09"},
                   {1e-45f, "1e-45"},
                   {3.4028235e38f, "3.4028235e+38"},
                   {-0.0f, "-0"},
                   {1.1754944e-38f, "1.1754944e-38"},
                   {0.33333334f, "0.33333334"},
                   {2.5f, "2.5"},
                   {33554432, "33554432"},
                   {(float)PT_INF, "inf"},
                   {8.5899346e9f, "8.589935e+09"}};
    for (size_t i = 0; i < sizeof cases32 / sizeof *cases32; i++) {
        CHECK_INT(pt_float_to_shortest(cases32[i].value, text), strlen(cases32[i].text));
        CHECK_STR(text, cases32[i].text);
    }
}

/* "d.ddde±x" of libc against our digits and exponent. */
static bool digits_like_libc(double value, int n)
{
    char want[900], got[900];
    snprintf(want, sizeof want, "%.*e", n - 1, fabs(value));
    memset(got, '#', sizeof got);
    int exponent = pt_double_digits(value, n, got);
    bool same =
        got[n] == '#' && got[0] == want[0] && exponent == strtol(strchr(want, 'e') + 1, NULL, 10);
    if (n > 1) same = same && memcmp(got + 1, want + 2, (size_t)n - 1) == 0;
    if (!same) printf("%a with %d digits: %.*s e %d, want %s\n", value, n, n, got, exponent, want);
    return same;
}

static bool fixed_like_libc(double value, int decimals)
{
    static char want[1500], got[1500];
    snprintf(want, sizeof want, "%.*f", decimals, fabs(value));
    memset(got, '#', sizeof got);
    int integer = pt_double_fixed(value, decimals, got);
    bool same = got[integer + decimals] == '#' && memcmp(got, want, (size_t)integer) == 0 &&
                strlen(want) == (size_t)(integer + (decimals ? decimals + 1 : 0));
    if (decimals) same = same && memcmp(got + integer, want + integer + 1, (size_t)decimals) == 0;
    if (!same) printf("%a with %d decimals, want %s\n", value, decimals, want);
    return same;
}

static double random_value(int i)
{
    switch (i % 5) {
    case 0: return pt_double_from_bits(next_u64());
    case 1: return (double)(next_u64() >> below(64)) / 1024; /* many exact ties */
    case 2: return (double)below(100000) / 1000;
    case 3: return pt_double_from_bits(next_u64() & 0x800fffffffffffff);
    default: return (double)(int64_t)next_u64() * 0x1p-63;
    }
}

TEST(digits)
{
    for (int i = 0; i < 100000; i++) {
        double x = random_value(i);
        if (!isfinite(x)) continue;
        CHECK(digits_like_libc(x, 1 + below(i % 20 ? 25 : 800)));
    }
    static const double special[] = {0,    -0.0, DBL_MAX, DBL_MIN, 5e-324, 9.5,
                                     99.5, 0.5,  2.5,     1e22,    9.995};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        for (int n = 1; n <= 800; n++) CHECK(digits_like_libc(special[i], n));
}

TEST(fixed)
{
    for (int i = 0; i < 100000; i++) {
        double x = random_value(i);
        if (!isfinite(x)) continue;
        CHECK(fixed_like_libc(x, below(i % 20 ? 25 : 1101)));
    }
    static const double special[] = {0,    -0.0,     DBL_MAX, DBL_MIN, 5e-324, 0.5,
                                     1.5,  2.5,      0.05,    0.95,    0.995,  9.5,
                                     99.5, 999999.5, 0.25,    0.75,    1e22,   0.4999999999999999};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        for (int n = 0; n <= 1100; n += n < 30 ? 1 : 97) CHECK(fixed_like_libc(special[i], n));
}

PT_TEST_MAIN
