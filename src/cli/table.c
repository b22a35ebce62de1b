/* A table of texts that fits the screen. SPDX-License-Identifier: MIT */
#include "cli/table.h"

#include <limits.h>

#include "base/fit_line.h"
#include "base/format.h"
#include "base/safe_text.h"

#define LEFT_OUT (-1) /* the width of a column that is not shown */
#define NARROWEST 12  /* columns that a text keeps */
#define BETWEEN 2

typedef struct layout {
    int width[PT_TABLE_COLUMNS];
} layout;

pt_status pt_table_begin(pt_table *t, pt_error *err)
{
    t->cells = pt_arena_array(&t->arena, t->rows * t->columns, sizeof *t->cells);
    return t->cells ? PT_OK : pt_fail(err, PT_NO_MEMORY, "no memory for the table");
}

void pt_table_end(pt_table *t)
{
    pt_arena_deinit(&t->arena);
    *t = (pt_table){0};
}

static void set(pt_table *t, int64_t row, int column, const char *text)
{
    t->cells[row * t->columns + column] = text ? text : "?";
}

void pt_table_put(pt_table *t, int64_t row, int column, const char *fmt, ...)
{
    char text[128];
    va_list args;
    va_start(args, fmt);
    pt_vformat(text, sizeof text, fmt, args);
    va_end(args);
    set(t, row, column, pt_arena_copy(&t->arena, text, strlen(text)));
}

void pt_table_text(pt_table *t, int64_t row, int column, const char *text)
{
    size_t n = strlen(text), cap = 3 * n + 4; /* a byte becomes three at most */
    char *safe = pt_arena_alloc(&t->arena, cap);
    if (safe) pt_safe_line(safe, cap, text, n);
    set(t, row, column, safe);
}

const char *pt_table_cell(const pt_table *t, int64_t row, int column)
{
    const char *text = t->cells[row * t->columns + column];
    return text ? text : "";
}

static int width_of(const pt_table *t, int column)
{
    int width = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        int n = pt_text_columns(pt_table_cell(t, row, column));
        if (n > width) width = n;
    }
    return width;
}

/* The widest column that may be cut, or -1. */
static int widest(const pt_table *t, const layout *l)
{
    int found = -1, most = NARROWEST;
    for (int k = 0; k < t->columns; k++) {
        if (t->right >> k & 1 || l->width[k] <= most) continue;
        found = k;
        most = l->width[k];
    }
    return found;
}

static layout fit(const pt_table *t)
{
    layout l;
    int total = (t->left ? pt_text_columns(t->left) : 0) - BETWEEN, highest = 0;
    int limit = t->screen ? t->screen : INT_MAX;
    for (int k = 0; k < t->columns; k++) {
        l.width[k] = width_of(t, k);
        total += BETWEEN + l.width[k];
        if (t->ranks && t->ranks[k] > highest) highest = t->ranks[k];
    }
    for (int rank = highest; t->ranks && rank >= t->kept && total > limit; rank--)
        for (int k = 0; k < t->columns; k++) {
            if (t->ranks[k] != rank) continue;
            total -= BETWEEN + l.width[k];
            l.width[k] = LEFT_OUT;
        }
    for (int k; total > limit && (k = widest(t, &l)) >= 0; total--) l.width[k]--;
    return l;
}

/* Its end where it is too wide: names and paths differ there. */
static void put_cell(pt_strbuf *out, const char *text, int width, bool right)
{
    int n = pt_text_columns(text), pad = width > n ? width - n : 0;
    if (right) pt_strbuf_printf(out, "%*s", pad, "");
    if (n > width) {
        for (int skip = n - width + 1; skip > 0; skip--) do
                text++;
            while (((unsigned char)*text & 0xc0) == 0x80);
        pt_strbuf_puts(out, "…");
    }
    pt_strbuf_puts(out, text);
    if (!right) pt_strbuf_printf(out, "%*s", pad, "");
}

void pt_table_print(const pt_table *t, pt_strbuf *out)
{
    layout l = fit(t);
    for (int64_t row = 0; row < t->rows; row++) {
        const char *between = t->left ? t->left : "";
        for (int k = 0; k < t->columns; k++) {
            if (l.width[k] == LEFT_OUT) continue;
            pt_strbuf_puts(out, between);
            put_cell(out, pt_table_cell(t, row, k), l.width[k], t->right >> k & 1);
            between = "  ";
        }
        while (!out->failed && out->len && out->data[out->len - 1] == ' ') out->len--;
        pt_strbuf_putc(out, '\n');
    }
}
