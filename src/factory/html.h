/* Text for a page of HTML or an SVG inside it. Everything that comes from a run goes through here.
 * SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_HTML_H
#define PT_FACTORY_HTML_H

#include "base/strings.h"

/* Any bytes as text, also inside a quoted attribute: & < > " ' become references, control characters other than
 * newline and tab a dot, what is no UTF-8 U+FFFD, and so do characters that turn the direction of text around
 * (they could make a page show something else than it says). */
void pt_html_bytes(pt_strbuf *out, const char *bytes, size_t n);
void pt_html_text(pt_strbuf *out, const char *text); /* NUL-terminated; NULL is nothing */

/* "<tr><th scope=row>key</th><td>value</td></tr>", both escaped. */
void pt_html_row(pt_strbuf *out, const char *key, const char *value);

#endif
