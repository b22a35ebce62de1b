/* Binary floats to decimal text.
 *
 * Fixed numbers of digits: the exact decimal expansion (it is finite), then one rounding of digits.
 * Shortest: short decimals are guessed and proved by reading them back; the rest is Steele and
 * White's free-format algorithm in big integers ("How to Print Floating-Point Numbers Accurately",
 * 1990; with the end conditions of Burger and Dybvig, 1996).
 * SPDX-License-Identifier: MIT */
#include "base/decimal.h"

#include "base/bigint.h"
#include "base/decimal_internal.h"
#include "base/maths.h"
#include "base/mem.h"

#define MAX_DIGITS 800 /* a double has at most 767 significant digits */

/* digits[0].digits[1…] * 10^exponent; no leading zero unless the value is zero. */
typedef struct digits {
    int n, exponent;
    char text[MAX_DIGITS];
} digits;

/* |value| = m 2^e for finite bits of the format. */
static void split(uint64_t bits, const pt_binary_format *format, uint64_t *m, int *e)
{
    uint64_t hidden = (uint64_t)1 << (format->precision - 1);
    uint64_t field = (bits & (format->infinity | (hidden - 1))) / hidden;
    *m = bits & (hidden - 1);
    if (field) *m |= hidden;
    else field = 1;
    *e = (int)field - 1 + format->min_exponent;
}

static void store_digits(pt_big *big, digits *out)
{
    char buffer[MAX_DIGITS];
    int start = MAX_DIGITS;
    while (big->n) {
        uint32_t chunk = pt_big_divide_small(big, 1000000000);
        for (int i = 0; i < 9; i++, chunk /= 10) buffer[--start] = (char)('0' + chunk % 10);
    }
    while (start < MAX_DIGITS - 1 && buffer[start] == '0') start++;
    out->n = MAX_DIGITS - start;
    memcpy(out->text, buffer + start, (size_t)out->n);
}

static void expand(double value, digits *out)
{
    uint64_t m;
    int e;
    pt_big big;
    split(pt_double_bits(value), &pt_binary64, &m, &e);
    if (m == 0) {
        out->n = 1;
        out->exponent = 0;
        out->text[0] = '0';
        return;
    }
    int zeros = __builtin_ctzll(m); /* 0 to 63, since m is not 0 */
    /* cppcheck-suppress [shiftNegative, signConversionCond] */
    pt_big_set(&big, m >> zeros);
    e += zeros;
    if (e >= 0) pt_big_shift_left(&big, e);
    else pt_big_multiply_pow5(&big, -e);
    store_digits(&big, out);
    out->exponent = out->n - 1 + (e < 0 ? e : 0);
}

/* Keeps the first `keep` digits, ties to even. May end with no digit (n = 0: the result is zero)
 * and may raise the exponent by one. */
static void round_digits(digits *d, int keep)
{
    if (keep >= d->n) return;
    if (keep < 0) {
        d->n = 0;
        return;
    }
    bool up = d->text[keep] > '5';
    if (d->text[keep] == '5') {
        /* An exact expansion has no trailing zeros after a point, but integers may. */
        bool more = false;
        for (int i = keep + 1; i < d->n && !more; i++) more = d->text[i] != '0';
        up = more || (keep > 0 && (d->text[keep - 1] - '0') % 2 == 1);
    }
    d->n = keep;
    if (!up) return;
    int i = keep - 1;
    for (; i >= 0 && d->text[i] == '9'; i--) d->text[i] = '0';
    if (i >= 0) {
        d->text[i]++;
        return;
    }
    /* All nines, or nothing kept: a one at the next higher place. */
    d->text[0] = '1';
    for (i = 1; i < keep; i++) d->text[i] = '0';
    if (keep == 0) d->n = 1;
    d->exponent++;
}

int pt_double_digits(double value, int n_digits, char *out)
{
    digits d = {.n = 0};
    expand(value, &d);
    round_digits(&d, n_digits);
    memcpy(out, d.text, (size_t)d.n);
    if (n_digits > d.n) memset(out + d.n, '0', (size_t)(n_digits - d.n));
    return d.exponent;
}

int pt_double_fixed(double value, int n_decimals, char *out)
{
    digits d = {.n = 0};
    expand(value, &d);
    round_digits(&d, d.exponent + 1 + n_decimals);
    if (d.n == 0) d.exponent = 0;
    int integer = d.exponent >= 0 ? d.exponent + 1 : 1;
    int total = integer + n_decimals;
    int zeros =
        d.exponent >= 0 ? 0 : -d.exponent; /* before the first digit, the integer's included */
    if (zeros > total) zeros = total;
    int shown = d.n < total - zeros ? d.n : total - zeros;
    memset(out, '0', (size_t)total);
    memcpy(out + zeros, d.text, (size_t)shown);
    return integer;
}

/* Decimal digits of v, without trailing zeros; v is not zero. */
static void digits_of_integer(uint64_t v, int exponent_of_last, digits *out)
{
    char buffer[20];
    int start = 20;
    for (; v; v /= 10) buffer[--start] = (char)('0' + v % 10);
    out->exponent = exponent_of_last + 19 - start;
    int end = 20;
    while (end > start + 1 && buffer[end - 1] == '0') end--;
    out->n = end - start;
    memcpy(out->text, buffer + start, (size_t)out->n);
}

/* floor(log10(m 2^e)), or one less. */
static int estimate_log10(uint64_t m, int e)
{
    int log2 = e + 63 - __builtin_clzll(m);
    double estimate = log2 * 0.30102999566398120 - 1e-9;
    int whole = (int)estimate;
    return whole > estimate ? whole - 1 : whole;
}

/* Is value (positive; of the format) a decimal of at most n digits? Two such decimals are never
 * nearer than a unit in the last place if 10^n < 2^(precision - 1), so what reads back as the value
 * is the only one, and without its trailing zeros the shortest. */
static bool short_decimal(double value, uint64_t bits, const pt_binary_format *format, digits *out)
{
    static const double pow10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int n = format->precision == 53 ? 15 : 6;
    uint64_t m, back;
    int e;
    split(bits, format, &m, &e);
    int places = n - 1 - estimate_log10(m, e);
    for (int attempt = 0; attempt < 2; attempt++, places--) {
        if (places < -22 || places > 22) return false;
        double scaled = places >= 0 ? value * pow10[places] : value / pow10[-places];
        scaled = pt_round_even(scaled);
        if (scaled > pow10[n]) continue; /* the estimate was one too small */
        uint64_t w = (uint64_t)scaled;
        if (!pt_decimal_bits_fast(w, -places, format, &back) || back != bits) return false;
        digits_of_integer(w, -places, out);
        return true;
    }
    return false;
}

/* The free-format state: value = r / s in units of the next digit; low and high are the distances
 * to the halfway points below and above in the same units. */
typedef struct free_format {
    pt_big r, s, low, high;
    bool inclusive; /* the halfway points themselves read back as the value (even mantissa) */
} free_format;

static bool below_low(const free_format *f)
{
    int order = pt_big_compare(&f->r, &f->low);
    return order < 0 || (order == 0 && f->inclusive);
}
static bool above_high(const free_format *f)
{
    int order = pt_big_compare_sum(&f->r, &f->high, &f->s);
    return order > 0 || (order == 0 && f->inclusive);
}
static void times_ten(free_format *f)
{
    pt_big_multiply_add(&f->r, 10, 0);
    pt_big_multiply_add(&f->low, 10, 0);
    pt_big_multiply_add(&f->high, 10, 0);
}

/* Sets up m 2^e; returns the decimal exponent of the first digit. */
static int free_format_begin(free_format *f, uint64_t m, int e, const pt_binary_format *format)
{
    /* The gap below a power of two is half the gap above it. */
    bool narrow = m == (uint64_t)1 << (format->precision - 1) && e > format->min_exponent;
    int up = e > 0 ? e : 0, down = e < 0 ? -e : 0, extra = narrow ? 2 : 1;
    f->inclusive = m % 2 == 0;
    pt_big_set(&f->r, m);
    pt_big_set(&f->s, 1);
    pt_big_set(&f->low, 1);
    pt_big_set(&f->high, 1);
    int exponent = estimate_log10(m, e);
    if (exponent >= 0) {
        pt_big_multiply_pow10(&f->s, exponent);
    } else {
        pt_big_multiply_pow10(&f->r, -exponent);
        pt_big_multiply_pow10(&f->low, -exponent);
        pt_big_multiply_pow10(&f->high, -exponent);
    }
    /* The division below wants the divisor's top bit at the top of a limb. */
    int align = -(pt_big_bit_length(&f->s) + down + extra) & 31;
    pt_big_shift_left(&f->r, up + extra + align);
    pt_big_shift_left(&f->s, down + extra + align);
    pt_big_shift_left(&f->low, up + align);
    pt_big_shift_left(&f->high, up + align + extra - 1);
    /* The estimate may be one too small: then r / s is at least ten, or rounds up to it. */
    pt_big ten_s;
    pt_big_copy(&ten_s, &f->s);
    pt_big_multiply_add(&ten_s, 10, 0);
    int order = pt_big_compare_sum(&f->r, &f->high, &ten_s);
    if (order > 0 || (order == 0 && f->inclusive)) {
        pt_big_copy(&f->s, &ten_s);
        exponent++;
        align = -pt_big_bit_length(&f->s) & 31;
        pt_big_shift_left(&f->r, align);
        pt_big_shift_left(&f->s, align);
        pt_big_shift_left(&f->low, align);
        pt_big_shift_left(&f->high, align);
    }
    return exponent;
}

static void free_format_digits(uint64_t bits, const pt_binary_format *format, digits *out)
{
    free_format f;
    uint64_t m;
    int e;
    split(bits, format, &m, &e);
    out->exponent = free_format_begin(&f, m, e, format);
    out->n = 0;
    for (;;) {
        uint32_t digit = pt_big_divide(&f.r, &f.s);
        bool low = below_low(&f), high = above_high(&f);
        if (low && high) { /* the nearer, ties to even */
            int order = pt_big_compare_sum(&f.r, &f.r, &f.s);
            high = order > 0 || (order == 0 && digit % 2 == 1);
        }
        out->text[out->n++] = (char)('0' + digit + (high ? 1 : 0));
        if (low || high) return;
        times_ten(&f);
    }
}

static size_t write_scientific(const digits *d, char *out)
{
    size_t n = 0;
    out[n++] = d->text[0];
    if (d->n > 1) {
        out[n++] = '.';
        memcpy(out + n, d->text + 1, (size_t)d->n - 1);
        n += (size_t)d->n - 1;
    }
    int e = d->exponent < 0 ? -d->exponent : d->exponent;
    out[n++] = 'e';
    out[n++] = d->exponent < 0 ? '-' : '+';
    if (e >= 100) out[n++] = (char)('0' + e / 100);
    out[n++] = (char)('0' + e / 10 % 10);
    out[n++] = (char)('0' + e % 10);
    return n;
}

static size_t write_positional(const digits *d, char *out)
{
    size_t n = 0;
    int place = d->exponent; /* of the digit to come */
    if (place < 0) {
        out[n++] = '0';
        out[n++] = '.';
        for (int i = -1; i > place; i--) out[n++] = '0';
    }
    for (int i = 0; i < d->n || place >= 0; i++, place--) {
        if (place == -1 && i > 0) out[n++] = '.';
        out[n++] = i < d->n ? d->text[i] : '0';
    }
    return n;
}

/* As %.17g (%.9g for a float) chooses between the two styles. */
static size_t shortest(double value, uint64_t bits, const pt_binary_format *format, char *out)
{
    size_t n = 0;
    bool negative = pt_double_bits(value) >> 63;
    if (pt_is_nan(value)) {
        memcpy(out, "nan", 4);
        return 3;
    }
    if (negative) out[n++] = '-';
    if (value == 0) {
        out[n++] = '0';
    } else if (!pt_is_finite(value)) {
        memcpy(out + n, "inf", 3);
        n += 3;
    } else {
        digits d = {.n = 0};
        if (!short_decimal(pt_fabs(value), bits, format, &d)) free_format_digits(bits, format, &d);
        bool scientific = d.exponent < -4 || d.exponent >= (format->precision == 53 ? 17 : 9);
        n += scientific ? write_scientific(&d, out + n) : write_positional(&d, out + n);
    }
    out[n] = 0;
    return n;
}

size_t pt_double_to_shortest(double value, char out[PT_DECIMAL_MAX])
{
    return shortest(value, pt_double_bits(value) & INT64_MAX, &pt_binary64, out);
}

size_t pt_float_to_shortest(float value, char out[PT_DECIMAL_MAX])
{
    return shortest((double)value, pt_float_bits(value) & INT32_MAX, &pt_binary32, out);
}
