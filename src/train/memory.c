/* The memory of a training run. SPDX-License-Identifier: MIT */
#include "train/memory.h"

#include "base/mem.h"

/* ---- by part ---- */

static const char *const names[PT_MEMORY_PARTS] = {
    [PT_MEMORY_WEIGHTS] = "weights",        [PT_MEMORY_GRADIENTS] = "gradients",
    [PT_MEMORY_MOMENTS] = "AdamW moments",  [PT_MEMORY_RESIDUAL] = "residual activations",
    [PT_MEMORY_NORMS] = "norm activations", [PT_MEMORY_ATTENTION] = "attention activations",
    [PT_MEMORY_MLP] = "mlp activations",    [PT_MEMORY_BACKWARD] = "activation gradients",
    [PT_MEMORY_HEAD] = "logits and loss",   [PT_MEMORY_BATCHES] = "batches",
    [PT_MEMORY_SAMPLING] = "sampling",      [PT_MEMORY_SAVING] = "saving",
    [PT_MEMORY_CORPUS] = "corpus",          [PT_MEMORY_SCRATCH] = "scratch",
};

const char *pt_memory_part_name(pt_memory_part part) { return names[part]; }

/* Entries by how their names begin; of a block, what follows "blocks.N." */
typedef struct pattern {
    const char *begins;
    pt_memory_part part;
} pattern;

static const pattern of_run[] = {
    {"weights", PT_MEMORY_WEIGHTS},
    {"rope frequencies", PT_MEMORY_WEIGHTS},
    {"gradients", PT_MEMORY_GRADIENTS},
    {"moment ", PT_MEMORY_MOMENTS},
    {"decay mask", PT_MEMORY_MOMENTS},
    {"output", PT_MEMORY_RESIDUAL},
    {"branch", PT_MEMORY_RESIDUAL},
    {"normed", PT_MEMORY_NORMS},
    {"mean", PT_MEMORY_NORMS},
    {"rstd", PT_MEMORY_NORMS},
    {"d_", PT_MEMORY_BACKWARD},
    {"delta", PT_MEMORY_BACKWARD},
    {"logits", PT_MEMORY_HEAD},
    {"logp", PT_MEMORY_HEAD},
    {"lse", PT_MEMORY_HEAD},
    {"ids", PT_MEMORY_BATCHES},
    {"targets", PT_MEMORY_BATCHES},
    {"coefficients", PT_MEMORY_BATCHES},
    {"batches", PT_MEMORY_BATCHES},
    {"scorer", PT_MEMORY_BATCHES},
    {"session", PT_MEMORY_SAMPLING},
    {"saver", PT_MEMORY_SAVING},
    {"corpus", PT_MEMORY_CORPUS},
    {"step state", PT_MEMORY_SCRATCH},
    {"ring of losses", PT_MEMORY_SCRATCH},
    {"thread scratch", PT_MEMORY_SCRATCH},
};

static const pattern of_block[] = {
    {"input", PT_MEMORY_RESIDUAL}, {"middle", PT_MEMORY_RESIDUAL}, {"norm", PT_MEMORY_NORMS},
    {"mean", PT_MEMORY_NORMS},     {"rstd", PT_MEMORY_NORMS},      {"gate", PT_MEMORY_MLP},
    {"hidden", PT_MEMORY_MLP},     {"activated", PT_MEMORY_MLP},   {"", PT_MEMORY_ATTENTION},
};

static pt_memory_part match(const char *name, const pattern *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pt_str_starts(name, list[i].begins)) return list[i].part;
    return PT_MEMORY_SCRATCH;
}

pt_memory_part pt_memory_part_of(const char *entry)
{
    if (!pt_str_starts(entry, "blocks."))
        return match(entry, of_run, sizeof of_run / sizeof of_run[0]);
    const char *last = strrchr(entry, '.');
    return match(last + 1, of_block, sizeof of_block / sizeof of_block[0]);
}

void pt_memory_by_part(const pt_plan *plan, int64_t bytes[PT_MEMORY_PARTS])
{
    int64_t entries = 0;
    for (int i = 0; i < PT_MEMORY_PARTS; i++) bytes[i] = 0;
    for (int64_t i = 0; i < plan->n_entries; i++) {
        bytes[pt_memory_part_of(plan->entries[i].name)] += plan->entries[i].bytes;
        entries += plan->entries[i].bytes;
    }
    bytes[PT_MEMORY_SCRATCH] += pt_plan_total_bytes(plan) - entries; /* the gaps between tensors */
}

int pt_memory_largest(const pt_plan *plan, int64_t *out, int n)
{
    int found = 0;
    for (int64_t i = 0; i < plan->n_entries; i++) {
        int at = found;
        while (at > 0 && plan->entries[i].bytes > plan->entries[out[at - 1]].bytes) at--;
        if (at == n) continue;
        if (found < n) found++;
        for (int k = found - 1; k > at; k--) out[k] = out[k - 1];
        out[at] = i;
    }
    return found;
}

/* ---- what would fit ---- */

typedef struct search {
    pt_device *device;
    const pt_trainer_desc *desc;
    int64_t available;
} search;

static pt_status plan_way(const search *f, pt_memory_way *way)
{
    pt_trainer_desc desc = *f->desc;
    pt_trainer *trainer = NULL;
    desc.options.batch = way->batch;
    desc.options.accum = way->accum;
    desc.options.recompute = way->recompute;
    desc.options.bf16 = way->bf16;
    pt_status s = pt_trainer_new(&trainer, f->device, &desc, NULL);
    if (s) return s;
    way->bytes = pt_plan_total_bytes(pt_trainer_plan(trainer));
    way->fits = way->bytes <= f->available;
    pt_trainer_free(trainer);
    return PT_OK;
}

/* The largest batch below the run's that fits and divides the windows of a step; else batch 1. */
static pt_status plan_smaller(const search *f, pt_memory_way *way)
{
    const pt_train_options *o = &f->desc->options;
    int64_t windows = o->batch * o->accum;
    pt_memory_way best = *way;
    best.batch = 1;
    best.accum = windows;
    pt_status s = plan_way(f, &best);
    int64_t low = 1, high = o->batch; /* low fits, or nothing does; high does not */
    while (s == PT_OK && best.fits && high - low > 1) {
        int64_t middle = low + (high - low) / 2, batch = middle;
        while (batch > low && windows % batch) batch--;
        if (batch == low) { /* no divisor up to the middle */
            low = middle;
            continue;
        }
        pt_memory_way tried = *way;
        tried.batch = batch;
        tried.accum = windows / batch;
        s = plan_way(f, &tried);
        if (s == PT_OK && tried.fits) best = tried, low = middle;
        else high = batch;
    }
    *way = best;
    return s;
}

void pt_memory_ways(pt_device *device, const pt_trainer_desc *desc, int64_t available, bool begun,
                    pt_memory_way out[PT_MEMORY_WAYS], int *n)
{
    const pt_train_options *o = &desc->options;
    search f = {device, desc, available};
    const pt_memory_way same = {
        .batch = o->batch, .accum = o->accum, .recompute = o->recompute, .bf16 = o->bf16};
    const struct {
        bool smaller, block, bf16, together;
    } ways[PT_MEMORY_WAYS] = {{.smaller = true},
                              {.block = true},
                              {.bf16 = true},
                              {true, true, false, true},
                              {true, true, true, true}};
    pt_memory_way least = {0};
    *n = 0;
    for (int i = 0; i < PT_MEMORY_WAYS; i++) {
        pt_memory_way way = same;
        if (ways[i].together && *n) continue;
        if (begun && (ways[i].smaller || ways[i].bf16)) continue;
        if (ways[i].block) way.recompute = PT_RECOMPUTE_BLOCK;
        if (ways[i].bf16) way.bf16 = true;
        bool smaller = ways[i].smaller && o->batch > 1;
        if (!smaller && way.recompute == o->recompute && way.bf16 == o->bf16) continue;
        if (smaller ? plan_smaller(&f, &way) : plan_way(&f, &way)) continue;
        if (way.fits) out[(*n)++] = way;
        else if (!least.bytes || way.bytes < least.bytes) least = way;
    }
    if (!*n && least.bytes) out[(*n)++] = least;
}
