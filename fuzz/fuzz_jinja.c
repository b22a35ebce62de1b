/* Fuzzing chat templates: any bytes compile and render, or are refused with a reason, within the limits.
 *
 * The text before the first zero byte is the template, what follows are its values as JSON (a conversation if there is none).
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "text/jinja/jinja.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_OUTPUT 10000
#define MAX_MEMORY 1000000

static const char conversation[] = "{\"messages\":[{\"role\":\"system\",\"content\":\"Be "
                                   "brief.\"},{\"role\":\"user\",\"content\":\" Hi \"},"
                                   "{\"role\":\"assistant\",\"content\":\"<think>\\nhm\\n</"
                                   "think>\\n\\nHello\",\"tool_calls\":[{\"function\":"
                                   "{\"name\":\"f\",\"arguments\":{\"x\":[1,2.5,null]}}}]}],"
                                   "\"tools\":[],\"n\":7,\"s\":\"\\u00fc x\",\"l\":[3,1,2],"
                                   "\"d\":{\"b\":1,\"a\":\"x\"},\"add_generation_prompt\":true}";

static void require(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz_jinja: %s\n", what);
    abort();
}

static void check_refusal(const pt_error *err, pt_status s)
{
    require(s == PT_BAD_INPUT && err->status == s, "status");
    require(err->message[0] != '\0', "message");
}

static void render(const pt_jinja *template, const pt_json *values)
{
    const pt_jinja_time now = {2024, 2, 29, 23, 59, 59};
    const pt_jinja_options options = {.max_output_bytes = MAX_OUTPUT,
                                      .max_memory_bytes = MAX_MEMORY,
                                      .max_steps = 50000,
                                      .now = &now};
    pt_strbuf first = {0}, second = {0};
    pt_error err = {0};
    pt_status s = pt_jinja_render(template, &first, values, &options, &err);
    if (s) check_refusal(&err, s);
    require(first.len <= MAX_OUTPUT, "output");
    require(pt_jinja_render(template, &second, values, &options, NULL) == s, "the same again");
    require(first.len == second.len &&
                (!first.len || memcmp(first.data, second.data, first.len) == 0),
            "the same text again");
    pt_strbuf_deinit(&first);
    pt_strbuf_deinit(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t n = zero ? (size_t)(zero - data) : size;
    const char *text = zero ? (const char *)zero + 1 : conversation;
    size_t text_len = zero ? size - n - 1 : sizeof conversation - 1;
    pt_arena arena = {0};
    pt_error err = {0};
    const pt_json *values;
    pt_jinja *template;
    if (pt_json_parse(text, text_len, &arena, &values, NULL) == PT_OK) {
        pt_status s = pt_jinja_compile(&template, (const char *)data, n, &err);
        require((s == PT_OK) == (template != NULL), "a template or an error");
        if (s) check_refusal(&err, s);
        else render(template, values);
        pt_jinja_free(template);
    }
    pt_arena_deinit(&arena);
    return 0;
}
