/* Values as text: str, repr and JSON as Python writes them. SPDX-License-Identifier: MIT */
#include "base/decimal.h"
#include "base/maths.h"
#include "text/jinja/run.h"
#include "text/jinja/strings.h"

/* ---- numbers ---- */

/* The digits and the decimal exponent of the first one, from "1.5e-07" or "0.0015" or "1500". */
static int split_shortest(const char *text, size_t n, char *digits, int *exponent)
{
    int n_digits = 0, point = -1, power = 0, leading = 0;
    size_t i = 0;
    for (; i < n && text[i] != 'e'; i++) {
        if (text[i] == '.') point = n_digits + leading;
        else if (text[i] == '0' && n_digits == 0) leading++;
        else if (text[i] >= '0' && text[i] <= '9') digits[n_digits++] = text[i];
    }
    int before = point < 0 ? n_digits + leading : point;
    bool negative = i + 1 < n && text[i + 1] == '-';
    for (i++; i < n; i++)
        if (text[i] >= '0' && text[i] <= '9') power = power * 10 + text[i] - '0';
    *exponent = before - leading - 1 + (negative ? -power : power);
    while (n_digits > 1 && digits[n_digits - 1] == '0') n_digits--;
    return n_digits;
}

/* Python's repr: the shortest digits, an exponent below 1e-4 and from 1e16 on, else a point. */
static void put_float(pt_jinja_text *t, double value)
{
    char text[PT_DECIMAL_MAX], digits[PT_DECIMAL_MAX], power[16];
    if (value != value || value - value != 0) {
        pt_jinja_puts(t, value != value ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    size_t n = pt_double_to_shortest(value, text), sign = text[0] == '-';
    int exponent, n_digits = split_shortest(text + sign, n - sign, digits, &exponent);
    if (sign) pt_jinja_puts(t, "-");
    if (value == 0) {
        pt_jinja_puts(t, "0.0");
        return;
    }
    bool scientific = exponent < -4 || exponent >= 16;
    int before = scientific ? 1 : exponent + 1; /* digits before the point */
    if (before <= 0) pt_jinja_puts(t, "0.");
    for (int i = before; i < 0; i++) pt_jinja_puts(t, "0");
    for (int i = 0; i < n_digits || i < before; i++) {
        if (i == before && before > 0) pt_jinja_puts(t, ".");
        pt_jinja_put(t, i < n_digits ? &digits[i] : "0", 1);
    }
    if (!scientific && n_digits <= before) pt_jinja_puts(t, ".0");
    if (scientific)
        pt_jinja_put(t, power,
                     pt_format(power, sizeof power, "e%s%02d", exponent < 0 ? "-" : "+",
                               exponent < 0 ? -exponent : exponent));
}

static void put_int(pt_jinja_text *t, int64_t value)
{
    char text[32];
    pt_jinja_put(t, text, pt_format(text, sizeof text, "%lld", (long long)value));
}

static void put_number(pt_jinja_text *t, const pt_jv *v)
{
    if (v->kind == PT_JV_INT) put_int(t, v->integer);
    else if (v->text) pt_jinja_put(t, v->text, v->n);
    else put_float(t, v->number);
}

/* ---- str and repr ---- */

static void put_repr_string(pt_jinja_text *t, const pt_jv *v)
{
    static const char bytes[] = "\n\r\t\\", names[] = "nrt\\";
    bool single = memchr(v->text, '\'', v->n) != NULL, twice = memchr(v->text, '"', v->n) != NULL;
    char quote = single && !twice ? '"' : '\'', escape[8];
    pt_jinja_put(t, &quote, 1);
    for (size_t i = 0; i < v->n; i++) {
        unsigned char c = (unsigned char)v->text[i];
        const char *at = c ? strchr(bytes, c) : NULL;
        if (at || c == (unsigned char)quote) {
            escape[0] = '\\';
            escape[1] = at ? names[at - bytes] : (char)c;
            pt_jinja_put(t, escape, 2);
        } else if (c < 32 || c == 127) {
            pt_jinja_put(t, escape, pt_format(escape, sizeof escape, "\\x%02x", c));
        } else pt_jinja_put(t, v->text + i, 1);
    }
    pt_jinja_put(t, &quote, 1);
}

static pt_status put_repr(pt_jinja_text *t, const pt_jv *v);

static pt_status put_container(pt_jinja_text *t, const pt_jv *v)
{
    bool dict = v->kind == PT_JV_DICT;
    int64_t n = dict ? v->dict->n : v->list->n;
    pt_status s = pt_jinja_enter(t->run);
    bool tuple = v->integer != 0;
    pt_jinja_puts(t, dict ? "{" : tuple ? "(" : "[");
    for (int64_t i = 0; !s && i < n; i++) {
        s = pt_jinja_charge(t->run, 1);
        if (i) pt_jinja_puts(t, ", ");
        if (!s && dict) {
            s = put_repr(t, &v->dict->key[i]);
            pt_jinja_puts(t, ": ");
        }
        if (!s) s = put_repr(t, dict ? &v->dict->value[i] : &v->list->item[i]);
    }
    pt_jinja_puts(t, dict ? "}" : !tuple ? "]" : n == 1 ? ",)" : ")");
    t->run->depth--;
    return s ? s : t->status;
}

static pt_status put_repr(pt_jinja_text *t, const pt_jv *v)
{
    if (v->kind == PT_JV_STRING) put_repr_string(t, v);
    else if (v->kind == PT_JV_UNDEFINED) pt_jinja_puts(t, "Undefined");
    else return pt_jv_print(t, v);
    return t->status;
}

pt_status pt_jv_print(pt_jinja_text *t, const pt_jv *v)
{
    switch (v->kind) {
    case PT_JV_UNDEFINED: break;
    case PT_JV_NONE: pt_jinja_puts(t, "None"); break;
    case PT_JV_BOOL: pt_jinja_puts(t, v->integer ? "True" : "False"); break;
    case PT_JV_INT:
    case PT_JV_FLOAT: put_number(t, v); break;
    case PT_JV_STRING: pt_jinja_put(t, v->text, v->n); break;
    case PT_JV_LIST:
    case PT_JV_DICT: return put_container(t, v);
    default:
        return pt_jinja_refuse(t->run, "expected a value that can be shown, found %s",
                               pt_jv_kind_name(v));
    }
    return t->status;
}

pt_status pt_jv_to_text(pt_jinja_run *r, const pt_jv *v, pt_jv *out)
{
    if (v->kind == PT_JV_STRING) {
        *out = *v;
        return PT_OK;
    }
    pt_jinja_text t = {.run = r};
    return pt_jinja_text_end(&t, pt_jv_print(&t, v), out);
}

/* ---- JSON ---- */

static void put_ascii(pt_jinja_text *t, const char *text, size_t n)
{
    char escape[16];
    for (size_t i = 0, len; i < n; i += len) {
        len = pt_jinja_char(text + i, n - i);
        uint32_t code = (unsigned char)text[i];
        if (len > 1) code &= 0x7fu >> len;
        for (size_t k = 1; k < len; k++) code = code << 6 | ((unsigned char)text[i + k] & 63u);
        if (len == 1 && code != 0x7f) pt_jinja_put(t, text + i, 1);
        else if (code < 0x10000)
            pt_jinja_put(t, escape, pt_format(escape, sizeof escape, "\\u%04x", code));
        else
            pt_jinja_put(t, escape,
                         pt_format(escape, sizeof escape, "\\u%04x\\u%04x",
                                   0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff)));
    }
}

static pt_status put_json_string(pt_jinja_text *t, const char *text, size_t n, bool ascii)
{
    pt_strbuf quoted = {0};
    pt_json_writer w = pt_json_writer_begin(&quoted, 0);
    pt_json_string_n(&w, NULL, text, n);
    if (quoted.failed)
        t->status = pt_fail(t->run->err, PT_NO_MEMORY, "no memory to render a template");
    else if (ascii) put_ascii(t, quoted.data, quoted.len);
    else pt_jinja_put(t, quoted.data, quoted.len);
    pt_strbuf_deinit(&quoted);
    return t->status;
}

static pt_status put_json_key(pt_jinja_text *t, const pt_jv *key, const pt_jinja_json_style *style)
{
    if (key->kind == PT_JV_STRING) return put_json_string(t, key->text, key->n, style->ascii);
    if (!pt_jv_is_number(key) && key->kind != PT_JV_NONE)
        return pt_jinja_refuse(t->run, "expected a string as key of a JSON object, found %s",
                               pt_jv_kind_name(key));
    pt_jinja_puts(t, "\"");
    pt_status s = pt_jv_print_json(t, key, style, 0);
    pt_jinja_puts(t, "\"");
    return s ? s : t->status;
}

static void new_line(pt_jinja_text *t, const pt_jinja_json_style *style, int level)
{
    if (style->indent < 0) return;
    pt_jinja_puts(t, "\n");
    for (int64_t i = 0; i < style->indent * level && !t->status; i++) pt_jinja_puts(t, " ");
}

/* The keys' order: that of insertion, or sorted (by selection: few keys, and steps are counted). */
static pt_status nth_entry(pt_jinja_run *r, const pt_jv_dict *dict, const pt_jv *after, int64_t *at)
{
    int order;
    *at = -1;
    for (int64_t i = 0; i < dict->n; i++) {
        pt_status s = PT_OK;
        if (after) s = pt_jv_compare(r, &dict->key[i], after, &order);
        if (s) return s;
        if (after && order <= 0) continue;
        if (*at >= 0) s = pt_jv_compare(r, &dict->key[i], &dict->key[*at], &order);
        if (s) return s;
        if (*at < 0 || order < 0) *at = i;
    }
    return PT_OK;
}

static pt_status put_json_container(pt_jinja_text *t, const pt_jv *v,
                                    const pt_jinja_json_style *style, int level)
{
    bool dict = v->kind == PT_JV_DICT;
    int64_t n = dict ? v->dict->n : v->list->n, at = -1;
    pt_status s = PT_OK;
    pt_jinja_puts(t, dict ? "{" : "[");
    for (int64_t i = 0; !s && i < n; i++) {
        if (dict && style->sort_keys)
            s = nth_entry(t->run, v->dict, at < 0 ? NULL : &v->dict->key[at], &at);
        else at = i;
        if (!s) s = pt_jinja_charge(t->run, 1);
        if (s) return s;
        if (i) pt_jinja_puts(t, style->comma);
        new_line(t, style, level + 1);
        if (dict) s = put_json_key(t, &v->dict->key[at], style);
        if (dict) pt_jinja_puts(t, style->colon);
        if (!s)
            s = pt_jv_print_json(t, dict ? &v->dict->value[at] : &v->list->item[at], style,
                                 level + 1);
    }
    if (n) new_line(t, style, level);
    pt_jinja_puts(t, dict ? "}" : "]");
    return s ? s : t->status;
}

pt_status pt_jv_print_json(pt_jinja_text *t, const pt_jv *v, const pt_jinja_json_style *style,
                           int level)
{
    pt_status s;
    switch (v->kind) {
    case PT_JV_NONE: pt_jinja_puts(t, "null"); return t->status;
    case PT_JV_BOOL: pt_jinja_puts(t, v->integer ? "true" : "false"); return t->status;
    case PT_JV_INT:
    case PT_JV_FLOAT: put_number(t, v); return t->status;
    case PT_JV_STRING: return put_json_string(t, v->text, v->n, style->ascii);
    case PT_JV_LIST:
    case PT_JV_DICT:
        s = pt_jinja_enter(t->run);
        if (!s) s = put_json_container(t, v, style, level);
        t->run->depth--;
        return s;
    case PT_JV_UNDEFINED: return pt_jinja_refuse(t->run, "tojson of an undefined value");
    default:
        return pt_jinja_refuse(t->run, "expected a value that JSON can hold, found %s",
                               pt_jv_kind_name(v));
    }
}
