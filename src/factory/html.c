/* Text for a page. SPDX-License-Identifier: MIT */
#include "factory/html.h"

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

static bool is_control(uint32_t c)
{
    return (c < 32 && c != '\n' && c != '\t') || (c >= 127 && c < 160);
}

/* What stands for the character, or NULL: itself. */
static const char *instead(uint32_t c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return is_control(c) ? "·" : turns_direction(c) ? "\xef\xbf\xbd" : NULL;
    }
}

void pt_html_bytes(pt_strbuf *out, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n;) {
        int len = pt_utf8_char(bytes + i, n - i);
        const char *other = len < 0 ? "\xef\xbf\xbd" : instead(code_point(bytes + i, len));
        if (other) pt_strbuf_puts(out, other);
        else pt_strbuf_append(out, bytes + i, (size_t)len);
        i += (size_t)(len < 0 ? -len : len);
    }
}

void pt_html_text(pt_strbuf *out, const char *text)
{
    if (text) pt_html_bytes(out, text, strlen(text));
}

void pt_html_row(pt_strbuf *out, const char *key, const char *value)
{
    pt_strbuf_puts(out, "<tr><th scope=\"row\">");
    pt_html_text(out, key);
    pt_strbuf_puts(out, "</th><td>");
    pt_html_text(out, value);
    pt_strbuf_puts(out, "</td></tr>\n");
}
