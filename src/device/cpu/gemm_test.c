/* The product against plain loops in double: every layout, awkward sizes and strides; and the promise that
 * neither threads nor blocking nor the number of rows change a bit.
 * SPDX-License-Identifier: MIT */
#include "base/test.h"

#include "device/cpu/gemm.h"

typedef void (*gemm_fn)(const pt_gemm *g, pt_pool *pool);
void pt_gemm_cpu_avx2(const pt_gemm *g, pt_pool *pool);
void pt_gemm_cpu_avx512(const pt_gemm *g, pt_pool *pool);
void pt_gemm_cpu_neon(const pt_gemm *g, pt_pool *pool);

typedef struct isa_gemm {
    const char *isa;
    gemm_fn gemm;
} isa_gemm;

static bool machine_has(const char *isa)
{
#if defined(__x86_64__)
    if (strcmp(isa, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (strcmp(isa, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
#endif
    (void)isa;
    return true;
}

static const isa_gemm isa_gemms[] = {
    {"base", pt_gemm_cpu_base},
#ifdef PT_HAVE_ISA_avx2
    {"avx2", pt_gemm_cpu_avx2},
#endif
#ifdef PT_HAVE_ISA_avx512
    {"avx512", pt_gemm_cpu_avx512},
#endif
#ifdef PT_HAVE_ISA_neon
    {"neon", pt_gemm_cpu_neon},
#endif
};
#define N_ISA_GEMMS (int)(sizeof isa_gemms / sizeof *isa_gemms)

static pt_pool *pools[4]; /* 1, 2, 3, 8 threads */
static void make_pools(void)
{
    static const int threads[4] = {1, 2, 3, 8};
    pt_error err;
    for (int i = 0; i < 4 && !pools[i]; i++)
        CHECK_OK(pt_pool_new(&pools[i], threads[i], PT_CPU_SCRATCH_BYTES, &err), err);
}

static uint32_t seed = 1;
static float uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(int32_t)seed / 2147483648.0f;
}

enum { NN, NT, TN };
typedef struct problem {
    pt_gemm g;
    float *a, *b, *c0, *bias;
    int64_t c_size;
} problem;

#define GUARD 12345.0f

/* Exactly as much memory as the layout touches, so that the address sanitizer sees any read beyond. */
static problem make_problem(int layout, const int64_t mnk[3], int64_t pad, int start)
{
    int64_t m = mnk[0], n = mnk[1], k = mnk[2];
    problem p = {.g = {.m = m, .n = n, .k = k}};
    int64_t a_rows = layout == TN ? k : m, a_cols = layout == TN ? m : k, lda = a_cols + pad;
    int64_t b_rows = layout == NT ? n : k, b_cols = layout == NT ? k : n, ldb = b_cols + 2 * pad;
    int64_t a_size = a_rows ? (a_rows - 1) * lda + a_cols : 0;
    int64_t b_size = b_rows ? (b_rows - 1) * ldb + b_cols : 0;
    p.g.c_row = n + pad;
    p.c_size = (m - 1) * p.g.c_row + n;
    p.a = malloc((size_t)a_size * sizeof(float));
    p.b = malloc((size_t)b_size * sizeof(float));
    p.c0 = malloc((size_t)p.c_size * sizeof(float));
    p.bias = malloc((size_t)n * sizeof(float));
    for (int64_t i = 0; i < a_size; i++) p.a[i] = uniform();
    for (int64_t i = 0; i < b_size; i++) p.b[i] = uniform();
    for (int64_t i = 0; i < p.c_size; i++) p.c0[i] = i % p.g.c_row < n ? uniform() : GUARD;
    for (int64_t i = 0; i < n; i++) p.bias[i] = uniform();
    p.g.a = p.a;
    p.g.b = p.b;
    p.g.a_row = layout == TN ? 1 : lda;
    p.g.a_col = layout == TN ? lda : 1;
    p.g.b_row = layout == NT ? 1 : ldb;
    p.g.b_col = layout == NT ? ldb : 1;
    p.g.accumulate = start == 1;
    p.g.bias = start == 2 ? p.bias : NULL;
    return p;
}
static void free_problem(problem *p)
{
    free(p->a);
    free(p->b);
    free(p->c0);
    free(p->bias);
}

static float *run(const problem *p, gemm_fn gemm, pt_pool *pool)
{
    float *c = malloc((size_t)p->c_size * sizeof(float));
    memcpy(c, p->c0, (size_t)p->c_size * sizeof(float));
    pt_gemm g = p->g;
    g.c = c;
    gemm(&g, pool);
    return c;
}

/* Within the proven bound of a chain of k + 1 roundings (Higham 2002, section 3.1). */
static void check_against_double(const problem *p, const float *c)
{
    const pt_gemm *g = &p->g;
    const double unit = 1.0 / 16777216;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->c_row; j++) {
            if (i * g->c_row + j >= p->c_size) break;
            if (j >= g->n) {
                CHECK(c[i * g->c_row + j] == GUARD);
                continue;
            }
            double sum = g->accumulate ? (double)p->c0[i * g->c_row + j]
                         : g->bias     ? (double)p->bias[j]
                                       : 0;
            double size = pt_fabs(sum);
            for (int64_t q = 0; q < g->k; q++) {
                double term = (double)p->a[i * g->a_row + q * g->a_col] *
                              (double)p->b[q * g->b_row + j * g->b_col];
                sum += term;
                size += pt_fabs(term);
            }
            CHECK_CLOSE(c[i * g->c_row + j], sum, (double)(g->k + 2) * unit * size);
        }
}

static void check_same(const float *a, const float *b, int64_t n)
{
    CHECK(memcmp(a, b, (size_t)n * sizeof(float)) == 0);
}

/* One problem on every instruction set, and bit-identical with every pool. */
static void check_problem(int layout, const int64_t mnk[3], int64_t pad, int start)
{
    problem p = make_problem(layout, mnk, pad, start);
    for (int i = 0; i < N_ISA_GEMMS; i++) {
        if (!machine_has(isa_gemms[i].isa)) continue;
        float *want = run(&p, isa_gemms[i].gemm, NULL);
        check_against_double(&p, want);
        for (int t = 0; t < 4; t++) {
            float *got = run(&p, isa_gemms[i].gemm, pools[t]);
            check_same(got, want, p.c_size);
            free(got);
        }
        free(want);
    }
    free_problem(&p);
}

TEST(every_small_shape)
{
    make_pools();
    int count = 0;
    for (int64_t m = 1; m <= 70; m += m < 18 ? 1 : 7)
        for (int64_t n = 1; n <= 70; n += n < 18 ? 3 : 5)
            for (int64_t k = 0; k <= 70; k += k < 6 ? 1 : 13) {
                const int64_t mnk[3] = {m, n, k};
                check_problem(count % 3, mnk, count % 5, count / 3 % 3);
                count++;
            }
}

TEST(shapes_that_need_every_kind_of_block)
{
    make_pools();
    static const int64_t shapes[][3] = {{1, 257, 700},  {4, 1024, 96},   {97, 96, 650},
                                        {203, 130, 65}, {512, 48, 48},   {130, 700, 400},
                                        {48, 96, 1500}, {384, 128, 777}, {1025, 33, 321}};
    for (int s = 0; s < (int)(sizeof shapes / sizeof *shapes); s++)
        for (int layout = 0; layout < 3; layout++)
            check_problem(layout, shapes[s], s % 2 ? 3 : 0, (s + layout) % 3);
}

TEST(rows_that_collide_in_the_cache_are_copied)
{
    make_pools();
    const int64_t mnk[3] = {150, 64, 1024 + 1000};
    for (int layout = 0; layout < 3; layout++) check_problem(layout, mnk, 2048 - 2024, layout);
}

/* A row computed alone (a token) has the bits that it has in a batch. */
TEST(a_row_alone_equals_the_row_in_a_batch)
{
    make_pools();
    const int64_t mnk[3] = {200, 272, 333};
    for (int layout = NN; layout <= NT; layout++) {
        problem p = make_problem(layout, mnk, 0, 2);
        for (int i = 0; i < N_ISA_GEMMS; i++) {
            if (!machine_has(isa_gemms[i].isa)) continue;
            float *want = run(&p, isa_gemms[i].gemm, pools[1]);
            for (int64_t rows = 1; rows <= 5; rows++) {
                problem few = p;
                few.g.m = rows;
                few.g.a += 7 * p.g.a_row;
                few.c_size = rows * p.g.c_row;
                float *got = run(&few, isa_gemms[i].gemm, pools[2]);
                check_same(got, want + 7 * p.g.c_row, few.c_size);
                free(got);
            }
            free(want);
        }
        free_problem(&p);
    }
}

/* The rows of A, each one chain; with few and with many columns, blocks of k, tiles and panels. */
TEST(sums_of_a_are_one_chain)
{
    make_pools();
    static const int64_t shapes[][3] = {{2, 1, 1},      {13, 40, 300},   {37, 70, 9},
                                        {530, 48, 257}, {700, 600, 520}, {300, 1100, 2},
                                        {25, 9, 0}};
    for (int s = 0; s < (int)(sizeof shapes / sizeof *shapes); s++) {
        int64_t m = shapes[s][0];
        problem p = make_problem(TN, shapes[s], s % 2 ? 3 : 0, 1);
        float *want = malloc((size_t)m * sizeof *want), *got = malloc((size_t)m * sizeof *got);
        for (int64_t i = 0; i < m; i++) {
            want[i] = (float)i;
            for (int64_t q = 0; q < shapes[s][2]; q++) want[i] += p.a[q * p.g.a_col + i];
        }
        for (int i = 0; i < N_ISA_GEMMS * 4; i++) {
            if (!machine_has(isa_gemms[i / 4].isa)) continue;
            for (int64_t j = 0; j < m; j++) got[j] = (float)j;
            problem with = p;
            with.g.a_sums = got;
            float *c = run(&p, isa_gemms[i / 4].gemm, pools[i % 4]);
            float *c_with = run(&with, isa_gemms[i / 4].gemm, pools[i % 4]);
            check_same(c_with, c, p.c_size);
            check_same(got, want, m);
            free(c);
            free(c_with);
        }
        free(want);
        free(got);
        free_problem(&p);
    }
}

PT_TEST_MAIN
