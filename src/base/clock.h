/* Time: durations from the monotonic clock, dates from the wall clock.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_CLOCK_H
#define PT_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

double pt_clock_seconds(void); /* monotonic, from an arbitrary origin */
/* "2026-11-30T03:05:40.123Z" of a Unix time in ms; 25 bytes with the NUL. Years outside 0 … 9999
 * get a sign and at least six digits ("-000001-…"), as in ECMAScript; every int64 fits. */
void pt_clock_iso(int64_t unix_ms, char out[32]);
int64_t pt_clock_unix_ms(void);

#endif
