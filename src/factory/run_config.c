/* run.json as a flat list. SPDX-License-Identifier: MIT */
#include "factory/run_config.h"

#include "base/strings.h"

typedef struct flattening {
    pt_arena *arena;
    pt_strbuf key;
    pt_config_entry *entries; /* NULL while counting */
    int64_t n;
    bool failed;
} flattening;

static const char *value_text(const pt_json *value)
{
    switch (value->type) {
    case PT_JSON_NULL: return "null";
    case PT_JSON_BOOL: return value->boolean ? "true" : "false";
    case PT_JSON_ARRAY: return "[]";
    case PT_JSON_OBJECT: return "{}";
    default: return value->text;
    }
}

static void add(flattening *f, const pt_json *value)
{
    if (f->entries) {
        pt_config_entry *e = &f->entries[f->n];
        e->key = pt_arena_copy(f->arena, f->key.data ? f->key.data : "", f->key.len);
        e->value = value_text(value);
        if (!e->key) f->failed = true;
    }
    f->n++;
}

/* As deep as the reader of JSON goes, 64 levels. */
static void flatten(flattening *f, const pt_json *value)
{
    if (!value->child) {
        add(f, value);
        return;
    }
    int64_t i = 0;
    for (const pt_json *c = value->child; c; c = c->next, i++) {
        size_t before = f->key.len;
        if (before) pt_strbuf_putc(&f->key, '.');
        if (c->key) pt_strbuf_puts(&f->key, c->key);
        else pt_strbuf_printf(&f->key, "%lld", (long long)i);
        if (f->key.failed) return;
        flatten(f, c);
        f->key.len = before;
    }
}

pt_status pt_config_list(const pt_json *json, pt_arena *arena, pt_config_entry **out, int64_t *n,
                         pt_error *err)
{
    flattening f = {.arena = arena};
    *out = NULL;
    *n = 0;
    if (!json) return PT_OK;
    flatten(&f, json);
    f.entries = pt_arena_array(arena, f.n, sizeof *f.entries);
    f.n = 0;
    if (f.entries) flatten(&f, json);
    bool failed = f.failed || f.key.failed || !f.entries;
    pt_strbuf_deinit(&f.key);
    if (failed) return pt_fail(err, PT_NO_MEMORY, "no memory for the run's configuration");
    *out = f.entries;
    *n = f.n;
    return PT_OK;
}

const char *pt_config_value(const pt_config_entry *entries, int64_t n, const char *key)
{
    for (int64_t i = 0; i < n; i++)
        if (strcmp(entries[i].key, key) == 0) return entries[i].value;
    return NULL;
}
