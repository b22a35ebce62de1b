/* Elementary functions against the long double libm, and the half conversions exhaustively.
 * SPDX-License-Identifier: MIT */
#include "base/test.h"

#include <float.h>
#include <math.h>

#define INF __builtin_inf()

static uint64_t rng_state = 0x9e3779b97f4a7c15;
static uint64_t next_u64(void)
{
    uint64_t z = (rng_state += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
static double uniform(double lo, double hi)
{
    return lo + (hi - lo) * ((double)(next_u64() >> 11) * 0x1p-53);
}

/* |got - want| in units of the last place that a double (or float) near `want` has. */
static double ulps(double got, long double want, int digits, int min_exponent)
{
    long double limit = ldexpl(1 - ldexpl(1, -digits - 1), digits == 53 ? 1024 : 128);
    if (fabsl(want) >= limit) return isinf(got) && (got > 0) == (want > 0) ? 0 : 1e9;
    if (!isfinite(got)) return 1e9;
    int exponent = want == 0 ? min_exponent : ilogbl(want) + 1;
    if (exponent < min_exponent) exponent = min_exponent;
    return (double)ldexpl(fabsl((long double)got - want), digits - exponent);
}
static double ulps64(double got, long double want) { return ulps(got, want, 53, DBL_MIN_EXP); }
static double ulps32(float got, double want)
{
    return ulps((double)got, (long double)want, 24, FLT_MIN_EXP);
}

typedef struct function {
    const char *name;
    double (*ours)(double);
    long double (*exact)(long double);
    double worst, worst_at;
} function;

static void measure(function *f, double x)
{
    double got = f->ours(x);
    long double want = f->exact((long double)x);
    double u = isnan(want) ? (isnan(got) ? 0 : 1e9) : ulps64(got, want);
    if (!(u <= f->worst)) {
        f->worst = u;
        f->worst_at = x;
    }
}
/* Arguments over every exponent, both signs if wanted, subnormals included. */
static void measure_all_exponents(function *f, int n, bool negative)
{
    for (int i = 0; i < n; i++) {
        uint64_t bits = next_u64() & (negative ? UINT64_MAX : UINT64_MAX >> 1);
        double x = pt_double_from_bits(bits);
        if (isfinite(x)) measure(f, x);
        if (i % 8 == 0) measure(f, pt_double_from_bits(bits & 0x800fffffffffffff)); /* subnormal */
    }
}
static void measure_range(function *f, double lo, double hi, int n)
{
    for (int i = 0; i < n; i++) measure(f, uniform(lo, hi));
}
/* The n doubles on each side of x. */
static void measure_around(function *f, double x, int n)
{
    double up = x, down = x;
    measure(f, x);
    for (int i = 0; i < n; i++) {
        up = nextafter(up, INF);
        down = nextafter(down, -INF);
        measure(f, up);
        measure(f, down);
    }
}
/* The contract is 2 ulp; `limit` is just above the measured worst: losing a low part shows. */
static void report(const function *f, double limit)
{
    printf("%s: %.3f ulp at %.17g (%a)\n", f->name, f->worst, f->worst_at, f->worst_at);
    CHECK(f->worst <= limit);
}

#define SAME(got, want) CHECK(same_value((got), (want)))
static bool same_value(double got, double want) /* signs of zero count, NaN equals NaN */
{
    if (isnan(want)) return isnan(got);
    return got == want && signbit(got) == signbit(want);
}

TEST(exp)
{
    function f = {"exp", pt_exp, expl, 0, 0};
    measure_all_exponents(&f, 100000, true);
    measure_range(&f, -1, 1, 100000);
    measure_range(&f, -746, 710, 200000);
    measure_range(&f, -746, -707, 50000); /* subnormal results */
    for (int k = -1074; k <= 1024; k++) {
        measure_around(&f, k * PT_LN2, 20);
        measure_around(&f, (k + 0.5) * PT_LN2, 20); /* where the reduction changes k */
    }
    measure_around(&f, 709.782712893384, 200);
    measure_around(&f, -745.1332191019411, 200);
    report(&f, 0.9);
    SAME(pt_exp(0.0), 1.0);
    SAME(pt_exp(-0.0), 1.0);
    SAME(pt_exp(INF), INF);
    SAME(pt_exp(-INF), 0.0);
    SAME(pt_exp(DBL_MAX), INF);
    SAME(pt_exp(-DBL_MAX), 0.0);
    SAME(pt_exp(PT_NAN), PT_NAN);
}

TEST(log)
{
    function f = {"log", pt_log, logl, 0, 0};
    measure_all_exponents(&f, 200000, false);
    measure_range(&f, 0.5, 2, 200000);
    measure_range(&f, 1 - 1e-3, 1 + 1e-3, 100000);
    for (int k = -1074; k < 1024; k++) {
        measure_around(&f, ldexp(1, k), 10);
        measure_around(&f, ldexp(sqrt(0.5), k), 10);
    }
    measure_around(&f, 1, 20000);
    report(&f, 1.0);
    SAME(pt_log(1.0), 0.0);
    SAME(pt_log(0.0), -INF);
    SAME(pt_log(-0.0), -INF);
    SAME(pt_log(-1.0), PT_NAN);
    SAME(pt_log(-INF), PT_NAN);
    SAME(pt_log(INF), INF);
    SAME(pt_log(PT_NAN), PT_NAN);
}

TEST(erf)
{
    function f = {"erf", pt_erf, erfl, 0, 0};
    measure_all_exponents(&f, 100000, true);
    measure_range(&f, -1, 1, 150000);
    measure_range(&f, 0.8, 1.5, 100000);
    measure_range(&f, -6.5, 6.5, 100000);
    measure_around(&f, 0.87, 1000);
    measure_around(&f, 6, 1000);
    report(&f, 1.5);
    SAME(pt_erf(0.0), 0.0);
    SAME(pt_erf(-0.0), -0.0);
    SAME(pt_erf(INF), 1.0);
    SAME(pt_erf(-INF), -1.0);
    SAME(pt_erf(PT_NAN), PT_NAN);
}

TEST(tanh)
{
    function f = {"tanh", pt_tanh, tanhl, 0, 0};
    measure_all_exponents(&f, 100000, true);
    measure_range(&f, -1, 1, 200000);
    measure_range(&f, -22, 22, 100000);
    measure_around(&f, 0.625, 5000);
    measure_around(&f, 0x1p-28, 1000);
    measure_around(&f, 20, 1000);
    report(&f, 1.5);
    SAME(pt_tanh(0.0), 0.0);
    SAME(pt_tanh(-0.0), -0.0);
    SAME(pt_tanh(INF), 1.0);
    SAME(pt_tanh(-INF), -1.0);
    SAME(pt_tanh(PT_NAN), PT_NAN);
}

static void measure_trig(function *f)
{
    measure_all_exponents(f, 200000, true);
    measure_range(f, -8, 8, 150000);
    measure_range(f, -2e6, 2e6, 100000); /* both reductions */
    for (int k = -2000; k <= 2000; k++) measure_around(f, k * (PT_PI / 4), 8);
    for (int i = 0; i < 20000; i++) /* near multiples of pi/2 of every size */
        measure_around(f, (double)(next_u64() >> (i % 63 + 1)) * (PT_PI / 2), 1);
    measure_around(f, 0x1.8p20, 200);
    measure_around(f, 0x1p-27, 200);
    /* The double closest to a multiple of pi/2 (Muller, Elementary Functions, ch. 11), and more. */
    measure_around(f, 6381956970095103.0 * 0x1p797, 50);
    measure_around(f, 5.319372648326541e255, 50);
    measure_around(f, 1e22, 50);
    measure_around(f, DBL_MAX, 0);
    report(f, 0.85);
}

TEST(sin)
{
    function f = {"sin", pt_sin, sinl, 0, 0};
    measure_trig(&f);
    SAME(pt_sin(0.0), 0.0);
    SAME(pt_sin(-0.0), -0.0);
    SAME(pt_sin(INF), PT_NAN);
    SAME(pt_sin(-INF), PT_NAN);
    SAME(pt_sin(PT_NAN), PT_NAN);
    /* Known to many digits, so that a libm bug cannot hide ours. */
    CHECK(ulps64(pt_sin(1e22), -0.852200849767188801772705L) <= 1);
    CHECK(ulps64(pt_sin(-1e22), 0.852200849767188801772705L) <= 1);
}

TEST(cos)
{
    function f = {"cos", pt_cos, cosl, 0, 0};
    measure_trig(&f);
    SAME(pt_cos(0.0), 1.0);
    SAME(pt_cos(-0.0), 1.0);
    SAME(pt_cos(INF), PT_NAN);
    SAME(pt_cos(-INF), PT_NAN);
    SAME(pt_cos(PT_NAN), PT_NAN);
    CHECK(ulps64(pt_cos(1e22), 0.523214785395138945497594L) <= 1);
}

static double pow_worst, pow_worst_x, pow_worst_y;
static void measure_pow(double x, double y)
{
    double u = ulps64(pt_pow(x, y), powl((long double)x, (long double)y));
    if (!(u <= pow_worst)) {
        pow_worst = u;
        pow_worst_x = x;
        pow_worst_y = y;
    }
}

TEST(pow)
{
    pow_worst = 0;
    for (int i = 0; i < 200000; i++) {
        double x = pt_double_from_bits(next_u64() >> 1);
        if (!isfinite(x) || x == 0) continue;
        /* Results over the whole range, ends included. */
        measure_pow(x, uniform(-750, 750) / log(x));
        measure_pow(x, uniform(-3, 3));
        measure_pow(uniform(0, 4), uniform(-300, 300));
        double near_one = 1 + uniform(-1, 1) * ldexp(1, -(int)(next_u64() % 50));
        if (near_one > 0 && near_one != 1)
            measure_pow(near_one, uniform(-700, 700) / log(near_one));
        measure_pow(-uniform(0, 30), (double)((int64_t)(next_u64() % 401) - 200));
        double y = pt_double_from_bits(next_u64());
        if (isfinite(y)) measure_pow(x, y);
    }
    for (int e = -1074; e <= 1024; e++) measure_pow(2, e);
    printf("pow: %.3f ulp at %.17g, %.17g\n", pow_worst, pow_worst_x, pow_worst_y);
    CHECK(pow_worst <= 0.95);
}

TEST(pow_special_values)
{
    /* Every pair of these gives the value of the C library (Annex F) exactly, NaN for NaN. */
    static const double v[] = {0.0,
                               -0.0,
                               1,
                               -1,
                               2,
                               -2,
                               3,
                               -3,
                               0.5,
                               -0.5,
                               1.5,
                               -1.5,
                               INF,
                               -INF,
                               PT_NAN,
                               1e300,
                               -1e300,
                               1e-300,
                               -1e-300,
                               0x1p53,
                               -0x1p53,
                               0x1.fffffffffffffp52,
                               -0x1.fffffffffffffp52,
                               DBL_MAX,
                               -DBL_MAX,
                               5e-324,
                               -5e-324,
                               0x1p-1022,
                               0x1p66,
                               -0x1p66};
    int n = (int)(sizeof v / sizeof *v);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double got = pt_pow(v[i], v[j]), want = pow(v[i], v[j]);
            bool exact = want == 0 || !isfinite(want) || fabs(want) == 1;
            if (exact ? !same_value(got, want) : fabs(got - want) > 1e-15 * fabs(want))
                printf("pow(%g, %g) = %g, want %g\n", v[i], v[j], got, want);
            CHECK(exact ? same_value(got, want) : fabs(got - want) <= 1e-15 * fabs(want));
        }
    }
}

TEST(pow_of_small_integers_is_exact)
{
    for (int b = 2; b <= 10; b++) {
        double want = 1;
        for (int e = 0; want < 0x1p53; e++, want *= b) SAME(pt_pow(b, e), want);
    }
}

TEST(floor_and_round)
{
    static const double v[] = {0.0,          -0.0,       0.5,     -0.5,         0.49999999999999994,
                               1.5,          -1.5,       2.5,     -2.5,         1,
                               -1,           1e-320,     -1e-320, 0x1p51 + 0.5, -0x1p51 - 0.5,
                               0x1p52 - 0.5, 0x1p52 + 1, 0x1p53,  1e300,        -1e300,
                               INF,          -INF,       PT_NAN};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        SAME(pt_floor(v[i]), floor(v[i]));
        SAME(pt_round_even(v[i]), nearbyint(v[i]));
    }
    for (int i = 0; i < 100000; i++) {
        double x = pt_double_from_bits(next_u64()), y = uniform(-1e6, 1e6);
        SAME(pt_floor(x), floor(x));
        SAME(pt_round_even(x), nearbyint(x));
        SAME(pt_floor(y), floor(y));
        SAME(pt_round_even(y), nearbyint(y));
    }
}

typedef struct function32 {
    const char *name;
    float (*ours)(float);
    double (*exact)(double);
} function32;

static double f32_error(const function32 *f, float x)
{
    float got = f->ours(x);
    double want = f->exact((double)x);
    if (isnan(want)) return isnan(got) ? 0 : 1e9;
    if (want == 0 && !(got == 0 && signbit(got) == signbit(want))) return 1e9;
    return ulps32(got, want);
}

/* Every 997th of all 2^32 floats (so all exponents, both signs, infinities and NaNs), all floats
 * around the places where the implementation changes, and a dense range. */
TEST(float_functions)
{
    static const function32 functions[] = {{"expf", pt_expf, exp}, {"logf", pt_logf, log},
                                           {"erff", pt_erff, erf}, {"tanhf", pt_tanhf, tanh},
                                           {"sinf", pt_sinf, sin}, {"cosf", pt_cosf, cos}};
    static const float places[] = {0,    0.55f,       0.625f,     0.70710678f,    0.78539816f,
                                   1,    1.41421356f, 1.5707963f, 3.1415927f,     4,
                                   10,   88.72284f,   89,         -87.33655f,     -103.97208f,
                                   -104, 0x1.8p20f,   0x1p-126f,  0x1.fffffep127f};
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        const function32 *f = &functions[k];
        double worst = 0;
        float worst_at = 0;
        uint64_t total = 0x100000000u / 997 + 400000;
        for (uint64_t i = 0; i < total; i++) {
            uint32_t bits = (uint32_t)(i * 997);
            float x = pt_float_from_bits(bits);
            if (i >= 0x100000000u / 997) x = (float)uniform(-20, 20);
            double u = f32_error(f, x);
            if (u > worst) worst = u, worst_at = x;
        }
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            for (int d = -2000; d <= 2000; d++) {
                float x = pt_float_from_bits(pt_float_bits(places[p]) + (uint32_t)d);
                double u = f32_error(f, x);
                if (u > worst) worst = u, worst_at = x;
            }
        }
        printf("%s: %.4f ulp at %.9g\n", f->name, worst, (double)worst_at);
        CHECK(worst <= 0.51);
    }
}

/* The value of a half by its definition. */
static double half_value(uint32_t h)
{
    int exponent = (int)(h >> 10 & 31), m = (int)(h & 0x3ff);
    double v = exponent ? ldexp(1024 + m, exponent - 25) : ldexp(m, -24);
    return h & 0x8000 ? -v : v;
}

TEST(half_to_float_and_back)
{
    for (uint32_t h = 0; h < 65536; h++) {
        float x = pt_float_from_half((uint16_t)h);
        uint32_t magnitude = h & 0x7fff;
        if (magnitude > 0x7c00) {
            CHECK(isnan(x));
            CHECK_INT(pt_half_from_float(x), h | 0x200); /* made quiet, payload and sign kept */
            continue;
        }
        if (magnitude == 0x7c00) CHECK(isinf(x) && (x < 0) == (h >> 15));
        else SAME((double)x, half_value(h));
        CHECK_INT(pt_half_from_float(x), h);
    }
}

/* Between neighbouring halves: the midpoint goes to the even one, its neighbours to the near. */
TEST(half_rounding)
{
    for (uint32_t h = 0; h < 0x7c00; h++) {
        double lo = half_value(h), hi = h == 0x7bff ? 65536 : half_value(h + 1);
        float middle = (float)((lo + hi) / 2);
        CHECK((double)middle == (lo + hi) / 2);
        uint32_t even = h & 1 ? h + 1 : h;
        CHECK_INT(pt_half_from_float(middle), even);
        CHECK_INT(pt_half_from_float(-middle), even | 0x8000);
        CHECK_INT(pt_half_from_float(nextafterf(middle, 0)), h);
        CHECK_INT(pt_half_from_float(nextafterf(middle, 1e9f)), h + 1);
        CHECK_INT(pt_half_from_float(-nextafterf(middle, 1e9f)), (h + 1) | 0x8000);
    }
    CHECK_INT(pt_half_from_float(1e9f), 0x7c00);
    CHECK_INT(pt_half_from_float(-(float)INF), 0xfc00);
    CHECK_INT(pt_half_from_float(0x1p-25f), 0);
    CHECK_INT(pt_half_from_float(-0x1p-149f), 0x8000);
    CHECK(pt_half_from_float((float)PT_NAN) > 0x7c00);
    CHECK(pt_half_from_float(pt_float_from_bits(0x7f800001)) ==
          0x7e00); /* signalling, low payload */
}

TEST(bf16)
{
    for (uint32_t b = 0; b < 65536; b++) {
        uint32_t low = b << 16;
        if ((b & 0x7fff) > 0x7f80) {
            CHECK_INT(pt_bf16_from_float(pt_float_from_bits(low)), b | 0x40);
            continue;
        }
        CHECK_INT(pt_bf16_from_float(pt_float_from_bf16((uint16_t)b)), b);
        if ((b & 0x7fff) == 0x7f80) continue;
        CHECK_INT(pt_bf16_from_float(pt_float_from_bits(low + 0x7fff)), b);
        CHECK_INT(pt_bf16_from_float(pt_float_from_bits(low + 0x8000)), b + (b & 1));
        CHECK_INT(pt_bf16_from_float(pt_float_from_bits(low + 0x8001)), b + 1);
    }
    uint16_t nan = pt_bf16_from_float(pt_float_from_bits(0x7f800001)); /* its payload is cut off */
    CHECK_INT(nan, 0x7fc0);
}

PT_TEST_MAIN
