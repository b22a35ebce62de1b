/* posttrain runs: lists and compares runs. SPDX-License-Identifier: MIT */
#include "factory/runs.h"

#include "base/fit_line.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "factory/compare.h"

#define COLUMNS 12
#define KEPT_RANKS 4 /* those of the name, the best loss, the state and the verdict */

typedef struct runs_verb {
    const char *sort;
    bool json, no_index;
} runs_verb;

/* ---- the list ---- */

static void put_loss(pt_table *t, int64_t row, int column, double loss)
{
    pt_table_put(t, row, column, loss == loss ? "%.4f" : "-", loss);
}

static void put_run(pt_table *t, int64_t row, const pt_run_summary *s)
{
    char n[32];
    pt_table_text(t, row, 0, s->path);
    pt_table_text(t, row, 1, *s->preset ? s->preset : "-");
    pt_table_put(t, row, 2, "%s", s->params ? pt_rate((double)s->params, n) : "-");
    pt_table_put(t, row, 3, "%lld/%lld", (long long)s->steps, (long long)s->total_steps);
    put_loss(t, row, 4, s->best_val);
    put_loss(t, row, 5, s->last_val);
    put_loss(t, row, 6, s->train_loss);
    pt_table_put(t, row, 7, "%s", pt_rate(s->speed, n));
    pt_table_put(t, row, 8, "%s", pt_duration(s->seconds, n));
    pt_format(n, 17, "%s", *s->started ? s->started : "-"); /* to the minute */
    pt_table_text(t, row, 9, n);
    pt_table_text(t, row, 10, s->state);
    pt_table_text(t, row, 11, s->verdict);
}

static pt_status put_list(pt_strbuf *out, const pt_runs *runs, pt_error *err)
{
    static const char *const titles[COLUMNS] = {"run",      "preset",   "params",   "step",
                                                "best val", "last val", "training", "tok/s",
                                                "time",     "started",  "state",    "verdict"};
    static const int ranks[COLUMNS] = {0, 9, 7, 4, 1, 5, 10, 6, 8, 11, 2, 3};
    pt_table t = {.rows = runs->n + 1,
                  .columns = COLUMNS,
                  .screen = pt_stdout_columns(),
                  .ranks = ranks,
                  .kept = KEPT_RANKS,
                  .right = 0x1fc};
    if (runs->n == 0) {
        pt_strbuf_puts(out, "no runs here\n");
        return PT_OK;
    }
    pt_status s = pt_table_begin(&t, err);
    if (s) return s;
    for (int k = 0; k < COLUMNS; k++) pt_table_text(&t, 0, k, titles[k]);
    for (int64_t i = 0; i < runs->n; i++) put_run(&t, i + 1, &runs->items[i]);
    pt_table_print(&t, out);
    pt_table_end(&t);
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
    static const struct {
        const char *name;
        int column; /* of put_run */
    } figures[] = {{"", 0},
                   {"preset", 1},
                   {"step", 3},
                   {"best validation loss", 4},
                   {"newest validation loss", 5},
                   {"training loss", 6},
                   {"tokens per second", 7},
                   {"time", 8},
                   {"state", 10},
                   {"verdict", 11}};
    int n = sizeof figures / sizeof figures[0];
    pt_table all = {.rows = 2, .columns = COLUMNS};
    pt_table t = {.rows = n, .columns = 3, .screen = pt_stdout_columns()};
    pt_status s = pt_table_begin(&all, err);
    if (s == PT_OK) s = pt_table_begin(&t, err);
    for (int k = 0; k < 2 && s == PT_OK; k++) put_run(&all, k, &p->sum[k]);
    for (int row = 0; row < n && s == PT_OK; row++) {
        pt_table_text(&t, row, 0, figures[row].name);
        for (int k = 0; k < 2; k++)
            pt_table_text(&t, row, k + 1, pt_table_cell(&all, k, figures[row].column));
    }
    if (s == PT_OK) pt_table_print(&t, out);
    pt_table_end(&t);
    pt_table_end(&all);
    return s;
}

static bool is_long(const pt_difference *d, int screen)
{
    int most = screen / 3; /* columns for each of the three */
    return screen && (pt_text_columns(d->a) > most || pt_text_columns(d->b) > most);
}

static void put_long(pt_strbuf *out, const pt_difference *d)
{
    const char *const values[] = {d->a, d->b};
    pt_put_safely(out, d->key, strlen(d->key), "");
    for (int k = 0; k < 2; k++) {
        pt_strbuf_puts(out, "\n  ");
        const char *value = *values[k] ? values[k] : "-";
        pt_put_safely(out, value, strlen(value), "  ");
    }
    pt_strbuf_putc(out, '\n');
}

/* Side by side; on a screen, long texts one below the other and whole: cut off they could look alike. */
static pt_status put_differences(pt_strbuf *out, const pt_comparison *c, pt_error *err)
{
    pt_table t = {.columns = 3, .screen = pt_stdout_columns()};
    pt_strbuf_puts(out, c->n_differences ? "\nset differently:\n" : "\nset alike\n");
    for (int64_t i = 0; i < c->n_differences; i++) t.rows += !is_long(&c->differences[i], t.screen);
    pt_status s = pt_table_begin(&t, err);
    if (s) return s;
    for (int64_t i = 0, row = 0; i < c->n_differences; i++) {
        const pt_difference *d = &c->differences[i];
        if (is_long(d, t.screen)) continue;
        pt_table_text(&t, row, 0, d->key);
        pt_table_text(&t, row, 1, *d->a ? d->a : "-");
        pt_table_text(&t, row++, 2, *d->b ? d->b : "-");
    }
    pt_table_print(&t, out);
    for (int64_t i = 0; i < c->n_differences; i++)
        if (is_long(&c->differences[i], t.screen)) put_long(out, &c->differences[i]);
    pt_table_end(&t);
    return PT_OK;
}

/* The last names of both paths, where they tell the runs apart. */
static void name_both(const pair *p, pt_strbuf names[2])
{
    for (int k = 0; k < 2; k++) {
        const char *path = p->path[k];
        size_t n = strlen(path), from;
        while (n > 1 && path[n - 1] == '/') n--;
        for (from = n; from > 0 && path[from - 1] != '/';) from--;
        pt_strbuf_append(&names[k], path + from, n - from);
    }
    bool failed = names[0].failed || names[1].failed || !names[0].len || !names[1].len;
    if (!failed && strcmp(names[0].data, names[1].data) != 0) return;
    for (int k = 0; k < 2; k++) {
        pt_strbuf_clear(&names[k]);
        pt_strbuf_puts(&names[k], p->path[k]);
    }
}

/* At most about 20 of the common evaluations, the last one always. */
static pt_status put_vals(pt_strbuf *out, const pair *p, pt_error *err)
{
    const pt_comparison *c = &p->found;
    pt_strbuf names[2] = {{0}, {0}};
    int64_t every = pt_div_up(pt_max_i64(c->n_vals, 1), 20);
    pt_table t = {.rows = pt_div_up(c->n_vals, every) + 1, .columns = 4, .right = 0xf};
    if (!c->n_vals) return PT_OK;
    pt_status s = pt_table_begin(&t, err);
    if (s) return s;
    pt_strbuf_puts(out, "\nvalidation loss, where both were evaluated:\n");
    name_both(p, names);
    pt_table_text(&t, 0, 0, "step");
    for (int k = 0; k < 2; k++) pt_table_text(&t, 0, k + 1, names[k].failed ? "?" : names[k].data);
    pt_table_text(&t, 0, 3, "change");
    for (int64_t row = 1; row < t.rows; row++) {
        const pt_common_val *v = &c->vals[c->n_vals - 1 - (t.rows - 1 - row) * every];
        pt_table_put(&t, row, 0, "%lld", (long long)v->step);
        put_loss(&t, row, 1, v->a);
        put_loss(&t, row, 2, v->b);
        pt_table_put(&t, row, 3, "%+.4f", v->change);
    }
    for (int k = 0; k < 2; k++) pt_strbuf_deinit(&names[k]);
    pt_table_print(&t, out);
    pt_table_end(&t);
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
        if (s == PT_OK) s = put_vals(&out, &p, err);
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
        PT_JSON_OPTION(&v.json),
        {"no-index", PT_OPTION_SWITCH, &v.no_index, NULL, "read every run anew", NULL, false},
    };
    pt_command_line line = {
        .options = options, .n_options = 3, .most_positional = 4, .folders_or = "compare"};
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
        "remembered in $XDG_DATA_HOME/posttrain/runs.db where SQLite is installed. On a terminal\n"
        "columns that do not fit are left out; a file and --json get all.\n\n"
        "Examples:\n  posttrain runs --sort val\n  posttrain runs compare runs/first runs/second\n",
    .run = run,
};
