/* Memory: the libc memory functions (also where there is no libc), allocation, checked sizes.
 *
 * Only base/ calls malloc. Everything else allocates through pt_alloc, so that a test can count
 * allocations and make the Nth one fail.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_MEM_H
#define PT_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#if __STDC_HOSTED__
#include <string.h>
#else /* freestanding WASM: base/freestanding.c defines these */
void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
#endif

#define PT_ALIGN 64 /* bytes: a cache line and the widest vector */

/* `bytes` bytes aligned to PT_ALIGN; zeroed (large blocks come from the system already zero and are
 * not touched, so they cost no resident memory until used). NULL when there is no memory.
 * bytes == 0 gives a valid pointer. Release with pt_free; pt_free(NULL) is fine. Thread-safe. */
void *pt_alloc(size_t bytes);
/* Grows or shrinks a block of pt_alloc, keeping min(old, new) bytes; new bytes are zero. On failure
 * NULL, and the old block stays valid. */
void *pt_realloc(void *block, size_t old_bytes, size_t new_bytes);
void pt_free(void *block);

/* For tests. Number of pt_alloc/pt_realloc calls since the process began. */
int64_t pt_alloc_count(void);
/* For tests. The nth allocation from now (1 = the next) fails, once; 0 switches that off. */
void pt_alloc_fail_after(int64_t nth);

/* *out = a*b or a+b; false when the result does not fit or a factor is negative. */
bool pt_mul_i64(int64_t a, int64_t b, int64_t *out);
bool pt_add_i64(int64_t a, int64_t b, int64_t *out);
/* Rounds up to a multiple of `to` (> 0); a must be far from the maximum (checked sizes are). */
static inline int64_t pt_round_up(int64_t a, int64_t to) { return (a + to - 1) / to * to; }
static inline int64_t pt_div_up(int64_t a, int64_t by) { return (a + by - 1) / by; }
static inline int64_t pt_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t pt_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
