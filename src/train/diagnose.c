/* Finding the first bad tensor. SPDX-License-Identifier: MIT */
#include "train/diagnose.h"

#include "ops/ops.h"

typedef struct pt_checked {
    pt_tensor tensor;
    pt_op op;
    pt_pass pass;
} pt_checked;

static pt_status check_tensor(pt_diagnosis *d, const pt_tensor *t, pt_op op, pt_pass pass,
                              pt_error *err)
{
    if (d->n == d->capacity) {
        int64_t capacity = d->capacity ? 2 * d->capacity : 1024;
        void *grown = pt_realloc(d->checked, (size_t)d->capacity * sizeof *d->checked,
                                 (size_t)capacity * sizeof *d->checked);
        if (!grown) return pt_fail(err, PT_NO_MEMORY, "no memory to look for the bad tensor");
        d->checked = grown;
        d->capacity = capacity;
    }
    pt_check_finite_args a = {.x = pt_view(t, pt_numel(t), 0, 0, 0), .state = d->state, .id = d->n};
    d->checked[d->n++] = (pt_checked){*t, op, pass};
    return pt_check_finite_forward(d->device, &a, err);
}

static bool is_bf16(const pt_tensor *t) { return pt_present(t) && t->dtype == PT_BF16; }

static pt_status after_launch(void *ctx, pt_op op, pt_pass pass, const void *args, pt_error *err)
{
    pt_diagnosis *d = ctx;
    if (op == PT_OP_check_finite) return PT_OK;
    const pt_tensor *t = pt_op_tensors(args);
    pt_status s = PT_OK;
    for (int i = 0; i < pt_op_info_of(op)->n_tensors && s == PT_OK; i++)
        if ((pt_is_real(&t[i]) || is_bf16(&t[i])) && t[i].buffer != d->state.buffer)
            s = check_tensor(d, &t[i], op, pass, err);
    return s;
}

void pt_diagnosis_begin(pt_diagnosis *d, pt_device *device, const pt_tensor *state)
{
    d->device = device;
    d->state = *state;
    d->n = 0;
    device->hook = after_launch;
    device->hook_ctx = d;
}

void pt_diagnosis_end(pt_diagnosis *d)
{
    d->device->hook = NULL;
    d->device->hook_ctx = NULL;
}

bool pt_diagnosis_name(const pt_diagnosis *d, double first_bad, const pt_model *model,
                       const pt_plan *plan, char *out, size_t cap)
{
    if (!(first_bad >= 0 && first_bad < (double)d->n)) return false;
    const pt_checked *c = &d->checked[(int64_t)first_bad];
    char name[80];
    pt_model_name_of(model, plan, &c->tensor, name, sizeof name);
    pt_format(out, cap, "%s (op %s, %s)", name, pt_op_info_of(c->op)->name,
              c->pass == PT_FORWARD ? "forward" : "backward");
    return true;
}

void pt_diagnosis_deinit(pt_diagnosis *d)
{
    pt_free(d->checked);
    d->checked = NULL;
}
