/* Two runs side by side. SPDX-License-Identifier: MIT */
#include "factory/compare.h"

#include "factory/run_config.h"

typedef struct config {
    pt_config_entry *entries;
    int64_t n;
} config;

/* What says what another key does, or what nobody set. Recomputing is flags of the trainer under `train`, and a word under
 * `arguments`; the hash of the whole text tells another one. */
static bool differs_by_nature(const char *key)
{
    static const char *const names[] = {"started", "program.command", "program.planned_bytes",
                                        "train.recompute", "model.params"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(key, names[i]) == 0) return true;
    if (pt_str_starts(key, "corpus.sources."))
        return !pt_str_ends(key, ".path") && !pt_str_ends(key, ".weight");
    return pt_str_starts(key, "arguments.") && strcmp(key, "arguments.recompute") != 0;
}

static const char *value_of(const config *c, const char *key)
{
    return pt_config_value(c->entries, c->n, key);
}

static void add(pt_comparison *out, const char *key, const char *a, const char *b)
{
    if (!differs_by_nature(key))
        out->differences[out->n_differences++] = (pt_difference){key, a ? a : "", b ? b : ""};
}

/* The path of a single text stands twice in run.json, that of the first of several as the whole's. */
static void leave_out(pt_comparison *out, const char *key)
{
    int64_t n = 0;
    for (int64_t i = 0; i < out->n_differences; i++)
        if (strcmp(out->differences[i].key, key) != 0) out->differences[n++] = out->differences[i];
    out->n_differences = n;
}

/* The number of keys is that of a file of our own, some dozens: looking each one up is quick. A file with more than
 * a few thousand is not one of ours. */
static void find_differences(pt_comparison *out, const config *a, const config *b)
{
    for (int64_t i = 0; i < a->n; i++) {
        const char *other = value_of(b, a->entries[i].key);
        if (!other || strcmp(a->entries[i].value, other) != 0)
            add(out, a->entries[i].key, a->entries[i].value, other);
    }
    for (int64_t i = 0; i < b->n; i++)
        if (!value_of(a, b->entries[i].key)) add(out, b->entries[i].key, NULL, b->entries[i].value);
    static const char second[] = "corpus.sources.1.path";
    bool several = value_of(a, second) || value_of(b, second);
    leave_out(out, several ? "corpus.path" : "corpus.sources.0.path");
}

static void find_common(pt_comparison *out, const pt_run *a, const pt_run *b)
{
    for (int64_t i = 0, k = 0; i < a->n_vals && k < b->n_vals;) {
        const pt_run_val *x = &a->vals[i], *y = &b->vals[k];
        if (x->step == y->step)
            out->vals[out->n_vals++] =
                (pt_common_val){x->step, x->loss, y->loss, y->loss - x->loss};
        i += x->step <= y->step;
        k += y->step <= x->step;
    }
}

pt_status pt_compare(pt_comparison *out, const pt_run *a, const pt_run *b, pt_error *err)
{
    config ca, cb;
    *out = (pt_comparison){0};
    pt_status s = pt_config_list(a->json, &out->arena, &ca.entries, &ca.n, err);
    if (s == PT_OK) s = pt_config_list(b->json, &out->arena, &cb.entries, &cb.n, err);
    if (s == PT_OK) {
        out->differences = pt_arena_array(&out->arena, ca.n + cb.n + 1, sizeof *out->differences);
        out->vals = pt_arena_array(&out->arena, a->n_vals + 1, sizeof *out->vals);
        if (!out->differences || !out->vals)
            s = pt_fail(err, PT_NO_MEMORY, "no memory to compare two runs");
    }
    if (s) {
        pt_comparison_deinit(out);
        return s;
    }
    find_differences(out, &ca, &cb);
    find_common(out, a, b);
    return PT_OK;
}

void pt_comparison_deinit(pt_comparison *comparison)
{
    pt_arena_deinit(&comparison->arena);
    *comparison = (pt_comparison){0};
}
