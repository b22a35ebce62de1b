/* Notes: what is taken, and what is refused with which words. SPDX-License-Identifier: MIT */
#include "io/note.h"

#include "base/test_folder.h"

static const pt_note_kind kind = {"posttrain-thing", 2, NULL};

static pt_status read_text(const pt_note_kind *as, const char *text, pt_error *err)
{
    pt_arena arena = {0};
    const pt_json *json = (const pt_json *)&kind;
    memset(err, 0, sizeof *err);
    put_text(in_folder("note.json"), text);
    pt_status s = pt_note_read(in_folder("note.json"), as, &arena, &json, err);
    CHECK((json != NULL) == (s == PT_OK));
    pt_arena_deinit(&arena);
    return s;
}

TEST(a_note_is_what_it_says)
{
    pt_error err;
    fresh_folder();
    CHECK_OK(read_text(&kind, "{\"format\":\"posttrain-thing\",\"version\":1}", &err), err);
    CHECK_OK(read_text(&kind, "{\"version\":2,\"x\":[1],\"format\":\"posttrain-thing\"}", &err),
             err);
    CHECK_OK(read_text(&(pt_note_kind){0}, "[1]", &err), err);
}

TEST(what_is_no_note_is_refused)
{
    static const struct {
        const char *text, *words;
        pt_status status;
    } cases[] = {
        {"", "note.json: ", PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\",", "note.json: ", PT_BAD_INPUT},
        {"[]", "note.json: format is 'missing', it must be posttrain-thing", PT_BAD_INPUT},
        {"{\"format\":7}", "format is 'missing'", PT_BAD_INPUT},
        {"{\"format\":\"posttrain-other\",\"version\":1}", "'posttrain-other'", PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\"}", "it has no version", PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\",\"version\":\"1\"}",
         "version is \"1\", which is no version", PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\",\"version\":0}", "version is 0, which is no version",
         PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\",\"version\":-1}", "version is -1, which is no version",
         PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\",\"version\":1.5}", "version is 1.5, which is no version",
         PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\",\"version\":2.5}", "version is 2.5, which is no version",
         PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\",\"version\":-1e99}",
         "version is -1e99, which is no version", PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\",\"version\":null}",
         "version is null, which is no version", PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\",\"version\":[3]}", "version is [3], which is no version",
         PT_BAD_INPUT},
        {"{\"format\":\"posttrain-thing\",\"version\":99999999999999999999}",
         "version is 99999999999999999999, of a newer posttrain", PT_UNSUPPORTED},
        {"{\"format\":\"posttrain-thing\",\"version\":1e999}",
         "version is 1e999, of a newer posttrain", PT_UNSUPPORTED},
        {"{\"format\":\"posttrain-thing\",\"version\":3}", "of a newer posttrain", PT_UNSUPPORTED},
    };
    pt_error err;
    fresh_folder();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_INT(read_text(&kind, cases[i].text, &err), cases[i].status);
        if (!strstr(err.message, cases[i].words)) printf("%s\n", err.message);
        CHECK(strstr(err.message, cases[i].words) && err.status == cases[i].status);
    }
    CHECK_INT(read_text(&(pt_note_kind){"posttrain-thing", 2, "the thing"}, "[]", &err),
              PT_BAD_INPUT);
    CHECK(pt_str_starts(err.message, "the thing: format is"));
}

TEST(a_note_that_is_not_there_is_named_once)
{
    pt_error err = {0};
    pt_arena arena = {0};
    const pt_json *json = NULL;
    fresh_folder();
    CHECK_INT(pt_note_read(in_folder("none.json"), &kind, &arena, &json, &err), PT_NOT_FOUND);
    const char *first = strstr(err.message, "none.json");
    CHECK(first && !strstr(first + 1, "none.json"));
    pt_arena_deinit(&arena);
}

PT_TEST_MAIN
