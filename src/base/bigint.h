/* Natural numbers of at most 3200 bits, for decimal conversion only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_BIGINT_H
#define PT_BASE_BIGINT_H

#include <stdbool.h>
#include <stdint.h>

/* The largest numbers: 801 digits of input (2661 bits), 5^1131 (2627 bits) and a quotient's 64 bits
 * on top, or the 2547 bits of 2^53 5^1074. */
#define PT_BIG_LIMBS 100

typedef struct pt_big {
    int n; /* limbs in use; the top one is not zero. 0 for zero */
    uint32_t limb[PT_BIG_LIMBS];
} pt_big;

void pt_big_set(pt_big *a, uint64_t v);
void pt_big_copy(pt_big *a, const pt_big *b);
void pt_big_multiply_add(pt_big *a, uint32_t factor, uint32_t addend); /* a = a factor + addend */
void pt_big_multiply_pow5(pt_big *a, int power);
void pt_big_multiply_pow10(pt_big *a, int power);
void pt_big_shift_left(pt_big *a, int bits);
int pt_big_bit_length(const pt_big *a);
int pt_big_compare(const pt_big *a, const pt_big *b); /* < 0, 0, > 0 */
/* The sign of a + b - c. */
int pt_big_compare_sum(const pt_big *a, const pt_big *b, const pt_big *c);
/* a = a mod b, returns a / b. The quotient must be below 2^32, the top bit of b's top limb set. */
uint32_t pt_big_divide(pt_big *a, const pt_big *b);
/* a = a / d, returns a mod d. */
uint32_t pt_big_divide_small(pt_big *a, uint32_t d);
/* The top 64 bits, shifted up if there are fewer: a = result * 2^(bit length - 64), rounded down;
 * *sticky says whether anything was lost. a is not zero. */
uint64_t pt_big_top(const pt_big *a, bool *sticky);

#endif
