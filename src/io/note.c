/* Notes. SPDX-License-Identifier: MIT */
#include "io/note.h"

#include "base/fs.h"
#include "base/maths.h"

/* A whole number above what we read, however large. */
static bool is_above(const pt_json *version, int64_t most)
{
    return version->type == PT_JSON_NUMBER && version->number > (double)most &&
           version->number == pt_floor(version->number);
}

/* A file may hold anything there: it is shown as its JSON. */
static pt_status fail_version(const pt_json *version, int64_t most, pt_error *err)
{
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 0);
    pt_json_value(&w, NULL, version);
    const char *shown = text.failed ? "?" : text.data;
    pt_status s = is_above(version, most)
                      ? pt_fail(err, PT_UNSUPPORTED,
                                "version is %s, of a newer posttrain; this one reads up to %lld",
                                shown, (long long)most)
                      : pt_fail(err, PT_BAD_INPUT, "version is %s, which is no version", shown);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status check(const pt_json *note, const pt_note_kind *kind, pt_error *err)
{
    int64_t version = 0;
    const char *format = pt_json_get_string(note, "format");
    if (!kind->format) return PT_OK;
    if (!format || strcmp(format, kind->format) != 0)
        return pt_fail(err, PT_BAD_INPUT, "format is '%s', it must be %s",
                       format ? format : "missing", kind->format);
    const pt_json *said = pt_json_get(note, "version");
    if (!said) return pt_fail(err, PT_BAD_INPUT, "it has no version");
    if (!pt_json_get_i64(note, "version", &version) || version < 1 || version > kind->version)
        return fail_version(said, kind->version, err);
    return PT_OK;
}

pt_status pt_note_read(const char *path, const pt_note_kind *kind, pt_arena *arena,
                       const pt_json **out, pt_error *err)
{
    char *text = NULL;
    int64_t size = 0;
    *out = NULL;
    pt_status s = pt_fs_read(path, PT_NOTE_MAX, &text, &size, err);
    if (s) return s;
    s = pt_json_parse(text, (size_t)size, arena, out, err);
    pt_free(text);
    if (s == PT_OK) s = check(*out, kind, err);
    if (s == PT_OK) return PT_OK;
    *out = NULL;
    pt_error_prefix(err, "%s", kind->name ? kind->name : path);
    return s;
}
