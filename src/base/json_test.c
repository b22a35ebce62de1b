/* The JSON reader. The cases follow the plan of JSONTestSuite (Seriot 2016): what must be accepted,
 * what must be refused, and what RFC 8259 leaves open, each with our decision.
 * SPDX-License-Identifier: MIT */
#include "base/test_json.h"

#define S(literal) literal, sizeof(literal) - 1

static const pt_json *parse_ok(const char *text)
{
    pt_error err;
    const pt_json *value = parse(text, strlen(text), &err);
    if (!value) printf("refused: %s: %s\n", text, err.message);
    CHECK(value != NULL);
    return value;
}

typedef struct accepted_case {
    const char *text;
    size_t n;
    const char *want; /* written again on one line; NULL = just like the text */
} accepted_case;

static const accepted_case accepted[] = {
    /* values at the top */
    {S("null"), NULL},
    {S("true"), NULL},
    {S("false"), NULL},
    {S("0"), NULL},
    {S("\"\""), NULL},
    {S("[]"), NULL},
    {S("{}"), NULL},
    {S(" \t\r\n 1 \t\r\n "), "1"},
    /* arrays */
    {S("[1]"), NULL},
    {S("[null,true,false,0,\"\",[],{}]"), NULL},
    {S("[ 1 ,\n2\t,\r3 ]"), "[1,2,3]"},
    {S("[ ]"), "[]"},
    {S("[[]   ]"), "[[]]"},
    {S("[[[[[]]]],[[]]]"), NULL},
    {S("[1,null,null,null,2]"), NULL},
    {S(" [1]"), "[1]"},
    {S("[2] "), "[2]"},
    {S("[\"\"]"), NULL},
    {S("[false]"), NULL},
    /* objects */
    {S("{ }"), "{}"},
    {S("{\"a\":1}"), NULL},
    {S("{ \"a\" : 1 , \"b\" : 2 }"), "{\"a\":1,\"b\":2}"},
    {S("{\"b\":1,\"a\":2,\"c\":3}"), NULL}, /* in the order of the text */
    {S("{\"\":0}"), NULL},
    {S("{\"a\":{\"a\":{\"a\":[]}}}"), NULL}, /* equal keys in different objects */
    {S("{\"a\":1,\"A\":2,\"a \":3}"), NULL},
    {S("{\"a\\u0000b\":1,\"a\":2}"), NULL},
    {S("{\"\\u0061\":1}"), "{\"a\":1}"},
    {S("{\"min\":-1.0e+28,\"max\":1.0e+28}"), NULL},
    {S("{\n\"a\":\n[]\n}"), "{\"a\":[]}"},
    {S("{\"\\ud83d\\ude00\":1}"), "{\"\xf0\x9f\x98\x80\":1}"},
    /* numbers keep their text */
    {S("-0"), NULL},
    {S("-0.0"), NULL},
    {S("0e1"), NULL},
    {S("0e+1"), NULL},
    {S("0E-1"), NULL},
    {S("1E22"), NULL},
    {S("1E-2"), NULL},
    {S("1E+2"), NULL},
    {S("123e45"), NULL},
    {S("123.456e78"), NULL},
    {S("-1"), NULL},
    {S("-123"), NULL},
    {S("20e1"), NULL},
    {S("123e065"), NULL}, /* leading zeros are allowed in the exponent */
    {S("1.000000000000000000000000000005"), NULL},
    {S("-0.000000000000000000000000000000000000000000000000000000000000000000000000000001"), NULL},
    {S("9007199254740993"), NULL},
    {S("18446744073709551616"), NULL},
    /* strings */
    {S("\"asd\""), NULL},
    {S("\" \""), NULL},
    {S("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
    {S("\"\\u0000\""), NULL},
    {S("\"\\u0001\\u001f\""), NULL},
    {S("\"\\u0041\\u00e9\\u20ac\""), "\"A\xc3\xa9\xe2\x82\xac\""},
    {S("\"\\u00E9\\uABCD\\uabcd\""), "\"\xc3\xa9\xea\xaf\x8d\xea\xaf\x8d\""},
    {S("\"\\uD801\\udc37\""), "\"\xf0\x90\x90\xb7\""},
    {S("\"\\ud83d\\ude39\\ud83d\\udc8d\""), "\"\xf0\x9f\x98\xb9\xf0\x9f\x92\x8d\""},
    {S("\"\\uDBFF\\uDFFF\\uD800\\uDC00\""), "\"\xf4\x8f\xbf\xbf\xf0\x90\x80\x80\""},
    {S("\"\\uFFFF\\uFFFE\\uFDD0\""), "\"\xef\xbf\xbf\xef\xbf\xbe\xef\xb7\x90\""},
    {S("\"\\ud7ff\\ue000\""), "\"\xed\x9f\xbf\xee\x80\x80\""},
    {S("\"\\u0022\\u005c\""), "\"\\\"\\\\\""},
    {S("\"\\\\u0000\""), NULL},
    {S("\"\\\\n\""), NULL},
    {S("\"a/*b*/c//d\""), NULL},
    {S("\"\x7f\""), NULL}, /* DEL is no control character to RFC 8259 */
    {S("\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""), NULL},
    {S("\"\xe2\x80\xa8\xe2\x80\xa9\""), NULL}, /* U+2028, U+2029 */
    {S("\"\xef\xbb\xbf\""), NULL},             /* a byte order mark inside is a character */
    {S("\"[,]{:}\""), NULL},
    {S("\"new\\u000Aline\""), "\"new\\nline\""},
    /* open in RFC 8259, accepted here: the text is kept, the double rounds */
    {S("123123e100000"), NULL},
    {S("-1e9999"), NULL},
    {S("123e-10000000"), NULL},
    {S("0.4e006699999999999999999999999999999999999999999999999999999999999999999999999999"), NULL},
    {S("-123123123123123123123123123123"), NULL},
    {S("100000000000000000000"), NULL},
};

TEST(accepted_texts)
{
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        const accepted_case *c = &accepted[i];
        pt_error err;
        const pt_json *value = parse(c->text, c->n, &err);
        if (!value) printf("case %d %s: %s\n", (int)i, c->text, err.message);
        CHECK(value != NULL);
        CHECK(value->next == NULL && value->key == NULL);
        pt_strbuf out = {0};
        pt_json_writer w = pt_json_writer_begin(&out, 0);
        pt_json_value(&w, NULL, value);
        CHECK(!out.failed && strlen(out.data) == out.len);
        CHECK_STR(out.data, c->want ? c->want : c->text);
        pt_strbuf_deinit(&out);
    }
}

typedef struct refused_case {
    const char *text;
    size_t n;
    int offset;
    const char *message; /* part of it */
} refused_case;

static const refused_case refused[] = {
    /* nothing, or no value */
    {S(""), 0, "line 1, column 1: expected a value, found the end"},
    {S(" "), 1, "expected a value, found the end"},
    {S("\n\n  x"), 4, "line 3, column 3: expected a value, found 'x'"},
    {S("\0"), 0, "expected a value, found byte 0x00"},
    {S("\xff"), 0, "expected a value, found byte 0xff"},
    {S("]"), 0, "found ']'"},
    {S("}"), 0, "found '}'"},
    {S(","), 0, "found ','"},
    {S(":"), 0, "found ':'"},
    {S("<.>"), 0, "found '<'"},
    {S("[<null>]"), 1, "found '<'"},
    {S("\xc3\xa5"), 0, "found byte 0xc3"},
    {S("*"), 0, "found '*'"},
    /* words */
    {S("nul"), 0, "true, false and null are the only bare words"},
    {S("nulL"), 0, "found 'n'"},
    {S("[tru]"), 1, "found 't'"},
    {S("fals"), 0, "found 'f'"},
    {S("True"), 0, "found 'T'"},
    {S("FALSE"), 0, "found 'F'"},
    {S("None"), 0, "found 'N'"},
    {S("undefined"), 0, "found 'u'"},
    {S("truefalse"), 4, "expected nothing after the value, found 'f'"},
    {S("nullx"), 4, "expected nothing after the value"},
    {S("NaN"), 0, "expected a value, found 'N'"},
    {S("[NaN]"), 1, "expected a value"},
    {S("nan"), 0, "bare words"},
    {S("Infinity"), 0, "expected a value"},
    {S("-Infinity"), 1, "expected a digit, found 'I'"},
    {S("inf"), 0, "expected a value"},
    /* numbers */
    {S("-"), 1, "expected a digit, found the end"},
    {S("[-]"), 2, "expected a digit, found ']'"},
    {S("+1"), 0, "expected a value, found '+'"},
    {S("++1234"), 0, "found '+'"},
    {S("--1"), 1, "expected a digit, found '-'"},
    {S("- 1"), 1, "expected a digit, found byte 0x20"},
    {S("01"), 0, "may not begin with a 0"},
    {S("-01"), 1, "may not begin with a 0"},
    {S("[-012]"), 2, "may not begin with a 0"},
    {S("00"), 0, "may not begin with a 0"},
    {S("012.5"), 0, "may not begin with a 0"},
    {S(".5"), 0, "expected a value, found '.'"},
    {S("-.5"), 1, "expected a digit, found '.'"},
    {S("[1.]"), 3, "expected a digit after the point, found ']'"},
    {S("0.e1"), 2, "expected a digit after the point"},
    {S("1.e5"), 2, "expected a digit after the point"},
    {S("1.2.3"), 3, "expected nothing after the value"},
    {S("1e"), 2, "expected a digit in the exponent, found the end"},
    {S("1E+"), 3, "expected a digit in the exponent"},
    {S("0e-"), 3, "expected a digit in the exponent"},
    {S("[1e+]"), 4, "expected a digit in the exponent"},
    {S("1eE2"), 2, "expected a digit in the exponent"},
    {S("1e1.5"), 3, "expected nothing after the value"},
    {S("1 000"), 2, "expected nothing after the value"},
    {S("0x42"), 1, "expected nothing after the value, found 'x'"},
    {S("1_000"), 1, "expected nothing"},
    {S("[1+2]"), 2, "expected ',' or ']' after a value, found '+'"},
    {S("[1a]"), 2, "expected ',' or ']'"},
    {S("[123\xe5]"), 4, "expected ',' or ']' after a value, found byte 0xe5"},
    {S("\xef\xbc\x91"), 0, "expected a value"}, /* a full-width 1 */
    {S("[1e1\xe5]"), 4, "expected ',' or ']'"},
    /* arrays */
    {S("["), 1, "expected a value, found the end"},
    {S("[1"), 2, "expected ',' or ']' after a value, found the end"},
    {S("[1,"), 3, "expected a value, found the end"},
    {S("[1,]"), 3, "a ',' before the closing bracket"},
    {S("[\"\",]"), 4, "a ',' before the closing bracket"},
    {S("[,1]"), 1, "expected a value, found ','"},
    {S("[,]"), 1, "expected a value, found ','"},
    {S("[1,,2]"), 3, "expected a value, found ','"},
    {S("[1 2]"), 3, "expected ',' or ']' after a value, found '2'"},
    {S("[1:2]"), 2, "expected ',' or ']'"},
    {S("[3[4]]"), 2, "expected ',' or ']'"},
    {S("[1}"), 2, "expected ',' or ']' after a value, found '}'"},
    {S("[1]]"), 3, "expected nothing after the value, found ']'"},
    {S("[][]"), 2, "expected nothing after the value"},
    {S("[1],"), 3, "expected nothing after the value"},
    {S("[1]x"), 3, "expected nothing after the value, found 'x'"},
    {S("[1]\0"), 3, "expected nothing after the value, found byte 0x00"},
    {S("[\n1,\n1\n,1"), 9, "line 4, column 3"},
    {S("[*]"), 1, "expected a value"},
    {S("[\"a\", \"b\""), 9, "found the end"},
    {S("[\f1]"), 1, "found byte 0x0c"},      /* form feed is no white space */
    {S("[\v1]"), 1, "found byte 0x0b"},      /* nor a vertical tab */
    {S("[\xc2\xa0]"), 1, "found byte 0xc2"}, /* nor a no-break space */
    {S("[\xe2\x81\xa0]"), 1, "found byte 0xe2"},
    /* objects */
    {S("{"), 1, "expected a '\"' that begins a key, found the end"},
    {S("{]"), 1, "that begins a key, found ']'"},
    {S("{a:1}"), 1, "that begins a key, found 'a'"},
    {S("{'a':1}"), 1, "that begins a key, found '''"},
    {S("{1:1}"), 1, "that begins a key, found '1'"},
    {S("{null:1}"), 1, "that begins a key"},
    {S("{[]:1}"), 1, "that begins a key"},
    {S("{\"a\"}"), 4, "expected ':' after a key, found '}'"},
    {S("{\"a\" 1}"), 5, "expected ':' after a key, found '1'"},
    {S("{\"a\"::1}"), 5, "expected a value, found ':'"},
    {S("{\"a\":}"), 5, "expected a value, found '}'"},
    {S("{\"a\":"), 5, "expected a value, found the end"},
    {S("{\"a\""), 4, "expected ':' after a key, found the end"},
    {S("{\"a\":1"), 6, "expected ',' or '}' after a member, found the end"},
    {S("{\"a\":1,"), 7, "that begins a key, found the end"},
    {S("{\"a\":1,}"), 7, "a ',' before the closing bracket"},
    {S("{\"a\":1,,}"), 7, "that begins a key, found ','"},
    {S("{,}"), 1, "that begins a key, found ','"},
    {S("{\"a\":1 \"b\":2}"), 7, "expected ',' or '}' after a member, found '\"'"},
    {S("{\"a\":1]"), 6, "expected ',' or '}' after a member, found ']'"},
    {S("{\"a\",1}"), 4, "expected ':' after a key, found ','"},
    {S("{\"a\"=1}"), 4, "expected ':'"},
    {S("{\"a\":1}}"), 7, "expected nothing after the value"},
    {S("{\"a\":1}#"), 7, "expected nothing after the value, found '#'"},
    {S("{\"a\":1}/**/"), 7, "expected nothing after the value, found '/'"},
    {S("/*c*/{}"), 0, "expected a value, found '/'"},
    {S("{\"a\":/*c*/1}"), 5, "expected a value, found '/'"},
    {S("{\"a\":1 // c\n}"), 7, "expected ',' or '}' after a member, found '/'"},
    {S("{\"a\":\"b\" \"c\"}"), 9, "expected ',' or '}'"},
    {S("{\"a\" b}"), 5, "expected ':'"},
    /* duplicate keys (open in RFC 8259, refused here) */
    {S("{\"a\":1,\"a\":2}"), 7, "the key \"a\" is in this object already"},
    {S("{\"a\":1,\"a\":1}"), 7, "already"},
    {S("{\"a\":1,\"b\":2,\"\\u0061\":3}"), 13, "the key \"a\" is in this object already"},
    {S("{\"\":1,\"\":2}"), 6, "the key \"\" is in"},
    {S("[{},{\"x\":{\"k\":0,\"k\":0}}]"), 16, "the key \"k\""},
    {S("{\"a\\u0000b\":1,\"a\\u0000b\":2}"), 14, "the key \"a·b\""},
    /* strings */
    {S("\""), 1, "that ends the string, found the end"},
    {S("\"abc"), 4, "that ends the string, found the end"},
    {S("[\"a]"), 4, "that ends the string"},
    {S("'a'"), 0, "expected a value, found '''"},
    {S("[a"), 1, "expected a value, found 'a'"},
    {S("\"\\"), 2, "after a backslash, found the end"},
    {S("\"\\\""), 3, "that ends the string, found the end"},
    {S("\"\\x41\""), 2, "after a backslash, found 'x'"},
    {S("\"\\a\""), 2, "after a backslash, found 'a'"},
    {S("\"\\'\""), 2, "after a backslash"},
    {S("\"\\0\""), 2, "after a backslash, found '0'"},
    {S("\"\\\0\""), 2, "after a backslash, found byte 0x00"},
    {S("\"\\U0041\""), 2, "after a backslash, found 'U'"},
    {S("\"\\\xf0\x9f\x98\x80\""), 2, "after a backslash, found byte 0xf0"},
    {S("\"\\\n\""), 2, "after a backslash, found byte 0x0a"},
    {S("\"\\u\""), 3, "four hexadecimal digits after \\u, found '\"'"},
    {S("\"\\u00A\""), 6, "four hexadecimal digits"},
    {S("\"\\u12"), 5, "four hexadecimal digits after \\u, found the end"},
    {S("\"\\uqqqq\""), 3, "found 'q'"},
    {S("\"\\u00-1\""), 5, "four hexadecimal digits"},
    {S("\"a\tb\""), 2, "must be written as \\u00XX"},
    {S("\"a\nb\""), 2, "line 1, column 3"},
    {S("\"\0\""), 1, "a control character"},
    {S("\"\x1f\""), 1, "a control character"},
    {S("{\"a\x01\":1}"), 3, "a control character"},
    {S("\"\"x"), 2, "expected nothing after the value"},
    {S("\"a\" \"b\""), 4, "expected nothing after the value"},
    /* lone surrogates (open in RFC 8259, refused here: they have no UTF-8 form) */
    {S("\"\\ud800\""), 1, "a high surrogate without a low one"},
    {S("\"ab\\uDADA\""), 3, "a high surrogate without a low one"},
    {S("\"\\udc00\""), 1, "a low surrogate without a high one"},
    {S("\"\\ud800\\ud800\""), 1, "a high surrogate without"},
    {S("\"\\ud800\\u0041\""), 1, "a high surrogate without"},
    {S("\"\\ud800\\n\""), 1, "a high surrogate without"},
    {S("\"\\ud800abc\""), 1, "a high surrogate without"},
    {S("\"\\ud800\\u\""), 9, "four hexadecimal digits"},
    {S("\"\\ud83d\\ude0"), 12, "four hexadecimal digits"},
    {S("\"\\udd1e\\ud834\""), 1, "a low surrogate"},
    /* not UTF-8 (open in older suites, refused here) */
    {S("\"\xff\""), 1, "not valid UTF-8"},
    {S("\"ab\x80\""), 3, "not valid UTF-8"},
    {S("\"\xc3\""), 1, "not valid UTF-8"},
    {S("\"\xc0\xaf\""), 1, "not valid UTF-8"},
    {S("\"\xe0\x80\xaf\""), 1, "not valid UTF-8"},
    {S("\"\xed\xa0\x80\""), 1, "not valid UTF-8"},
    {S("\"\xf4\x90\x80\x80\""), 1, "not valid UTF-8"},
    {S("\"\xf8\x88\x80\x80\x80\""), 1, "not valid UTF-8"},
    {S("\"\xe2\x82"), 1, "not valid UTF-8"},
    {S("{\"\xb1\":1}"), 2, "not valid UTF-8"},
    {S("[\"\xc3\xa9\xc3\xa9\xff\"]"), 6, "line 1, column 5"}, /* columns count characters */
    /* other encodings and a byte order mark */
    {S("\xef\xbb\xbf{}"), 0, "byte order mark"},
    {S("\xef\xbb\xbf"), 0, "byte order mark"},
    {S("\xef\xbb{}"), 0, "expected a value, found byte 0xef"},
    {S("[\0\"\0]\0"), 1, "found byte 0x00"},
    {S("\xff\xfe[\0]\0"), 0, "found byte 0xff"},
};

TEST(refused_texts)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const refused_case *c = &refused[i];
        pt_error err;
        bool ok = parse(c->text, c->n, &err) == NULL && err.status == PT_BAD_INPUT &&
                  err.offset == c->offset && strstr(err.message, c->message) != NULL;
        if (!ok) printf("case %d %s: %s at %d\n", (int)i, c->text, err.message, (int)err.offset);
        CHECK(ok);
    }
    CHECK(sizeof accepted / sizeof *accepted + sizeof refused / sizeof *refused >= 120);
}

TEST(structure_of_a_value)
{
    const pt_json *v = parse_ok("{\"name\":\"gpt\\u0000x\",\"on\":true,\"off\":false,\"none\":null,"
                                "\"sizes\":[1,2.5,-3e2],\"k\\u0000y\":7}");
    CHECK_INT(v->type, PT_JSON_OBJECT);
    CHECK_INT(v->n_children, 6);
    const pt_json *name = v->child;
    CHECK_STR(name->key, "name");
    CHECK_INT(name->key_len, 4);
    CHECK_INT(name->text_len, 5);
    CHECK(memcmp(name->text, "gpt\0x", 6) == 0);
    CHECK(name->next->boolean && !name->next->next->boolean);
    CHECK_INT(name->next->next->next->type, PT_JSON_NULL);
    const pt_json *sizes = pt_json_get(v, "sizes");
    CHECK_INT(sizes->n_children, 3);
    CHECK(sizes->child->number == 1 && sizes->child->next->number == 2.5);
    const pt_json *last = sizes->child->next->next;
    CHECK(last->number == -300 && last->next == NULL && last->key == NULL);
    CHECK_STR(last->text, "-3e2");
    CHECK_STR(sizes->child->text, "1");
    CHECK_INT(sizes->next->key_len, 3);
    CHECK(memcmp(sizes->next->key, "k\0y", 4) == 0);
    CHECK(pt_json_get(v, "k") == NULL); /* not the key before its NUL */
    CHECK(parse_ok("1e400")->number == PT_INF);
    CHECK(parse_ok("-1e400")->number == -PT_INF);
    CHECK(parse_ok("1e-400")->number == 0);
    CHECK(parse_ok("-0")->number == 0 && pt_double_bits(parse_ok("-0")->number) != 0);
}

TEST(look_ups)
{
    const pt_json *v =
        parse_ok("{\"i\":12,\"d\":0.5,\"b\":true,\"s\":\"x\",\"n\":null,\"o\":{\"i\":3},"
                 "\"huge\":1e999,\"\":9}");
    int64_t i = -1;
    double d = -1;
    bool b = false;
    CHECK(pt_json_get_i64(v, "i", &i) && i == 12);
    CHECK(pt_json_get_i64(pt_json_get(v, "o"), "i", &i) && i == 3);
    CHECK(pt_json_get_i64(v, "", &i) && i == 9);
    CHECK(pt_json_get_double(v, "d", &d) && d == 0.5);
    CHECK(pt_json_get_double(v, "i", &d) && d == 12);
    CHECK(pt_json_get_bool(v, "b", &b) && b);
    CHECK_STR(pt_json_get_string(v, "s"), "x");
    i = 77, d = 77, b = true;
    CHECK(!pt_json_get_i64(v, "d", &i) && !pt_json_get_i64(v, "s", &i));
    CHECK(!pt_json_get_i64(v, "absent", &i) && !pt_json_get_i64(NULL, "i", &i));
    CHECK(!pt_json_get_i64(v, "b", &i) && !pt_json_get_i64(v, "n", &i) && i == 77);
    CHECK(!pt_json_get_double(v, "s", &d) && !pt_json_get_double(v, "n", &d));
    CHECK(!pt_json_get_double(v, "huge", &d) && !pt_json_get_double(v, "x", &d) && d == 77);
    CHECK(!pt_json_get_bool(v, "i", &b) && !pt_json_get_bool(v, "x", &b) && b);
    CHECK(pt_json_get_string(v, "i") == NULL && pt_json_get_string(v, "x") == NULL);
    CHECK(pt_json_get(v->child, "i") == NULL); /* not an object */
    CHECK(pt_json_get(NULL, "i") == NULL && !pt_json_to_i64(NULL, &i));
    CHECK(pt_json_get(parse_ok("[1]"), "") == NULL);
}

TEST(integers)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t want;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"0.000", true, 0},
        {"0e99999999999999999999", true, 0},
        {"-0.0e-5", true, 0},
        {"12", true, 12},
        {"12.0", true, 12},
        {"1e3", true, 1000},
        {"-1.5e1", true, -15},
        {"1200e-2", true, 12},
        {"1201e-2", false, 0},
        {"0.001e3", true, 1},
        {"0.0010000e4", true, 10},
        {"10.010e2", true, 1001},
        {"1.5", false, 0},
        {"1e-1", false, 0},
        {"100e-2", true, 1},
        {"100e-3", false, 0},
        {"9007199254740993", true, 9007199254740993},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775807.000", true, INT64_MAX},
        {"9223372036854775.807e3", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"9223372036854775807.5", false, 0},
        {"18446744073709551616", false, 0},
        {"18446744073709551617", false, 0},
        {"1e18", true, 1000000000000000000},
        {"9e18", true, 9000000000000000000},
        {"1e19", false, 0},
        {"1e400", false, 0},
        {"1e-400", false, 0},
        {"1e99999999999999999999999", false, 0},
        {"1e-99999999999999999999999", false, 0},
        {"1000000000000000000000000000000e-30", true, 1},
        {"0.0000000000000000000000000000001e31", true, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t got = 4711;
        bool ok = pt_json_to_i64(parse_ok(cases[i].text), &got);
        if (ok != cases[i].ok) printf("%s\n", cases[i].text);
        CHECK(ok == cases[i].ok);
        CHECK_INT(got, ok ? cases[i].want : 4711);
    }
}

PT_TEST_MAIN
