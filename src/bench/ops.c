/* Every op, forwards and backwards. SPDX-License-Identifier: MIT */
#include "ops/ops.h"

#include "base/strings.h"
#include "bench/op_cases.h"

typedef struct op_call {
    pt_bench_op_case *c;
    pt_op op;
    pt_pass pass;
} op_call;

static pt_status call(void *ctx, pt_error *err)
{
    const op_call *o = ctx;
    return pt_op_run(o->c->memory.device, o->op, o->pass, o->c->args.bytes, err);
}

static void name_of(const pt_bench_sizes *sizes, pt_op op, pt_pass pass, char out[40])
{
    pt_format(out, 40, "%s %s %s", sizes->name, pt_op_info_of(op)->name,
              pass == PT_FORWARD ? "forward" : "backward");
}

static pt_status measure_pass(pt_bench *b, op_call *o, pt_error *err)
{
    char name[40];
    name_of(o->c->sizes, o->op, o->pass, name);
    if (!pt_bench_wants(b, name, o->c->shape)) return PT_OK;
    pt_bench_row *row = pt_bench_row_new(b, name, o->c->shape, err);
    if (!row) return PT_NO_MEMORY;
    row->flop = o->c->flop[o->pass];
    row->bytes = 4 * o->c->elements[o->pass];
    pt_bench_work work = {.device = b->device, .ctx = o, .call = call};
    return pt_bench_measure(b, row, &work, err);
}

static pt_status measure_op(pt_bench *b, const pt_bench_sizes *sizes, pt_op op, pt_error *err)
{
    pt_bench_op_case c = {.sizes = sizes, .memory = {.device = b->device, .err = err}};
    op_call o = {&c, op, PT_FORWARD};
    pt_bench_op_case_make(&c, op);
    pt_status s = c.memory.status;
    if (s == PT_OK) s = call(&o, err); /* the backward pass gets what the forward left */
    if (s == PT_OK) s = measure_pass(b, &o, err);
    o.pass = PT_BACKWARD;
    if (s == PT_OK && pt_op_info_of(op)->has_backward) s = measure_pass(b, &o, err);
    pt_bench_release(&c.memory);
    return s;
}

static bool wants_op(const pt_bench *b, const pt_bench_sizes *sizes, pt_op op)
{
    char name[40], back[40];
    name_of(sizes, op, PT_FORWARD, name);
    name_of(sizes, op, PT_BACKWARD, back);
    return pt_bench_wants(b, name, back);
}

pt_status pt_bench_ops(pt_bench *b, pt_error *err)
{
    /* GPT-2 with 64 tokens; what runs over all parameters gets those of one block: the whole is in `train`. */
    static const pt_bench_sizes sizes[] = {
        {"reference", 16, 128, 128, 4, 512, 256, 842496},
        {"gpt2", 4, 64, 768, 12, 3072, 50257, 7087872},
    };
    pt_status s = PT_OK;
    for (int i = 0; i < 2; i++)
        for (int op = 0; op < PT_OP_COUNT && s == PT_OK; op++)
            if (wants_op(b, &sizes[i], (pt_op)op)) s = measure_op(b, &sizes[i], (pt_op)op, err);
    return s;
}
