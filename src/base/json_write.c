/* The JSON writer. A call at the wrong place (a key inside an array, an end without its begin)
 * is our own bug and traps at once; a nesting deeper than the reader accepts can come from data
 * and fails the buffer.
 * SPDX-License-Identifier: MIT */
#include "base/decimal.h"
#include "base/json.h"
#include "base/log.h"
#include "base/maths.h"

static void require(bool ok, const char *what)
{
    if (ok) return;
    pt_log_line(PT_LOG_ERROR, "json writer: %s", what);
    __builtin_trap();
}

pt_json_writer pt_json_writer_begin(pt_strbuf *out, int indent)
{
    pt_json_writer w = {.out = out, .indent = indent};
    w.first[0] = true;
    return w;
}

static void new_line(pt_json_writer *w)
{
    static const char spaces[] = "                ";
    if (!w->indent) return;
    pt_strbuf_putc(w->out, '\n');
    for (int64_t left = (int64_t)w->indent * w->depth; left > 0; left -= 16)
        pt_strbuf_append(w->out, spaces, (size_t)pt_min_i64(left, 16));
}

static void escape_byte(pt_strbuf *out, unsigned char c)
{
    static const char bytes[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    const char *at = c ? strchr(bytes, c) : NULL;
    if (at) {
        char escape[2] = {'\\', names[at - bytes]};
        pt_strbuf_append(out, escape, 2);
    } else pt_strbuf_printf(out, "\\u%04x", (unsigned)c);
}

static void put_string(pt_strbuf *out, const char *bytes, size_t n)
{
    size_t done = 0, i = 0;
    pt_strbuf_putc(out, '"');
    while (i < n) {
        unsigned char c = (unsigned char)bytes[i];
        int len = c < 0x80 ? 1 : pt_utf8_char(bytes + i, n - i);
        if (len > 0 && c >= 0x20 && c != '"' && c != '\\') {
            i += (size_t)len;
            continue;
        }
        if (i > done) pt_strbuf_append(out, bytes + done, i - done);
        if (len < 0) pt_strbuf_append(out, "\xef\xbf\xbd", 3); /* U+FFFD */
        else escape_byte(out, c);
        i += (size_t)(len < 0 ? -len : len);
        done = i;
    }
    if (n > done) pt_strbuf_append(out, bytes + done, n - done);
    pt_strbuf_putc(out, '"');
}

/* All that stands before a value: comma, line, key. False when it is too deep to be written. */
static bool before_value(pt_json_writer *w, const char *key, size_t key_len)
{
    if (w->depth > PT_JSON_MAX_DEPTH) return false;
    require(w->in_object[w->depth] == (key != NULL), key ? "a key outside an object" : "no key");
    if (w->depth == 0) require(w->first[0], "a second value at the top");
    else {
        if (!w->first[w->depth]) pt_strbuf_putc(w->out, ',');
        new_line(w);
    }
    w->first[w->depth] = false;
    if (key) {
        put_string(w->out, key, key_len);
        pt_strbuf_puts(w->out, w->indent ? ": " : ":");
    }
    return true;
}

static void put_token(pt_json_writer *w, const char *key, size_t key_len, const char *token,
                      size_t n)
{
    if (before_value(w, key, key_len)) pt_strbuf_append(w->out, token, n);
}

static size_t key_length(const char *key) { return key ? strlen(key) : 0; }

/* ---- containers ---- */

static void begin_container(pt_json_writer *w, const char *key, size_t key_len, bool object)
{
    if (before_value(w, key, key_len)) pt_strbuf_putc(w->out, object ? '{' : '[');
    w->depth++;
    if (w->depth > PT_JSON_MAX_DEPTH) {
        w->out->failed = true;
        return;
    }
    w->first[w->depth] = true;
    w->in_object[w->depth] = object;
}

static void end_container(pt_json_writer *w, bool object)
{
    require(w->depth > 0, "an end without a begin");
    if (w->depth > PT_JSON_MAX_DEPTH) {
        w->depth--;
        return;
    }
    require(w->in_object[w->depth] == object, "an end that does not fit its begin");
    bool empty = w->first[w->depth];
    w->depth--;
    if (!empty) new_line(w);
    pt_strbuf_putc(w->out, object ? '}' : ']');
}

void pt_json_begin_object(pt_json_writer *w, const char *key)
{
    begin_container(w, key, key_length(key), true);
}

void pt_json_end_object(pt_json_writer *w) { end_container(w, true); }

void pt_json_begin_array(pt_json_writer *w, const char *key)
{
    begin_container(w, key, key_length(key), false);
}

void pt_json_end_array(pt_json_writer *w) { end_container(w, false); }

/* ---- scalars ---- */

void pt_json_null(pt_json_writer *w, const char *key)
{
    put_token(w, key, key_length(key), "null", 4);
}

void pt_json_bool(pt_json_writer *w, const char *key, bool value)
{
    put_token(w, key, key_length(key), value ? "true" : "false", value ? 4 : 5);
}

void pt_json_string_n(pt_json_writer *w, const char *key, const char *bytes, size_t n)
{
    if (before_value(w, key, key_length(key))) put_string(w->out, bytes, n);
}

void pt_json_string(pt_json_writer *w, const char *key, const char *text)
{
    if (text) pt_json_string_n(w, key, text, strlen(text));
    else pt_json_null(w, key);
}

void pt_json_i64(pt_json_writer *w, const char *key, int64_t value)
{
    char token[24];
    size_t n = pt_format(token, sizeof token, "%lld", (long long)value);
    put_token(w, key, key_length(key), token, n);
}

void pt_json_double(pt_json_writer *w, const char *key, double value)
{
    if (!pt_is_finite(value)) {
        pt_json_null(w, key);
        return;
    }
    char token[PT_DECIMAL_MAX];
    size_t n = pt_double_to_shortest(value, token);
    put_token(w, key, key_length(key), token, n);
}

void pt_json_digits(pt_json_writer *w, const char *key, double value, int significant)
{
    if (!pt_is_finite(value)) {
        pt_json_null(w, key);
        return;
    }
    if (significant < 1) significant = 1;
    if (significant > 17) significant = 17;
    char token[32];
    size_t n = pt_format(token, sizeof token, "%.*g", significant, value);
    put_token(w, key, key_length(key), token, n);
}

/* ---- parsed values ---- */

/* Keys come with a length here: they may hold \u0000. Recursion is as deep as the value, which is
 * bounded by the reader. */
static void put_value(pt_json_writer *w, const char *key, size_t key_len, const pt_json *value)
{
    switch (value->type) {
    case PT_JSON_NULL: put_token(w, key, key_len, "null", 4); return;
    case PT_JSON_BOOL:
        put_token(w, key, key_len, value->boolean ? "true" : "false", value->boolean ? 4 : 5);
        return;
    case PT_JSON_NUMBER: put_token(w, key, key_len, value->text, value->text_len); return;
    case PT_JSON_STRING:
        if (before_value(w, key, key_len)) put_string(w->out, value->text, value->text_len);
        return;
    case PT_JSON_ARRAY:
    case PT_JSON_OBJECT: break;
    }
    bool object = value->type == PT_JSON_OBJECT;
    begin_container(w, key, key_len, object);
    for (const pt_json *child = value->child; child; child = child->next)
        put_value(w, child->key, child->key_len, child);
    end_container(w, object);
}

void pt_json_value(pt_json_writer *w, const char *key, const pt_json *value)
{
    if (value) put_value(w, key, key_length(key), value);
    else pt_json_null(w, key);
}
