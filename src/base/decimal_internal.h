/* Shared by decimal.c (text to binary) and decimal_print.c (binary to text) only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_DECIMAL_INTERNAL_H
#define PT_BASE_DECIMAL_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pt_binary_format {
    int precision;     /* bits with the hidden one */
    int min_exponent;  /* of the last bit of a subnormal */
    uint64_t infinity; /* its bits */
} pt_binary_format;
extern const pt_binary_format pt_binary64, pt_binary32;

/* The bits of w 10^e rounded to the format; false, with *bits unset, when the fast path does not
 * reach that far (|e| > 27). */
bool pt_decimal_bits_fast(uint64_t w, int64_t e, const pt_binary_format *format, uint64_t *bits);

#endif
