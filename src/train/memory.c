/* The memory of a training run. SPDX-License-Identifier: MIT */
#include "train/memory.h"

#include "base/human.h"
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

#define LEAST_SCRATCH 4000000

pt_memory_room pt_memory_room_of(const pt_device *device, int64_t gives)
{
    int64_t less = gives - pt_max_i64(gives / 16, LEAST_SCRATCH);
    return (pt_memory_room){.device = gives ? pt_max_i64(1, less) : 0,
                            .buffer = device->largest_buffer,
                            .tensor = device->largest_tensor};
}

/* What of a room is short, the machine's last. */
typedef struct shortage {
    enum {
        SHORT_OF_NOTHING,
        SHORT_OF_TENSOR,
        SHORT_OF_BUFFER,
        SHORT_OF_DEVICE,
        SHORT_OF_MACHINE
    } of;
    int64_t needs, has;
} shortage;

static int64_t largest_arena(const pt_plan *plan)
{
    int64_t largest = 0;
    for (int i = 0; i < PT_ARENA_HOST; i++) largest = pt_max_i64(largest, plan->arena_bytes[i]);
    return largest;
}

static int64_t largest_activation(const pt_plan *plan)
{
    int64_t largest = 0;
    for (int64_t i = 0; i < plan->n_entries; i++) {
        pt_arena_id arena = plan->entries[i].arena;
        if (arena == PT_ARENA_STEP || arena == PT_ARENA_CALL)
            largest = pt_max_i64(largest, plan->entries[i].bytes);
    }
    return largest;
}

static shortage shortage_of(const pt_memory_question *q, const pt_plan *plan)
{
    const pt_memory_room *room = &q->room;
    int64_t all = pt_plan_total_bytes(plan), host = plan->arena_bytes[PT_ARENA_HOST];
    const shortage each[] = {
        {SHORT_OF_TENSOR, largest_activation(plan), room->tensor},
        {SHORT_OF_BUFFER, largest_arena(plan), room->buffer},
        {SHORT_OF_DEVICE, all - host + q->besides, room->device},
        {SHORT_OF_MACHINE, q->device->own_memory ? host : all + q->besides, room->machine},
    };
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++)
        if (each[i].has && each[i].needs > each[i].has) return each[i];
    return (shortage){SHORT_OF_NOTHING, 0, 0};
}

bool pt_memory_fits(const pt_memory_question *q, const pt_plan *plan)
{
    return shortage_of(q, plan).of == SHORT_OF_NOTHING;
}

static pt_status plan_way(const pt_memory_question *q, pt_memory_way *way)
{
    pt_trainer_desc desc = *q->desc;
    pt_trainer *trainer = NULL;
    desc.options.batch = way->batch;
    desc.options.accum = way->accum;
    desc.options.recompute = way->recompute;
    desc.options.bf16 = way->bf16;
    pt_status s = pt_trainer_new(&trainer, q->device, &desc, NULL);
    if (s) return s;
    const pt_plan *plan = pt_trainer_plan(trainer);
    way->bytes = pt_plan_total_bytes(plan) + q->besides;
    way->device_bytes = way->bytes - plan->arena_bytes[PT_ARENA_HOST];
    way->fits = pt_memory_fits(q, plan);
    pt_trainer_free(trainer);
    return PT_OK;
}

/* The way with another batch, and as many windows a step where these must stay: a divisor of them. */
static pt_status plan_batch(const pt_memory_question *q, int64_t batch, pt_memory_way *way)
{
    const pt_train_options *o = &q->desc->options;
    way->batch = batch;
    way->accum = q->may == PT_MEMORY_MAY_BATCH ? o->accum : o->batch * o->accum / batch;
    return plan_way(q, way);
}

/* The largest batch below the run's that fits and leaves its windows a step as they must be; else batch 1. */
static pt_status plan_smaller(const pt_memory_question *q, pt_memory_way *way)
{
    const pt_train_options *o = &q->desc->options;
    int64_t windows = q->may == PT_MEMORY_MAY_BATCH ? 0 : o->batch * o->accum;
    pt_memory_way best = *way;
    pt_status s = plan_batch(q, 1, &best);
    int64_t low = 1, high = o->batch; /* low fits, or nothing does; high does not */
    while (s == PT_OK && best.fits && high - low > 1) {
        int64_t middle = low + (high - low) / 2, batch = middle;
        while (batch > low && windows % batch) batch--;
        if (batch == low) { /* no divisor up to the middle */
            low = middle;
            continue;
        }
        pt_memory_way tried = *way;
        s = plan_batch(q, batch, &tried);
        if (s == PT_OK && tried.fits) best = tried, low = middle;
        else high = batch;
    }
    *way = best;
    return s;
}

static bool is_allowed(pt_memory_may may, bool smaller, bool block, bool bf16)
{
    if (may == PT_MEMORY_MAY_RECOMPUTE) return !smaller && !bf16;
    return may == PT_MEMORY_MAY_ALL || (!block && !bf16);
}

void pt_memory_ways(const pt_memory_question *q, pt_memory_way out[PT_MEMORY_WAYS], int *n)
{
    const pt_train_options *o = &q->desc->options;
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
        if (!is_allowed(q->may, ways[i].smaller, ways[i].block, ways[i].bf16)) continue;
        if (ways[i].block) way.recompute = PT_RECOMPUTE_BLOCK;
        if (ways[i].bf16) way.bf16 = true;
        bool smaller = ways[i].smaller && o->batch > 1;
        if (!smaller && way.recompute == o->recompute && way.bf16 == o->bf16) continue;
        if (smaller ? plan_smaller(q, &way) : plan_way(q, &way)) continue;
        if (way.fits) out[(*n)++] = way;
        else if (!least.bytes || way.bytes < least.bytes) least = way;
    }
    if (!*n && least.bytes) out[(*n)++] = least;
}

/* ---- in words ---- */

const char *pt_memory_flags(const pt_memory_way *way, const pt_train_options *o, char out[96])
{
    size_t n = 0;
    out[0] = 0;
    if (way->batch != o->batch) n += pt_format(out, 96, " --batch %lld", (long long)way->batch);
    if (way->accum != o->accum)
        n += pt_format(out + n, 96 - n, " --accum %lld", (long long)way->accum);
    if (way->recompute != o->recompute) n += pt_format(out + n, 96 - n, " --recompute block");
    if (way->bf16 != o->bf16) n += pt_format(out + n, 96 - n, " --dtype bf16");
    if (way->threads) pt_format(out + n, 96 - n, " --threads %d", way->threads);
    return out[0] ? out + 1 : out;
}

/* "a tensor of ", where that is what is short. */
static const char *one_of(const shortage *s)
{
    return s->of == SHORT_OF_TENSOR   ? "a tensor of "
           : s->of == SHORT_OF_BUFFER ? "a buffer of "
                                      : "";
}

pt_status pt_memory_refuse(const pt_memory_question *q, const pt_plan *plan,
                           const pt_memory_way *ways, int n, pt_error *err)
{
    shortage s = shortage_of(q, plan);
    char why[160], needs[32], has[32], size[32], flags[96];
    bool machine = s.of == SHORT_OF_MACHINE;
    const char *hint = machine && q->hint ? q->hint : "";
    pt_megabytes(s.needs, needs);
    pt_megabytes(s.has, has);
    if (machine)
        pt_format(why, sizeof why, "the run needs %s of memory and %s are available", needs, has);
    else
        pt_format(why, sizeof why, "the run needs %s%s on device %s, which gives %s", one_of(&s),
                  needs, q->device->name, has);
    if (n) pt_megabytes(machine ? ways[0].bytes : ways[0].device_bytes, size);
    if (n && ways[0].fits)
        return pt_fail(err, PT_NO_MEMORY, "%s: %s would fit (%s)%s", why,
                       pt_memory_flags(&ways[0], &q->desc->options, flags), size, hint);
    return pt_fail(err, PT_NO_MEMORY, "%s; %s%s: %s%s", why,
                   n ? "the smallest way to do the same needs " : "no way to do the same was found",
                   n ? size : "",
                   q->may == PT_MEMORY_MAY_RECOMPUTE ? "go on with it where there is more"
                                                     : "choose a smaller model or --ctx",
                   hint);
}
