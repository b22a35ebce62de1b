/* A model from a file on a device. SPDX-License-Identifier: MIT */
#include "infer/loaded_model.h"

#include "model/load_tinygpt.h"
#include "model/tinygpt_shape.h"

static pt_status make(pt_loaded_model *l, pt_device *device, const pt_tinygpt_info *info,
                      const pt_loaded_model_options *o, pt_error *err)
{
    pt_model_config config;
    bool one = o->session && !o->scorer && !o->tokens; /* a session brings its own windows */
    pt_model_options options = {.mode = PT_MODEL_EVALUATE,
                                .batch = o->batch ? o->batch : 1,
                                .tokens = one ? 1 : o->tokens,
                                .weights = o->weights};
    pt_status s = pt_model_config_from_tinygpt(info, &config, err);
    if (s == PT_OK) s = pt_model_new(&l->model, device, &config, &options, err);
    if (s == PT_OK && o->scorer) s = pt_scorer_new(&l->scorer, l->model, err);
    if (s == PT_OK && o->session) s = pt_session_new(&l->session, l->model, err);
    return s;
}

static pt_status bind(pt_loaded_model *l, pt_device *device, pt_error *err)
{
    pt_model_plan(l->model, &l->plan, "");
    if (l->scorer) pt_scorer_plan(l->scorer, &l->plan);
    if (l->session) pt_session_plan(l->session, &l->plan);
    pt_status s = pt_device_allocate_plan(device, &l->plan, err);
    if (s == PT_OK) s = pt_model_bind(l->model, &l->plan, err);
    if (s == PT_OK && l->scorer) pt_scorer_bind(l->scorer, &l->plan);
    if (s == PT_OK && l->session) s = pt_session_bind(l->session, &l->plan, err);
    return s;
}

pt_status pt_loaded_model_open(pt_loaded_model *l, pt_device *device, const pt_tinygpt *file,
                               const pt_loaded_model_options *options, pt_error *err)
{
    *l = (pt_loaded_model){0};
    pt_plan_init(&l->plan);
    pt_status s = make(l, device, pt_tinygpt_get(file), options, err);
    if (s == PT_OK) s = bind(l, device, err);
    if (s == PT_OK) s = pt_model_load_tinygpt(l->model, file, err);
    if (s) pt_loaded_model_close(l);
    return s;
}

void pt_loaded_model_close(pt_loaded_model *l)
{
    pt_session_free(l->session);
    pt_scorer_free(l->scorer);
    pt_model_free(l->model);
    pt_device_release_plan(&l->plan);
    pt_plan_deinit(&l->plan);
    *l = (pt_loaded_model){0};
}
