/* A model from a file on a device. SPDX-License-Identifier: MIT */
#include "cli/loaded.h"

static pt_status open_model(pt_loaded *l, const pt_loaded_options *o, pt_error *err)
{
    pt_loaded_model_options model = o->model;
    (void)pt_weights_from_name(o->weights, &model.weights); /* the option's words were checked */
    pt_status s = pt_device_choose(o->choice, &l->device, err);
    if (s == PT_OK) s = pt_model_file_open(&l->file, o->path, err);
    if (s == PT_OK) s = pt_get_ready(l->device, false, err);
    if (s == PT_OK) {
        s = pt_loaded_model_open(&l->ready, l->device, l->file.file, &model, err);
        if (s) pt_error_prefix(err, "%s", o->path);
    }
    return s;
}

static pt_status do_once(const pt_loaded_options *o, pt_loaded_work work, void *ctx, pt_error *err)
{
    pt_loaded l = {0};
    pt_status s = open_model(&l, o, err);
    if (s == PT_OK) s = work(ctx, &l, err);
    pt_loaded_model_close(&l.ready);
    pt_device_free(l.device);
    pt_model_file_close(&l.file);
    return s;
}

pt_status pt_loaded_do(const pt_loaded_options *o, pt_loaded_work work, void *ctx, pt_error *err)
{
    pt_error lost = {0};
    pt_status s = do_once(o, work, ctx, &lost);
    if (s == PT_LOST) {
        pt_say("posttrain: %s; it is opened anew, once\n", lost.message);
        return do_once(o, work, ctx, err);
    }
    if (s) *err = lost;
    return s;
}
