/* Allocation with counting and injected failures; checked sizes. SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <stdatomic.h>

#include "base/platform.h"

static _Atomic int64_t alloc_count;
static _Atomic int64_t fail_countdown; /* 1 = the next allocation fails, 0 = off */

/* Counts this allocation, and says whether it is the one that must fail. */
static bool must_fail(void)
{
    atomic_fetch_add_explicit(&alloc_count, 1, memory_order_relaxed);
    int64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    while (left > 0)
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1)) return left == 1;
    return false;
}

void *pt_alloc(size_t bytes)
{
    if (must_fail() || bytes > PTRDIFF_MAX) return NULL;
    return pt_platform_alloc(bytes ? bytes : 1);
}

/* Always a fresh block, also when shrinking: only so are the bytes of a later growth zero. */
void *pt_realloc(void *block, size_t old_bytes, size_t new_bytes)
{
    void *fresh = pt_alloc(new_bytes);
    if (!fresh || !block) return fresh;
    memcpy(fresh, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    pt_platform_free(block);
    return fresh;
}

void pt_free(void *block)
{
    if (block) pt_platform_free(block);
}

int64_t pt_alloc_count(void) { return atomic_load(&alloc_count); }
void pt_alloc_fail_after(int64_t nth) { atomic_store(&fail_countdown, nth); }

bool pt_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || b < 0 || (b > 0 && a > INT64_MAX / b)) return false;
    *out = a * b;
    return true;
}

bool pt_add_i64(int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || b < 0 || a > INT64_MAX - b) return false;
    *out = a + b;
    return true;
}
