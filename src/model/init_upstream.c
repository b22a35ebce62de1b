/* The original system's initial weights, bit for bit. SPDX-License-Identifier: MIT */
#include "model/init_upstream.h"

#include "base/maths.h"
#include "model/tinygpt_shape.h"

/* ---- generator ---- */

enum { MT_N = 624, MT_M = 397 };

void pt_mt19937_seed(pt_mt19937 *g, uint32_t seed)
{
    g->state[0] = seed;
    for (uint32_t i = 1; i < MT_N; i++) {
        uint32_t before = g->state[i - 1];
        g->state[i] = 1812433253u * (before ^ before >> 30) + i;
    }
    g->next = MT_N;
}

static void refill(pt_mt19937 *g)
{
    for (int i = 0; i < MT_N; i++) {
        uint32_t y = (g->state[i] & 0x80000000u) | (g->state[(i + 1) % MT_N] & 0x7fffffffu);
        g->state[i] = g->state[(i + MT_M) % MT_N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    g->next = 0;
}

uint32_t pt_mt19937_next(pt_mt19937 *g)
{
    if (g->next == MT_N) refill(g);
    uint32_t y = g->state[g->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* ---- logarithm ---- */

/* A correctly rounded logarithm would change 0.3 % of the weights: the library that the original
 * uses is off by up to 0.82 ulp. Like it, this works in double: x = 2^k z with z in [0.699, 1.398),
 * one of 16 intervals of z gives 1/c and log c for a c near its middle, and
 *   log x = k ln 2 + log c + r + r^2 (A2 + A1 r + A0 r^2),   r = z/c - 1.
 * The numbers are not that library's. They were fitted to its results: with c and A unknown, every
 * float x whose logf is known bounds a nearly linear function of them from both sides by the
 * neighbouring rounding borders, and a linear programme over the tightest bounds gives a point
 * inside all of them. With it all 1,065,353,216 floats in (0, 1] agree with glibc 2.36. */
float pt_upstream_logf(float x)
{
    static const double invc_logc[16][2] = {
        {0x1.661eda2b23474p+0, -0x1.57bfad0fe479ep-2},
        {0x1.571ed8b7b2833p+0, -0x1.2bef169201d98p-2},
        {0x1.4953a61214882p+0, -0x1.01eafdc2a3f61p-2},
        {0x1.3c99617fedfb3p+0, -0x1.b31db42947cc6p-3},
        {0x1.30d1960af7cb4p+0, -0x1.6575140271acbp-3},
        {0x1.25e229dc9a356p+0, -0x1.1aa2cb9b91fe4p-3},
        {0x1.1bb4b7d29f119p+0, -0x1.a4e881fbea560p-4},
        {0x1.123597724bad0p+0, -0x1.1974434fad8b9p-4},
        {0x1.0953f4b145fc1p+0, -0x1.252f55da22375p-5},
        {0x1.0000000000000p+0, 0x0.0p+0},
        {0x1.e608cf85c5bd5p-1, 0x1.aa5aab64c20d5p-5},
        {0x1.ca4b33681c856p-1, 0x1.c5e52d833da3bp-4},
        {0x1.b203673529b5fp-1, 0x1.526e4f373e7f1p-3},
        {0x1.9c2d1476c8f10p-1, 0x1.bc286994a2604p-3},
        {0x1.886e6976cccecp-1, 0x1.1058a468e69e4p-2},
        {0x1.767dd444fdecap-1, 0x1.4042f7fbc44cfp-2},
    };
    const double a0 = -0x1.00ea31ea4af00p-2, a1 = 0x1.5575b0c98bf02p-2, a2 = -0x1.ffffef20f8024p-2;
    uint32_t bits = pt_float_bits(x);
    int k = 0;
    if (bits < 0x00800000u) { /* subnormal: scale up */
        bits = pt_float_bits(x * 0x1p23f);
        k = -23;
    }
    const uint32_t lowest = 0x3f330000u; /* 0.699 */
    uint32_t above = bits - lowest;
    k += (int32_t)above >> 23;
    const double *c = invc_logc[above >> 19 & 15];
    double z = (double)pt_float_from_bits(bits - (above & 0xff800000u));
    double r = z * c[0] - 1, r2 = r * r;
    double tail = a0 * r2 + (a1 * r + a2);
    return (float)(tail * r2 + (c[1] + k * PT_LN2 + r));
}

/* ---- weights ---- */

enum { PLAIN, RESIDUAL }; /* the two distribution objects */

static float uniform(pt_mt19937 *g) { return (float)pt_mt19937_next(g) / 4294967296.0f; }

static float normal(pt_upstream_init *init, int which)
{
    if (init->has_spare[which]) {
        init->has_spare[which] = false;
        return init->spare[which] * init->std[which];
    }
    float u, v, s;
    do {
        u = 2.0f * uniform(&init->generator) - 1.0f;
        v = 2.0f * uniform(&init->generator) - 1.0f;
        s = u * u + v * v;
    } while (s > 1.0f || s == 0.0f);
    float f = pt_sqrtf(-2.0f * pt_upstream_logf(s) / s);
    init->spare[which] = v * f;
    init->has_spare[which] = true;
    return u * f * init->std[which];
}

void pt_upstream_init_begin(pt_upstream_init *init, const pt_tinygpt_config *config, uint32_t seed)
{
    *init = (pt_upstream_init){.config = *config};
    pt_mt19937_seed(&init->generator, seed);
    init->std[PLAIN] = 0.02f;
    init->std[RESIDUAL] = 0.02f / pt_sqrtf(2.0f * (float)config->layers);
}

void pt_upstream_init_next(pt_upstream_init *init, float *dst)
{
    pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&init->config, init->next++);
    bool residual = pt_str_ends(t.name, ".o_proj.weight") || pt_str_ends(t.name, ".fc_out.weight");
    float constant = pt_str_ends(t.name, ".bias") ? 0.0f : 1.0f;
    for (int64_t i = 0; i < t.n; i++)
        dst[i] = t.rank == 2 ? normal(init, residual ? RESIDUAL : PLAIN) : constant;
}

/* ---- a model ---- */

static pt_status set_next(pt_model *model, pt_upstream_init *init, float *stored, float *w,
                          pt_error *err)
{
    pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&init->config, init->next);
    const pt_param *p = pt_params_find(&model->params, t.name);
    if (!p || p->n != t.n) return pt_fail(err, PT_INTERNAL, "the model has no tensor %s", t.name);
    pt_upstream_init_next(init, stored);
    pt_tinygpt_from_stored(&t, w, stored);
    return pt_model_set_weight(model, p - model->params.list, w, err);
}

pt_status pt_model_init_upstream(pt_model *model, uint64_t seed, pt_error *err)
{
    if (seed > UINT32_MAX)
        return pt_fail(err, PT_BAD_INPUT, "seed %llu: the original's generator takes 0 to %u",
                       (unsigned long long)seed, (unsigned)UINT32_MAX);
    pt_tinygpt_config config;
    pt_status s = pt_tinygpt_shape_of(&model->config, &config, err);
    if (s) return s;
    int64_t n_tensors = pt_tinygpt_n_tensors(&config), largest = 0;
    for (int64_t i = 0; i < n_tensors; i++)
        largest = pt_max_i64(largest, pt_tinygpt_tensor_at(&config, i).n);
    float *block = pt_alloc((size_t)(2 * largest) * sizeof *block);
    if (!block) return pt_fail(err, PT_NO_MEMORY, "no memory for the initial weights");
    pt_upstream_init init;
    pt_upstream_init_begin(&init, &config, (uint32_t)seed);
    for (int64_t i = 0; i < n_tensors && s == PT_OK; i++)
        s = set_next(model, &init, block, block + largest, err);
    pt_free(block);
    return s;
}
