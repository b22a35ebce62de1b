/* Fuzzing gunzip and the reader of tar: what comes out is bounded, and a file lies inside its archive.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "io/tgz.h"

#define MOST 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find(const uint8_t *tar, int64_t n)
{
    const uint8_t *file = NULL;
    int64_t size = 0;
    if (pt_tar_find(tar, n, "a", &file, &size, NULL)) return;
    if (size >= 0 && file >= tar && size <= n && file - tar <= n - size) return;
    fprintf(stderr, "fuzz_tgz: a file outside its archive\n");
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pt_strbuf out = {0};
    pt_status s = pt_gunzip(data, (int64_t)size, MOST, &out, NULL);
    if (out.len > MOST) abort();
    if (s == PT_OK && out.data) find((const uint8_t *)out.data, (int64_t)out.len);
    pt_strbuf_deinit(&out);
    find(data, (int64_t)size);
    return 0;
}
