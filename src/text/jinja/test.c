/* Tests: what may stand after `is`. SPDX-License-Identifier: MIT */
#include "base/safe_text.h"
#include "text/jinja/run.h"

typedef bool (*plain_test)(const pt_jv *v);

static bool is_defined(const pt_jv *v) { return v->kind != PT_JV_UNDEFINED; }
static bool is_undefined(const pt_jv *v) { return v->kind == PT_JV_UNDEFINED; }
static bool is_none(const pt_jv *v) { return v->kind == PT_JV_NONE; }
static bool is_string(const pt_jv *v) { return v->kind == PT_JV_STRING; }
static bool is_integer(const pt_jv *v) { return v->kind == PT_JV_INT; }
static bool is_float(const pt_jv *v) { return v->kind == PT_JV_FLOAT; }
static bool is_boolean(const pt_jv *v) { return v->kind == PT_JV_BOOL; }
static bool is_mapping(const pt_jv *v) { return v->kind == PT_JV_DICT; }
static bool is_true(const pt_jv *v) { return v->kind == PT_JV_BOOL && v->integer; }
static bool is_false(const pt_jv *v) { return v->kind == PT_JV_BOOL && !v->integer; }
static bool is_sequence(const pt_jv *v) /* as in Jinja, whatever has a length */
{
    return v->kind == PT_JV_LIST || v->kind == PT_JV_STRING || v->kind == PT_JV_DICT ||
           v->kind == PT_JV_UNDEFINED;
}
static bool is_callable(const pt_jv *v)
{
    return v->kind == PT_JV_MACRO || v->kind == PT_JV_FUNCTION;
}

static bool all_in_case(const pt_jv *v, char low, char high)
{
    bool some = false;
    for (size_t i = 0; v->kind == PT_JV_STRING && i < v->n; i++) {
        char c = v->text[i], other = (char)(c ^ 32);
        if (c >= low && c <= high) some = true;
        else if (other >= low && other <= high) return false;
    }
    return some;
}
static bool is_upper(const pt_jv *v) { return all_in_case(v, 'A', 'Z'); }
static bool is_lower(const pt_jv *v) { return all_in_case(v, 'a', 'z'); }

static const struct {
    const char *name;
    plain_test test;
} plain_tests[] = {
    {"defined", is_defined},   {"undefined", is_undefined}, {"none", is_none},
    {"string", is_string},     {"number", pt_jv_is_number}, {"integer", is_integer},
    {"float", is_float},       {"boolean", is_boolean},     {"mapping", is_mapping},
    {"true", is_true},         {"false", is_false},         {"sequence", is_sequence},
    {"iterable", is_sequence}, {"callable", is_callable},   {"upper", is_upper},
    {"lower", is_lower},
};

static const struct {
    const char *name;
    pt_jinja_op op;
} relations[] = {
    {"equalto", PT_JINJA_EQ},     {"eq", PT_JINJA_EQ},       {"==", PT_JINJA_EQ},
    {"ne", PT_JINJA_NE},          {"!=", PT_JINJA_NE},       {"lt", PT_JINJA_LT},
    {"<", PT_JINJA_LT},           {"lessthan", PT_JINJA_LT}, {"le", PT_JINJA_LE},
    {"<=", PT_JINJA_LE},          {"gt", PT_JINJA_GT},       {">", PT_JINJA_GT},
    {"ge", PT_JINJA_GE},          {">=", PT_JINJA_GE},       {"in", PT_JINJA_IN},
    {"greaterthan", PT_JINJA_GT}, {"sameas", PT_JINJA_EQ},
};

/* odd, even, divisibleby */
static pt_status test_divisible(pt_jinja_run *r, const pt_jv *name, const pt_jv *v,
                                const pt_jinja_args *args, bool *out)
{
    pt_jv by = pt_jv_int(2), rest, zero = pt_jv_int(0);
    if (pt_jv_is(name, "divisibleby")) {
        const pt_jv *given = pt_jinja_argument(args, 0, "num");
        if (!given) return pt_jinja_refuse(r, "test divisibleby needs a number");
        by = *given;
    }
    pt_status s = pt_jinja_binary(r, PT_JINJA_MOD, v, &by, &rest);
    if (!s) s = pt_jv_equal(r, &rest, &zero, out);
    if (pt_jv_is(name, "odd")) *out = !*out;
    return s;
}

pt_status pt_jinja_test(pt_jinja_run *r, const pt_jv *name, const pt_jv *v,
                        const pt_jinja_args *args, bool *out)
{
    for (size_t i = 0; i < sizeof plain_tests / sizeof *plain_tests; i++) {
        if (!pt_jv_is(name, plain_tests[i].name)) continue;
        *out = plain_tests[i].test(v);
        return pt_jinja_check_arguments(r, args, plain_tests[i].name, 0, "");
    }
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        if (!pt_jv_is(name, relations[i].name)) continue;
        if (args->n != 1)
            return pt_jinja_refuse(r, "test %s takes one argument", relations[i].name);
        if (pt_jv_is(name, "sameas") && v->kind != args->value[0].kind) {
            *out = false;
            return PT_OK;
        }
        return pt_jinja_relate(r, relations[i].op, v, &args->value[0], out);
    }
    if (pt_jv_is(name, "odd") || pt_jv_is(name, "even") || pt_jv_is(name, "divisibleby"))
        return test_divisible(r, name, v, args, out);
    return pt_jinja_refuse(r, "expected the name of a test, found '%s'",
                           pt_show(name->text, name->n).text);
}
