/* Source to tokens, with the rules about white space beside tags.
 *
 * trim_blocks: the newline after a block or a comment goes with it. lstrip_blocks: so do the blanks before it, if nothing
 * else stands there on its line. A minus inside the tag takes all white space on its side; a plus switches both rules off.
 * SPDX-License-Identifier: MIT */
#include "base/safe_text.h"
#include "text/jinja/strings.h"
#include "text/jinja/syntax.h"

static pt_status refuse(pt_jinja_lexer *l, const char *problem)
{
    return pt_fail(l->err, PT_BAD_INPUT, "template, line %d: %s", l->line, problem);
}

static int peek(const pt_jinja_lexer *l, size_t ahead)
{
    return l->at + ahead < l->n ? (unsigned char)l->text[l->at + ahead] : -1;
}

static void move_to(pt_jinja_lexer *l, size_t to)
{
    for (; l->at < to; l->at++) l->line += l->text[l->at] == '\n';
}

/* ---- text between tags ---- */

/* Where the next tag begins, or the end. */
static size_t find_tag(const pt_jinja_lexer *l)
{
    for (size_t i = l->at; i + 1 < l->n; i++) {
        char c = l->text[i + 1];
        if (l->text[i] == '{' && (c == '{' || c == '%' || c == '#')) return i;
    }
    return l->n;
}

/* The end of the text l->at … tag that is kept. */
static size_t trimmed_end(const pt_jinja_lexer *l, size_t tag)
{
    char sign = tag + 2 < l->n ? l->text[tag + 2] : 0;
    if (tag == l->n || sign == '+') return tag;
    if (sign == '-') return l->at + pt_jinja_rstrip(l->text + l->at, tag - l->at);
    if (l->text[tag + 1] == '{') return tag;
    size_t line = tag;
    while (line > l->at && l->text[line - 1] != '\n') line--;
    if (line == l->at && !l->line_starts) return tag;
    return pt_jinja_rstrip(l->text + line, tag - line) ? tag : line;
}

/* Behind the end of a tag, whose sign (or 0) this is: leaves out what the rules take. */
static void leave_tag(pt_jinja_lexer *l, char sign, bool trims)
{
    size_t end = l->at;
    if (sign == '-') end += pt_jinja_lstrip(l->text + l->at, l->n - l->at);
    else if (trims && sign != '+' && peek(l, 0) == '\n') end++;
    l->line_starts = end > l->at && l->text[end - 1] == '\n';
    move_to(l, end);
    l->inside = PT_TOK_TEXT;
}

static pt_status skip_comment(pt_jinja_lexer *l)
{
    size_t end = l->at + 2;
    while (end + 1 < l->n && !(l->text[end] == '#' && l->text[end + 1] == '}')) end++;
    if (end + 1 >= l->n) return refuse(l, "expected '#}' that ends the comment, found the end");
    char sign = end > l->at + 2 ? l->text[end - 1] : 0;
    move_to(l, end + 2);
    leave_tag(l, sign, true);
    return PT_OK;
}

/* If the tag at `at` is {% word %}, the place behind it, else 0; its signs are stored. */
static size_t whole_tag(const pt_jinja_lexer *l, size_t at, const char *word, char sign[2])
{
    size_t i = at + 2, n = strlen(word);
    sign[0] = sign[1] = 0;
    if (i < l->n && (l->text[i] == '-' || l->text[i] == '+')) sign[0] = l->text[i++];
    while (i < l->n && (l->text[i] == ' ' || l->text[i] == '\n' || l->text[i] == '\t')) i++;
    if (l->n - i < n || memcmp(l->text + i, word, n) != 0) return 0;
    i += n;
    while (i < l->n && (l->text[i] == ' ' || l->text[i] == '\n' || l->text[i] == '\t')) i++;
    if (i < l->n && (l->text[i] == '-' || l->text[i] == '+')) sign[1] = l->text[i++];
    return l->n - i >= 2 && memcmp(l->text + i, "%}", 2) == 0 ? i + 2 : 0;
}

/* At {% raw %}, which ends at `start`. */
static pt_status take_raw(pt_jinja_lexer *l, size_t start, char sign, pt_jinja_token *out)
{
    char signs[2];
    move_to(l, start);
    leave_tag(l, sign, false);
    for (size_t tag = l->at; tag + 1 < l->n; tag++) {
        if (l->text[tag] != '{' || l->text[tag + 1] != '%') continue;
        size_t end = whole_tag(l, tag, "endraw", signs);
        if (!end) continue;
        l->line_starts = false;
        *out = (pt_jinja_token){PT_TOK_TEXT, l->text + l->at, trimmed_end(l, tag) - l->at, l->line};
        move_to(l, end);
        leave_tag(l, signs[1], true);
        return PT_OK;
    }
    return refuse(l, "expected {% endraw %}, found the end");
}

static pt_status next_outside(pt_jinja_lexer *l, pt_jinja_token *out)
{
    for (;;) {
        char signs[2];
        size_t tag = find_tag(l), end = trimmed_end(l, tag);
        *out = (pt_jinja_token){PT_TOK_TEXT, l->text + l->at, end - l->at, l->line};
        bool some = end > l->at;
        if (tag > l->at) l->line_starts = false;
        move_to(l, tag);
        if (some) return PT_OK;
        if (tag == l->n) {
            out->kind = PT_TOK_END;
            return PT_OK;
        }
        if (l->text[tag + 1] == '#') {
            pt_status s = skip_comment(l);
            if (s) return s;
            continue;
        }
        size_t raw = l->text[tag + 1] == '%' ? whole_tag(l, tag, "raw", signs) : 0;
        if (raw) return take_raw(l, raw, signs[1], out);
        out->kind = l->text[tag + 1] == '%' ? PT_TOK_BLOCK_BEGIN : PT_TOK_PRINT_BEGIN;
        l->inside = out->kind;
        l->brackets = 0;
        char sign = tag + 2 < l->n ? l->text[tag + 2] : 0;
        l->at += sign == '-' || sign == '+' ? 3 : 2;
        return PT_OK;
    }
}

/* ---- inside a tag ---- */

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_letter(int c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

static void take_number(pt_jinja_lexer *l, pt_jinja_token *out)
{
    size_t i = l->at;
    out->kind = PT_TOK_INT;
    while (i < l->n && (is_digit(l->text[i]) || l->text[i] == '_')) i++;
    if (i + 1 < l->n && l->text[i] == '.' && is_digit(l->text[i + 1])) {
        out->kind = PT_TOK_FLOAT;
        for (i++; i < l->n && is_digit(l->text[i]);) i++;
    }
    if (i < l->n && (l->text[i] | 32) == 'e') {
        size_t e = i + 1;
        if (e < l->n && (l->text[e] == '+' || l->text[e] == '-')) e++;
        if (e < l->n && is_digit(l->text[e])) {
            out->kind = PT_TOK_FLOAT;
            for (i = e; i < l->n && is_digit(l->text[i]);) i++;
        }
    }
    out->n = i - l->at;
    l->at = i;
}

static pt_status take_string(pt_jinja_lexer *l, pt_jinja_token *out)
{
    char quote = l->text[l->at];
    size_t i = l->at + 1;
    while (i < l->n && l->text[i] != quote) i += l->text[i] == '\\' ? 2 : 1;
    if (i >= l->n) return refuse(l, "expected a quote that ends the string, found the end");
    out->kind = PT_TOK_STRING;
    out->text++;
    out->n = i - l->at - 1;
    move_to(l, i + 1);
    return PT_OK;
}

/* "%}", "-%}", "}}" and the like close the tag when no bracket is open. */
static bool take_tag_end(pt_jinja_lexer *l, pt_jinja_token *out)
{
    bool block = l->inside == PT_TOK_BLOCK_BEGIN;
    int c = peek(l, 0);
    size_t sign = c == '-' || (c == '+' && block) ? 1 : 0;
    if (l->brackets || peek(l, sign) != (block ? '%' : '}') || peek(l, sign + 1) != '}')
        return false;
    out->kind = block ? PT_TOK_BLOCK_END : PT_TOK_PRINT_END;
    out->n = sign + 2;
    l->at += out->n;
    leave_tag(l, sign ? (char)c : 0, block);
    return true;
}

static pt_status take_sign(pt_jinja_lexer *l, pt_jinja_token *out)
{
    static const char two[][3] = {"==", "!=", "<=", ">=", "//", "**"};
    int c = peek(l, 0);
    out->kind = PT_TOK_SIGN;
    out->n = 1;
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (c == two[i][0] && peek(l, 1) == two[i][1]) out->n = 2;
    if (out->n == 1 && (c <= 0 || !strchr("+-*/%~<>=.,:|()[]{}", c))) {
        char problem[80];
        pt_format(
            problem, sizeof problem, "expected an expression, found '%s'",
            pt_show(l->text + l->at, pt_min_i64(4, (int64_t)(l->n - l->at)) > 0 ? 1 : 0).text);
        return refuse(l, problem);
    }
    if (strchr("([{", c)) l->brackets++;
    if (strchr(")]}", c) && l->brackets) l->brackets--;
    l->at += out->n;
    return PT_OK;
}

pt_status pt_jinja_next_token(pt_jinja_lexer *l, pt_jinja_token *out)
{
    if (l->inside == PT_TOK_TEXT) return next_outside(l, out);
    move_to(l, l->at + pt_jinja_lstrip(l->text + l->at, l->n - l->at));
    *out = (pt_jinja_token){.text = l->text + l->at, .line = l->line};
    int c = peek(l, 0);
    if (c < 0)
        return refuse(l, l->inside == PT_TOK_BLOCK_BEGIN ? "expected '%}', found the end"
                                                         : "expected '}}', found the end");
    if (take_tag_end(l, out)) return PT_OK;
    if (is_digit(c)) {
        take_number(l, out);
        return PT_OK;
    }
    if (c == '\'' || c == '"') return take_string(l, out);
    if (!is_letter(c) && c != '_') return take_sign(l, out);
    out->kind = PT_TOK_NAME;
    while (is_letter(peek(l, 0)) || is_digit(peek(l, 0)) || peek(l, 0) == '_') l->at++;
    out->n = (size_t)(l->text + l->at - out->text);
    return PT_OK;
}
