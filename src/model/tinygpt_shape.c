/* The bridge between a model's configuration and the .tinygpt format's.
 * SPDX-License-Identifier: MIT */
#include "model/tinygpt_shape.h"

pt_status pt_tinygpt_shape_of(const pt_model_config *c, pt_tinygpt_config *out, pt_error *err)
{
    const struct {
        bool set;
        const char *what;
    } beyond[] = {
        {c->norm != PT_NORM_LAYER, "rmsnorm"},
        {c->positions != PT_POSITION_LEARNED, "rope"},
        {c->mlp != PT_MLP_GELU, "swiglu"},
        {c->no_bias, "layers without bias"},
        {c->qk_norm, "qk norm"},
        {c->untied_head, "an untied head"},
        {c->window != 0, "a sliding window"},
        {c->n_kv_heads != c->n_heads, "grouped kv heads"},
        {c->d_head * c->n_heads != c->d_model, "heads that do not add up to d_model"},
    };
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        if (beyond[i].set)
            return pt_fail(err, PT_UNSUPPORTED, ".tinygpt cannot hold a model with %s",
                           beyond[i].what);
    *out = (pt_tinygpt_config){.layers = c->n_layers,
                               .heads = c->n_heads,
                               .d_model = c->d_model,
                               .d_mlp = c->d_mlp,
                               .ctx = c->ctx,
                               .vocab = c->vocab};
    return pt_tinygpt_config_check(out, err);
}

pt_status pt_model_config_from_tinygpt(const pt_tinygpt_info *info, pt_model_config *out,
                                       pt_error *err)
{
    const pt_json *own = pt_json_get(info->header, "posttrain");
    *out = (pt_model_config){.n_layers = info->config.layers,
                             .n_heads = info->config.heads,
                             .d_model = info->config.d_model,
                             .d_mlp = info->config.d_mlp,
                             .ctx = info->config.ctx,
                             .vocab = info->config.vocab};
    pt_json_get_bool(own, "geluTanh", &out->gelu_tanh);
    pt_model_config_complete(out);
    return pt_model_config_check(out, err);
}
