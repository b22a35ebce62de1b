/* train --dry-run, and the refusal of what does not fit into memory. SPDX-License-Identifier: MIT */
#include "cli/dry_run.h"

#include "base/platform.h"
#include "base/rng.h"
#include "bench/estimate.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "io/tinygpt.h"
#include "train/memory.h"

#define N_LARGEST 5

typedef struct findings {
    pt_memory_question question;
    int64_t planned, available; /* bytes of the run; available 0 = unknown */
    bool fits;
    int64_t part[PT_MEMORY_PARTS];
    int64_t largest[N_LARGEST]; /* entries of the plan */
    int n_largest;
    pt_memory_way way[PT_MEMORY_WAYS];
    int n_ways;
    pt_bench_estimate time;
} findings;

/* The plan counts the corpus, which is in memory already. */
static int64_t available_for(const pt_dry_run *run)
{
    int64_t now = pt_platform_available_bytes();
    return now ? now + run->desc->corpus_memory : 0;
}

static pt_memory_question question_of(const pt_dry_run *run, int64_t gives)
{
    pt_memory_room room = pt_memory_room_of(run->device, gives);
    room.machine = available_for(run);
    return (pt_memory_question){.device = run->device,
                                .desc = run->desc,
                                .room = room,
                                .may = run->begun ? PT_MEMORY_MAY_RECOMPUTE : PT_MEMORY_MAY_ALL,
                                .hint =
                                    "; --dry-run tells more, --force-memory tries all the same"};
}

/* Each thread of a processor has memory of its own, the same for all. Fewer threads are slower, so they are the last resort;
 * the results are the same. The most that fit, else the ways that one has. */
static void find_fewer_threads(const pt_dry_run *run, findings *f, int threads)
{
    const pt_train_options *o = &run->desc->options;
    const pt_cpu_options one = {1, run->device->detail};
    pt_memory_way way = {
        .batch = o->batch, .accum = o->accum, .recompute = o->recompute, .bf16 = o->bf16};
    pt_memory_question q = f->question;
    pt_trainer *trainer = NULL;
    if (pt_device_cpu_new(&q.device, &one, NULL)) return;
    if (pt_trainer_new(&trainer, q.device, run->desc, NULL) == PT_OK) {
        way.bytes = pt_plan_total_bytes(pt_trainer_plan(trainer));
        way.fits = pt_memory_fits(&q, pt_trainer_plan(trainer));
        pt_trainer_free(trainer);
    }
    int64_t each = pt_max_i64(1, (f->planned - way.bytes) / (threads - 1));
    int64_t more = way.fits ? (q.room.machine - q.besides - way.bytes) / each : 0;
    more = pt_min_i64(more, threads - 2);
    way.bytes += more * each;
    f->way[0] = way;
    f->n_ways = 1;
    if (!way.fits) pt_memory_ways(&q, f->way, &f->n_ways);
    for (int i = 0; i < f->n_ways; i++) f->way[i].threads = 1 + (int)more;
    pt_device_free(q.device);
}

static void find_ways(const pt_dry_run *run, findings *f)
{
    pt_pool *pool = pt_device_pool(run->device);
    int threads = pool ? pt_pool_threads(pool) : 1;
    pt_memory_ways(&f->question, f->way, &f->n_ways);
    bool found = f->n_ways > 0 && f->way[0].fits;
    if (!found && threads > 1 && strcmp(run->device->name, "cpu") == 0)
        find_fewer_threads(run, f, threads);
}

static void measure_memory(const pt_dry_run *run, findings *f)
{
    const pt_plan *plan = pt_trainer_plan(run->trainer);
    f->question = question_of(run, 0);
    f->planned = pt_plan_total_bytes(plan);
    f->available = run->device->own_memory ? 0 : f->question.room.machine;
    f->fits = pt_memory_fits(&f->question, plan);
    if (!f->fits) find_ways(run, f);
}

static pt_status refuse(const pt_dry_run *run, const findings *f, pt_error *err)
{
    return pt_memory_refuse(&f->question, pt_trainer_plan(run->trainer), f->way, f->n_ways, err);
}

pt_status pt_check_memory(const pt_dry_run *run, pt_error *err)
{
    findings f = {0};
    if (run->force_memory) return PT_OK;
    measure_memory(run, &f);
    return f.fits ? PT_OK : refuse(run, &f, err);
}

pt_status pt_refuse_for_device(const pt_dry_run *run, int64_t gives, pt_error *err)
{
    findings f = {.question = question_of(run, gives)};
    pt_memory_ways(&f.question, f.way, &f.n_ways);
    return refuse(run, &f, err);
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
    int64_t each,
        kept;    /* bytes of a checkpoint: weights and AdamW's moments; how many stay at most */
    bool pruned; /* of more than are kept */
    bool timed;  /* those by time come on top: all are kept, and how many depends on the machine */
} disk;

/* By time there is at most one a step. model.tinygpt is a second name of the newest. */
static disk disk_of(const pt_dry_run *run)
{
    const pt_train_options *o = &run->desc->options;
    bool timed = run->save_minutes > 0;
    int64_t stepped = o->save_every ? pt_div_up(o->steps, o->save_every) : 1;
    int64_t saves = timed && run->keep ? o->steps : stepped;
    int64_t most = run->keep && run->keep < INT64_MAX ? run->keep + 1 : INT64_MAX;
    return (disk){.each = 4 + 12 * pt_trainer_n_params(run->trainer),
                  .kept = pt_min_i64(saves, most),
                  .pruned = saves > most,
                  .timed = timed && !run->keep};
}

/* ---- for people ---- */

/* All figures in one table, so that they stand below each other. */
typedef struct sheet {
    pt_table table;
    int64_t row; /* the next */
} sheet;
#define SHEET_ROWS (PT_MEMORY_PARTS + N_LARGEST + PT_MEMORY_WAYS + 24)

static void put_heading(sheet *sh, const char *text)
{
    sh->row += sh->row > 0;
    pt_table_put(&sh->table, sh->row++, 0, "%s", text);
}

static void put_value(sheet *sh, const char *name, const char *value)
{
    pt_table_put(&sh->table, sh->row, 0, "  %s", name);
    pt_table_put(&sh->table, sh->row++, 1, "%s", value);
}

static void put_size(sheet *sh, const char *name, int64_t bytes)
{
    char size[32];
    put_value(sh, name, pt_megabytes(bytes, size));
}

static void put_memory(sheet *sh, const pt_dry_run *run, const findings *f)
{
    char n[32];
    const pt_plan *plan = pt_trainer_plan(run->trainer);
    put_heading(sh, "model");
    put_value(sh, "parameters", pt_grouped(pt_trainer_n_params(run->trainer), n));
    put_heading(sh, "memory");
    for (int i = 0; i < PT_MEMORY_PARTS; i++)
        if (f->part[i]) put_size(sh, pt_memory_part_name((pt_memory_part)i), f->part[i]);
    put_size(sh, "total", f->planned);
    if (f->available) put_size(sh, "available now", f->available);
    put_heading(sh, "largest tensors");
    for (int i = 0; i < f->n_largest; i++)
        put_size(sh, plan->entries[f->largest[i]].name, plan->entries[f->largest[i]].bytes);
}

static void put_disk(sheet *sh, const pt_dry_run *run)
{
    char name[80], n[32];
    disk d = disk_of(run);
    int64_t all = 0;
    if (!pt_mul_i64(d.each, d.kept, &all)) all = INT64_MAX;
    put_heading(sh, "disk");
    put_size(sh, "a checkpoint", d.each);
    if (d.pruned)
        pt_format(name, sizeof name, "the newest %s and the best", pt_grouped(run->keep, n));
    else
        pt_format(name, sizeof name, "%s kept%s", pt_grouped(d.kept, n),
                  d.timed ? ", more by time" : "");
    put_size(sh, name, all);
}

static void put_ways(sheet *sh, const pt_dry_run *run, const findings *f)
{
    char flags[96];
    bool any = f->n_ways > 0, fits = any && f->way[0].fits;
    put_heading(sh, fits  ? "it does not fit; with the same tokens a step"
                    : any ? "it does not fit; the smallest way to do the same"
                          : "it does not fit, and no way to do the same was found");
    for (int i = 0; i < (fits ? f->n_ways : any); i++)
        put_size(sh, pt_memory_flags(&f->way[i], &run->desc->options, flags), f->way[i].bytes);
}

static int64_t steps_left(const pt_dry_run *run)
{
    return pt_max_i64(0, run->desc->options.steps - run->done);
}

/* Short times as steps take them, else as pt_duration. */
static const char *short_time(double seconds, char out[32])
{
    if (seconds >= 10 || !(seconds > 0)) return pt_duration(seconds, out);
    pt_format(out, 32, seconds < 1 ? "%.3gms" : "%.2gs", seconds < 1 ? 1e3 * seconds : seconds);
    return out;
}

static void put_time(sheet *sh, const pt_dry_run *run, const pt_bench_estimate *e)
{
    const pt_train_options *o = &run->desc->options;
    char name[64], n[32], done[32];
    double tokens = (double)(o->batch * o->accum * pt_train_window(o, &run->desc->config));
    put_heading(sh, e->known ? "time" : "time: not estimated, one layer is too much to probe");
    if (!e->known) return;
    pt_format(name, sizeof name, "%s steps%s%s", pt_grouped(steps_left(run), n),
              run->done ? " after step " : "", run->done ? pt_grouped(run->done, done) : "");
    put_value(sh, name, short_time(e->seconds, n));
    put_value(sh, "at least", short_time(e->low, n));
    put_value(sh, "at most", short_time(e->high, n));
    put_value(sh, "a step", short_time(e->step_seconds, n));
    put_value(sh, "tokens a second", pt_grouped((int64_t)(tokens / e->step_seconds), n));
}

/* What the time is of: the probe, and what it leaves out. */
static void put_probe(pt_strbuf *out, const pt_trainer_desc *desc, const pt_bench_estimate *e)
{
    const pt_train_options *o = &desc->options;
    int64_t T = pt_train_window(o, &desc->config);
    pt_strbuf text = {0};
    pt_strbuf_printf(&text, "Measured in %lld step%s", (long long)e->steps,
                     e->steps == 1 ? "" : "s");
    if (!e->whole)
        pt_strbuf_printf(&text, " with %lld of %lld windows, %lld of %lld layers",
                         (long long)e->rows, (long long)o->batch, (long long)e->layers,
                         (long long)desc->config.n_layers);
    if (!e->whole && e->tokens != T)
        pt_strbuf_printf(&text, ", %lld of %lld tokens", (long long)e->tokens, (long long)T);
    if (!e->whole) pt_strbuf_puts(&text, ", scaled by their operations and parameters");
    pt_strbuf_puts(&text, ". Evaluations are counted, samples and saves are not.");
    pt_strbuf_puts(out, "  ");
    if (!text.failed) pt_put_wrapped(out, 2, text.data);
    pt_strbuf_putc(out, '\n');
    pt_strbuf_deinit(&text);
}

static pt_status write_text(pt_strbuf *out, const pt_dry_run *run, const findings *f, pt_error *err)
{
    sheet sh = {
        .table = {.rows = SHEET_ROWS, .columns = 2, .right = 2, .screen = pt_stdout_columns()}};
    pt_status s = pt_table_begin(&sh.table, err);
    if (s) return s;
    put_memory(&sh, run, f);
    put_disk(&sh, run);
    if (f->fits) put_time(&sh, run, &f->time);
    else put_ways(&sh, run, f);
    sh.table.rows = sh.row;
    pt_table_print(&sh.table, out);
    if (f->fits && f->time.known) put_probe(out, run->desc, &f->time);
    pt_table_end(&sh.table);
    return PT_OK;
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
    pt_json_bool(w, "more_by_time", d.timed);
    pt_json_end_object(w);
}

static void write_ways(pt_json_writer *w, const pt_dry_run *run, const findings *f)
{
    char flags[96];
    pt_json_begin_array(w, "ways");
    for (int i = 0; i < f->n_ways; i++) {
        pt_json_begin_object(w, NULL);
        pt_json_string(w, "flags", pt_memory_flags(&f->way[i], &run->desc->options, flags));
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
    } else s = write_text(&text, run, &f, err);
    if (s == PT_OK) s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s == PT_OK && !f.fits && !run->force_memory ? refuse(run, &f, err) : s;
}
