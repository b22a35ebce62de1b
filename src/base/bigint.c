/* Natural numbers for decimal conversion: schoolbook arithmetic on 32-bit limbs, low limb first.
 * SPDX-License-Identifier: MIT */
#include "base/bigint.h"

#include "base/mem.h"

/* Sizes follow from the formats' limits (bigint.h), not from input: a violation is our bug. */
static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

static void trim(pt_big *a)
{
    while (a->n > 0 && a->limb[a->n - 1] == 0) a->n--;
}

static void push(pt_big *a, uint32_t limb)
{
    require(a->n < PT_BIG_LIMBS);
    a->limb[a->n++] = limb;
}

void pt_big_set(pt_big *a, uint64_t v)
{
    a->n = 2;
    a->limb[0] = (uint32_t)v;
    a->limb[1] = (uint32_t)(v >> 32);
    trim(a);
}

void pt_big_copy(pt_big *a, const pt_big *b)
{
    a->n = b->n;
    memcpy(a->limb, b->limb, (size_t)b->n * sizeof *b->limb);
}

void pt_big_multiply_add(pt_big *a, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (int i = 0; i < a->n; i++) {
        carry += (uint64_t)a->limb[i] * factor;
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) push(a, (uint32_t)carry);
}

void pt_big_multiply_pow5(pt_big *a, int power)
{
    for (; power >= 13; power -= 13) pt_big_multiply_add(a, 1220703125, 0);
    uint32_t rest = 1;
    for (; power > 0; power--) rest *= 5;
    if (rest > 1) pt_big_multiply_add(a, rest, 0);
}

void pt_big_multiply_pow10(pt_big *a, int power)
{
    pt_big_multiply_pow5(a, power);
    pt_big_shift_left(a, power);
}

void pt_big_shift_left(pt_big *a, int bits)
{
    if (a->n == 0 || bits == 0) return;
    int limbs = bits / 32, rest = bits % 32;
    require(a->n + limbs < PT_BIG_LIMBS);
    if (rest) {
        uint32_t carry = 0;
        for (int i = 0; i < a->n; i++) {
            uint32_t v = a->limb[i];
            a->limb[i] = v << rest | carry;
            carry = v >> (32 - rest);
        }
        if (carry) push(a, carry);
    }
    if (limbs) {
        memmove(a->limb + limbs, a->limb, (size_t)a->n * sizeof *a->limb);
        memset(a->limb, 0, (size_t)limbs * sizeof *a->limb);
        a->n += limbs;
    }
}

int pt_big_bit_length(const pt_big *a)
{
    return a->n ? 32 * a->n - __builtin_clz(a->limb[a->n - 1]) : 0;
}

int pt_big_compare(const pt_big *a, const pt_big *b)
{
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (int i = a->n - 1; i >= 0; i--) {
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    }
    return 0;
}

int pt_big_compare_sum(const pt_big *a, const pt_big *b, const pt_big *c)
{
    int n = a->n > b->n ? a->n : b->n, order = 0;
    uint64_t carry = 0;
    /* From the low end: a higher limb that differs overrules the lower ones. */
    for (int i = 0; i < n || i < c->n; i++) {
        if (i < a->n) carry += a->limb[i];
        if (i < b->n) carry += b->limb[i];
        uint32_t sum = (uint32_t)carry, other = i < c->n ? c->limb[i] : 0;
        if (sum != other) order = sum < other ? -1 : 1;
        carry >>= 32;
    }
    return carry ? 1 : order;
}

/* a -= q b, for q b <= a. */
static void subtract_multiple(pt_big *a, const pt_big *b, uint32_t q)
{
    uint64_t carry = 0;
    for (int i = 0; i < a->n; i++) {
        if (i < b->n) carry += (uint64_t)b->limb[i] * q;
        uint32_t low = (uint32_t)carry, old = a->limb[i];
        a->limb[i] = old - low;
        carry = (carry >> 32) + (old < low);
    }
    require(carry == 0);
    trim(a);
}

uint32_t pt_big_divide(pt_big *a, const pt_big *b)
{
    require(b->n > 0 && b->limb[b->n - 1] >> 31 && a->n <= b->n + 1);
    if (a->n < b->n) return 0;
    uint64_t top = a->limb[b->n - 1];
    if (a->n > b->n) top |= (uint64_t)a->limb[b->n] << 32;
    /* Rounding the divisor's top limb up makes the guess too small, by at most 3. */
    uint32_t q = (uint32_t)(top / ((uint64_t)b->limb[b->n - 1] + 1));
    if (q) subtract_multiple(a, b, q);
    while (pt_big_compare(a, b) >= 0) {
        subtract_multiple(a, b, 1);
        q++;
    }
    return q;
}

uint32_t pt_big_divide_small(pt_big *a, uint32_t d)
{
    uint64_t rest = 0;
    for (int i = a->n - 1; i >= 0; i--) {
        rest = rest << 32 | a->limb[i];
        a->limb[i] = (uint32_t)(rest / d);
        rest %= d;
    }
    trim(a);
    return (uint32_t)rest;
}

uint64_t pt_big_top(const pt_big *a, bool *sticky)
{
    require(a->n > 0);
    int shift = __builtin_clz(a->limb[a->n - 1]);
    uint32_t limb[3] = {0, 0, 0};
    for (int i = 0; i < 3 && i < a->n; i++) limb[i] = a->limb[a->n - 1 - i];
    uint64_t top = (uint64_t)limb[0] << 32 | limb[1];
    *sticky = shift ? (limb[2] << shift) != 0 : limb[2] != 0;
    if (shift) top = top << shift | limb[2] >> (32 - shift);
    for (int i = 0; i < a->n - 3; i++) *sticky |= a->limb[i] != 0;
    return top;
}
