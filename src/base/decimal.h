/* Decimal text to binary floats and back, correctly rounded, identical on every target.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_DECIMAL_H
#define PT_BASE_DECIMAL_H

#include "base/status.h"

/* Reads the longest prefix of the n bytes that is a decimal number
 * ([+-] digits [. digits] [e[+-]digits], at least one digit in the mantissa) and stores the nearest
 * double (ties to even; overflow to infinity, underflow through subnormals to zero).
 * Returns the bytes used, 0 when there is no number. No inf, nan, hex, or locale. */
size_t pt_decimal_to_double(const char *text, size_t n, double *out);
/* The same, rounded once, straight to float. */
size_t pt_decimal_to_float(const char *text, size_t n, float *out);

#define PT_DECIMAL_MAX 40 /* bytes that shortest forms need at most, with the NUL */
/* The shortest decimal that reads back as exactly the same value, in %g-like style
 * ("0.1", "1e+30", "-0", "3"); inf and nan as in base/format.h. Returns the length. */
size_t pt_double_to_shortest(double value, char out[PT_DECIMAL_MAX]);
size_t pt_float_to_shortest(float value, char out[PT_DECIMAL_MAX]);

/* Correctly rounded (exact ties to even) fixed and scientific digits of |value| (finite).
 * digits: writes exactly n_digits significant digits (1 … 800) without point into out and returns
 * the decimal exponent of the first digit (1234.5 -> "12345", 3; 0 -> "000…", 0). */
int pt_double_digits(double value, int n_digits, char *out);
/* The same with the last digit at decimal position -n_decimals (0 … 1100): "%.{n}f" without sign
 * and point. Writes the integer part and the decimals as digits; returns how many digits belong to
 * the integer part (at least 1). out must hold 310 + n_decimals bytes. */
int pt_double_fixed(double value, int n_decimals, char *out);

#endif
