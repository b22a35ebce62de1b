/* Text formatting without libc, identical on every target.
 *
 * Conversions: %d %i %u %x %X %c %s %p %% and the floats %f %e %g, with flags `-`, `0`, `+`, ` `,
 * width and precision (also as `*`), and the length modifiers l, ll, z, t, j. A NULL for %s prints
 * "(null)"; an unknown conversion prints as it stands. Floats print correctly rounded through
 * base/decimal.h; inf and nan print as "inf", "-inf", "nan".
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_FORMAT_H
#define PT_BASE_FORMAT_H

#include <stdarg.h>

#include "base/status.h"

/* Like snprintf: writes at most cap bytes including the NUL (none when cap is 0) and returns the
 * length the whole text has. */
size_t pt_format(char *out, size_t cap, const char *fmt, ...) PT_PRINTF(3, 4);
size_t pt_vformat(char *out, size_t cap, const char *fmt, va_list args);

#endif
