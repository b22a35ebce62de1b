/* Text for a page of HTML or an SVG inside it. Everything that comes from a run goes through here.
 * SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_HTML_H
#define PT_FACTORY_HTML_H

#include "base/strings.h"

/* Any bytes as text, also inside a quoted attribute: & < > " ' become references, newline and tab stay, all else is made
 * harmless as in base/safe_text.h. */
void pt_html_bytes(pt_strbuf *out, const char *bytes, size_t n);
void pt_html_text(pt_strbuf *out, const char *text); /* NUL-terminated; NULL is nothing */

/* "<tr><th scope=row>key</th><td>value</td></tr>", both escaped. */
void pt_html_row(pt_strbuf *out, const char *key, const char *value);

#endif
