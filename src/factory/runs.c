/* Many runs. SPDX-License-Identifier: MIT */
#include "factory/runs.h"

#include "base/append_file.h"
#include "base/fs.h"
#include "base/maths.h"
#include "base/platform.h"
#include "factory/runs_db.h"
#include "factory/verdict.h"

static void copy(char *out, size_t cap, const char *text)
{
    size_t n = pt_format(out, cap, "%s", text);
    if (n >= cap) out[pt_utf8_complete(out, cap - 1)] = '\0';
}

pt_run_summary pt_run_sum_up(const pt_run *run, const char *path)
{
    int64_t best = pt_run_best_val(run), last = pt_run_last_val(run);
    pt_run_summary s = {.params = run->params,
                        .steps = pt_run_last_step(run),
                        .total_steps = run->total_steps,
                        .best_step = best >= 0 ? run->vals[best].step : 0,
                        .last_step = last >= 0 ? run->vals[last].step : 0,
                        .best_val = best >= 0 ? run->vals[best].loss : PT_NAN,
                        .last_val = last >= 0 ? run->vals[last].loss : PT_NAN,
                        .train_loss = pt_run_train_loss(run),
                        .speed = pt_run_speed(run),
                        .seconds = run->seconds};
    copy(s.path, sizeof s.path, path);
    copy(s.preset, sizeof s.preset, run->preset);
    copy(s.started, sizeof s.started, run->started);
    copy(s.state, sizeof s.state, pt_run_state(run));
    copy(s.verdict, sizeof s.verdict, pt_verdict_name(pt_verdict_of(run).kind));
    return s;
}

void pt_run_summary_look(pt_run_summary *s)
{
    char path[PT_FS_PATH_MAX];
    if (strcmp(s->state, "unfinished") == 0 &&
        pt_fs_join(path, sizeof path, s->path, "log.jsonl") && pt_append_file_is_open(path))
        copy(s->state, sizeof s->state, "running");
}

/* ---- finding ---- */

typedef struct search {
    pt_runs *runs;
    pt_runs_db *db;
    const char *folder;
    int depth;
    pt_status status;
    pt_error *err;
} search;

static void look_in(search *s, const char *folder, int depth);

static void stamp_file(const char *folder, const char *name, int64_t *ns, int64_t *bytes)
{
    char path[PT_FS_PATH_MAX];
    *bytes = -1;
    *ns = 0;
    if (!pt_fs_join(path, sizeof path, folder, name)) return;
    *bytes = pt_fs_size(path);
    *ns = pt_fs_changed_ns(path);
}

static pt_status add(pt_runs *runs, const pt_run_summary *summary, pt_error *err)
{
    if (runs->n == runs->cap) {
        int64_t cap = runs->cap ? 2 * runs->cap : 16;
        size_t size = sizeof *runs->items;
        pt_run_summary *more =
            pt_realloc(runs->items, (size_t)runs->cap * size, (size_t)cap * size);
        if (!more) return pt_fail(err, PT_NO_MEMORY, "no memory for the list of runs");
        runs->items = more;
        runs->cap = cap;
    }
    runs->items[runs->n++] = *summary;
    return PT_OK;
}

/* From the index when it knows this very run, else by reading it. */
static pt_status add_run(search *s, const char *folder, const pt_run_stamp *stamp)
{
    char absolute[PT_FS_PATH_MAX];
    pt_run_summary summary;
    pt_run run;
    bool known = s->db && pt_fs_absolute(absolute, sizeof absolute, folder);
    if (known && pt_runs_db_get(s->db, absolute, stamp, &summary)) {
        copy(summary.path, sizeof summary.path, folder);
        pt_run_summary_look(&summary);
        return add(s->runs, &summary, s->err);
    }
    pt_error reason = {0};
    pt_status status = pt_run_open(&run, folder, &reason);
    if (status == PT_NO_MEMORY) return pt_fail(s->err, status, "%s", reason.message);
    if (status) return PT_OK;
    summary = pt_run_sum_up(&run, folder);
    pt_run_deinit(&run);
    s->runs->n_read++;
    if (known) pt_runs_db_put(s->db, absolute, stamp, &summary);
    pt_run_summary_look(&summary);
    return add(s->runs, &summary, s->err);
}

static void on_entry(void *ctx, const char *name, bool folder)
{
    search *s = ctx;
    char path[PT_FS_PATH_MAX];
    if (!folder || name[0] == '.' || s->status) return;
    const char *parent = strcmp(s->folder, ".") == 0 ? "" : s->folder;
    if (pt_fs_join(path, sizeof path, parent, name)) look_in(s, path, s->depth + 1);
}

static void look_in(search *s, const char *folder, int depth)
{
    pt_run_stamp stamp;
    stamp_file(folder, "run.json", &stamp.json_ns, &stamp.json_bytes);
    stamp_file(folder, "log.jsonl", &stamp.log_ns, &stamp.log_bytes);
    if (stamp.json_bytes >= 0 || stamp.log_bytes >= 0) s->status = add_run(s, folder, &stamp);
    else if (depth < PT_RUNS_DEPTH) {
        search below = *s;
        below.folder = folder;
        below.depth = depth;
        pt_error unreadable = {0}; /* a folder we may not read holds no run of ours */
        (void)pt_fs_list(folder, on_entry, &below, &unreadable);
        s->status = below.status;
    }
}

pt_status pt_runs_find(pt_runs *runs, const char *folder, const char *index, pt_error *err)
{
    if (!pt_fs_is_folder(folder))
        return pt_fail(err, PT_NOT_FOUND, "'%s' is no folder: give one with runs in it", folder);
    search s = {.runs = runs, .db = index ? pt_runs_db_open(index) : NULL, .err = err};
    look_in(&s, folder, 0);
    pt_runs_db_sweep(s.db);
    pt_runs_db_close(s.db);
    return s.status;
}

void pt_runs_deinit(pt_runs *runs)
{
    pt_free(runs->items);
    *runs = (pt_runs){0};
}

bool pt_runs_index_path(char *out, size_t cap)
{
    char data[PT_FS_PATH_MAX];
    const char *xdg = pt_platform_env("XDG_DATA_HOME"), *home = pt_platform_env("HOME");
    if (xdg && xdg[0] == '/') return pt_fs_join(out, cap, xdg, "posttrain/runs.db");
    if (!home || home[0] != '/') return false;
    return pt_fs_join(data, sizeof data, home, ".local/share") &&
           pt_fs_join(out, cap, data, "posttrain/runs.db");
}

/* ---- sorting ---- */

static double negative(double value) { return pt_is_nan(value) ? PT_INF : -value; }

/* What the key sorts by, the smallest first; texts are compared when it is 0 for all. */
static double rank(const pt_run_summary *s, int key)
{
    switch (key) {
    case 2: return pt_is_nan(s->best_val) ? PT_INF : s->best_val;
    case 3: return negative(s->speed);
    case 4: return negative((double)s->steps);
    case 5: return negative((double)s->params);
    default: return 0;
    }
}

static bool comes_before(const pt_run_summary *a, const pt_run_summary *b, int key)
{
    double x = rank(a, key), y = rank(b, key);
    if (x != y) return x < y;
    int newer = strcmp(b->started, a->started);
    return key != 0 && newer ? newer < 0 : strcmp(a->path, b->path) < 0;
}

pt_status pt_runs_sort(pt_runs *runs, const char *key, pt_error *err)
{
    static const char *const keys[] = {"name", "started", "val", "speed", "steps", "params"};
    int k = 0;
    while (k < 6 && strcmp(keys[k], key) != 0) k++;
    if (k == 6)
        return pt_fail(err, PT_BAD_INPUT,
                       "--sort is '%s', it must be name, started, val, speed, steps or params",
                       key);
    for (int64_t i = 1; i < runs->n; i++) {
        pt_run_summary item = runs->items[i];
        int64_t at = i;
        for (; at > 0 && comes_before(&item, &runs->items[at - 1], k); at--)
            runs->items[at] = runs->items[at - 1];
        runs->items[at] = item;
    }
    return PT_OK;
}
