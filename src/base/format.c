/* Text formatting: a parser for printf conversions and a writer for each kind of argument.
 * SPDX-License-Identifier: MIT */
#include "base/format.h"

#include "base/decimal.h"
#include "base/maths.h"
#include "base/mem.h"

/* Doubles have no digits beyond these; more precision than that prints zeros. */
#define MAX_SIGNIFICANT 800
#define MAX_DECIMALS 1100

typedef struct writer {
    char *out;
    size_t cap; /* with the NUL */
    size_t len; /* of the whole text, also what did not fit */
} writer;

typedef struct conversion {
    bool left, zero, plus, space;
    int width, precision; /* precision -1: not given */
    char length;          /* 0, 'l', 'q' (ll), 'z', 't', 'j' */
    char kind;
} conversion;

static void put(writer *w, const char *text, size_t n)
{
    if (w->len + 1 < w->cap) {
        size_t room = w->cap - 1 - w->len;
        memcpy(w->out + w->len, text, n < room ? n : room);
    }
    w->len += n;
}

static void pad(writer *w, char c, int64_t n)
{
    if (n <= 0) return;
    if (w->len + 1 < w->cap) {
        size_t room = w->cap - 1 - w->len;
        memset(w->out + w->len, c, (size_t)n < room ? (size_t)n : room);
    }
    w->len += (size_t)n;
}

/* prefix is a sign or "0x" and stays left of padding zeros; `zeros` go between prefix and text. */
static void put_field(writer *w, const conversion *c, const char *prefix, const char *text,
                      int64_t zeros, int64_t n)
{
    int64_t prefix_n = (int64_t)strlen(prefix);
    int64_t blank = c->width - prefix_n - zeros - n;
    if (c->zero && !c->left && blank > 0) {
        zeros += blank;
        blank = 0;
    }
    if (!c->left) pad(w, ' ', blank);
    put(w, prefix, (size_t)prefix_n);
    pad(w, '0', zeros);
    put(w, text, (size_t)n);
    if (c->left) pad(w, ' ', blank);
}

static const char *sign_of(bool negative, const conversion *c)
{
    if (negative) return "-";
    if (c->plus) return "+";
    return c->space ? " " : "";
}

static void put_integer(writer *w, conversion *c, uint64_t v, const char *prefix)
{
    const char *set = c->kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned base = c->kind == 'x' || c->kind == 'X' || c->kind == 'p' ? 16 : 10;
    char buffer[24];
    int start = (int)sizeof buffer;
    for (; v; v /= base) buffer[--start] = set[v % base];
    int n = (int)sizeof buffer - start;
    int least = c->precision < 0 ? 1 : c->precision;
    if (c->precision >= 0) c->zero = false; /* a precision switches the flag 0 off */
    put_field(w, c, prefix, buffer + start, least > n ? least - n : 0, n);
}

static void put_string(writer *w, conversion *c, const char *text)
{
    if (!text) text = "(null)";
    int64_t n = 0;
    while ((c->precision < 0 || n < c->precision) && text[n]) n++;
    c->zero = false;
    put_field(w, c, "", text, 0, n);
}

/* Text of a float in three parts, so that a huge precision needs no buffer. */
typedef struct float_text {
    char head[320 + MAX_DECIMALS];
    int head_n;
    int64_t zeros; /* of more precision than there are digits */
    char tail[8];  /* the exponent */
    int tail_n;
} float_text;

static void fixed_text(double v, int precision, float_text *t)
{
    int shown = precision < MAX_DECIMALS ? precision : MAX_DECIMALS;
    int integer = pt_double_fixed(v, shown, t->head);
    t->head_n = integer + shown;
    t->zeros = precision - shown;
    t->tail_n = 0;
    if (precision == 0) return;
    memmove(t->head + integer + 1, t->head + integer, (size_t)shown);
    t->head[integer] = '.';
    t->head_n++;
}

static void put_exponent(float_text *t, int e)
{
    int n = 0, a = e < 0 ? -e : e;
    t->tail[n++] = 'e';
    t->tail[n++] = e < 0 ? '-' : '+';
    if (a >= 100) t->tail[n++] = (char)('0' + a / 100);
    t->tail[n++] = (char)('0' + a / 10 % 10);
    t->tail[n++] = (char)('0' + a % 10);
    t->tail_n = n;
}

static void scientific_text(double v, int precision, float_text *t)
{
    int shown = precision < MAX_SIGNIFICANT - 1 ? precision : MAX_SIGNIFICANT - 1;
    int e = pt_double_digits(v, shown + 1, t->head + 1);
    t->head[0] = t->head[1];
    t->head[1] = '.';
    t->head_n = precision == 0 ? 1 : shown + 2;
    t->zeros = precision - shown;
    put_exponent(t, e);
}

static void general_text(double v, int precision, float_text *t)
{
    if (precision == 0) precision = 1;
    /* The style depends on the exponent after rounding to `precision` digits. Zeros at the end are
     * not printed, so digits beyond the last that a double can have do not matter. */
    char digits[MAX_SIGNIFICANT], *out = t->head;
    int n = precision < MAX_SIGNIFICANT ? precision : MAX_SIGNIFICANT;
    int e = pt_double_digits(v, n, digits);
    while (n > 1 && digits[n - 1] == '0') n--;
    t->zeros = 0;
    t->tail_n = 0;
    bool scientific = e < -4 || e >= precision;
    int place = scientific ? 0 : e; /* of the first digit, relative to the point */
    if (place < 0) {
        memcpy(out, "0.000", 5);
        out += 1 - place;
    }
    for (int i = 0; i < n || place >= 0; i++, place--) {
        if (place == -1 && i > 0) *out++ = '.';
        *out++ = i < n ? digits[i] : '0';
    }
    t->head_n = (int)(out - t->head);
    if (scientific) put_exponent(t, e);
}

static void put_float(writer *w, conversion *c, double v)
{
    const char *sign = sign_of(pt_double_bits(v) >> 63, c);
    if (!pt_is_finite(v)) {
        c->zero = false;
        if (pt_is_nan(v)) sign = sign_of(false, c); /* the sign of a NaN means nothing */
        put_field(w, c, sign, pt_is_nan(v) ? "nan" : "inf", 0, 3);
        return;
    }
    int precision = c->precision < 0 ? 6 : c->precision;
    float_text t;
    if (c->kind == 'f') fixed_text(v, precision, &t);
    else if (c->kind == 'e') scientific_text(v, precision, &t);
    else general_text(v, precision, &t);
    int64_t blank = c->width - (int64_t)strlen(sign) - t.head_n - t.zeros - t.tail_n;
    bool zero = c->zero && !c->left;
    if (!c->left && !zero) pad(w, ' ', blank);
    put(w, sign, strlen(sign));
    if (zero) pad(w, '0', blank);
    put(w, t.head, (size_t)t.head_n);
    pad(w, '0', t.zeros);
    put(w, t.tail, (size_t)t.tail_n);
    if (c->left) pad(w, ' ', blank);
}

/* va_list is an array on some targets, so it travels inside a struct. */
typedef struct arguments {
    va_list list;
} arguments;

static int64_t next_signed(arguments *args, char length)
{
    switch (length) {
    case 'l': return va_arg(args->list, long);
    case 'q': return va_arg(args->list, long long);
    case 'z':
    case 't': return va_arg(args->list, ptrdiff_t);
    case 'j': return va_arg(args->list, intmax_t);
    default: return va_arg(args->list, int);
    }
}

static uint64_t next_unsigned(arguments *args, char length)
{
    switch (length) {
    case 'l': return va_arg(args->list, unsigned long);
    case 'q': return va_arg(args->list, unsigned long long);
    case 'z':
    case 't': return va_arg(args->list, size_t);
    case 'j': return va_arg(args->list, uintmax_t);
    default: return va_arg(args->list, unsigned);
    }
}

/* Digits at *fmt, or the next argument for `*`; saturates far above any sensible width. */
static int parse_number(const char **fmt, arguments *args)
{
    if (**fmt == '*') {
        (*fmt)++;
        return va_arg(args->list, int);
    }
    int v = 0;
    for (; **fmt >= '0' && **fmt <= '9'; (*fmt)++) {
        if (v < 100000000) v = v * 10 + (**fmt - '0');
    }
    return v;
}

/* Reads what follows the %; returns where the text goes on. */
static const char *parse_conversion(const char *fmt, conversion *c, arguments *args)
{
    *c = (conversion){.precision = -1};
    for (;; fmt++) {
        if (*fmt == '-') c->left = true;
        else if (*fmt == '0') c->zero = true;
        else if (*fmt == '+') c->plus = true;
        else if (*fmt == ' ') c->space = true;
        else break;
    }
    c->width = parse_number(&fmt, args);
    if (c->width < 0) {
        c->left = true;
        c->width = c->width == INT32_MIN ? INT32_MAX : -c->width;
    }
    if (*fmt == '.') {
        fmt++;
        c->precision = parse_number(&fmt, args);
        if (c->precision < 0) c->precision = -1;
    }
    for (; *fmt == 'l' || *fmt == 'z' || *fmt == 't' || *fmt == 'j'; fmt++)
        c->length = c->length == 'l' && *fmt == 'l' ? 'q' : *fmt;
    c->kind = *fmt;
    return *fmt ? fmt + 1 : fmt;
}

static void convert(writer *w, conversion *c, arguments *args)
{
    switch (c->kind) {
    case 'd':
    case 'i': {
        int64_t v = next_signed(args, c->length);
        put_integer(w, c, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, sign_of(v < 0, c));
        break;
    }
    case 'u':
    case 'x':
    case 'X': put_integer(w, c, next_unsigned(args, c->length), ""); break;
    case 'p': put_integer(w, c, (uintptr_t)va_arg(args->list, void *), "0x"); break;
    case 'c': {
        char byte = (char)va_arg(args->list, int);
        c->zero = false;
        put_field(w, c, "", &byte, 0, 1);
        break;
    }
    case 's': put_string(w, c, va_arg(args->list, const char *)); break;
    case 'f':
    case 'e':
    case 'g': put_float(w, c, va_arg(args->list, double)); break;
    case '%': put(w, "%", 1); break;
    default: /* not a conversion of ours: shown, so that it is noticed */
        put(w, "%", 1);
        put(w, &c->kind, c->kind ? 1 : 0);
    }
}

size_t pt_vformat(char *out, size_t cap, const char *fmt, va_list args)
{
    writer w = {out, cap, 0};
    arguments rest;
    va_copy(rest.list, args);
    while (*fmt) {
        size_t plain = 0;
        while (fmt[plain] && fmt[plain] != '%') plain++;
        put(&w, fmt, plain);
        fmt += plain;
        if (!*fmt) break;
        conversion c;
        fmt = parse_conversion(fmt + 1, &c, &rest);
        convert(&w, &c, &rest);
    }
    va_end(rest.list);
    if (cap) out[w.len < cap ? w.len : cap - 1] = 0;
    return w.len;
}

size_t pt_format(char *out, size_t cap, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    size_t n = pt_vformat(out, cap, fmt, args);
    va_end(args);
    return n;
}
