/* Chat templates: errors, limits, hostile templates. What correct ones render is in jinja_golden_test.c.
 * SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "text/jinja/jinja.h"

static const char values[] = "{\"n\":7,\"s\":\"hello\",\"l\":[3,1,2],\"d\":{\"a\":1},\"none\":null,"
                             "\"bell\":\"a\\u0007b\",\"zero\":\"a\\u0000b\"}";

/* Renders with the values above; the text or the message is in the result, which the next call overwrites. */
static pt_status render_with(const char *source, size_t n, const pt_jinja_options *options,
                             char out[4096])
{
    pt_arena arena = {0};
    pt_strbuf text = {0};
    pt_error err = {0};
    pt_jinja *template = NULL;
    const pt_json *json;
    char *exact = malloc(n ? n : 1); /* so that the address sanitizer sees a read beyond it */
    CHECK(exact != NULL);
    memcpy(exact, source, n);
    CHECK_OK(pt_json_parse(values, strlen(values), &arena, &json, &err), err);
    pt_status s = pt_jinja_compile(&template, exact, n, &err);
    free(exact);
    CHECK((s == PT_OK) == (template != NULL));
    if (!s) s = pt_jinja_render(template, &text, json, options, &err);
    CHECK_INT(s, err.status);
    snprintf(out, 4096, "%s", s ? err.message : text.data ? text.data : "");
    pt_jinja_free(template);
    pt_strbuf_deinit(&text);
    pt_arena_deinit(&arena);
    return s;
}

static void check_text(const char *source, const char *want)
{
    char out[4096];
    pt_status s = render_with(source, strlen(source), NULL, out);
    CHECK_STR(out, want);
    CHECK_INT(s, PT_OK);
}

static void check_refused(const char *source, const char *want)
{
    char out[4096];
    pt_status s = render_with(source, strlen(source), NULL, out);
    if (s != PT_BAD_INPUT || !strstr(out, want)) printf("%s: \"%s\"\n", source, out);
    CHECK_INT(s, PT_BAD_INPUT);
    CHECK(strstr(out, want) != NULL);
}

typedef struct refused_case {
    const char *source, *want;
} refused_case;

static const refused_case syntax_errors[] = {
    {"{{ 1", "line 1: expected '}}', found the end"},
    {"\n\n{% if true", "line 3: expected '%}', found the end"},
    {"{% if %}", "expected an expression, found '%}'"},
    {"a\n{% if true %}\nb",
     "line 2: the block opened here has no end: expected {% elif|else|endif %}"},
    {"{% if true %}\n{% endfor %}", "line 2: expected one of elif|else|endif, found 'endfor'"},
    {"{% endif %}",
     "expected if, for, set, macro, filter, generation, break or continue, found 'endif'"},
    {"{% else %}", "found 'else'"},
    {"{% include 'x' %}", "found 'include'"},
    {"{% call m() %}{% endcall %}", "found 'call'"},
    {"{% for x in l recursive %}{% endfor %}", "recursive loops are not supported"},
    {"{% for in l %}{% endfor %}", "expected 'in', found 'l'"},
    {"{% break %}", "'break' stands outside a loop"},
    {"{% for x in l %}{% macro m() %}{% continue %}{% endmacro %}{% endfor %}", "outside a loop"},
    {"{% set 1 = 2 %}", "expected a name, found '1'"},
    {"{% set a.b.c = 2 %}", "found '.'"},
    {"{# x", "expected '#}'"},
    {"{% raw %}x", "expected {% endraw %}"},
    {"{{ 'x }}", "expected a quote"},
    {"{{ 'x\\", "expected a quote"},
    {"{{ [1,2 }}", "expected ',' or a closing bracket, found '}'"},
    {"{{ [1 2] }}", "expected ',' or a closing bracket, found '2'"},
    {"{{ {1 2} }}", "expected ':', found '2'"},
    {"{{ {'b': 0, 'a':} }}", "expected an expression, found '}'"},
    {"{{ f(1 2) }}", "expected ',' or ')', found '2'"},
    {"{{ f(*l) }}", "expected an argument, found '*'"},
    {"{{ a b }}", "expected '}}', found 'b'"},
    {"{{ }}", "expected an expression, found '}}'"},
    {"{{ not }}", "expected an expression"},
    {"{{ a. }}", "expected a name"},
    {"{{ a[] }}", "expected an index"},
    {"{{ a $ b }}", "expected an expression, found '$'"},
    {"{{ 99999999999999999999 }}", "an integer of at most 64 bits"},
};

TEST(syntax_errors_name_the_line_and_what_was_expected)
{
    for (size_t i = 0; i < sizeof syntax_errors / sizeof *syntax_errors; i++)
        check_refused(syntax_errors[i].source, syntax_errors[i].want);
}

static const refused_case meaningless[] = {
    {"{{ nope.x }}", "'nope' is undefined, so it has no 'x'"},
    {"\n{{ nope() }}", "line 2: 'nope' is undefined, so it cannot be called"},
    {"{{ nope.x() }}", "'nope' is undefined"},
    {"{{ nope + 1 }}", "'nope' is undefined, and + needs a value"},
    {"{{ n < nope }}", "'nope' is undefined, and < needs a value"},
    {"{{ 1 + 'a' }}", "+ cannot be applied to an integer and a string"},
    {"{{ 'a' + none }}", "+ cannot be applied to a string and none"},
    {"{{ -s }}", "- cannot be applied to"},
    {"{{ 1 < 'a' }}", "found an integer and a string"},
    {"{{ 'a' in none }}", "expected a string, a list or a dict to look into, found none"},
    {"{{ none.startswith('a') }}", "expected the name of a method of none, found 'startswith'"},
    {"{{ 1 / 0 }}{{ 1 }}", "division by zero"},
    {"{{ 1 % 0 }}", "division by zero"},
    {"{{ 9223372036854775807 + 1 }}", "64 bits"},
    {"{{ 3 ** 99 }}", "64 bits"},
    {"{{ (-9223372036854775807 - 1) // -1 }}", "64 bits"},
    {"{{ (-9223372036854775807 - 1) | abs }}", "64 bits"},
    {"{{ 0 ** -1 }}", "no real result"},
    {"{{ n | frob }}", "expected the name of a filter, found 'frob'"},
    {"{{ n is frob }}", "expected the name of a test, found 'frob'"},
    {"{{ l | map('frob') }}", "expected the name of a filter, found 'frob'"},
    {"{{ s | upper(1) }}", "upper takes at most 0 arguments, found 1"},
    {"{{ s | trim(x=1) }}", "trim has no argument 'x'"},
    {"{{ s.strip(1) }}", "expected a string of characters to strip, found an integer"},
    {"{{ s.split('') }}", "empty separator"},
    {"{{ s.__class__.__mro__ }}", "'__class__' is undefined"},
    {"{{ l.append(1) }}", "append would change a value"},
    {"{{ d.update(a=2) }}", "update would change a value"},
    {"{% set d.a = 1 %}", "expected a namespace to set 'a' of, found a dict"},
    {"{% for a, b in [[1]] %}{% endfor %}", "expected 2 values for as many names, found 1"},
    {"{% for x in n %}{% endfor %}",
     "expected a list, a dict or a string to go over, found an integer"},
    {"{{ s[::0] }}", "other than 0"},
    {"{{ s['a':] }}", "expected integers in a slice, found a string"},
    {"{{ n[1:] }}", "expected a string or a list to slice"},
    {"{{ {l: 1} }}", "a list cannot be the key of a dict"},
    {"{{ range(1, 2, 0) }}", "other than 0"},
    {"{{ nope | tojson }}", "tojson of an undefined value"},
    {"{{ namespace() | tojson }}", "found a namespace"},
    {"{{ range }}", "expected a value that can be shown, found a function"},
    {"{{ strftime_now('%Y') }}", "no time was given"},
    {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "macro 'm' takes at most 1 arguments, found 2"},
    {"{% macro m(a) %}{% endmacro %}{{ m(b=1) }}", "macro 'm' has no argument 'b'"},
    {"{{ dict(a=1, 2) }}", "stands behind one with a name"},
    {"{{ range(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17) }}", "more than 16 arguments"},
    {"\n\n{{ raise_exception('no ' ~ n ~ bell) }}",
     "line 3: the template refused the conversation: no 7a"},
};

TEST(what_has_no_meaning_is_refused_with_a_reason)
{
    for (size_t i = 0; i < sizeof meaningless / sizeof *meaningless; i++)
        check_refused(meaningless[i].source, meaningless[i].want);
}

/* ---- limits ---- */

static void check_limit(const char *source, const pt_jinja_options *options, const char *want)
{
    char out[4096];
    pt_status s = render_with(source, strlen(source), options, out);
    if (s != PT_BAD_INPUT || !strstr(out, want)) printf("%s: \"%s\"\n", source, out);
    CHECK_INT(s, PT_BAD_INPUT);
    CHECK(strstr(out, want) != NULL);
}

TEST(output_is_limited)
{
    const pt_jinja_options five = {.max_output_bytes = 5};
    char out[4096];
    CHECK_INT(render_with("{{ s }}", 7, &five, out), PT_OK);
    check_limit("{{ s }}!", &five, "writes more than 5 bytes");
    check_limit("{% set x %}{{ s }}{{ s }}{% endset %}", &five, "writes more than 5 bytes");
}

TEST(steps_are_limited)
{
    const pt_jinja_options few = {.max_steps = 20000};
    check_limit("{% for x in range(100000) %}{% endfor %}", &few, "more than 20000 steps");
    check_limit("{% for x in range(200) %}{% for y in range(200) %}{% endfor %}{% endfor %}", &few,
                "steps");
    check_limit("{{ 'x' * 100000000000 }}", &few, "steps");
    check_limit("{{ ('a' * 9999 + 'b') in ('a' * 900000) }}", &few, "steps");
    check_limit("{{ range(999999999999) | length }}", NULL, "bytes of memory");
}

TEST(memory_is_limited)
{
    const pt_jinja_options small = {.max_memory_bytes = 100000};
    check_limit("{{ 'x' * 200000 }}", &small, "more than 100000 bytes of memory");
    check_limit("{{ ('x' * 50000).replace('x', 'x' * 50000) }}", NULL, "bytes of memory");
    check_limit("{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x "
                "%}{% endfor %}",
                NULL, "bytes of memory");
    check_limit("{{ [1] * 100000 }}", &small, "bytes of memory");
}

/* `before` n times, then `middle`, then `after` n times. */
static void check_nested(const char *before, const char *middle, const char *after, int n,
                         const char *want)
{
    char out[4096];
    pt_strbuf source = {0};
    for (int i = 0; i < n; i++) pt_strbuf_puts(&source, before);
    pt_strbuf_puts(&source, middle);
    for (int i = 0; i < n; i++) pt_strbuf_puts(&source, after);
    CHECK(!source.failed);
    pt_status s = render_with(source.data, source.len, NULL, out);
    pt_strbuf_deinit(&source);
    if (want) CHECK(strstr(out, want) != NULL);
    CHECK_INT(s, want ? PT_BAD_INPUT : PT_OK);
}

TEST(depth_is_limited)
{
    check_nested("{% if true %}", "x", "{% endif %}", 50, NULL);
    check_nested("{% if true %}", "x", "{% endif %}", 5000, "nested more than 128 levels deep");
    check_nested("", "{{ ((((((((((1)))))))))) }}", "", 1, NULL);
    char *deep[][2] = {
        {"{{ ", "("}, {"{{ ", "["}, {"{{ ", "-"}, {"{{ ", "not "}, {"{{ ", "1 if 1 else "}};
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        char out[4096];
        pt_strbuf source = {0};
        pt_strbuf_puts(&source, deep[i][0]);
        for (int k = 0; k < 20000; k++) pt_strbuf_puts(&source, deep[i][1]);
        CHECK_INT(render_with(source.data, source.len, NULL, out), PT_BAD_INPUT);
        CHECK(strstr(out, "nested more than") != NULL);
        pt_strbuf_deinit(&source);
    }
    check_refused("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
                  "nested more than 128 levels deep");
    check_refused(
        "{% set ns = namespace(x=[]) %}{% for i in range(500) %}{% set ns.x = [ns.x] %}{% endfor %}"
        "{{ ns.x }}",
        "nested more than");
    check_refused(
        "{% set ns = namespace(x=[]) %}{% for i in range(500) %}{% set ns.x = [ns.x] %}{% endfor %}"
        "{{ ns.x | tojson }}",
        "nested more than");
}

TEST(long_chains_are_refused_not_overflown)
{
    char out[4096];
    pt_strbuf source = {0};
    pt_strbuf_puts(&source, "{{ 1");
    for (int k = 0; k < 100000; k++) pt_strbuf_puts(&source, "+1");
    pt_strbuf_puts(&source, " }}");
    CHECK_INT(render_with(source.data, source.len, NULL, out), PT_BAD_INPUT);
    CHECK(strstr(out, "nested more than") != NULL);
    pt_strbuf_deinit(&source);
}

TEST(a_source_of_more_than_a_mebibyte_is_refused)
{
    char *big = calloc(1, PT_JINJA_MAX_SOURCE + 1);
    pt_error err = {0};
    pt_jinja *template;
    CHECK(big != NULL);
    CHECK_INT(pt_jinja_compile(&template, big, PT_JINJA_MAX_SOURCE + 1, &err), PT_BAD_INPUT);
    CHECK(template == NULL && strstr(err.message, "1048577") != NULL);
    CHECK_INT(pt_jinja_compile(&template, big, PT_JINJA_MAX_SOURCE, NULL), PT_OK);
    pt_jinja_free(template);
    free(big);
}

/* ---- odd input ---- */

TEST(bytes_that_are_no_utf8_pass_through)
{
    check_text("\xff{{ s }}\xe2\x82", "\xffhello\xe2\x82");
    check_text("{{ '\xff\xc3' | length }}{{ '\xf0\x9f\x98\x80x' | length }}", "22");
    check_text("{{ '\xff\xfe'[::-1] }}", "\xfe\xff");
    check_text("{{ '\xe3\x80' | trim }}{{ '\xff' | tojson }}", "\xe3\x80\"\xef\xbf\xbd\"");
}

TEST(zero_bytes_are_characters)
{
    check_text(
        "{{ zero | length }}{{ zero | tojson }}{{ zero.split('b') | length }}{{ 'b' in zero }}",
        "3\"a\\u0000b\"2True");
    char out[4096];
    CHECK_INT(render_with("a\0{{ n }}", 9, NULL, out), PT_OK);
    CHECK_INT(render_with("{{ n \0 }}", 9, NULL, out), PT_BAD_INPUT);
}

TEST(integers_reach_to_the_ends_of_64_bits)
{
    check_text("{{ -3 * 4 }} {{ -3 * -4 }} {{ 3037000499 * 3037000499 }} {{ (-2) ** 3 }} {{ (-1) "
               "** 99999999999 }}",
               "-12 12 9223372030926249001 -8 -1");
    check_text("{{ (-9223372036854775807 - 1) * 1 }} {{ 0 * (-9223372036854775807 - 1) }}",
               "-9223372036854775808 0");
    check_refused("{{ (-9223372036854775807 - 1) * -1 }}", "64 bits");
    check_refused("{{ 3037000500 * 3037000500 }}", "64 bits");
}

TEST(an_empty_template_renders_nothing)
{
    check_text("", "");
    check_text("\n", "");
    check_text("{% if false %}x{% endif %}", "");
    check_text("{", "{");
    check_text("}} %} #}", "}} %} #}");
}

TEST(values_are_optional_and_must_be_an_object)
{
    pt_jinja *template;
    pt_error err = {0};
    pt_strbuf out = {0};
    const pt_json list = {.type = PT_JSON_ARRAY};
    CHECK_OK(pt_jinja_compile(&template, "{{ x is defined }}", 18, &err), err);
    CHECK_OK(pt_jinja_render(template, &out, NULL, NULL, &err), err);
    CHECK_STR(out.data, "False");
    CHECK_OK(pt_jinja_render(template, &out, NULL, NULL, &err), err); /* appends */
    CHECK_STR(out.data, "FalseFalse");
    CHECK_INT(pt_jinja_render(template, &out, &list, NULL, &err), PT_BAD_INPUT);
    pt_strbuf_deinit(&out);
    pt_jinja_free(template);
    pt_jinja_free(NULL);
}

TEST(no_memory_is_told_wherever_it_happens)
{
    static const char source[] =
        "{% macro m(a, b=[1]) %}{{ a ~ b }}{% endmacro %}{% set x | upper %}q{% endset %}{{ m(x) }}"
        "{{ {'a': l | sort | map('string') | join(',')} | tojson(indent=1) }}{{ s.replace('l', "
        "'L').split('L') }}";
    int failures = 0;
    for (int64_t nth = 1; nth < 200; nth++) {
        pt_error err = {0};
        pt_strbuf out = {0};
        pt_jinja *template;
        pt_alloc_fail_after(nth);
        pt_status s = pt_jinja_compile(&template, source, sizeof source - 1, &err);
        if (!s) {
            static const pt_json two = {
                .type = PT_JSON_NUMBER, .number = 2, .text = "2", .text_len = 1};
            static const pt_json text = {
                .type = PT_JSON_STRING, .text = "hello", .text_len = 5, .key = "s", .key_len = 1};
            static const pt_json l = {.type = PT_JSON_ARRAY,
                                      .child = &two,
                                      .n_children = 1,
                                      .key = "l",
                                      .key_len = 1,
                                      .next = &text};
            static const pt_json all = {.type = PT_JSON_OBJECT, .child = &l, .n_children = 2};
            s = pt_jinja_render(template, &out, &all, NULL, &err);
        }
        pt_alloc_fail_after(0);
        CHECK_INT(s, err.status);
        if (s) {
            CHECK_INT(s, PT_NO_MEMORY);
            failures++;
        } else CHECK_STR(out.data, "Q[1]{\n \"a\": \"2\"\n}['he', '', 'o']");
        pt_jinja_free(template);
        pt_strbuf_deinit(&out);
    }
    CHECK(failures > 5);
}

PT_TEST_MAIN
