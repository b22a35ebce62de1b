/* Notes. SPDX-License-Identifier: MIT */
#include "io/note.h"

#include "base/fs.h"

static pt_status check(const pt_json *note, const pt_note_kind *kind, pt_error *err)
{
    int64_t version = 0;
    const char *format = pt_json_get_string(note, "format");
    if (!kind->format) return PT_OK;
    if (!format || strcmp(format, kind->format) != 0)
        return pt_fail(err, PT_BAD_INPUT, "format is '%s', it must be %s",
                       format ? format : "missing", kind->format);
    if (!pt_json_get_i64(note, "version", &version) || version < 1)
        return pt_fail(err, PT_BAD_INPUT, "it has no version");
    if (version > kind->version)
        return pt_fail(err, PT_UNSUPPORTED,
                       "version is %lld, of a newer posttrain; this one reads up to %lld",
                       (long long)version, (long long)kind->version);
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
