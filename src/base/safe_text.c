/* Text made harmless. SPDX-License-Identifier: MIT */
#include "base/safe_text.h"

#define CONTROL "·"
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static uint32_t code_point(const char *bytes, int len)
{
    unsigned char first = (unsigned char)bytes[0];
    uint32_t c = len == 1 ? first : first & (0x7fu >> len);
    for (int i = 1; i < len; i++) c = c << 6 | ((unsigned char)bytes[i] & 0x3f);
    return c;
}

static bool turns_direction(uint32_t c)
{
    return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

const char *pt_safe_char(const char *bytes, size_t n, int *len)
{
    *len = pt_utf8_char(bytes, n);
    if (*len < 0) {
        *len = -*len;
        return REPLACEMENT;
    }
    uint32_t c = code_point(bytes, *len);
    if (c < 32 || (c >= 127 && c < 160)) return CONTROL;
    return turns_direction(c) ? REPLACEMENT : NULL;
}

void pt_put_safely(pt_strbuf *to, const char *bytes, size_t n, const char *indent)
{
    n = pt_utf8_complete(bytes, n);
    for (size_t i = 0; i < n;) {
        int len = 1;
        const char *other = bytes[i] == '\n' ? "\n" : pt_safe_char(bytes + i, n - i, &len);
        if (other) pt_strbuf_puts(to, other);
        else pt_strbuf_append(to, bytes + i, (size_t)len);
        if (bytes[i] == '\n') pt_strbuf_puts(to, indent);
        i += (size_t)len;
    }
}

size_t pt_safe_line(char *out, size_t cap, const char *bytes, size_t n)
{
    size_t at = 0, cut = 0; /* cut: up to here there is room for "..." */
    n = pt_utf8_complete(bytes, n);
    for (size_t i = 0; i < n;) {
        int len;
        const char *other = pt_safe_char(bytes + i, n - i, &len);
        size_t size = other ? strlen(other) : (size_t)len;
        if (at + size >= cap) {
            memcpy(out + cut, "...", 4);
            return cut + 3;
        }
        memcpy(out + at, other ? other : bytes + i, size);
        at += size;
        i += (size_t)len;
        if (at + 4 <= cap) cut = at;
    }
    out[at] = '\0';
    return at;
}

pt_shown pt_show(const char *bytes, size_t n)
{
    pt_shown s = {0};
    pt_safe_line(s.text, sizeof s.text, bytes, n);
    return s;
}
