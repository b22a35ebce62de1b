/* Memory plan. SPDX-License-Identifier: MIT */
#include "tensor/plan.h"

#define ALIGN_BYTES 256
#define ARENA_MAX_BYTES (INT64_MAX / 8) /* so that the arenas together still fit */

const char *pt_arena_id_name(pt_arena_id arena)
{
    static const char *const names[PT_ARENA_COUNT] = {"model", "run", "step", "call", "host"};
    return names[arena];
}

void pt_plan_init(pt_plan *plan) { *plan = (pt_plan){0}; }

void pt_plan_deinit(pt_plan *plan)
{
    pt_free(plan->entries);
    *plan = (pt_plan){0};
}

/* The first failure stays. */
static void fail(pt_plan *plan, pt_status status)
{
    if (plan->failure == PT_OK) plan->failure = status;
}

static pt_plan_entry *new_entry(pt_plan *plan, pt_arena_id arena, const char *name)
{
    if (plan->n_entries == plan->capacity) {
        int64_t capacity = plan->capacity ? 2 * plan->capacity : 64;
        size_t size = sizeof(pt_plan_entry);
        void *grown =
            pt_realloc(plan->entries, (size_t)plan->capacity * size, (size_t)capacity * size);
        if (!grown) {
            fail(plan, PT_NO_MEMORY);
            return NULL;
        }
        plan->entries = grown;
        plan->capacity = capacity;
    }
    pt_plan_entry *entry = &plan->entries[plan->n_entries++];
    *entry = (pt_plan_entry){.arena = arena};
    pt_format(entry->name, sizeof entry->name, "%s", name);
    return entry;
}

static void reserve(pt_plan *plan, pt_plan_entry *entry, int64_t bytes)
{
    int64_t *arena = &plan->arena_bytes[entry->arena];
    int64_t end = 0;
    if (bytes < 0 || !pt_add_i64(*arena, bytes, &end) || end > ARENA_MAX_BYTES) {
        fail(plan, PT_BAD_INPUT);
        return;
    }
    entry->bytes = bytes;
    entry->tensor.offset = *arena;
    *arena = pt_round_up(end, ALIGN_BYTES);
}

int64_t pt_plan_add(pt_plan *plan, pt_arena_id arena, const char *name, pt_dtype dtype,
                    const int64_t dim[PT_MAX_RANK])
{
    pt_plan_entry *entry = new_entry(plan, arena, name);
    if (!entry) return PT_PLAN_NONE;
    entry->tensor.dtype = dtype;
    entry->tensor = pt_view(&entry->tensor, dim[0], dim[1], dim[2], dim[3]);
    bool negative = dim[0] < 0 || dim[1] < 0 || dim[2] < 0 || dim[3] < 0;
    reserve(plan, entry, negative ? -1 : pt_tensor_bytes(&entry->tensor));
    return plan->failure ? PT_PLAN_NONE : plan->n_entries - 1;
}

void pt_plan_add_host(pt_plan *plan, const char *name, int64_t bytes)
{
    pt_plan_entry *entry = new_entry(plan, PT_ARENA_HOST, name);
    if (entry) reserve(plan, entry, bytes);
}

pt_status pt_plan_check(const pt_plan *plan, pt_error *err)
{
    if (plan->failure == PT_OK) return PT_OK;
    if (plan->failure == PT_NO_MEMORY)
        return pt_fail(err, PT_NO_MEMORY, "no memory for the memory plan itself");
    return pt_fail(err, plan->failure,
                   "the sizes asked for do not fit into 64 bits: choose a smaller model, batch or "
                   "context");
}

pt_tensor pt_plan_tensor(const pt_plan *plan, int64_t id)
{
    if (id < 0 || id >= plan->n_entries) return (pt_tensor){0};
    return plan->entries[id].tensor;
}

bool pt_plan_is_allocated(const pt_plan *plan)
{
    for (int i = 0; i < PT_ARENA_COUNT; i++)
        if (plan->buffer[i]) return true;
    return false;
}

int64_t pt_plan_total_bytes(const pt_plan *plan)
{
    int64_t total = 0;
    for (int i = 0; i < PT_ARENA_COUNT; i++) total += plan->arena_bytes[i];
    return total;
}

const char *pt_plan_name_of(const pt_plan *plan, const pt_tensor *t)
{
    for (int64_t i = 0; i < plan->n_entries; i++) {
        const pt_plan_entry *e = &plan->entries[i];
        if (e->tensor.buffer == t->buffer && t->buffer && t->offset >= e->tensor.offset &&
            t->offset < e->tensor.offset + e->bytes)
            return e->name;
    }
    return "?";
}

static void print_bytes(pt_strbuf *out, int64_t bytes)
{
    if (bytes >= 10000000000) pt_strbuf_printf(out, "%10.1f GB", (double)bytes / 1e9);
    else if (bytes >= 100000) pt_strbuf_printf(out, "%10.1f MB", (double)bytes / 1e6);
    else pt_strbuf_printf(out, "%10.1f kB", (double)bytes / 1e3);
}

void pt_plan_print(const pt_plan *plan, pt_strbuf *out)
{
    for (int arena = 0; arena < PT_ARENA_COUNT; arena++) {
        pt_strbuf_printf(out, "  %-6s", pt_arena_id_name((pt_arena_id)arena));
        print_bytes(out, plan->arena_bytes[arena]);
        const pt_plan_entry *largest = NULL;
        for (int64_t i = 0; i < plan->n_entries; i++) {
            const pt_plan_entry *e = &plan->entries[i];
            if ((int)e->arena == arena && (!largest || e->bytes > largest->bytes)) largest = e;
        }
        if (largest) pt_strbuf_printf(out, "   largest: %s", largest->name);
        pt_strbuf_putc(out, '\n');
    }
    pt_strbuf_puts(out, "  total ");
    print_bytes(out, pt_plan_total_bytes(plan));
    pt_strbuf_putc(out, '\n');
}
