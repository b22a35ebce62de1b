/* A run read back. SPDX-License-Identifier: MIT */
#include "factory/run_read.h"

#include "base/maths.h"

#define WARM_UP_STEPS 3
#define RECENT_STEPS 10

/* ---- arrays that grow, sorted by the step their elements begin with ---- */

typedef struct list {
    char *data;
    int64_t n, cap;
    size_t size; /* of an element */
} list;

static bool push(list *to, const void *element)
{
    if (to->n == to->cap) {
        int64_t cap = to->cap ? 2 * to->cap : 64;
        char *more = pt_realloc(to->data, (size_t)to->cap * to->size, (size_t)cap * to->size);
        if (!more) return false;
        to->data = more;
        to->cap = cap;
    }
    memcpy(to->data + (size_t)to->n++ * to->size, element, to->size);
    return true;
}

static int64_t step_at(const list *l, int64_t i)
{
    int64_t step;
    memcpy(&step, l->data + (size_t)i * l->size, sizeof step);
    return step;
}

/* Merges the sorted ranges [from, middle) and [middle, to) of l into `out`; equal steps keep their order. */
static void merge(const list *l, char *out, int64_t from, int64_t middle, int64_t to)
{
    int64_t a = from, b = middle;
    for (int64_t i = from; i < to; i++) {
        bool left = a < middle && (b >= to || step_at(l, a) <= step_at(l, b));
        int64_t take = left ? a++ : b++;
        memcpy(out + (size_t)i * l->size, l->data + (size_t)take * l->size, l->size);
    }
}

static bool is_sorted(const list *l)
{
    for (int64_t i = 1; i < l->n; i++)
        if (step_at(l, i) <= step_at(l, i - 1)) return false;
    return true;
}

/* A log tells steps in order, so what is above `step` stands at the end. */
static void drop_above(list *l, int64_t step)
{
    while (l->n && step_at(l, l->n - 1) > step) l->n--;
}

/* Sorts by step and keeps the last of each. */
static bool settle(list *l)
{
    if (is_sorted(l)) return true;
    char *other = pt_alloc((size_t)l->cap * l->size);
    if (!other) return false;
    for (int64_t width = 1; width < l->n; width *= 2) {
        for (int64_t i = 0; i < l->n; i += 2 * width)
            merge(l, other, i, pt_min_i64(i + width, l->n), pt_min_i64(i + 2 * width, l->n));
        char *sorted = other;
        other = l->data;
        l->data = sorted;
    }
    pt_free(other);
    int64_t kept = 0;
    for (int64_t i = 0; i < l->n; i++) {
        if (i + 1 < l->n && step_at(l, i + 1) == step_at(l, i)) continue;
        memmove(l->data + (size_t)kept++ * l->size, l->data + (size_t)i * l->size, l->size);
    }
    l->n = kept;
    return true;
}

/* ---- lines ---- */

typedef struct reading {
    pt_run *run;
    list steps, vals, samples, events;
    bool no_memory;
} reading;

static double number(const pt_json *object, const char *key)
{
    double value = PT_NAN;
    pt_json_get_double(object, key, &value);
    return value;
}

static const char *keep(reading *r, const pt_json *string)
{
    if (!string || string->type != PT_JSON_STRING) return "";
    const char *copy = pt_arena_copy(&r->run->arena, string->text, string->text_len);
    if (!copy) r->no_memory = true;
    return copy ? copy : "";
}

static void add(reading *r, list *to, const void *element)
{
    if (!push(to, element)) r->no_memory = true;
}

static int64_t whole(const pt_json *object, const char *key, int64_t fallback)
{
    int64_t value;
    return pt_json_get_i64(object, key, &value) && value >= 0 ? value : fallback;
}

/* `batch`, `accum` and `ctx` are below 2^31 in any run that trained; larger ones are taken as unknown. */
static int64_t tokens_per_step(const pt_json *from)
{
    int64_t tokens = 0;
    bool fits = pt_mul_i64(whole(from, "batch", 0), whole(from, "accum", 0), &tokens) &&
                pt_mul_i64(tokens, whole(from, "ctx", 0), &tokens);
    return fits ? tokens : 0;
}

/* The first meta line tells what run.json did not. */
static void take_meta(reading *r, const pt_json *line)
{
    pt_run *run = r->run;
    if (!run->total_steps) run->total_steps = whole(line, "total_steps", 0);
    if (!run->params) run->params = whole(line, "params", 0);
    if (!run->tokens_per_step) run->tokens_per_step = tokens_per_step(line);
    if (!*run->preset) run->preset = keep(r, pt_json_get(line, "preset"));
}

static void take_step(reading *r, int64_t step, const pt_json *line)
{
    pt_run_step s = {.step = step,
                     .loss = number(line, "loss"),
                     .lr = number(line, "lr"),
                     .grad_norm = number(line, "grad_norm"),
                     .seconds = number(line, "seconds")};
    pt_json_get_bool(line, "spike", &s.spike);
    r->run->how = r->run->status = ""; /* it went on */
    add(r, &r->steps, &s);
}

static void take_sample(reading *r, int64_t step, const pt_json *line)
{
    const pt_json *text = pt_json_get(line, "text");
    pt_run_sample s = {step, keep(r, text), 0};
    if (text && text->type == PT_JSON_STRING) s.n = (int64_t)text->text_len;
    add(r, &r->samples, &s);
}

/* What was logged of later steps is no part of the run any more. */
static void stand_at(reading *r, int64_t step)
{
    drop_above(&r->steps, step);
    drop_above(&r->vals, step);
    drop_above(&r->samples, step);
}

static void take_end(reading *r, const pt_json *line)
{
    r->run->how = keep(r, pt_json_get(line, "how"));
    r->run->status = keep(r, pt_json_get(line, "status"));
    r->run->peak_bytes = whole(line, "peak_rss_bytes", r->run->peak_bytes);
}

/* A save is told when it is done, which may be after a spike of a later step: it goes before that. */
static void put_in_order(reading *r)
{
    pt_run_event pair[2];
    for (int64_t i = r->events.n - 1; i > 0 && !r->no_memory; i--) {
        char *at = r->events.data + (size_t)(i - 1) * sizeof *pair;
        memcpy(pair, at, sizeof pair);
        if (pair[0].kind != PT_RUN_SPIKED || pair[0].step <= pair[1].step) return;
        memcpy(at, &pair[1], sizeof *pair);
        memcpy(at + sizeof *pair, &pair[0], sizeof *pair);
    }
}

/* The newest event is a save of this step: the last step is saved before its evaluation and after it. */
static bool was_just_saved(const reading *r, int64_t step)
{
    pt_run_event last;
    if (!r->events.n) return false;
    memcpy(&last, r->events.data + (size_t)(r->events.n - 1) * sizeof last, sizeof last);
    return last.kind == PT_RUN_SAVED && last.step == step;
}

static void add_event(reading *r, pt_run_event_kind kind, int64_t step, const pt_json *line)
{
    static const char *const text[] = {
        [PT_RUN_REFUSED] = "why", [PT_RUN_SPIKED] = "did", [PT_RUN_ENDED] = "how"};
    pt_run_event e = {.step = step,
                      .kind = kind,
                      .t = number(line, "t"),
                      .text = text[kind] ? keep(r, pt_json_get(line, text[kind])) : "",
                      .bad = keep(r, pt_json_get(line, "bad")),
                      .to = -1,
                      .loss = number(line, "loss"),
                      .limit = number(line, "limit"),
                      .lr_scale = number(line, "lr_scale")};
    if (kind == PT_RUN_RESUMED) e.to = step;
    if (kind == PT_RUN_ROLLED_BACK) e.to = whole(line, "to", step);
    if (e.to >= 0) stand_at(r, e.to);
    if (kind == PT_RUN_ENDED) stand_at(r, step);
    if (kind == PT_RUN_SAVED && was_just_saved(r, step)) r->events.n--;
    add(r, &r->events, &e);
    if (kind == PT_RUN_SAVED) put_in_order(r);
}

static bool take_event(reading *r, int64_t step, const pt_json *line, const char *type)
{
    static const char *const types[] = {
        [PT_RUN_SAVED] = "save",      [PT_RUN_REFUSED] = "refused",
        [PT_RUN_RESUMED] = "resumed", [PT_RUN_ROLLED_BACK] = "rollback",
        [PT_RUN_SPIKED] = "spike",    [PT_RUN_ENDED] = "end"};
    int kind = 0;
    while (kind <= PT_RUN_ENDED && strcmp(type, types[kind]) != 0) kind++;
    if (kind > PT_RUN_ENDED) return false;
    if (kind == PT_RUN_RESUMED) r->run->how = r->run->status = "";
    if (kind == PT_RUN_ENDED) take_end(r, line);
    if (step >= 0) add_event(r, (pt_run_event_kind)kind, step, line);
    return true;
}

/* False: a line about a step without saying which. */
static bool take_line(reading *r, const pt_json *line, const char *type)
{
    int64_t step = whole(line, "step", -1);
    if (strcmp(type, "meta") == 0) {
        take_meta(r, line);
        return true;
    }
    if (strcmp(type, "step") == 0) {
        if (step >= 0) take_step(r, step, line);
    } else if (strcmp(type, "val") == 0) {
        pt_run_val v = {step, number(line, "val_loss")};
        if (step >= 0) add(r, &r->vals, &v);
    } else if (strcmp(type, "sample") == 0) {
        if (step >= 0) take_sample(r, step, line);
    } else if (!take_event(r, step, line, type)) return true; /* not known */
    return step >= 0;
}

static bool read_line(reading *r, const char *text, size_t n)
{
    pt_arena scratch = {0};
    pt_error err = {0};
    const pt_json *line = NULL;
    pt_status s = pt_json_parse(text, n, &scratch, &line, &err);
    if (s == PT_NO_MEMORY) r->no_memory = true;
    const char *type = pt_json_get_string(line, "type");
    bool good = type && take_line(r, line, type);
    double t = number(line, "t");
    if (good && pt_is_finite(t)) {
        /* what lies between two sittings is no time of the run; what was refused is told first */
        bool begins = strcmp(type, "meta") == 0 || strcmp(type, "refused") == 0 ||
                      strcmp(type, "resumed") == 0 || pt_is_nan(r->run->first_t);
        if (pt_is_nan(r->run->first_t)) r->run->first_t = t, r->run->seconds = 0;
        if (!begins && t > r->run->last_t) r->run->seconds += t - r->run->last_t;
        r->run->last_t = t;
    }
    pt_arena_deinit(&scratch);
    return good;
}

static void read_log(reading *r, const char *log, int64_t n)
{
    for (int64_t at = 0; at < n && !r->no_memory;) {
        const char *end = memchr(log + at, '\n', (size_t)(n - at));
        int64_t len = end ? end - (log + at) : n - at;
        bool good = len == 0 || read_line(r, log + at, (size_t)len);
        if (!end && !good) r->run->torn = true;
        else if (len) {
            r->run->lines++;
            r->run->bad_lines += !good;
        }
        at += len + 1;
    }
}

/* ---- the whole ---- */

static void read_json(reading *r, const char *text, int64_t n)
{
    pt_run *run = r->run;
    pt_error err = {0};
    pt_status s = pt_json_parse(text, (size_t)n, &run->arena, &run->json, &err);
    if (s == PT_NO_MEMORY) r->no_memory = true;
    const pt_json *train = pt_json_get(run->json, "train"),
                  *model = pt_json_get(run->json, "model");
    run->total_steps = whole(train, "steps", 0);
    run->tokens_per_step = tokens_per_step(train);
    run->params = whole(model, "params", 0);
    run->vocab = whole(model, "vocab", 0);
    run->started = keep(r, pt_json_get(run->json, "started"));
    run->planned_bytes = whole(pt_json_get(run->json, "program"), "planned_bytes", 0);
}

static void hand_over(reading *r)
{
    pt_run *run = r->run;
    union {
        char *bytes;
        void *any;
    } at[4] = {{r->steps.data}, {r->vals.data}, {r->samples.data}, {r->events.data}};
    run->steps = at[0].any, run->n_steps = r->steps.n;
    run->vals = at[1].any, run->n_vals = r->vals.n;
    run->samples = at[2].any, run->n_samples = r->samples.n;
    run->events = at[3].any, run->n_events = r->events.n;
}

pt_status pt_run_read(pt_run *out, const char *json, int64_t json_bytes, const char *log,
                      int64_t log_bytes, pt_error *err)
{
    *out = (pt_run){.first_t = PT_NAN,
                    .last_t = PT_NAN,
                    .seconds = PT_NAN,
                    .preset = "",
                    .started = "",
                    .how = "",
                    .status = ""};
    reading r = {.run = out,
                 .steps = {.size = sizeof(pt_run_step)},
                 .vals = {.size = sizeof(pt_run_val)},
                 .samples = {.size = sizeof(pt_run_sample)},
                 .events = {.size = sizeof(pt_run_event)}};
    if (json) read_json(&r, json, json_bytes);
    read_log(&r, log, log_bytes);
    if (!settle(&r.steps) || !settle(&r.vals) || !settle(&r.samples)) r.no_memory = true;
    hand_over(&r);
    if (!r.no_memory) return PT_OK;
    pt_run_deinit(out);
    return pt_fail(err, PT_NO_MEMORY, "no memory to read the run");
}

void pt_run_deinit(pt_run *run)
{
    if (!run) return;
    pt_free(run->steps);
    pt_free(run->vals);
    pt_free(run->samples);
    pt_free(run->events);
    pt_arena_deinit(&run->arena);
    *run = (pt_run){0};
}

/* ---- figures ---- */

double pt_run_speed(const pt_run *run)
{
    double seconds = 0;
    int64_t n = 0;
    for (int64_t i = WARM_UP_STEPS; i < run->n_steps; i++) {
        if (!(run->steps[i].seconds > 0) || !pt_is_finite(run->steps[i].seconds)) continue;
        seconds += run->steps[i].seconds;
        n++;
    }
    return n && run->tokens_per_step ? (double)n * (double)run->tokens_per_step / seconds : PT_NAN;
}

int64_t pt_run_best_val(const pt_run *run)
{
    int64_t best = -1;
    for (int64_t i = 0; i < run->n_vals; i++)
        if (pt_is_finite(run->vals[i].loss) &&
            (best < 0 || run->vals[i].loss < run->vals[best].loss))
            best = i;
    return best;
}

int64_t pt_run_last_val(const pt_run *run)
{
    int64_t i = run->n_vals - 1;
    while (i >= 0 && !pt_is_finite(run->vals[i].loss)) i--;
    return i;
}

double pt_run_train_loss(const pt_run *run)
{
    double sum = 0;
    int64_t n = 0;
    for (int64_t i = pt_max_i64(0, run->n_steps - RECENT_STEPS); i < run->n_steps; i++) {
        if (!pt_is_finite(run->steps[i].loss)) continue;
        sum += run->steps[i].loss;
        n++;
    }
    return n ? sum / (double)n : PT_NAN;
}

int64_t pt_run_last_step(const pt_run *run)
{
    return run->n_steps ? run->steps[run->n_steps - 1].step : 0;
}

const char *pt_run_state(const pt_run *run)
{
    if (strcmp(run->how, "finished") == 0) return "finished";
    if (strcmp(run->how, "stopped") == 0) return "stopped";
    if (strcmp(run->status, "DIVERGED") == 0) return "diverged";
    return *run->how ? "failed" : "unfinished";
}
