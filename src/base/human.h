/* Numbers as people read them. SPDX-License-Identifier: MIT */
#ifndef PT_BASE_HUMAN_H
#define PT_BASE_HUMAN_H

#include <stdint.h>

/* Each writes into `out` and returns it. */
const char *pt_grouped(int64_t value, char out[32]); /* "1,204,997" */
const char *pt_megabytes(int64_t bytes,
                         char out[32]);          /* "12.3 kB", "12.3 MB", "812 MB", "12.3 GB" */
const char *pt_rate(double value, char out[32]); /* "812", "81.2k", "1.28M"; "?" for NaN */
/* With `decimals` of them, or with more where it takes more to show `digits` significant ones: 2 as "2.0000", 0.00001234 as
 * "0.00001234" (4 and 4); "?" for what is not finite. */
const char *pt_significant(double value, int decimals, int digits, char out[32]);
/* "42s", "3m20s", "2h05m", "3d04h"; "?" when it is no finite number or negative. */
const char *pt_duration(double seconds, char out[32]);

#endif
