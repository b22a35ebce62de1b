/* Text for a page. SPDX-License-Identifier: MIT */
#include "factory/html.h"

#include "base/safe_text.h"

/* What stands for the character in HTML, or NULL: whatever does elsewhere. */
static const char *instead(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case '\n': return "\n";
    case '\t': return "\t";
    default: return NULL;
    }
}

void pt_html_bytes(pt_strbuf *out, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n;) {
        int len = 1;
        const char *other = instead(bytes[i]);
        if (!other) other = pt_safe_char(bytes + i, n - i, &len);
        if (other) pt_strbuf_puts(out, other);
        else pt_strbuf_append(out, bytes + i, (size_t)len);
        i += (size_t)len;
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
