/* A model from a file on a device. SPDX-License-Identifier: MIT */
#include "cli/loaded.h"

#include "base/platform.h"
#include "model/load_tinygpt.h"
#include "model/tinygpt_shape.h"

static pt_status make(pt_loaded *l, const pt_loaded_options *o, pt_error *err)
{
    pt_model_config config;
    pt_model_options options = {.mode = PT_MODEL_EVALUATE,
                                .batch = o->batch ? o->batch : 1,
                                .tokens = o->scorer ? o->tokens : 1};
    pt_status s = pt_model_config_from_tinygpt(l->file.info, &config, err);
    if (s == PT_OK && !o->scorer && !o->session) options.tokens = o->tokens;
    if (s == PT_OK) s = pt_model_new(&l->model, l->device, &config, &options, err);
    if (s == PT_OK && o->scorer) s = pt_scorer_new(&l->scorer, l->model, err);
    if (s == PT_OK && o->session) s = pt_session_new(&l->session, l->model, err);
    return s;
}

pt_status pt_loaded_open(pt_loaded *l, const pt_loaded_options *o, pt_error *err)
{
    *l = (pt_loaded){0};
    pt_status s = pt_choose_device(o->choice, &l->device, err);
    if (s == PT_OK) s = pt_model_file_open(&l->file, o->path, err);
    if (s) goto done;
    s = make(l, o, err);
    if (s) {
        pt_error_prefix(err, "%s", o->path);
        goto done;
    }
    pt_plan_init(&l->plan);
    pt_model_plan(l->model, &l->plan, "");
    if (l->scorer) pt_scorer_plan(l->scorer, &l->plan);
    if (l->session) pt_session_plan(l->session, &l->plan);
    s = pt_device_allocate_plan(l->device, &l->plan, err);
    if (s == PT_OK) s = pt_model_bind(l->model, &l->plan, err);
    if (s == PT_OK && l->scorer) pt_scorer_bind(l->scorer, &l->plan);
    if (s == PT_OK && l->session) s = pt_session_bind(l->session, &l->plan, err);
    if (s == PT_OK) {
        s = pt_model_load_tinygpt(l->model, l->file.file, err);
        if (s) pt_error_prefix(err, "%s", o->path);
    }
done:
    if (s) pt_loaded_close(l);
    return s;
}

void pt_loaded_close(pt_loaded *l)
{
    pt_session_free(l->session);
    pt_scorer_free(l->scorer);
    pt_model_free(l->model);
    pt_device_release_plan(&l->plan);
    pt_plan_deinit(&l->plan);
    pt_device_free(l->device);
    pt_model_file_close(&l->file);
    *l = (pt_loaded){0};
}

pt_status pt_next_token(pt_session *session, int32_t *out, pt_error *err)
{
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) {
        s = pt_session_poll(session, out, err);
        if (s == PT_PENDING) pt_platform_yield();
    }
    return s;
}
