/* Random numbers. See rng.h for how seed, stream and counter become key and counter words.
 * SPDX-License-Identifier: MIT */
#include "base/rng.h"

#include "base/maths.h"

/* ---- Philox4x32-10 ---- */

#define PHILOX_M0 0xd2511f53u
#define PHILOX_M1 0xcd9e8d57u
#define PHILOX_W0 0x9e3779b9u /* the key's Weyl sequence: the golden ratio, */
#define PHILOX_W1 0xbb67ae85u /* and sqrt(3) - 1 */

void pt_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
    uint32_t k0 = key[0], k1 = key[1];
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * c0, p1 = (uint64_t)PHILOX_M1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

void pt_rng_u32x4(uint64_t seed, uint32_t stream, uint32_t substream, uint64_t counter,
                  uint32_t out[4])
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t words[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), stream, substream};
    pt_philox(key, words, out);
}

/* ---- distributions ---- */

double pt_rng_uniform(uint64_t seed, uint32_t stream, uint32_t substream, uint64_t counter)
{
    uint32_t w[4];
    pt_rng_u32x4(seed, stream, substream, counter, w);
    return (double)(((uint64_t)w[1] << 32 | w[0]) >> 11) * 0x1p-53;
}

void pt_rng_normal4(uint64_t seed, uint32_t stream, uint32_t substream, uint64_t counter,
                    double out[4])
{
    uint32_t w[4];
    pt_rng_u32x4(seed, stream, substream, counter, w);
    for (int i = 0; i < 4; i += 2) {
        double r = pt_sqrt(-2 * pt_log((w[i] + 0.5) * 0x1p-32));
        double angle = 2 * PT_PI * ((w[i + 1] + 0.5) * 0x1p-32);
        out[i] = r * pt_cos(angle);
        out[i + 1] = r * pt_sin(angle);
    }
}

/* ---- permutation ---- */

/* The network, for whoever has to build it again:
 *   h       the smallest number >= 1 with 4^h >= n. A block x is below 4^h: left = x >> h, right =
 *           its low h bits
 *   rounds  t = 0 ... 9: (left, right) = (right, left xor F(t, right)); after the last one
 *           x = left << h | right
 *   F       the low h bits of word 0 of pt_philox with the key of the seed and the counter
 *           { right, 0x80000000 | h << 8 | t, stream, substream }
 *   walk    x = index, then x = network(x) once, and again as long as x >= n
 * The top bit of the counter keeps these words apart from draws of the same stream, whose counters
 * stay below 2^63. 4^h < 4n (for n > 1), so fewer than four networks are evaluated on average. Ten
 * rounds are more than large n needs; with six, the 24 orders of four things are not yet equally
 * likely. One trace of the network stays, however many rounds: for h > 1 it makes even permutations
 * of its 4^h blocks only, so over all seeds the two parities of an order are not equally likely
 * (they differ by n(n-1) / (4^h (4^h - 1))); within a parity all orders are. */
#define FEISTEL_ROUNDS 10

int64_t pt_rng_permute(uint64_t seed, uint32_t stream, uint32_t substream, int64_t n, int64_t index)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t h = 1;
    while ((int64_t)1 << 2 * h < n) h++;
    uint32_t mask = (uint32_t)(((uint64_t)1 << h) - 1);
    int64_t x = index;
    do {
        uint32_t left = (uint32_t)(x >> h), right = (uint32_t)x & mask;
        for (uint32_t t = 0; t < FEISTEL_ROUNDS; t++) {
            const uint32_t counter[4] = {right, 0x80000000u | h << 8 | t, stream, substream};
            uint32_t words[4];
            pt_philox(key, counter, words);
            uint32_t new_right = left ^ (words[0] & mask);
            left = right;
            right = new_right;
        }
        x = (int64_t)left << h | right;
    } while (x >= n);
    return x;
}
