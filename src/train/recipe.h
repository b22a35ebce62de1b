/* The depth recipe: one number gives a model and how to train it (the original's --depth).
 *   layers L = depth, width d = 64 L, heads = L
 *   parameters, counted as 12 L d^2: the matrices of the blocks
 *   tokens = 20 times that (Hoffmann et al. 2022, arXiv:2203.15556), or 40 times when overtrained
 *   learning rate = 3e-3 sqrt(512 / d), between 1e-4 and 6e-3
 *     to six digits, so that what is printed can be typed again
 *   windows per step = floor(32 d / ctx), steps = floor(tokens / tokens per step), each at least 1
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_RECIPE_H
#define PT_TRAIN_RECIPE_H

#include "base/status.h"

#include <stdbool.h>

#define PT_RECIPE_MAX_DEPTH 128
#define PT_RECIPE_CTX 1024 /* tokens per window, unless given: that of the original's table */
#define PT_RECIPE_WARMUP 500
#define PT_RECIPE_MIN_LR 0.1 /* of the learning rate */

typedef enum pt_regime { PT_REGIME_CHINCHILLA, PT_REGIME_OVERTRAINED } pt_regime;

typedef struct pt_recipe {
    int64_t layers, width, heads;
    int64_t params; /* 12 L d^2 */
    int64_t tokens; /* of the whole run */
    double lr;
    int64_t windows; /* per step */
} pt_recipe;

/* BAD_INPUT when depth is not 1 … PT_RECIPE_MAX_DEPTH or ctx is below 1. */
pt_status pt_recipe_of_depth(int64_t depth, pt_regime regime, int64_t ctx, pt_recipe *out,
                             pt_error *err);
/* Steps in which the tokens are seen, at least 1. */
int64_t pt_recipe_steps(const pt_recipe *recipe, int64_t tokens_per_step);
/* The rate to end at: a tenth of the learning rate, to six digits, as the recipe's own. */
double pt_recipe_min_lr(double lr);
/* Steps of warm-up: the original's 500, in a short run a tenth of it. */
int64_t pt_recipe_warmup(int64_t steps);

bool pt_regime_from_name(const char *name, pt_regime *out); /* "chinchilla", "overtrained" */

#endif
