/* Notes: small JSON files of ours that say what they are, {"format": …, "version": …, …}. Not part of the WASM build (it
 * opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_NOTE_H
#define PT_IO_NOTE_H

#include "base/json.h"

#define PT_NOTE_MAX \
    (64 << 20) /* bytes: a run.json of older versions tells of every shard of its corpus */

typedef struct pt_note_kind {
    const char *
        format; /* what the note must say; NULL: any JSON will do, and a version is not asked for */
    int64_t version;  /* the newest that we read */
    const char *name; /* that messages begin with; NULL: the path */
} pt_note_kind;

/* Reads and checks one; *out lives as long as the arena, and is NULL on failure. Errors: those of pt_fs_read; BAD_INPUT when
 * it is no JSON, of another format or has no version, which is a whole number from 1; UNSUPPORTED when that is above ours,
 * however large. */
pt_status pt_note_read(const char *path, const pt_note_kind *kind, pt_arena *arena,
                       const pt_json **out, pt_error *err);

#endif
