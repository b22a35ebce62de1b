/* Fetching a file from the network, checked by its sha256, going on where an earlier try broke off.
 *
 * libcurl, 7.85 or later, does the work. Its headers are needed when the program is built (without them every call is
 * refused) and the library when a file is fetched: it is loaded then, not when the program starts.
 * Not part of the WASM build.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_FETCH_H
#define PT_IO_FETCH_H

#include <stdbool.h>

#include "base/status.h"

typedef struct pt_fetch {
    const char *url;    /* https, http or file */
    const char *path;   /* where it goes; PATH.part while it comes */
    const char *sha256; /* 64 hex digits in lower case; NULL: unknown */
    int64_t most;       /* bytes that it has at most; 0: unknown */
    bool replace;       /* a file at the path that is another one */
    /* Called now and then with the bytes that are there and those there will be (0: unknown). An error ends the
     * transfer, and what came is kept. May be NULL. */
    pt_status (*progress)(void *ctx, int64_t bytes, int64_t total, pt_error *err);
    void *ctx;
} pt_fetch;

/* A regular file at the path that has the checksum is left alone, and *fetched (may be NULL) is false. With `replace`
 * another one is replaced once the new one is whole. Redirections are followed to https and http only.
 * Errors: UNSUPPORTED (no libcurl: says how to get it; a redirection elsewhere), NOT_FOUND (the server has no such file), IO (no network, a
 * connection that broke: the next call goes on from there), CORRUPT (not what was wanted, as it is whole or has more than `most` bytes: it is thrown away),
 * EXISTS (something else is at the path, or the checksum is unknown). */
pt_status pt_fetch_file(const pt_fetch *fetch, bool *fetched, pt_error *err);

/* The version of libcurl here; NULL: this program was built without it, or it is not installed. */
const char *pt_fetch_version(void);

#endif
