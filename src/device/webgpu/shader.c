/* Shaders: their texts and the text of one call. SPDX-License-Identifier: MIT */
#include "device/webgpu/shader.h"

static const char *shaders_text;
static int64_t shaders_bytes;

void pt_device_webgpu_shaders(const char *text, int64_t n)
{
    shaders_text = text;
    shaders_bytes = n;
}

#ifndef __wasm__
extern const unsigned char pt_shaders_built[];
extern const int64_t pt_shaders_built_bytes;
#endif

const char *pt_shaders_text(int64_t *n)
{
#ifndef __wasm__
    if (!shaders_text)
        pt_device_webgpu_shaders((const char *)pt_shaders_built, pt_shaders_built_bytes);
#endif
    *n = shaders_bytes;
    return shaders_text;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

static int64_t line_bytes(const char *p, const char *end)
{
    const char *q = memchr(p, '\n', (size_t)(end - p));
    return q ? q - p + 1 : end - p;
}

static bool begins(const char *p, int64_t n, const char *with)
{
    int64_t w = (int64_t)strlen(with);
    return n >= w && memcmp(p, with, (size_t)w) == 0;
}

/* The file's text, from behind its first line to the next file. */
static bool find_file(const char *name, const char **text, int64_t *n)
{
    int64_t all;
    const char *p = pt_shaders_text(&all), *end = p ? p + all : NULL;
    int64_t length = (int64_t)strlen(name);
    *text = NULL;
    for (int64_t line; p && p < end; p += line) {
        line = line_bytes(p, end);
        if (!begins(p, line, "//! ")) continue;
        if (*text) break;
        if (line == length + 5 && memcmp(p + 4, name, (size_t)length) == 0) *text = p + line;
    }
    if (*text) *n = p - *text;
    return *text != NULL;
}

#define DECLARATION "@group(0) @binding("
#define STORAGE "var<storage, read_write> "

static const char *find_in(const char *p, int64_t n, const char *what)
{
    int64_t w = (int64_t)strlen(what);
    for (int64_t i = 0; i + w <= n; i++)
        if (memcmp(p + i, what, (size_t)w) == 0) return p + i;
    return NULL;
}

static bool copy_until(const char *p, const char *end, char stop, char *out, size_t cap)
{
    size_t n = 0;
    while (p + n < end && p[n] != stop) n++;
    if (p + n == end || n == 0 || n >= cap) return false;
    memcpy(out, p, n);
    out[n] = '\0';
    return true;
}

static int bytes_of(const char *element)
{
    if (strcmp(element, "f32") == 0 || strcmp(element, "u32") == 0 || strcmp(element, "i32") == 0)
        return 4;
    if (strcmp(element, "vec2<u32>") == 0) return 8;
    return strcmp(element, "vec4<f32>") == 0 || strcmp(element, "vec4<u32>") == 0 ? 16 : 0;
}

/* "@group(0) @binding(1) var<storage, read_write> x: array<f32>;": the name and the element. */
static bool read_declaration(pt_shader *s, const char *line, int64_t n)
{
    const char *storage = find_in(line, n, STORAGE), *end = line + n;
    if (!storage) return find_in(line, n, "var<uniform> p: P;") != NULL;
    if (s->n_tensors == PT_SHADER_MOST_NAMES) return false;
    int i = s->n_tensors++;
    const char *name = storage + strlen(STORAGE), *array = find_in(line, n, ": array<");
    if (!array || !copy_until(name, end, ':', s->tensor[i], sizeof s->tensor[i])) return false;
    array += strlen(": array<");
    const char *last = find_in(array, end - array, ">;");
    if (!last || last - array >= (int64_t)sizeof s->element[i]) return false;
    memcpy(s->element[i], array, (size_t)(last - array));
    s->element[i][last - array] = '\0';
    s->element_bytes[i] = bytes_of(s->element[i]);
    return s->element_bytes[i] > 0;
}

pt_status pt_shader_find(const char *name, pt_shader *out, pt_error *err)
{
    memset(out, 0, sizeof *out);
    out->name = name;
    if (!find_file(name, &out->text, &out->n))
        return pt_fail(err, PT_NOT_FOUND, "there is no shader %s", name);
    const char *p = out->text, *end = p + out->n;
    for (int64_t line; p < end; p += line) {
        line = line_bytes(p, end);
        if (begins(p, line, DECLARATION) && !read_declaration(out, p, line))
            return pt_fail(err, PT_CORRUPT, "shader %s: not understood: %.*s", name, (int)line - 1,
                           p);
    }
    return PT_OK;
}

int pt_shader_tensor(const pt_shader *s, const char *name)
{
    for (int i = 0; i < s->n_tensors; i++)
        if (strcmp(s->tensor[i], name) == 0) return i;
    return -1;
}

static void write_declarations(const pt_shader *s, const pt_shader_use *use, pt_strbuf *out)
{
    for (int i = 0; i < s->n_tensors; i++) {
        if (use[i].leader < 0)
            pt_strbuf_printf(out, "var<private> %s: array<%s, 1>;\n", s->tensor[i], s->element[i]);
        else if (use[i].leader == i)
            pt_strbuf_printf(out, DECLARATION "%d) " STORAGE "%s: array<%s>;\n", use[i].binding,
                             s->tensor[i], s->element[i]);
    }
}

/* An identifier of n letters at p, followed by '[': a tensor's element under the names of this call. */
static int element_of(const pt_shader *s, const char *p, int64_t n)
{
    for (int i = 0; i < s->n_tensors; i++)
        if ((int64_t)strlen(s->tensor[i]) == n && memcmp(s->tensor[i], p, (size_t)n) == 0) return i;
    return -1;
}

/* A line of the body, each `x[` as this call reaches x. */
static void write_line(const pt_shader *s, const pt_shader_use *use, const char *p, int64_t n,
                       pt_strbuf *out)
{
    for (int64_t i = 0, word; i < n; i += word) {
        word = 1;
        if (begins(p + i, n - i, "//")) word = n - i;
        while (is_letter(p[i]) && i + word < n && is_letter(p[i + word])) word++;
        int t = i + word < n && p[i + word] == '[' ? element_of(s, p + i, word) : -1;
        if (t < 0 || use[t].leader < 0) {
            pt_strbuf_append(out, p + i, (size_t)word);
            continue;
        }
        word++;
        pt_strbuf_printf(out, "%s[", s->tensor[use[t].leader]);
        if (use[t].at >= 0) pt_strbuf_printf(out, "p.at_[%d][%d] + ", use[t].at / 4, use[t].at % 4);
    }
}

/* ---- what is written out: "// repeat x COUNT" … "// end", which may nest; COUNT, at least 1, is a number or a constant of the call ---- */

/* One being written out: each $x in it is the value. */
typedef struct counter {
    char letter;
    int64_t value;
    const struct counter *outer;
} counter;

/* The number that a word of n letters is or stands for; 0: none. */
static int64_t count_of(const pt_wg_call *call, const char *word, int64_t n)
{
    for (int i = 0; i < PT_WG_MOST_CONSTANTS && call->constant[i].name; i++)
        if ((int64_t)strlen(call->constant[i].name) == n &&
            memcmp(call->constant[i].name, word, (size_t)n) == 0)
            return call->constant[i].value;
    int64_t count = 0;
    for (int64_t i = 0; i < n && word[i] >= '0' && word[i] <= '9' && count < 1000; i++)
        count = 10 * count + (word[i] - '0');
    return count;
}

static void write_counted(const char *p, int64_t n, const counter *in, pt_strbuf *out)
{
    for (int64_t i = 0; i < n; i++) {
        const counter *c = in;
        while (c && (p[i] != '$' || i + 1 == n || p[i + 1] != c->letter)) c = c->outer;
        if (c) pt_strbuf_printf(out, "%d", (int)c->value);
        else pt_strbuf_append(out, p + i, 1);
        if (c) i++;
    }
}

#define REPEAT "// repeat "

/* The lines from p to the end of the block they are in. Returns where that is. */
static const char *write_out(const char *p, const char *end, const counter *in,
                             const pt_wg_call *call, pt_strbuf *out)
{
    const int64_t head = (int64_t)strlen(REPEAT);
    for (int64_t line; p < end; p += line) {
        line = line_bytes(p, end);
        const char *text = p;
        int64_t n = line - 1;
        for (; n > 0 && *text == ' '; n--) text++;
        if (n == 6 && begins(text, n, "// end")) return p + line;
        if (!begins(text, n, REPEAT) || n < head + 3) {
            write_counted(p, line, in, out);
            continue;
        }
        const char *after = p + line;
        counter c = {.letter = text[head], .outer = in};
        int64_t times = count_of(call, text + head + 2, n - head - 2);
        for (; c.value < times; c.value++) after = write_out(p + line, end, &c, call, out);
        line = after - p;
    }
    return p;
}

static bool is_directive(const char *line, int64_t n)
{
    return begins(line, n, "enable ") || begins(line, n, "diagnostic(");
}

/* What a module must begin with. */
static void write_directives(const pt_shader *s, pt_strbuf *out)
{
    const char *p = s->text, *end = p + s->n;
    for (int64_t line; p < end; p += line) {
        line = line_bytes(p, end);
        if (is_directive(p, line)) pt_strbuf_append(out, p, (size_t)line);
    }
}

void pt_shader_write(const pt_shader *s, const pt_shader_use *use, const pt_wg_call *call,
                     pt_strbuf *out)
{
    const char *prelude;
    int64_t n;
    write_directives(s, out);
    if (find_file("prelude", &prelude, &n)) pt_strbuf_append(out, prelude, (size_t)n);
    for (int i = 0; i < PT_WG_MOST_CONSTANTS && call->constant[i].name; i++)
        pt_strbuf_printf(out, "const %s: u32 = %uu;\n", call->constant[i].name,
                         (unsigned)call->constant[i].value);
    write_declarations(s, use, out);
    pt_strbuf text = {0};
    write_out(s->text, s->text + s->n, NULL, call, &text);
    const char *p = text.data, *end = p + text.len;
    for (int64_t line; p < end; p += line) {
        line = line_bytes(p, end);
        if (is_directive(p, line)) continue;
        if (begins(p, line, DECLARATION) && find_in(p, line, STORAGE)) continue;
        if (begins(p, line, "struct P {")) {
            pt_strbuf_printf(out, "struct P { at_: array<vec4<u32>, %d>,",
                             PT_SHADER_OFFSET_WORDS / 4);
            write_line(s, use, p + 10, line - 10, out);
        } else {
            write_line(s, use, p, line, out);
        }
    }
    out->failed |= text.failed;
    pt_strbuf_deinit(&text);
}
