/* train --dry-run, and the refusal of what does not fit into memory. SPDX-License-Identifier: MIT */
#include "cli/dry_run.h"

#include "base/platform.h"
#include "base/rng.h"
#include "bench/estimate.h"
#include "cli/cli.h"
#include "io/tinygpt.h"
#include "train/memory.h"

#define N_LARGEST 5

typedef struct findings {
    int64_t planned, available; /* bytes of the run; available 0 = unknown */
    bool fits;
    int64_t part[PT_MEMORY_PARTS];
    int64_t largest[N_LARGEST]; /* entries of the plan */
    int n_largest;
    pt_memory_way way[PT_MEMORY_WAYS];
    int n_ways;
    pt_bench_estimate time;
} findings;

static void measure_memory(const pt_dry_run *run, findings *f)
{
    f->planned = pt_plan_total_bytes(pt_trainer_plan(run->trainer));
    f->available = pt_platform_available_bytes();
    /* the plan counts the corpus, which is in memory already */
    if (f->available) f->available += run->desc->corpus_memory;
    f->fits = f->available == 0 || f->planned <= f->available;
    if (!f->fits)
        pt_memory_ways(run->device, run->desc, f->available, run->begun, f->way, &f->n_ways);
}

/* What of the run it changes: "--batch 4 --accum 4 --recompute block", "" for nothing. */
static const char *flags_of(const pt_memory_way *way, const pt_train_options *o, char out[96])
{
    size_t n = 0;
    out[0] = 0;
    if (way->batch != o->batch)
        n += pt_format(out, 96, " --batch %lld --accum %lld", (long long)way->batch,
                       (long long)way->accum);
    if (way->recompute != o->recompute) n += pt_format(out + n, 96 - n, " --recompute block");
    if (way->bf16 != o->bf16) pt_format(out + n, 96 - n, " --dtype bf16");
    return out[0] ? out + 1 : out;
}

static pt_status refuse(const pt_dry_run *run, const findings *f, pt_error *err)
{
    char planned[32], available[32], least[32], flags[96];
    pt_megabytes(f->planned, planned);
    pt_megabytes(f->available, available);
    const pt_memory_way *way = f->n_ways ? &f->way[0] : NULL;
    if (way && way->fits)
        return pt_fail(err, PT_NO_MEMORY,
                       "the run needs %s of memory and %s are available: %s would fit; "
                       "--dry-run tells more, --force-memory tries all the same",
                       planned, available, flags_of(way, &run->desc->options, flags));
    return pt_fail(
        err, PT_NO_MEMORY,
        "the run needs %s of memory and %s are available; %s%s: %s (--force-memory "
        "tries all the same)",
        planned, available,
        way ? "the smallest way to do the same needs " : "no way to do the same was found",
        way ? pt_megabytes(way->bytes, least) : "",
        run->begun ? "go on with it where there is more" : "choose a smaller model or --ctx");
}

pt_status pt_check_memory(const pt_dry_run *run, pt_error *err)
{
    findings f = {0};
    if (run->force_memory) return PT_OK;
    measure_memory(run, &f);
    return f.fits ? PT_OK : refuse(run, &f, err);
}

#define TEXT_LEAST ((int64_t)1 << 20) /* bytes */
#define TEXT_WINDOWS 32
#define TEXT_MOST ((int64_t)1 << 30)

pt_status pt_dry_run_text(const pt_model_config *config, uint8_t **out, int64_t *n, pt_error *err)
{
    int64_t size = 0;
    if (!pt_mul_i64(pt_max_i64(1, config->ctx), TEXT_WINDOWS, &size)) size = TEXT_MOST;
    *n = pt_min_i64(pt_max_i64(size, TEXT_LEAST), TEXT_MOST);
    *out = pt_alloc((size_t)*n);
    if (!*out) return pt_fail(err, PT_NO_MEMORY, "no memory for a text to measure with");
    for (int64_t i = 0; i + 16 <= *n; i += 16) {
        uint32_t four[4];
        pt_rng_u32x4(0, PT_STREAM_TEST, 0, (uint64_t)i, four);
        memcpy(*out + i, four, sizeof four);
    }
    return PT_OK;
}

/* ---- disk ---- */

typedef struct disk {
    int64_t each, kept; /* bytes of a checkpoint: weights and AdamW's moments; how many stay */
} disk;

/* model.tinygpt is a second name of the newest. */
static disk disk_of(const pt_dry_run *run)
{
    const pt_train_options *o = &run->desc->options;
    int64_t saves = o->save_every ? pt_div_up(o->steps, o->save_every) : 1;
    int64_t most = run->keep ? run->keep + 1 : INT64_MAX;
    return (disk){4 + 12 * pt_trainer_n_params(run->trainer), pt_min_i64(saves, most)};
}

/* ---- for people ---- */

static void put_size(pt_strbuf *out, const char *name, int64_t bytes)
{
    char size[32];
    pt_strbuf_printf(out, "  %-24s%12s\n", name, pt_megabytes(bytes, size));
}

static void put_memory(pt_strbuf *out, const pt_dry_run *run, const findings *f)
{
    char n[32];
    const pt_plan *plan = pt_trainer_plan(run->trainer);
    pt_strbuf_printf(out, "%s parameters\n\nmemory\n",
                     pt_grouped(pt_trainer_n_params(run->trainer), n));
    for (int i = 0; i < PT_MEMORY_PARTS; i++)
        if (f->part[i]) put_size(out, pt_memory_part_name((pt_memory_part)i), f->part[i]);
    put_size(out, "total", f->planned);
    if (f->available) put_size(out, "available now", f->available);
    pt_strbuf_puts(out, "\nlargest tensors\n");
    for (int i = 0; i < f->n_largest; i++)
        put_size(out, plan->entries[f->largest[i]].name, plan->entries[f->largest[i]].bytes);
}

static void put_disk(pt_strbuf *out, const pt_dry_run *run)
{
    char name[48], n[32];
    disk d = disk_of(run);
    int64_t all = 0;
    if (!pt_mul_i64(d.each, d.kept, &all)) all = INT64_MAX;
    pt_strbuf_puts(out, "\ndisk\n");
    put_size(out, "a checkpoint", d.each);
    pt_format(name, sizeof name, "%s kept", pt_grouped(d.kept, n));
    put_size(out, name, all);
}

static void put_ways(pt_strbuf *out, const pt_dry_run *run, const findings *f)
{
    char flags[96], size[32];
    if (!f->n_ways) {
        pt_strbuf_puts(out, "\nIt does not fit, and no way to do the same was found.\n");
        return;
    }
    if (!f->way[0].fits) {
        pt_strbuf_printf(out, "\nIt does not fit. The smallest way to do the same, %s, needs %s.\n",
                         flags_of(&f->way[0], &run->desc->options, flags),
                         pt_megabytes(f->way[0].bytes, size));
        return;
    }
    pt_strbuf_puts(out, "\nIt does not fit. What would, with the same tokens a step:\n");
    for (int i = 0; i < f->n_ways; i++)
        pt_strbuf_printf(out, "  %-36s%12s\n", flags_of(&f->way[i], &run->desc->options, flags),
                         pt_megabytes(f->way[i].bytes, size));
}

/* What the probe was of, when not of the run itself. */
static void put_scaling(pt_strbuf *out, const pt_trainer_desc *desc, const pt_bench_estimate *e)
{
    const pt_train_options *o = &desc->options;
    int64_t T = pt_train_window(o, &desc->config);
    if (e->whole) {
        pt_strbuf_puts(out, ".\n");
        return;
    }
    pt_strbuf_printf(out, " with %lld of %lld windows, %lld of %lld layers", (long long)e->rows,
                     (long long)o->batch, (long long)e->layers, (long long)desc->config.n_layers);
    if (e->tokens != T)
        pt_strbuf_printf(out, ", %lld of %lld tokens", (long long)e->tokens, (long long)T);
    pt_strbuf_puts(out, ", scaled by their operations and parameters.\n");
}

static int64_t steps_left(const pt_dry_run *run)
{
    return pt_max_i64(0, run->desc->options.steps - run->done);
}

static void put_time(pt_strbuf *out, const pt_dry_run *run, const findings *f)
{
    const pt_bench_estimate *e = &f->time;
    const pt_train_options *o = &run->desc->options;
    char about[32], low[32], high[32], rate[32];
    if (!e->known) {
        pt_strbuf_puts(out,
                       "\ntime: not estimated, even one layer is too much for a short probe\n");
        return;
    }
    pt_duration(e->seconds, about);
    pt_duration(e->low, low);
    pt_duration(e->high, high);
    double tokens = (double)(o->batch * o->accum * pt_train_window(o, &run->desc->config));
    pt_strbuf_printf(out, "\ntime\n  about %s (%s to %s) for %lld steps", about, low, high,
                     (long long)steps_left(run));
    if (run->done) pt_strbuf_printf(out, " after step %lld", (long long)run->done);
    pt_strbuf_printf(out,
                     ": %.3g s a step, %s tokens a "
                     "second.\n  With evaluations, without samples and saves.\n  From %lld step%s",
                     e->step_seconds, pt_grouped((int64_t)(tokens / e->step_seconds), rate),
                     (long long)e->steps, e->steps == 1 ? "" : "s");
    put_scaling(out, run->desc, e);
}

/* ---- for programs ---- */

static void write_memory(pt_json_writer *w, const pt_dry_run *run, const findings *f)
{
    const pt_plan *plan = pt_trainer_plan(run->trainer);
    pt_json_i64(w, "params", pt_trainer_n_params(run->trainer));
    pt_json_i64(w, "planned_bytes", f->planned);
    if (f->available) pt_json_i64(w, "available_bytes", f->available);
    else pt_json_null(w, "available_bytes");
    pt_json_bool(w, "fits", f->fits);
    pt_json_begin_object(w, "arenas");
    for (int i = 0; i < PT_ARENA_COUNT; i++)
        pt_json_i64(w, pt_arena_id_name((pt_arena_id)i), plan->arena_bytes[i]);
    pt_json_end_object(w);
    pt_json_begin_object(w, "parts");
    for (int i = 0; i < PT_MEMORY_PARTS; i++)
        pt_json_i64(w, pt_memory_part_name((pt_memory_part)i), f->part[i]);
    pt_json_end_object(w);
    pt_json_begin_array(w, "largest");
    for (int i = 0; i < f->n_largest; i++) {
        pt_json_begin_object(w, NULL);
        pt_json_string(w, "name", plan->entries[f->largest[i]].name);
        pt_json_i64(w, "bytes", plan->entries[f->largest[i]].bytes);
        pt_json_end_object(w);
    }
    pt_json_end_array(w);
}

static void write_disk(pt_json_writer *w, const pt_dry_run *run)
{
    disk d = disk_of(run);
    pt_json_begin_object(w, "disk");
    pt_json_i64(w, "checkpoint_bytes", d.each);
    pt_json_i64(w, "checkpoints", d.kept);
    pt_json_end_object(w);
}

static void write_ways(pt_json_writer *w, const pt_dry_run *run, const findings *f)
{
    char flags[96];
    pt_json_begin_array(w, "ways");
    for (int i = 0; i < f->n_ways; i++) {
        pt_json_begin_object(w, NULL);
        pt_json_string(w, "flags", flags_of(&f->way[i], &run->desc->options, flags));
        pt_json_i64(w, "bytes", f->way[i].bytes);
        pt_json_bool(w, "fits", f->way[i].fits);
        pt_json_end_object(w);
    }
    pt_json_end_array(w);
}

static void write_time(pt_json_writer *w, const pt_dry_run *run, const pt_bench_estimate *e)
{
    if (!e->known) {
        pt_json_null(w, "time");
        return;
    }
    pt_json_begin_object(w, "time");
    pt_json_i64(w, "steps", steps_left(run));
    pt_json_double(w, "seconds", e->seconds);
    pt_json_double(w, "low", e->low);
    pt_json_double(w, "high", e->high);
    pt_json_double(w, "step_seconds", e->step_seconds);
    pt_json_bool(w, "scaled", !e->whole);
    pt_json_i64(w, "probe_steps", e->steps);
    pt_json_i64(w, "probe_batch", e->rows);
    pt_json_i64(w, "probe_layers", e->layers);
    pt_json_i64(w, "probe_ctx", e->tokens);
    pt_json_end_object(w);
}

pt_status pt_dry_run_print(const pt_dry_run *run, pt_error *err)
{
    findings f = {0};
    pt_strbuf text = {0};
    measure_memory(run, &f);
    const pt_plan *plan = pt_trainer_plan(run->trainer);
    pt_memory_by_part(plan, f.part);
    f.n_largest = pt_memory_largest(plan, f.largest, N_LARGEST);
    const pt_bench_estimate_desc probe = {run->desc, run->trainer, f.available, run->done};
    pt_status s = PT_OK;
    if (f.fits)
        s = pt_bench_estimate_run(run->device, pt_device_pool(run->device), &probe, &f.time, err);
    if (s) return s;
    if (run->json) {
        pt_json_writer w = pt_json_writer_begin(&text, 0);
        pt_json_begin_object(&w, NULL);
        write_memory(&w, run, &f);
        write_disk(&w, run);
        write_ways(&w, run, &f);
        write_time(&w, run, &f.time);
        pt_json_end_object(&w);
        pt_strbuf_putc(&text, '\n');
    } else {
        put_memory(&text, run, &f);
        put_disk(&text, run);
        if (!f.fits) put_ways(&text, run, &f);
        else put_time(&text, run, &f);
    }
    s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s == PT_OK && !f.fits && !run->force_memory ? refuse(run, &f, err) : s;
}
