/* Model configuration: the sizes and options of one transformer, its limits and its presets.
 *
 * One block with options covers GPT-2, Llama, Mistral, Qwen and Gemma. A zero field means its
 * default (pt_model_config_complete), which is GPT-2's.
 * SPDX-License-Identifier: MIT */
#ifndef PT_MODEL_CONFIG_H
#define PT_MODEL_CONFIG_H

#include "base/mem.h"

typedef enum pt_norm_kind { PT_NORM_LAYER, PT_NORM_RMS } pt_norm_kind;
typedef enum pt_position_kind { PT_POSITION_LEARNED, PT_POSITION_ROPE } pt_position_kind;
typedef enum pt_mlp_kind { PT_MLP_GELU, PT_MLP_SWIGLU } pt_mlp_kind;

typedef struct pt_model_config {
    int64_t n_layers;   /* L */
    int64_t d_model;    /* C */
    int64_t n_heads;    /* H */
    int64_t n_kv_heads; /* G; default H */
    int64_t d_head;     /* D; default C/H */
    int64_t d_mlp;      /* F; default 4 C */
    int64_t ctx;        /* T, the longest window */
    int64_t vocab;      /* V; default 256, the bytes */
    int64_t window;     /* sliding attention window in tokens; 0 = none */
    pt_norm_kind norm;
    pt_position_kind positions;
    pt_mlp_kind mlp;
    bool gelu_tanh;    /* the tanh form (GPT-2 as published) instead of erf */
    bool no_bias;      /* no biases on linear layers and norms */
    bool qk_norm;      /* rmsnorm of q and k over each head */
    bool untied_head;  /* a head of its own instead of the token embedding */
    double norm_eps;   /* default 1e-5 */
    double rope_theta; /* default 10000 */
    double dropout;    /* on the embedding and both residual branches; default 0 */
} pt_model_config;

/* Fills defaults for zero fields; leaves the rest alone. */
void pt_model_config_complete(pt_model_config *config);
/* A completed config with sane sizes, or BAD_INPUT naming field, value and limit. */
pt_status pt_model_config_check(const pt_model_config *config, pt_error *err);

typedef struct pt_preset {
    const char *name;
    pt_model_config config;
    int64_t batch; /* sequences per step */
    int64_t steps;
} pt_preset;

/* Ends with a NULL name. Sources: the original's browser presets and Python reference; GPT-2. */
const pt_preset *pt_presets(void);
const pt_preset *pt_preset_find(const char *name); /* NULL when unknown */

#endif
