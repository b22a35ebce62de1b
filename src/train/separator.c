/* Separators of documents. SPDX-License-Identifier: MIT */
#include "train/separator.h"

#include "base/hash.h"

static const char letters[] = "nrt0\\", meanings[] = {'\n', '\r', '\t', '\0', '\\'};

/* One byte of the text; how many characters it took, 0: none that is known. */
static int parse_byte(const char *text, uint8_t *out)
{
    *out = (uint8_t)text[0];
    if (text[0] != '\\') return 1;
    const char *letter = text[1] ? strchr(letters, text[1]) : NULL;
    if (letter) *out = (uint8_t)meanings[letter - letters];
    if (letter) return 2;
    return text[1] == 'x' && pt_unhex(text + 2, out, 1) ? 4 : 0;
}

pt_status pt_separator_parse(pt_separator *out, const char *text, pt_error *err)
{
    *out = (pt_separator){0};
    for (const char *at = text; *at;) {
        uint8_t byte;
        int used = parse_byte(at, &byte);
        if (!used)
            return pt_fail(err, PT_BAD_INPUT,
                           "the separator '%s' has a backslash that is none of \\n \\r \\t \\0 "
                           "\\\\ \\xHH",
                           text);
        if (out->n == PT_SEPARATOR_MAX)
            return pt_fail(err, PT_BAD_INPUT, "the separator '%s' has more than %d bytes", text,
                           PT_SEPARATOR_MAX);
        out->bytes[out->n++] = byte;
        at += used;
    }
    return PT_OK;
}

void pt_separator_print(const pt_separator *separator, pt_strbuf *to)
{
    for (int i = 0; i < separator->n; i++) {
        uint8_t byte = separator->bytes[i];
        const char *meaning = memchr(meanings, byte, sizeof meanings);
        if (meaning) pt_strbuf_printf(to, "\\%c", letters[meaning - meanings]);
        else if (byte > ' ' && byte < 127) pt_strbuf_putc(to, (char)byte);
        else pt_strbuf_printf(to, "\\x%02x", byte);
    }
}
