/* For tests of JSON: parsing into an arena that the next call empties. Hosted only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_TEST_JSON_H
#define PT_BASE_TEST_JSON_H

#include "base/json.h"
#include "base/test.h"

static pt_arena arena;

/* From an exact copy of the bytes, so that the address sanitizer sees a read beyond them. */
static const pt_json *parse(const char *text, size_t n, pt_error *err)
{
    char *exact = malloc(n ? n : 1);
    CHECK(exact != NULL);
    memcpy(exact, text, n);
    pt_arena_deinit(&arena);
    const pt_json *value;
    *err = (pt_error){0};
    pt_status s = pt_json_parse(exact, n, &arena, &value, err);
    free(exact);
    CHECK((s == PT_OK) == (value != NULL));
    CHECK(s == err->status);
    return value;
}

#endif
