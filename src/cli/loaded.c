/* A model from a file on a device. SPDX-License-Identifier: MIT */
#include "cli/loaded.h"

pt_status pt_loaded_open(pt_loaded *l, const pt_loaded_options *o, pt_error *err)
{
    *l = (pt_loaded){0};
    pt_loaded_model_options model = o->model;
    (void)pt_weights_from_name(o->weights, &model.weights); /* the option's words were checked */
    pt_status s = pt_device_choose(o->choice, &l->device, err);
    if (s == PT_OK) s = pt_model_file_open(&l->file, o->path, err);
    if (s == PT_OK) s = pt_get_ready(l->device, false, err);
    if (s == PT_OK) {
        s = pt_loaded_model_open(&l->ready, l->device, l->file.file, &model, err);
        if (s) pt_error_prefix(err, "%s", o->path);
    }
    if (s) pt_loaded_close(l);
    return s;
}

void pt_loaded_close(pt_loaded *l)
{
    pt_loaded_model_close(&l->ready);
    pt_device_free(l->device);
    pt_model_file_close(&l->file);
    *l = (pt_loaded){0};
}
