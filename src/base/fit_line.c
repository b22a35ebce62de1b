/* A line that fits. SPDX-License-Identifier: MIT */
#include "base/fit_line.h"

#include "base/format.h"

static bool starts_character(char c) { return ((unsigned char)c & 0xc0) != 0x80; }

int pt_text_columns(const char *text)
{
    int n = 0;
    for (; *text; text++) n += starts_character(*text);
    return n;
}

static size_t join(char *out, size_t cap, const pt_line_part *parts, int n, int least)
{
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (!parts[i].text || !*parts[i].text || parts[i].rank >= least) continue;
        const char *between = at == 0 || parts[i].glued ? "" : "  ";
        at += pt_format(out + at, cap - at, "%s%s", between, parts[i].text);
        if (at >= cap) return cap - 1;
    }
    return at;
}

static void cut(char *text, int columns)
{
    for (; *text; text++)
        if (starts_character(*text) && columns-- <= 0) break;
    *text = '\0';
}

int pt_fit_line(char *out, size_t cap, const pt_line_part *parts, int n, int columns)
{
    int highest = 0, lowest = 0;
    for (int i = 0; i < n; i++) {
        if (parts[i].rank > highest) highest = parts[i].rank;
        if (i == 0 || parts[i].rank < lowest) lowest = parts[i].rank;
    }
    for (int least = highest + 1; least > lowest; least--) {
        join(out, cap, parts, n, least);
        if (pt_text_columns(out) <= columns) break;
    }
    cut(out, columns);
    return pt_text_columns(out);
}
