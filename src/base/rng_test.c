/* Statistical checks allow five standard deviations; the seeds are fixed, so the outcome is too.
 * SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "base/test.h"

#define DRAWS (1 << 20)

/* ---- the generator ---- */

TEST(philox_known_answers) /* Random123 1.14, tests/kat_vectors, philox4x32 with 10 rounds */
{
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[4];
        pt_philox(cases[i].key, cases[i].counter, out);
        CHECK(memcmp(out, cases[i].want, sizeof out) == 0);
        memcpy(out, cases[i].counter, sizeof out);
        pt_philox(cases[i].key, out, out);
        CHECK(memcmp(out, cases[i].want, sizeof out) == 0);
    }
}

TEST(seed_stream_and_counter_layout)
{
    const uint32_t key[2] = {0xa4093822, 0x299f31d0};
    const uint32_t counter[4] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
    uint32_t want[4], got[4];
    pt_philox(key, counter, want);
    pt_rng_u32x4(0x299f31d0a4093822u, 0x13198a2e, 0x03707344, 0x85a308d3243f6a88u, got);
    CHECK(memcmp(got, want, sizeof got) == 0);
}

TEST(every_input_bit_changes_half_of_the_output)
{
    int64_t flipped = 0, cases = 0;
    for (uint64_t at = 0; at < 64; at++) {
        uint32_t base[4];
        pt_rng_u32x4(at, PT_STREAM_TEST, 5, at * at, base);
        for (int bit = 0; bit < 192; bit++) {
            uint64_t seed = at, counter = at * at;
            uint32_t stream = PT_STREAM_TEST, substream = 5, got[4];
            if (bit < 64) seed ^= (uint64_t)1 << bit;
            else if (bit < 128) counter ^= (uint64_t)1 << (bit - 64);
            else if (bit < 160) stream ^= 1u << (bit - 128);
            else substream ^= 1u << (bit - 160);
            pt_rng_u32x4(seed, stream, substream, counter, got);
            int n = 0;
            for (int i = 0; i < 4; i++) n += __builtin_popcount(base[i] ^ got[i]);
            CHECK(n > 30 && n < 98); /* 64 with a standard deviation of 5.7 */
            flipped += n;
            cases++;
        }
    }
    CHECK_CLOSE((double)flipped / (double)cases, 64, 5 * 5.66 / pt_sqrt((double)cases));
}

/* ---- distributions ---- */

TEST(uniform_value)
{
    /* words 67dcb729 ba408287 …: (second, first) >> 11 */
    double u = pt_rng_uniform(0x1234567890abcdefu, 3, 9, (uint64_t)1 << 32 | 5);
    CHECK(u == 6553159378729878 * 0x1p-53);
}

static void check_chi_square(const int *counts, int bins, double total)
{
    double sum = 0;
    for (int i = 0; i < bins; i++) {
        double off = counts[i] - total / bins;
        sum += off * off / (total / bins);
    }
    CHECK_CLOSE(sum, bins - 1, 5 * pt_sqrt(2.0 * (bins - 1)));
}

TEST(uniform_statistics)
{
    static int bins[256], pairs[256];
    double sum = 0, squares = 0, lag = 0, last = 0.5;
    int odd = 0;
    for (int i = 0; i < DRAWS; i++) {
        double u = pt_rng_uniform(42, PT_STREAM_TEST, 0, (uint64_t)i);
        CHECK(u >= 0 && u < 1);
        sum += u;
        squares += (u - 0.5) * (u - 0.5);
        lag += (u - 0.5) * (last - 0.5);
        bins[(int)(u * 256)]++;
        pairs[(int)(last * 16) * 16 + (int)(u * 16)]++;
        odd += (int)((uint64_t)(u * 0x1p53) & 1); /* the 53rd bit is random too */
        last = u;
    }
    CHECK_CLOSE(sum / DRAWS, 0.5, 5 * pt_sqrt(1.0 / 12 / DRAWS));
    CHECK_CLOSE(squares / DRAWS, 1.0 / 12, 5 * pt_sqrt(1.0 / 180 / DRAWS));
    CHECK_CLOSE(lag / DRAWS, 0, 5 / 12.0 / pt_sqrt(DRAWS));
    CHECK_CLOSE(odd, DRAWS / 2, 5 * pt_sqrt(DRAWS) / 2);
    check_chi_square(bins, 256, DRAWS);
    check_chi_square(pairs, 256, DRAWS);
}

TEST(normal_values)
{
    static const double want[4] = {-0.18886918964310384, -1.3298698650548877, 1.1135384257897698,
                                   0.172551905712631}; /* from Python's math */
    double got[4];
    pt_rng_normal4(0x1234567890abcdefu, 3, 9, (uint64_t)1 << 32 | 5, got);
    for (int i = 0; i < 4; i++) CHECK_CLOSE(got[i], want[i], 1e-14);
}

TEST(normal_statistics)
{
    static int bins[100];
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0, cross[6] = {0}, largest = 0;
    int beyond3 = 0, beyond4 = 0;
    for (int i = 0; i < DRAWS / 4; i++) {
        double x[4];
        pt_rng_normal4(7, PT_STREAM_TEST, 1, (uint64_t)i, x);
        for (int j = 0; j < 4; j++) {
            double s = x[j] * x[j];
            m1 += x[j], m2 += s, m3 += s * x[j], m4 += s * s;
            beyond3 += pt_fabs(x[j]) > 3, beyond4 += pt_fabs(x[j]) > 4;
            if (pt_fabs(x[j]) > largest) largest = pt_fabs(x[j]);
            int bin = (int)(50 * (1 + pt_erf(x[j] * 0.70710678118654752)));
            bins[bin < 100 ? bin : 99]++;
        }
        cross[0] += x[0] * x[1], cross[1] += x[0] * x[2], cross[2] += x[0] * x[3];
        cross[3] += x[1] * x[2], cross[4] += x[1] * x[3], cross[5] += x[2] * x[3];
    }
    CHECK_CLOSE(m1 / DRAWS, 0, 5 / pt_sqrt(DRAWS));
    CHECK_CLOSE(m2 / DRAWS, 1, 5 * pt_sqrt(2.0 / DRAWS));
    CHECK_CLOSE(m3 / DRAWS, 0, 5 * pt_sqrt(15.0 / DRAWS));
    CHECK_CLOSE(m4 / DRAWS, 3, 5 * pt_sqrt(96.0 / DRAWS));
    for (int i = 0; i < 6; i++) CHECK_CLOSE(cross[i] / (DRAWS / 4), 0, 5 / pt_sqrt(DRAWS / 4));
    CHECK_CLOSE(beyond3, 2.6997961e-3 * DRAWS, 5 * pt_sqrt(2.6997961e-3 * DRAWS));
    CHECK_CLOSE(beyond4, 6.3342484e-5 * DRAWS, 5 * pt_sqrt(6.3342484e-5 * DRAWS));
    CHECK(largest > 4.4 && largest < 6.77); /* sqrt(-2 ln 2^-33) is the most there is */
    check_chi_square(bins, 100, DRAWS);
}

/* ---- permutation ---- */

/* From a second implementation (Python), written after the description in rng.c. */
TEST(permute_pinned)
{
    static const int small[3][10] = {{9, 3, 1, 5, 6, 0, 2, 8, 4, 7},
                                     {2, 6, 1, 0, 4, 3, 7, 9, 8, 5},
                                     {6, 7, 1, 5, 2, 8, 9, 4, 0, 3}};
    for (int i = 0; i < 10; i++) {
        CHECK_INT(pt_rng_permute(42, 2, 0, 10, i), small[0][i]);
        CHECK_INT(pt_rng_permute(42, 2, 1, 10, i), small[1][i]);
        CHECK_INT(pt_rng_permute(0xfedcba9876543210u, 2, 0, 10, i), small[2][i]);
    }
    static const int windows[6] = {1000775, 203466, 847754, 893549, 42182, 27779};
    for (int i = 0; i < 6; i++) CHECK_INT(pt_rng_permute(1, 2, 0, 1115329, i), windows[i]);
    static const struct {
        uint64_t seed;
        uint32_t stream, substream;
        int64_t n, index, want;
    } large[] = {
        {1, 2, 3, 1099511627776, 0, 923207237452},
        {1, 2, 3, 1099511627776, 1, 313510853867},
        {1, 2, 3, 1099511627776, 1099511627775, 721116439634},
        {7, 100, 0xffffffffu, 4611686018427387904, 0, 4320281492655173700},
        {7, 100, 0xffffffffu, 4611686018427387904, 1, 3434092437033898066},
        {7, 100, 0xffffffffu, 4611686018427387904, 4611686018427387903, 4141743473136709228},
        {7, 100, 5, 4611686018427375559, 0, 2784709860603041614},
        {7, 100, 5, 4611686018427375559, 4611686018427375558, 3602426960609086195},
        {7, 100, 5, 1152921504606846977, 0, 234341142568277063},
        {7, 100, 5, 1152921504606846977, 1152921504606846976, 402813582043421245},
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        CHECK_INT(pt_rng_permute(large[i].seed, large[i].stream, large[i].substream, large[i].n,
                                 large[i].index),
                  large[i].want);
}

static void check_bijection(uint64_t seed, int64_t n)
{
    static unsigned char seen[1 << 20];
    CHECK(n <= (int64_t)sizeof seen);
    memset(seen, 0, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        int64_t p = pt_rng_permute(seed, PT_STREAM_TEST, 0, n, i);
        CHECK(p >= 0 && p < n);
        CHECK(!seen[p]);
        seen[p] = 1;
    }
}

TEST(permute_is_a_bijection)
{
    for (int64_t n = 1; n <= 200; n++)
        for (uint64_t seed = 0; seed < 3; seed++) check_bijection(seed, n);
    static const int64_t sizes[] = {255,  256,   257,   1000,  1023,  1024,  1025,
                                    4097, 10007, 65535, 65536, 65537, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_bijection(11, sizes[i]);
}

/* Draws the order of n things over seeds and substreams, and sorts the draws by parity and by order
 * (numbered in the factorial system). */
static void count_orders(int n, int draws, int counts[2][720])
{
    memset(counts, 0, 2 * sizeof counts[0]);
    for (int d = 0; d < draws; d++) {
        int rank = 0, parity = 0;
        int64_t p[6];
        for (int i = 0; i < n; i++) {
            p[i] = pt_rng_permute((uint64_t)(d / 16), PT_STREAM_TEST, (uint32_t)d % 16, n, i);
            int below = 0;
            for (int j = 0; j < i; j++) below += p[j] < p[i];
            rank = rank * (i + 1) + below;
            parity ^= (i - below) & 1;
        }
        counts[parity][rank]++;
    }
}

TEST(permute_small_orders_are_equally_likely)
{
    static int counts[2][720];
    static const int factorial[] = {1, 1, 2, 6, 24, 120, 720};
    for (int n = 2; n <= 4; n++) {
        count_orders(n, 20000, counts);
        for (int i = 0; i < factorial[n]; i++) counts[0][i] += counts[1][i];
        check_chi_square(counts[0], factorial[n], 20000);
    }
    /* Within their parity, that is: see rng.c. */
    for (int n = 5; n <= 6; n++) {
        count_orders(n, 40000, counts);
        for (int parity = 0; parity < 2; parity++) {
            int n_orders = 0, total = 0;
            for (int i = 0; i < factorial[n]; i++) total += counts[parity][i];
            for (int i = 0; i < factorial[n]; i++) /* every order has one parity */
                if (counts[parity][i]) counts[parity][n_orders++] = counts[parity][i];
            CHECK_INT(n_orders, factorial[n] / 2);
            check_chi_square(counts[parity], n_orders, total);
        }
    }
}

TEST(permute_every_place_is_equally_likely)
{
    static const int sizes[] = {10, 16, 17, 40};
    static int counts[40 * 40];
    for (size_t s = 0; s < 4; s++) {
        int n = sizes[s], draws = 4000;
        memset(counts, 0, sizeof counts);
        for (int d = 0; d < draws; d++)
            for (int i = 0; i < n; i++)
                counts[i * n + pt_rng_permute(3, PT_STREAM_TEST, (uint32_t)d, n, i)]++;
        check_chi_square(counts, n * n,
                         (double)draws * n); /* a little narrower than that: rows are full */
    }
}

TEST(permute_has_no_structure)
{
    enum { N = 100003 };
    static int32_t p[N];
    const double n = N;
    for (int64_t i = 0; i < N; i++) p[i] = (int32_t)pt_rng_permute(5, PT_STREAM_BATCH, 0, N, i);
    double moved = 0, product = 0;
    int fixed = 0, ascents = 0, neighbours = 0, odd = 0, low = 0;
    for (int i = 0; i < N; i++) {
        moved += pt_fabs((double)(p[i] - i));
        fixed += p[i] == i;
        odd += (p[i] ^ i) & 1;
        low += i < N / 2 && p[i] < N / 2;
        if (i == 0) continue;
        ascents += p[i] > p[i - 1];
        neighbours += abs(p[i] - p[i - 1]) == 1;
        product += (p[i] - n / 2) * (p[i - 1] - n / 2);
    }
    /* |p(i) - i| has mean n/3 and standard deviation n/sqrt(18); the sum's is n^1.5 sqrt(2/45) */
    CHECK_CLOSE(moved / n, n / 3, 5 * pt_sqrt(2.0 / 45 * n));
    CHECK(fixed <= 8);       /* Poisson with mean 1 */
    CHECK(neighbours <= 12); /* mean 2 */
    CHECK_CLOSE(ascents, n / 2, 5 * pt_sqrt(n / 12));
    CHECK_CLOSE(odd, n / 2, 5 * pt_sqrt(n) / 2);
    CHECK_CLOSE(low, n / 4, 5 * pt_sqrt(n) / 4);
    CHECK_CLOSE(product / (n * n / 12) / n, 0, 5 / pt_sqrt(n)); /* serial correlation */
}

static int same_places(uint64_t seed_a, uint32_t stream_a, uint32_t sub_a, uint64_t seed_b,
                       uint32_t stream_b, uint32_t sub_b)
{
    int same = 0;
    for (int64_t i = 0; i < 5000; i++)
        same += pt_rng_permute(seed_a, stream_a, sub_a, 5000, i) ==
                pt_rng_permute(seed_b, stream_b, sub_b, 5000, i);
    return same;
}

TEST(permute_changes_with_seed_and_stream)
{
    CHECK_INT(same_places(1, 2, 3, 1, 2, 3), 5000);
    CHECK(same_places(1, 2, 3, 2, 2, 3) <= 8); /* Poisson with mean 1 */
    CHECK(same_places(1, 2, 3, 1 + ((uint64_t)1 << 32), 2, 3) <= 8);
    CHECK(same_places(1, 2, 3, 1, 5, 3) <= 8);
    CHECK(same_places(1, 2, 3, 1, 2, 4) <= 8);
    CHECK(same_places(1, 2, 0, 1, 2, 0x80000000u) <= 8);
}

PT_TEST_MAIN
