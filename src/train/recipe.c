/* The depth recipe. SPDX-License-Identifier: MIT */
#include "train/recipe.h"

#include "base/decimal.h"
#include "base/format.h"
#include "base/maths.h"
#include "base/mem.h"

/* To six digits, so that what is printed can be typed again: a tenth of 0.006 is 0.0006. */
static double rounded(double value)
{
    char text[32];
    double out = value;
    size_t n = pt_format(text, sizeof text, "%.6g", value);
    return pt_decimal_to_double(text, n, &out) == n ? out : value;
}

double pt_recipe_min_lr(double lr) { return rounded(PT_RECIPE_MIN_LR * lr); }

pt_status pt_recipe_of_depth(int64_t depth, pt_regime regime, int64_t ctx, pt_recipe *out,
                             pt_error *err)
{
    if (depth < 1 || depth > PT_RECIPE_MAX_DEPTH)
        return pt_fail(err, PT_BAD_INPUT, "--depth is %lld, it must be 1 to %d", (long long)depth,
                       PT_RECIPE_MAX_DEPTH);
    if (ctx < 1)
        return pt_fail(err, PT_BAD_INPUT, "--ctx is %lld, it must be at least 1", (long long)ctx);
    int64_t d = 64 * depth, params = 12 * depth * d * d;
    double lr = 3e-3 * pt_sqrt(512.0 / (double)d);
    *out = (pt_recipe){.layers = depth,
                       .width = d,
                       .heads = depth,
                       .params = params,
                       .tokens = params * (regime == PT_REGIME_OVERTRAINED ? 40 : 20),
                       .lr = rounded(lr < 1e-4   ? 1e-4
                                     : lr > 6e-3 ? 6e-3
                                                 : lr),
                       .windows = pt_max_i64(1, 32 * d / ctx)};
    return PT_OK;
}

int64_t pt_recipe_steps(const pt_recipe *recipe, int64_t tokens_per_step)
{
    return pt_max_i64(1, recipe->tokens / pt_max_i64(1, tokens_per_step));
}

int64_t pt_recipe_warmup(int64_t steps) { return pt_min_i64(PT_RECIPE_WARMUP, steps / 10); }

bool pt_regime_from_name(const char *name, pt_regime *out)
{
    static const char *const regimes[] = {"chinchilla", "overtrained"};
    for (int i = 0; i < 2; i++) {
        if (strcmp(name, regimes[i]) != 0) continue;
        *out = (pt_regime)i;
        return true;
    }
    return false;
}
