/* posttrain runs: lists and compares runs. SPDX-License-Identifier: MIT */
#include "factory/runs.h"

#include "base/fit_line.h"
#include "cli/cli.h"
#include "factory/compare.h"

#define MAX_CELL 64
#define KEPT_RANKS 4 /* those of the name, the best loss, the state and the verdict */

typedef struct runs_verb {
    const char *sort;
    bool json, no_index;
} runs_verb;

/* ---- a table of texts ---- */

typedef struct table {
    char (*cells)[MAX_CELL]; /* [rows][columns] */
    int64_t rows;
    int columns;
    const int *
        ranks; /* [columns]: the highest is left out first where the screen is narrow; NULL: all stay */
    unsigned right; /* bit k: column k is aligned to the right */
} table;

static char *cell(const table *t, int64_t row, int column)
{
    return t->cells[row * t->columns + column];
}

static bool new_table(table *t, pt_error *err)
{
    t->cells = pt_alloc((size_t)(t->rows * t->columns) * MAX_CELL);
    if (!t->cells) (void)pt_fail(err, PT_NO_MEMORY, "no memory for the table");
    return t->cells != NULL;
}

/* Text from a file, made harmless for a terminal, its end kept when it is too long (names differ there). */
static void put_cell(const table *t, int64_t row, int column, const char *text)
{
    pt_strbuf safe = {0};
    char *out = cell(t, row, column);
    pt_put_safely(&safe, text, strlen(text), "");
    const char *from = safe.data ? safe.data : "";
    bool cut = safe.len >= MAX_CELL;
    if (cut) from += safe.len - (MAX_CELL - 4);
    while (cut && ((unsigned char)*from & 0xc0) == 0x80) from++;
    pt_format(out, MAX_CELL, "%s%s", cut ? "…" : "", from);
    for (char *p = out; *p; p++)
        if (*p == '\n') *p = ' ';
    pt_strbuf_deinit(&safe);
}

static int width_of(const table *t, int column)
{
    int width = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        int n = pt_text_columns(cell(t, row, column));
        if (n > width) width = n;
    }
    return width;
}

static bool is_shown(const table *t, int column, int least)
{
    return !t->ranks || t->ranks[column] < least;
}

/* The ranks below the returned one fit. */
static int fit(const table *t)
{
    int least = 100, limit = pt_stdout_is_terminal() ? pt_stderr_columns() : 1000;
    for (; least > KEPT_RANKS; least--) {
        int total = -2;
        for (int k = 0; k < t->columns; k++)
            if (is_shown(t, k, least)) total += 2 + width_of(t, k);
        if (total <= limit) break;
    }
    return least;
}

static void put_table(pt_strbuf *out, const table *t)
{
    int least = fit(t);
    for (int64_t row = 0; row < t->rows; row++) {
        size_t begin = out->len;
        for (int k = 0; k < t->columns; k++) {
            if (!is_shown(t, k, least)) continue;
            const char *text = cell(t, row, k);
            int pad = width_of(t, k) - pt_text_columns(text);
            if (out->len > begin) pt_strbuf_puts(out, "  ");
            if (t->right >> k & 1) pt_strbuf_printf(out, "%*s%s", pad, "", text);
            else pt_strbuf_printf(out, "%s%*s", text, pad, "");
        }
        while (!out->failed && out->len > begin && out->data[out->len - 1] == ' ') out->len--;
        pt_strbuf_putc(out, '\n');
    }
}

/* ---- the list ---- */

static void put_loss(char *out, double loss)
{
    pt_format(out, MAX_CELL, loss == loss ? "%.4f" : "-", loss);
}

static void put_run(const table *t, int64_t row, const pt_run_summary *s)
{
    char n[32];
    put_cell(t, row, 0, s->path);
    put_cell(t, row, 1, *s->preset ? s->preset : "-");
    pt_format(cell(t, row, 2), MAX_CELL, "%s", s->params ? pt_rate((double)s->params, n) : "-");
    pt_format(cell(t, row, 3), MAX_CELL, "%lld/%lld", (long long)s->steps,
              (long long)s->total_steps);
    put_loss(cell(t, row, 4), s->best_val);
    put_loss(cell(t, row, 5), s->last_val);
    put_loss(cell(t, row, 6), s->train_loss);
    pt_format(cell(t, row, 7), MAX_CELL, "%s", pt_rate(s->speed, n));
    pt_format(cell(t, row, 8), MAX_CELL, "%s", pt_duration(s->seconds, n));
    put_cell(t, row, 9, *s->started ? s->started : "-");
    if (strlen(s->started) > 16) cell(t, row, 9)[16] = '\0'; /* to the minute */
    put_cell(t, row, 10, s->state);
    put_cell(t, row, 11, s->verdict);
}

static pt_status put_list(pt_strbuf *out, const pt_runs *runs, pt_error *err)
{
    static const char *const titles[] = {"run",      "preset",   "params",   "step",
                                         "best val", "last val", "training", "tok/s",
                                         "time",     "started",  "state",    "verdict"};
    static const int ranks[] = {0, 9, 7, 4, 1, 5, 10, 6, 8, 11, 2, 3};
    table t = {.rows = runs->n + 1, .columns = 12, .ranks = ranks, .right = 0x1fc};
    if (runs->n == 0) {
        pt_strbuf_puts(out, "no runs here\n");
        return PT_OK;
    }
    if (!new_table(&t, err)) return PT_NO_MEMORY;
    for (int k = 0; k < t.columns; k++) put_cell(&t, 0, k, titles[k]);
    for (int64_t i = 0; i < runs->n; i++) put_run(&t, i + 1, &runs->items[i]);
    put_table(out, &t);
    pt_free(t.cells);
    return PT_OK;
}

static void put_summary(pt_json_writer *w, const char *key, const pt_run_summary *s)
{
    pt_json_begin_object(w, key);
    pt_json_string(w, "run_dir", s->path);
    pt_json_string(w, "preset", s->preset);
    pt_json_i64(w, "params", s->params);
    pt_json_i64(w, "step", s->steps);
    pt_json_i64(w, "total_steps", s->total_steps);
    pt_json_double(w, "best_val_loss", s->best_val);
    pt_json_i64(w, "best_val_step", s->best_step);
    pt_json_double(w, "val_loss", s->last_val);
    pt_json_i64(w, "val_step", s->last_step);
    pt_json_double(w, "train_loss", s->train_loss);
    pt_json_double(w, "tokens_per_second", s->speed);
    pt_json_double(w, "seconds", s->seconds);
    pt_json_string(w, "started", s->started);
    pt_json_string(w, "ended", s->state);
    pt_json_string(w, "verdict", s->verdict);
    pt_json_end_object(w);
}

static void put_list_json(pt_strbuf *out, const pt_runs *runs)
{
    pt_json_writer w = pt_json_writer_begin(out, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_begin_array(&w, "runs");
    for (int64_t i = 0; i < runs->n; i++) put_summary(&w, NULL, &runs->items[i]);
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    pt_strbuf_putc(out, '\n');
}

static pt_status list(const runs_verb *v, const pt_command_line *line, pt_error *err)
{
    char path[1024];
    const char *index = !v->no_index && pt_runs_index_path(path, sizeof path) ? path : NULL;
    const char *here = pt_fs_is_folder("runs") ? "runs" : ".";
    pt_runs runs = {0};
    pt_strbuf out = {0};
    pt_status s = PT_OK;
    for (int i = 0; i < line->n_positional && s == PT_OK; i++)
        s = pt_runs_find(&runs, line->positional[i], index, err);
    if (line->n_positional == 0) s = pt_runs_find(&runs, here, index, err);
    if (s == PT_OK) s = pt_runs_sort(&runs, v->sort, err);
    if (s == PT_OK && v->json) put_list_json(&out, &runs);
    else if (s == PT_OK) s = put_list(&out, &runs, err);
    if (s == PT_OK) s = pt_print_strbuf(&out, err);
    pt_strbuf_deinit(&out);
    pt_runs_deinit(&runs);
    return s;
}

/* ---- two runs ---- */

typedef struct pair {
    const char *path[2];
    pt_run run[2];
    pt_run_summary sum[2];
    pt_comparison found;
} pair;

static pt_status put_figures(pt_strbuf *out, const pair *p, pt_error *err)
{
    static const char *const names[] = {"",
                                        "preset",
                                        "step",
                                        "best validation loss",
                                        "newest validation loss",
                                        "training loss",
                                        "tokens per second",
                                        "time",
                                        "state",
                                        "verdict"};
    static const int columns[] = {0, 1, 3, 4, 5, 6, 7, 8, 10, 11}; /* of put_run */
    table all = {.rows = 2, .columns = 12}, t = {.rows = 10, .columns = 3};
    if (!new_table(&all, err)) return PT_NO_MEMORY;
    if (!new_table(&t, err)) {
        pt_free(all.cells);
        return PT_NO_MEMORY;
    }
    for (int k = 0; k < 2; k++) put_run(&all, k, &p->sum[k]);
    for (int row = 0; row < 10; row++) {
        put_cell(&t, row, 0, names[row]);
        for (int k = 0; k < 2; k++)
            memcpy(cell(&t, row, k + 1), cell(&all, k, columns[row]), MAX_CELL);
    }
    put_table(out, &t);
    pt_free(t.cells);
    pt_free(all.cells);
    return PT_OK;
}

static pt_status put_differences(pt_strbuf *out, const pt_comparison *c, pt_error *err)
{
    table t = {.rows = c->n_differences, .columns = 3};
    pt_strbuf_puts(out, c->n_differences ? "\nset differently:\n" : "\nset alike\n");
    if (!c->n_differences) return PT_OK;
    if (!new_table(&t, err)) return PT_NO_MEMORY;
    for (int64_t i = 0; i < t.rows; i++) {
        const pt_difference *d = &c->differences[i];
        put_cell(&t, i, 0, d->key);
        put_cell(&t, i, 1, *d->a ? d->a : "-");
        put_cell(&t, i, 2, *d->b ? d->b : "-");
    }
    put_table(out, &t);
    pt_free(t.cells);
    return PT_OK;
}

/* At most about 20 of the common evaluations, the last one always. */
static pt_status put_vals(pt_strbuf *out, const pt_comparison *c, pt_error *err)
{
    int64_t every = pt_div_up(pt_max_i64(c->n_vals, 1), 20);
    table t = {.rows = pt_div_up(c->n_vals, every) + 1, .columns = 4, .right = 0xf};
    if (!c->n_vals) return PT_OK;
    if (!new_table(&t, err)) return PT_NO_MEMORY;
    pt_strbuf_puts(out, "\nvalidation loss, where both were evaluated:\n");
    static const char *const titles[] = {"step", "first", "second", "change"};
    for (int k = 0; k < 4; k++) put_cell(&t, 0, k, titles[k]);
    for (int64_t row = 1; row < t.rows; row++) {
        const pt_common_val *v = &c->vals[c->n_vals - 1 - (t.rows - 1 - row) * every];
        pt_format(cell(&t, row, 0), MAX_CELL, "%lld", (long long)v->step);
        put_loss(cell(&t, row, 1), v->a);
        put_loss(cell(&t, row, 2), v->b);
        pt_format(cell(&t, row, 3), MAX_CELL, "%+.4f", v->change);
    }
    put_table(out, &t);
    pt_free(t.cells);
    return PT_OK;
}

static void put_pair_json(pt_strbuf *out, const pair *p)
{
    const pt_comparison *c = &p->found;
    pt_json_writer w = pt_json_writer_begin(out, 0);
    pt_json_begin_object(&w, NULL);
    put_summary(&w, "a", &p->sum[0]);
    put_summary(&w, "b", &p->sum[1]);
    pt_json_begin_array(&w, "differences");
    for (int64_t i = 0; i < c->n_differences; i++) {
        pt_json_begin_object(&w, NULL);
        pt_json_string(&w, "key", c->differences[i].key);
        pt_json_string(&w, "a", c->differences[i].a);
        pt_json_string(&w, "b", c->differences[i].b);
        pt_json_end_object(&w);
    }
    pt_json_end_array(&w);
    pt_json_begin_array(&w, "val_losses");
    for (int64_t i = 0; i < c->n_vals; i++) {
        pt_json_begin_object(&w, NULL);
        pt_json_i64(&w, "step", c->vals[i].step);
        pt_json_double(&w, "a", c->vals[i].a);
        pt_json_double(&w, "b", c->vals[i].b);
        pt_json_end_object(&w);
    }
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    pt_strbuf_putc(out, '\n');
}

static pt_status compare(const runs_verb *v, const pt_command_line *line, pt_error *err)
{
    pair p = {.path = {line->positional[1], line->positional[2]}};
    pt_strbuf out = {0};
    if (line->n_positional != 3)
        return pt_fail(err, PT_BAD_INPUT, "two runs can be compared: posttrain runs compare A B");
    pt_status s = pt_run_open(&p.run[0], p.path[0], err);
    if (s == PT_OK) s = pt_run_open(&p.run[1], p.path[1], err);
    if (s == PT_OK) s = pt_compare(&p.found, &p.run[0], &p.run[1], err);
    for (int k = 0; k < 2 && s == PT_OK; k++) {
        p.sum[k] = pt_run_sum_up(&p.run[k], p.path[k]);
        pt_run_summary_look(&p.sum[k]);
    }
    if (s == PT_OK && v->json) put_pair_json(&out, &p);
    else if (s == PT_OK) {
        s = put_figures(&out, &p, err);
        if (s == PT_OK) s = put_differences(&out, &p.found, err);
        if (s == PT_OK) s = put_vals(&out, &p.found, err);
    }
    if (s == PT_OK) s = pt_print_strbuf(&out, err);
    pt_strbuf_deinit(&out);
    pt_comparison_deinit(&p.found);
    pt_run_deinit(&p.run[0]);
    pt_run_deinit(&p.run[1]);
    return s;
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    runs_verb v = {.sort = "started"};
    bool done = false;
    pt_option options[] = {
        {"sort", PT_OPTION_TEXT, &v.sort, "started|name|val|speed|steps|params",
         "the newest, lowest or largest first", "started", false},
        {"json", PT_OPTION_SWITCH, &v.json, NULL, "one JSON object on stdout", NULL, false},
        {"no-index", PT_OPTION_SWITCH, &v.no_index, NULL, "read every run anew", NULL, false},
    };
    pt_command_line line = {.options = options, .n_options = 3, .most_positional = 4};
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    bool two = line.n_positional > 0 && strcmp(line.positional[0], "compare") == 0;
    return two ? compare(&v, &line, err) : list(&v, &line, err);
}

const pt_verb pt_verb_runs = {
    .name = "runs",
    .summary = "list runs with their losses; compare two of them",
    .usage = "posttrain runs [DIR…] [options]\n       posttrain runs compare RUN RUN [--json]",
    .details =
        "Looks in the folder runs, or here when there is none, three levels deep. What was read "
        "is\n"
        "remembered in $XDG_DATA_HOME/posttrain/runs.db where SQLite is installed.\n\n"
        "Examples:\n  posttrain runs --sort val\n  posttrain runs compare runs/first runs/second\n",
    .run = run,
};
