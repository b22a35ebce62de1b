/* Every operation of simd.h, on every instruction set of this machine, against scalar C: all bits must agree,
 * but for fma, which may be fused, and the payload of NaNs. SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/test.h"
#include "device/cpu/cpu.h"
#include "device/cpu/simd_selftest.h"

typedef void (*selftest_fn)(pt_simd_selftest_args *args);

#define DECLARE(isa) void pt_simd_selftest_cpu_##isa(pt_simd_selftest_args *args);
DECLARE(base)
DECLARE(avx2)
DECLARE(avx2_strict)
DECLARE(avx512)
DECLARE(avx512_strict)
DECLARE(neon)
DECLARE(neon_strict)
#undef DECLARE

static selftest_fn selftest_of(const char *isa)
{
    static const struct {
        const char *isa;
        selftest_fn fn;
    } entries[] = {
        {"base", pt_simd_selftest_cpu_base},
#ifdef PT_HAVE_ISA_avx2
        {"avx2", pt_simd_selftest_cpu_avx2},
        {"avx2-strict", pt_simd_selftest_cpu_avx2_strict},
#endif
#ifdef PT_HAVE_ISA_avx512
        {"avx512", pt_simd_selftest_cpu_avx512},
        {"avx512-strict", pt_simd_selftest_cpu_avx512_strict},
        {"amx", pt_simd_selftest_cpu_avx512},
#endif
#ifdef PT_HAVE_ISA_neon
        {"neon", pt_simd_selftest_cpu_neon},
        {"neon-strict", pt_simd_selftest_cpu_neon_strict},
#endif
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strcmp(entries[i].isa, isa) == 0) return entries[i].fn;
    return NULL;
}

static const char *const row_names[PT_SIMD_ROWS] = {
#define ROW_NAME(name) #name,
    PT_SIMD_ROW_LIST(ROW_NAME)
#undef ROW_NAME
};

static uint32_t random_state;
static uint32_t random_bits(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state ^ (random_state >> 15);
}

/* ---- what the operations should give, one lane at a time ---- */

static uint32_t bits(float x) { return pt_float_bits(x); }

static void expect_floats(const pt_simd_selftest_args *s, int i, uint32_t want[PT_SIMD_ROWS])
{
    float a = s->a[i], b = s->b[i], c = s->c[i];
    want[PT_SIMD_ZERO] = 0;
    want[PT_SIMD_SET1] = bits(s->a[3]);
    want[PT_SIMD_ADD] = bits(a + b);
    want[PT_SIMD_SUB] = bits(a - b);
    want[PT_SIMD_MUL] = bits(a * b);
    want[PT_SIMD_DIV] = bits(a / b);
    want[PT_SIMD_MIN] = bits(a < b ? a : b);
    want[PT_SIMD_MAX] = bits(a > b ? a : b);
    want[PT_SIMD_NEG] = bits(a) ^ 0x80000000u;
    want[PT_SIMD_ABS] = bits(a) & 0x7fffffffu;
    want[PT_SIMD_SQRT] = bits(sqrtf(a));
    want[PT_SIMD_COPYSIGN] = (bits(a) & 0x7fffffffu) | (bits(b) & 0x80000000u);
    want[PT_SIMD_SELECT_LT] = bits(a < b ? c : a);
    want[PT_SIMD_SELECT_GT] = bits(a > b ? c : a);
    want[PT_SIMD_ROUND] = bits(rintf(a));
    want[PT_SIMD_FMA] = bits(a * b + c);
    want[PT_SIMD_SCALE2] = bits(ldexpf(s->scale[i], (int)s->exponent[i]));
    want[PT_SIMD_LOAD_N] = i < s->n ? bits(a) : 0;
    want[PT_SIMD_STORE_N] = i < s->n ? bits(a) : bits(c);
    uint32_t rounded = bits(pt_float_from_bf16(pt_bf16_from_float(a)));
    want[PT_SIMD_BF16] = rounded;
    want[PT_SIMD_BF16_N] = want[PT_SIMD_BF16_STORE_N] = i < s->n ? rounded : 0;
    want[PT_SIMD_SUM] = want[PT_SIMD_MAX_ALL] = 0;
    if (i > 0) return;
    float sum[16], most = s->a[0];
    memcpy(sum, s->a, sizeof sum);
    for (int half = 8; half > 0; half /= 2)
        for (int j = 0; j < half; j++) sum[j] += sum[j + half];
    for (int j = 1; j < 16; j++) most = s->a[j] > most ? s->a[j] : most;
    want[PT_SIMD_SUM] = bits(sum[0]);
    want[PT_SIMD_MAX_ALL] = bits(most);
}

static void expect_integers(const pt_simd_selftest_args *s, int i, uint32_t want[PT_SIMD_ROWS])
{
    uint32_t u = s->u[i], v = s->v[i];
    want[PT_SIMD_SELECT_LT_U32] = bits(u < v ? s->a[i] : s->c[i]);
    want[PT_SIMD_FROM_INT] = bits((float)(int32_t)u);
    want[PT_SIMD_FROM_BITS] = u;
    want[PT_SIMD_BITS] = bits(s->a[i]);
    want[PT_SIMD_TO_INT] = (uint32_t)(int32_t)s->exponent[i];
    want[PT_SIMD_I_SET1] = s->u[5];
    want[PT_SIMD_I_ADD] = u + v;
    want[PT_SIMD_I_SUB] = u - v;
    want[PT_SIMD_I_AND] = u & v;
    want[PT_SIMD_I_OR] = u | v;
    want[PT_SIMD_I_XOR] = u ^ v;
    want[PT_SIMD_I_MUL_LO] = u * v;
    want[PT_SIMD_I_MUL_HI] = (uint32_t)((uint64_t)u * v >> 32);
    want[PT_SIMD_I_SHL] = u << s->shift;
    want[PT_SIMD_I_SHR] = u >> s->shift;
    want[PT_SIMD_I_SAR] = (uint32_t)((int32_t)u >> s->shift);
    const uint32_t *in[2] = {s->u, s->v};
    const float *in_floats[2] = {s->a, s->c};
    int quad = i / 4 * 4, from = i % 4;
    for (int j = 0; j < 4; j++)
        want[PT_SIMD_I_TRANSPOSE0 + j] =
            from < 2 ? in[from][quad + j] : bits(in_floats[from - 2][quad + j]);
}

static bool is_float_row(int row) { return row < PT_SIMD_FROM_BITS; }
static bool is_nan_bits(uint32_t u) { return (u & 0x7fffffffu) > 0x7f800000u; }

static bool row_agrees(const pt_simd_selftest_args *s, int row, int i, uint32_t want)
{
    uint32_t got = s->out[row][i];
    if (got == want) return true;
    if (is_float_row(row) && is_nan_bits(got) && is_nan_bits(want)) return true;
    return row == PT_SIMD_FMA && got == bits(fmaf(s->a[i], s->b[i], s->c[i]));
}

static bool agrees(const pt_simd_selftest_args *s, const char *isa)
{
    bool any_nan = false;
    for (int i = 0; i < 16; i++) any_nan |= isnan(s->a[i]);
    for (int i = 0; i < 16; i++) {
        uint32_t want[PT_SIMD_ROWS];
        expect_floats(s, i, want);
        expect_integers(s, i, want);
        for (int row = 0; row < PT_SIMD_ROWS; row++) {
            if (row == PT_SIMD_MAX_ALL && any_nan) continue;
            if (row_agrees(s, row, i, want[row])) continue;
            printf("%s %s lane %d: %08x, want %08x (a %g b %g c %g u %08x v %08x)\n", isa,
                   row_names[row], i, s->out[row][i], want[row], (double)s->a[i], (double)s->b[i],
                   (double)s->c[i], s->u[i], s->v[i]);
            return false;
        }
    }
    return true;
}

/* ---- inputs ---- */

static const float awkward[] = {0.0f,       -0.0f,       1.0f,       -1.0f,       0.5f,
                                1.5f,       2.5f,        -2.5f,      INFINITY,    1e-45f,
                                -INFINITY,  3.4e38f,     -3.4e38f,   NAN,         -1e-40f,
                                8388607.5f, 0.49999997f, 8388609.0f, -4194304.5f, 16777217.0f};
#define N_AWKWARD ((uint32_t)(sizeof awkward / sizeof awkward[0]))

static float random_float(int kind)
{
    uint32_t r = random_bits();
    if (kind == 0) return (float)(int32_t)r * 0x1p-28f; /* -8 … 8 */
    if (kind == 1) return awkward[(r >> 8) % N_AWKWARD];
    return pt_float_from_bits(r); /* any bits */
}

static void fill(pt_simd_selftest_args *s, int round)
{
    static const float ends[] = {0.0f, 1.0f, 1.9999999f, 0x1p24f, 0x1p-24f, INFINITY, -1.5f};
    memset(s, 0xA5, sizeof *s);
    for (int i = 0; i < 16; i++) {
        s->a[i] = random_float(round % 3);
        s->b[i] = random_float(round / 3 % 3);
        s->c[i] = random_float(round / 9 % 3);
        s->scale[i] = random_bits() & 1024 ? ends[(random_bits() >> 9) % 7]
                                           : (float)(int32_t)random_bits() * 0x1p-30f;
        if (pt_fabsf(s->scale[i]) < 0x1p-24f) s->scale[i] = 0.75f;
        s->exponent[i] = (float)((int32_t)(random_bits() >> 8) % 400 - 200);
        if (random_bits() & 1024) s->exponent[i] = random_bits() & 2048 ? 1e6f : -1e6f;
        s->u[i] = random_bits() & 256 ? random_bits() : (uint32_t)i;
        s->v[i] = random_bits();
    }
    s->u[round % 16] = round % 2 ? 0xffffffffu : 0x80000000u;
    s->v[(round + 3) % 16] = s->u[(round + 3) % 16];
    s->n = round % 17;
    s->shift = (uint32_t)round % 32;
}

TEST(every_operation_agrees_with_scalar_c_on_every_isa)
{
    int n_isas = 0;
    for (const char *const *isa = pt_device_cpu_isas(); *isa; isa++, n_isas++) {
        selftest_fn selftest = selftest_of(*isa);
        CHECK(selftest != NULL);
        random_state = 1;
        for (int round = 0; round < 4000; round++) {
            static pt_simd_selftest_args s;
            fill(&s, round);
            selftest(&s);
            CHECK(agrees(&s, *isa));
        }
    }
    CHECK(n_isas > 0);
}

PT_TEST_MAIN
