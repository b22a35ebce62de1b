/* Decimal text to the nearest binary float.
 *
 * A number is w 10^e. With at most 19 digits and |e| <= 27, w 5^|e| or w / 5^|e| is formed exactly
 * in 128 bits (5^27 < 2^63) and rounded once. Everything else goes through big integers: the first
 * 64 bits of the exact quotient and whether anything is left. There is no approximate path.
 * SPDX-License-Identifier: MIT */
#include "base/decimal.h"

#include "base/decimal_internal.h"
#include "base/bigint.h"
#include "base/maths.h"
#include "base/wide.h"

#define FAST_POWER 27
/* A halfway point between two doubles has at most 767 digits, so what follows the first 800 can
 * only break a tie: all it takes is to know that it is not zero. */
#define KEPT_DIGITS 800

const pt_binary_format pt_binary64 = {53, -1074, 0x7ff0000000000000};
const pt_binary_format pt_binary32 = {24, -149, 0x7f800000};

/* q 2^e (and a bit more, if sticky) rounded to the format, as bits. q is not zero. */
static uint64_t round_to_bits(uint64_t q, int e, bool sticky, const pt_binary_format *format)
{
    int shift = __builtin_clzll(q);
    q <<= shift;
    e -= shift;
    int last = e + 64 - format->precision; /* the exponent of the result's last bit */
    if (last < format->min_exponent) last = format->min_exponent;
    int drop = last - e;
    if (drop > 64) return 0;
    uint64_t half = (uint64_t)1 << (drop - 1), kept = drop < 64 ? q >> drop : 0;
    uint64_t rest = q & (half | (half - 1));
    if (rest > half || (rest == half && (sticky || (kept & 1)))) kept++;
    /* The hidden bit adds one to the exponent field; so does a carry out of the mantissa. */
    uint64_t bits = ((uint64_t)(last - format->min_exponent) << (format->precision - 1)) + kept;
    return bits < format->infinity ? bits : format->infinity;
}

bool pt_decimal_bits_fast(uint64_t w, int64_t e, const pt_binary_format *format, uint64_t *bits)
{
    /* clang-format off */
    static const uint64_t pow5[FAST_POWER + 1] = {
        1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625,
        1220703125, 6103515625, 30517578125, 152587890625, 762939453125, 3814697265625,
        19073486328125, 95367431640625, 476837158203125, 2384185791015625, 11920928955078125,
        59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125
    };
    /* clang-format on */
    if (e < -FAST_POWER || e > FAST_POWER) return false;
    if (w == 0) {
        *bits = 0;
        return true;
    }
    if (e >= 0) {
        pt_wide product = pt_wide_multiply(w, pow5[e]);
        if (product.hi == 0) {
            *bits = round_to_bits(product.lo, (int)e, false, format);
            return true;
        }
        int shift = __builtin_clzll(product.hi);
        uint64_t top = product.hi << shift;
        if (shift) top |= product.lo >> (64 - shift);
        *bits = round_to_bits(top, (int)e + 64 - shift, product.lo << shift != 0, format);
        return true;
    }
    /* w 2^s / (5^k 2^t) with both normalised; the numerator's half is below the divisor. */
    int s = __builtin_clzll(w), t = __builtin_clzll(pow5[-e]);
    uint64_t n = w << s, rest;
    uint64_t q = pt_wide_divide((pt_wide){n >> 1, n << 63}, pow5[-e] << t, &rest);
    *bits = round_to_bits(q, (int)e - 63 - s + t, rest != 0, format);
    return true;
}

/* A parsed number: |value| = w 10^exponent unless there are more digits than w holds. */
typedef struct number {
    bool negative;
    uint64_t w;          /* the first 19 significant digits */
    int64_t exponent;    /* of w's last digit */
    int64_t significant; /* digits from the first non-zero one on */
    const char *digits;  /* that first digit; a point may be among those that follow */
    size_t used;
} number;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The exponent part at text[i…]; returns the bytes used, 0 when there is none. */
static size_t parse_exponent(const char *text, size_t n, int64_t *exponent)
{
    size_t i = 0;
    if (i >= n || (text[i] != 'e' && text[i] != 'E')) return 0;
    i++;
    bool negative = i < n && text[i] == '-';
    if (i < n && (text[i] == '-' || text[i] == '+')) i++;
    if (i >= n || !is_digit(text[i])) return 0;
    int64_t e = 0;
    for (; i < n && is_digit(text[i]); i++) {
        if (e < INT64_MAX / 100) e = e * 10 + (text[i] - '0');
    }
    *exponent = negative ? -e : e;
    return i;
}

static bool parse(const char *text, size_t n, number *out)
{
    size_t i = 0;
    bool point = false, any = false;
    *out = (number){.negative = n > 0 && text[0] == '-'};
    if (n > 0 && (text[0] == '-' || text[0] == '+')) i++;
    for (; i < n; i++) {
        char c = text[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(c)) break;
        any = true;
        if (c != '0' && !out->digits) out->digits = text + i;
        if (out->digits) out->significant++;
        bool held = out->significant <= 19;
        if (held) out->w = out->w * 10 + (uint64_t)(c - '0');
        out->exponent += (held ? 0 : 1) - (point ? 1 : 0);
    }
    if (!any) return false;
    int64_t e = 0;
    out->used = i + parse_exponent(text + i, n - i, &e);
    out->exponent += e;
    return true;
}

/* The digits of x that count, as an integer; lowers *exponent (of the 19th digit, or the last) to
 * its last digit. */
static void collect_digits(const number *x, pt_big *out, int64_t *exponent)
{
    int64_t kept = x->significant < KEPT_DIGITS ? x->significant : KEPT_DIGITS;
    int64_t held = x->significant < 19 ? x->significant : 19;
    bool more = false;
    const char *p = x->digits;
    pt_big_set(out, 0);
    for (int64_t i = 0; i < x->significant && !more; p++) {
        if (*p == '.') continue;
        if (i < kept) pt_big_multiply_add(out, 10, (uint32_t)(*p - '0'));
        else more = *p != '0';
        i++;
    }
    if (more) pt_big_multiply_add(out, 10, 1);
    *exponent -= kept - held + (more ? 1 : 0);
}

/* n / d, both not zero, times 2^e, rounded to the format. Changes n and d. */
static uint64_t divide_to_bits(pt_big *n, pt_big *d, int e, const pt_binary_format *format)
{
    /* Bring the divisor's top bit to the top of a limb and the dividend to one bit less; then two
     * digits of the quotient are at least 2^62. */
    int align = -pt_big_bit_length(d) & 31;
    pt_big_shift_left(d, align);
    e += align;
    int shift = pt_big_bit_length(d) - pt_big_bit_length(n) - 1;
    if (shift < 0) {
        int grow = (-shift + 31) & ~31;
        pt_big_shift_left(d, grow);
        e += grow;
        shift += grow;
    }
    pt_big_shift_left(n, shift);
    e -= shift;
    uint64_t q = 0;
    for (int i = 0; i < 2; i++) {
        pt_big_shift_left(n, 32);
        q = q << 32 | pt_big_divide(n, d);
    }
    return round_to_bits(q, e - 64, n->n != 0, format);
}

static uint64_t number_to_bits(const number *x, const pt_binary_format *format)
{
    uint64_t bits;
    if (!x->digits) return 0;
    if (x->significant <= 19 && pt_decimal_bits_fast(x->w, x->exponent, format, &bits)) return bits;
    int64_t held = x->significant < 19 ? x->significant : 19;
    int64_t first = x->exponent + held - 1; /* the decimal exponent of the first digit */
    if (first > 309) return format->infinity;
    if (first < -325) return 0;
    pt_big n, d;
    int64_t exponent = x->exponent;
    collect_digits(x, &n, &exponent);
    int e = (int)exponent;
    if (e >= 0) {
        pt_big_multiply_pow5(&n, e);
        bool sticky;
        uint64_t top = pt_big_top(&n, &sticky);
        return round_to_bits(top, pt_big_bit_length(&n) - 64 + e, sticky, format);
    }
    pt_big_set(&d, 1);
    pt_big_multiply_pow5(&d, -e);
    return divide_to_bits(&n, &d, e, format);
}

size_t pt_decimal_to_double(const char *text, size_t n, double *out)
{
    number x;
    if (!parse(text, n, &x)) return 0;
    *out = pt_double_from_bits(number_to_bits(&x, &pt_binary64) | (uint64_t)x.negative << 63);
    return x.used;
}

size_t pt_decimal_to_float(const char *text, size_t n, float *out)
{
    number x;
    if (!parse(text, n, &x)) return 0;
    uint32_t bits = (uint32_t)number_to_bits(&x, &pt_binary32);
    *out = pt_float_from_bits(bits | (uint32_t)x.negative << 31);
    return x.used;
}
