/* The functions of simd_maths.h over floats of every size, on every instruction set of this machine, against libm in
 * double; and the strict build's bits against each other. SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/test.h"
#include "device/cpu/cpu.h"
#include "device/cpu/simd_selftest.h"

typedef void (*maths_fn)(pt_simd_maths which, int64_t n, const float *x, float *y);

#define DECLARE(isa) \
    void pt_simd_maths_cpu_##isa(pt_simd_maths which, int64_t n, const float *x, float *y);
DECLARE(base)
DECLARE(avx2)
DECLARE(avx2_strict)
DECLARE(avx512)
DECLARE(avx512_strict)
DECLARE(neon)
DECLARE(neon_strict)
#undef DECLARE

typedef struct isa_maths {
    const char *isa;
    maths_fn fused, strict;
} isa_maths;

static const isa_maths entries[] = {
    {"base", pt_simd_maths_cpu_base, pt_simd_maths_cpu_base},
#ifdef PT_HAVE_ISA_avx2
    {"avx2", pt_simd_maths_cpu_avx2, pt_simd_maths_cpu_avx2_strict},
#endif
#ifdef PT_HAVE_ISA_avx512
    {"avx512", pt_simd_maths_cpu_avx512, pt_simd_maths_cpu_avx512_strict},
#endif
#ifdef PT_HAVE_ISA_neon
    {"neon", pt_simd_maths_cpu_neon, pt_simd_maths_cpu_neon_strict},
#endif
};
#define N_ENTRIES ((int)(sizeof entries / sizeof entries[0]))

static bool machine_runs(const char *isa)
{
    for (const char *const *have = pt_device_cpu_isas(); *have; have++)
        if (strcmp(*have, isa) == 0) return true;
    return false;
}

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

static const struct {
    const char *name;
    double (*exact)(double x);
    double max_ulp;
    float flush_below; /* where the true value may be given as 0 */
} functions[PT_SIMD_MATHS_COUNT] = {
    [PT_SIMD_EXP] = {"exp", exp, 2.0, -INFINITY},
    [PT_SIMD_LOG] = {"log", log, 2.0, -INFINITY},
    [PT_SIMD_TANH] = {"tanh", tanh, 3.0, -INFINITY},
    [PT_SIMD_ERF] = {"erf", erf, 3.0, -INFINITY},
    [PT_SIMD_SIGMOID] = {"sigmoid", sigmoid, 3.0, -88.72283f},
};

/* Distance in units of the last place that a float of this size has. */
static double ulps(float got, double want)
{
    if (isnan(want)) return isnan(got) ? 0 : PT_INF;
    if (isinf((float)want) || isinf(got)) {
        if (got == (float)want) return 0;
        /* right at the overflow threshold a finite neighbour of inf is within an ulp */
        return isinf(got) && !isinf(want) ? fabs(0x1p128 - fabs(want)) / 0x1p104 : PT_INF;
    }
    int e = 0;
    frexp(want, &e);
    return fabs((double)got - want) / ldexp(1.0, (e > -125 ? e : -125) - 24);
}

#define BLOCK 4099 /* odd, so that tails are run */
static float in[BLOCK], out[BLOCK], other[BLOCK];

static void fill_in(uint64_t first, uint32_t step)
{
    for (int i = 0; i < BLOCK; i++)
        in[i] = pt_float_from_bits((uint32_t)(first + (uint64_t)step * i));
}

/* The largest distance, over floats `step` apart in their bits. */
static double worst(maths_fn run, pt_simd_maths which, uint32_t step, float *at)
{
    double most = 0;
    for (uint64_t first = 0; first < (1ull << 32); first += (uint64_t)step * BLOCK) {
        fill_in(first, step);
        run(which, BLOCK, in, out);
        for (int i = 0; i < BLOCK; i++) {
            if (in[i] < functions[which].flush_below && out[i] == 0.0f) continue;
            double d = ulps(out[i], functions[which].exact((double)in[i]));
            if (!(d <= most)) {
                most = d;
                *at = in[i];
            }
        }
    }
    return most;
}

static bool within(maths_fn run, const char *isa, const char *kind, pt_simd_maths which)
{
    float at = 0;
    double most = worst(run, which, 4999, &at);
    printf("%-7s %-6s %-7s %.3f ulp at %.9g\n", functions[which].name, isa, kind, most, (double)at);
    return most <= functions[which].max_ulp;
}

TEST(within_their_ulps_over_all_floats)
{
    for (int which = 0; which < PT_SIMD_MATHS_COUNT; which++)
        for (int i = 0; i < N_ENTRIES; i++) {
            if (!machine_runs(entries[i].isa)) continue;
            CHECK(within(entries[i].fused, entries[i].isa, "", (pt_simd_maths)which));
            if (i == 0)
                CHECK(within(entries[i].strict, entries[i].isa, "strict", (pt_simd_maths)which));
        }
}

TEST(strict_bits_are_the_same_on_every_isa)
{
    for (int which = 0; which < PT_SIMD_MATHS_COUNT; which++)
        for (uint64_t first = 0; first < (1ull << 32); first += (uint64_t)2503 * BLOCK) {
            fill_in(first, 2503);
            entries[0].strict((pt_simd_maths)which, BLOCK, in, out);
            for (int i = 1; i < N_ENTRIES; i++) {
                if (!machine_runs(entries[i].isa)) continue;
                entries[i].strict((pt_simd_maths)which, BLOCK, in, other);
                for (int j = 0; j < BLOCK; j++)
                    CHECK(memcmp(&out[j], &other[j], 4) == 0 || (isnan(out[j]) && isnan(other[j])));
            }
        }
}

/* The bounds are those that simd_maths.h states. */
TEST(normal_distribution)
{
    for (int i = 0; i < N_ENTRIES; i++) {
        if (!machine_runs(entries[i].isa)) continue;
        for (int block = 0; block < 64; block++) {
            for (int j = 0; j < BLOCK; j++)
                in[j] = (float)(block * BLOCK + j - 32 * BLOCK) * (13.0f / (32 * BLOCK));
            entries[i].fused(PT_SIMD_NORMAL_CDF, BLOCK, in, out);
            entries[i].fused(PT_SIMD_NORMAL_E, BLOCK, in, other);
            for (int j = 0; j < BLOCK; j++) {
                double x = (double)in[j], cdf = 0.5 * erfc(-x * sqrt(0.5)), e = exp(-0.5 * x * x);
                double tail = cdf < 0.5 ? cdf : 1 - cdf;
                CHECK_CLOSE(out[j], cdf, (5e-7 + 5e-8 * x * x) * tail + 6e-8 * cdf);
                CHECK_CLOSE(other[j], e, (1.2e-7 + 8e-8 * x * x) * e);
            }
        }
        in[0] = -INFINITY, in[1] = INFINITY, in[2] = NAN, in[3] = 0.0f;
        entries[i].fused(PT_SIMD_NORMAL_CDF, 4, in, out);
        CHECK(out[0] == 0.0f && out[1] == 1.0f && isnan(out[2]));
        CHECK_CLOSE(out[3], 0.5, 6e-8);
    }
}

static float one_of(maths_fn run, pt_simd_maths which, float x)
{
    float y = 0;
    run(which, 1, &x, &y);
    return y;
}

TEST(special_values)
{
    for (int i = 0; i < N_ENTRIES; i++) {
        if (!machine_runs(entries[i].isa)) continue;
        maths_fn run = entries[i].fused;
        for (int which = 0; which < PT_SIMD_MATHS_COUNT; which++)
            CHECK(isnan(one_of(run, (pt_simd_maths)which, NAN)));
        CHECK(one_of(run, PT_SIMD_EXP, -INFINITY) == 0.0f);
        CHECK(one_of(run, PT_SIMD_EXP, INFINITY) == INFINITY);
        CHECK(one_of(run, PT_SIMD_EXP, 3e38f) == INFINITY);
        CHECK(one_of(run, PT_SIMD_EXP, 0.0f) == 1.0f);
        CHECK(one_of(run, PT_SIMD_EXP, -100.0f) == 3.78350585e-44f); /* subnormal */
        CHECK(one_of(run, PT_SIMD_LOG, 0.0f) == -INFINITY);
        CHECK(one_of(run, PT_SIMD_LOG, -0.0f) == -INFINITY);
        CHECK(one_of(run, PT_SIMD_LOG, INFINITY) == INFINITY);
        CHECK(one_of(run, PT_SIMD_LOG, 1.0f) == 0.0f);
        CHECK(isnan(one_of(run, PT_SIMD_LOG, -1e-40f)));
        CHECK(isnan(one_of(run, PT_SIMD_LOG, -INFINITY)));
        CHECK(one_of(run, PT_SIMD_TANH, INFINITY) == 1.0f);
        CHECK(one_of(run, PT_SIMD_TANH, -20.0f) == -1.0f);
        CHECK(signbit(one_of(run, PT_SIMD_TANH, -0.0f)));
        CHECK(one_of(run, PT_SIMD_ERF, -INFINITY) == -1.0f);
        CHECK(signbit(one_of(run, PT_SIMD_ERF, -0.0f)));
        CHECK(one_of(run, PT_SIMD_ERF, 1e-45f) == 1e-45f);
        CHECK(one_of(run, PT_SIMD_SIGMOID, -INFINITY) == 0.0f);
        CHECK(one_of(run, PT_SIMD_SIGMOID, INFINITY) == 1.0f);
        CHECK(one_of(run, PT_SIMD_SIGMOID, 0.0f) == 0.5f);
    }
}

PT_TEST_MAIN
