/* A few open files of many. SPDX-License-Identifier: MIT */
#include "train/open_files.h"

#include "base/fs.h"

/* The slot that holds the file, else the one to be given up: a free one, or the one read longest ago. */
static int find_slot(const pt_open_files *files, int64_t number)
{
    int found = 0;
    for (int i = 0; i < PT_OPEN_FILES_MAX; i++) {
        if (files->slot[i].number == number) return i;
        if (files->slot[i].used < files->slot[found].used) found = i;
    }
    return found;
}

/* Opens the file in a slot, and closes what was there. */
static pt_status open_in(pt_open_files *files, int i, const char *path, int64_t number,
                         pt_error *err)
{
    pt_file_reader_close(&files->slot[i].reader);
    files->slot[i].number = files->slot[i].used = 0;
    pt_status s = pt_file_reader_open(&files->slot[i].reader, path, err);
    if (s) return s;
    files->slot[i].number = number;
    files->slot[i].used = ++files->reads;
    return PT_OK;
}

pt_status pt_open_files_add(pt_open_files *files, const char *path, pt_open_file *out,
                            pt_error *err)
{
    int64_t number = ++files->n;
    int i = find_slot(files, number);
    pt_status s = open_in(files, i, path, number, err);
    const pt_file_reader *reader = &files->slot[i].reader;
    *out = (pt_open_file){path, reader->size, reader->changed_ns, s ? 0 : number};
    return s;
}

pt_status pt_open_files_read(pt_open_files *files, const pt_open_file *file, int64_t offset,
                             void *bytes, int64_t n, pt_error *err)
{
    int i = find_slot(files, file->number);
    if (files->slot[i].number != file->number) {
        pt_status s = open_in(files, i, file->path, file->number, err);
        if (s) return s;
    }
    const pt_file_reader *reader = &files->slot[i].reader;
    if (reader->size != file->size || reader->changed_ns != file->changed_ns)
        return pt_fail(err, PT_IO, "'%s' was changed while it was in use", file->path);
    files->slot[i].used = ++files->reads;
    return pt_file_reader_read(reader, file->path, offset, bytes, n, err);
}

void pt_open_files_close(pt_open_files *files)
{
    for (int i = 0; i < PT_OPEN_FILES_MAX; i++) pt_file_reader_close(&files->slot[i].reader);
    *files = (pt_open_files){0};
}
