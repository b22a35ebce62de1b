/* Random numbers: one counter-based generator for everything.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3",
 * section 3.3). There is no state to save: a number is a pure function of (seed, stream, counter),
 * so init, batch order, dropout and sampling never disturb each other, and any order of evaluation
 * on any number of threads gives the same numbers.
 *   key     = { low word, high word } of the seed
 *   counter = { low word, high word of the 64-bit counter, stream, substream }
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_RNG_H
#define PT_BASE_RNG_H

#include <stdint.h>

/* The streams of the program. The numbers are part of the file formats: never renumber. */
typedef enum pt_rng_stream {
    PT_STREAM_INIT = 1,     /* substream: index of the tensor; counter: element / 4 */
    PT_STREAM_BATCH = 2,    /* counter: see train/data.h */
    PT_STREAM_DROPOUT = 3,  /* substream: site */
    PT_STREAM_SAMPLE = 4,   /* counter: token position */
    PT_STREAM_VALIDATE = 5, /* as BATCH, for the validation windows */
    PT_STREAM_MIX = 6,      /* which source a sample comes from: see train/data.h */
    PT_STREAM_MIX_VALIDATE = 7,
    PT_STREAM_TEST = 100
} pt_rng_stream;

/* The bare generator: 10 rounds. In-place use (out == counter) is fine. */
void pt_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);

/* Four 32-bit numbers. */
void pt_rng_u32x4(uint64_t seed, uint32_t stream, uint32_t substream, uint64_t counter,
                  uint32_t out[4]);
/* Uniform in [0,1) with 53 bits, from the first two words: ((w1 · 2^32 + w0) >> 11) / 2^53. */
double pt_rng_uniform(uint64_t seed, uint32_t stream, uint32_t substream, uint64_t counter);
/* Four independent N(0,1) draws by Box-Muller in double with base/maths (Box & Muller 1958):
 * with u = (word + 0.5) / 2^32, (u0,u1) and (u2,u3) give r·cos(2πu), r·sin(2πu), r = √(−2 ln u0). */
void pt_rng_normal4(uint64_t seed, uint32_t stream, uint32_t substream, uint64_t counter,
                    double out[4]);

/* A permutation of 0 … n-1, evaluated at index (0 <= index < n, n <= 2^62): a balanced Feistel
 * network over the next even power of two with Philox rounds as its round function, and cycle
 * walking. Stateless, so the order of any sample is known without the ones before it. */
int64_t pt_rng_permute(uint64_t seed, uint32_t stream, uint32_t substream, int64_t n,
                       int64_t index);

#endif
