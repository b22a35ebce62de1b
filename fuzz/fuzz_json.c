/* Fuzzing the JSON reader and writer: whatever parses must survive writing and parsing again, whatever
 * does not must say where.
 *
 * Build with clang, with -fsanitize=fuzzer,address,undefined, and run on fuzz/corpus/json. Where there
 * is no libFuzzer, -DPT_FUZZ_MAIN gives a program that runs the files it is given.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/maths.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz_json: %s\n", what);
    abort();
}

static bool same_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a_len == b_len && !a == !b && (!a || memcmp(a, b, a_len) == 0);
}

static void require_equal(const pt_json *a, const pt_json *b)
{
    require(a->type == b->type && a->boolean == b->boolean, "type");
    require(same_bytes(a->text, a->text_len, b->text, b->text_len), "text");
    require(same_bytes(a->key, a->key_len, b->key, b->key_len), "key");
    require(pt_double_bits(a->number) == pt_double_bits(b->number), "number");
    require(a->n_children == b->n_children, "number of children");
    int64_t i = 0, j = 0;
    bool integer = pt_json_to_i64(a, &i);
    require(integer == pt_json_to_i64(b, &j) && i == j, "integer");
    const pt_json *x = a->child, *y = b->child;
    int64_t n = 0;
    for (; x && y; x = x->next, y = y->next, n++) require_equal(x, y);
    require(!x && !y && n == a->n_children, "children");
}

static void write_value(pt_strbuf *out, const pt_json *value, int indent)
{
    pt_json_writer w = pt_json_writer_begin(out, indent);
    pt_json_value(&w, NULL, value);
    require(!out->failed && w.depth == 0, "write");
    require(pt_utf8_valid(out->data, out->len), "written text is not UTF-8");
}

static void check_refusal(const pt_error *err, pt_status s, size_t size)
{
    require(s == PT_BAD_INPUT && err->status == s, "status");
    require(err->offset >= 0 && (size_t)err->offset <= size, "offset");
    require(err->message[0] != '\0', "message");
    require(pt_utf8_valid(err->message, strlen(err->message)), "message is not UTF-8");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pt_arena arena = {0};
    pt_error err = {0};
    const pt_json *first, *second;
    pt_status s = pt_json_parse((const char *)data, size, &arena, &first, &err);
    require((s == PT_OK) == (first != NULL), "a value or an error");
    /* the bound of json.h, and 64 containers that the text need not have closed */
    require(arena.used_bytes <= 41 * size + PT_JSON_MAX_DEPTH * 80 + 200, "memory");
    if (s) check_refusal(&err, s, size);
    for (int indent = 0; !s && indent <= 3; indent += 3) {
        pt_strbuf one = {0}, two = {0};
        write_value(&one, first, indent);
        require(pt_json_parse(one.data, one.len, &arena, &second, &err) == PT_OK, "parse again");
        require_equal(first, second);
        write_value(&two, second, indent);
        require(same_bytes(one.data, one.len, two.data, two.len), "second text");
        pt_strbuf_deinit(&one);
        pt_strbuf_deinit(&two);
    }
    pt_arena_deinit(&arena);
    return 0;
}

#ifdef PT_FUZZ_MAIN
int main(int argc, char **argv)
{
    static uint8_t data[1 << 20];
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        require(file != NULL, argv[i]);
        LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof data, file));
        fclose(file);
    }
    return 0;
}
#endif
