/* Fuzzes the decimal reader against strtod and strtof, and the shortest printer against the reader.
 *
 *     clang-19 -std=c17 -g -O1 -Isrc -ffp-contract=off -fsanitize=fuzzer,address,undefined \
 *         fuzz/fuzz_decimal.c src/base/{decimal,decimal_print,bigint,maths}.c -o fuzz_decimal
 *     ./fuzz_decimal -max_len=1200 fuzz/corpus/decimal
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/maths.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t skip_digits(const char *text, size_t n, size_t i)
{
    while (i < n && text[i] >= '0' && text[i] <= '9') i++;
    return i;
}

/* Length of the longest prefix inside the grammar of base/decimal.h, written anew for the check. */
static size_t grammar_prefix(const char *text, size_t n)
{
    size_t i = n > 0 && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    size_t whole = skip_digits(text, n, i), mantissa = whole - i;
    i = whole;
    if (i < n && text[i] == '.') {
        size_t end = skip_digits(text, n, i + 1);
        mantissa += end - (i + 1);
        i = end;
    }
    if (mantissa == 0) return 0;
    if (i < n && (text[i] == 'e' || text[i] == 'E')) {
        size_t first = i + 1;
        if (first < n && (text[first] == '+' || text[first] == '-')) first++;
        size_t end = skip_digits(text, n, first);
        if (end > first) i = end;
    }
    return i;
}

static void require(bool ok, const char *what, const char *text)
{
    if (ok) return;
    fprintf(stderr, "%s: \"%s\"\n", what, text);
    abort();
}

static void check_shortest(double x, float x32, const char *text)
{
    char out[PT_DECIMAL_MAX];
    double back = 0;
    float back32 = 0;
    if (isfinite(x)) {
        size_t n = pt_double_to_shortest(x, out);
        require(n < sizeof out && pt_decimal_to_double(out, n, &back) == n, "shortest length",
                text);
        require(pt_double_bits(back) == pt_double_bits(x), "shortest", text);
    }
    if (isfinite(x32)) {
        size_t n = pt_float_to_shortest(x32, out);
        require(n < sizeof out && pt_decimal_to_float(out, n, &back32) == n, "shortest length",
                text);
        require(pt_float_bits(back32) == pt_float_bits(x32), "shortest of float", text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *input = (const char *)data; /* of exactly `size` bytes: a read beyond is caught */
    double got = 0;
    float got32 = 0;
    size_t prefix = grammar_prefix(input, size);
    size_t used = pt_decimal_to_double(input, size, &got);
    size_t used32 = pt_decimal_to_float(input, size, &got32);
    char *text = malloc(prefix + 1);
    if (!text) return 0;
    if (prefix) memcpy(text, input, prefix);
    text[prefix] = 0;
    require(used == prefix && used32 == prefix, "length", text);
    if (prefix) {
        require(pt_double_bits(got) == pt_double_bits(strtod(text, NULL)), "double", text);
        require(pt_float_bits(got32) == pt_float_bits(strtof(text, NULL)), "float", text);
        check_shortest(got, got32, text);
    }
    free(text);
    return 0;
}
