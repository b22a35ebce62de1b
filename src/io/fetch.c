/* Fetching with libcurl, loaded when it is needed. SPDX-License-Identifier: MIT */
#include "io/fetch.h"

#include "base/fs.h"
#include "base/fs_part.h"
#include "base/platform.h"

#ifdef PT_HAVE_CURL

#include <curl/curl.h>

#define CONNECT_SECONDS 20L
#define STALL_SECONDS 60L /* without a byte: the connection is given up */
#define MAX_REDIRECTS 5L

/* The functions of libcurl that are used, with the types of its header. */
#define CURL_FUNCTIONS(X) \
    X(easy_init)          \
    X(easy_setopt)        \
    X(easy_perform)       \
    X(easy_getinfo)       \
    X(easy_cleanup)       \
    X(easy_strerror)      \
    X(version_info)

typedef struct libcurl {
#define CURL_MEMBER(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
} libcurl;

/* All of the functions, from the first of the library's names that has them. */
static bool load(libcurl *c)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"};
    bool whole = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !whole; i++) {
        whole = true;
#define CURL_FIND(name)                                                          \
    c->name = (__typeof__(c->name))pt_platform_library(names[i], "curl_" #name); \
    whole = whole && c->name;
        CURL_FUNCTIONS(CURL_FIND)
#undef CURL_FIND
    }
    return whole;
}

const char *pt_fetch_version(void)
{
    libcurl c;
    return load(&c) ? c.version_info(CURLVERSION_NOW)->version : NULL;
}

typedef struct transfer {
    const pt_fetch *fetch;
    const libcurl *curl;
    CURL *easy;
    pt_part_file *part;
    int64_t resumed;  /* bytes that were there before */
    pt_status status; /* of our own callbacks */
    pt_error *err;
} transfer;

/* More than there can be is thrown away before it fills the disk. */
static pt_status refuse_excess(transfer *t)
{
    pt_status s = pt_part_file_restart(t->part, t->err);
    return s ? s
             : pt_fail(t->err, PT_CORRUPT, "%s is not what was expected: more than %lld bytes",
                       t->fetch->url, (long long)t->fetch->most);
}

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    transfer *t = ctx;
    int64_t room = t->fetch->most - pt_part_file_size(t->part);
    if (t->fetch->most && (int64_t)(size * n) > room) {
        t->status = refuse_excess(t);
        return 0;
    }
    t->status = pt_part_file_write(t->part, bytes, (int64_t)(size * n), t->err);
    return t->status ? 0 : size * n;
}

static int on_progress(void *ctx, curl_off_t total, curl_off_t now, curl_off_t up, curl_off_t upped)
{
    (void)up, (void)upped;
    transfer *t = ctx;
    if (!t->fetch->progress) return 0;
    int64_t all = total > 0 ? t->resumed + (int64_t)total : 0;
    t->status = t->fetch->progress(t->fetch->ctx, t->resumed + (int64_t)now, all, t->err);
    return t->status != PT_OK;
}

static CURLcode perform(transfer *t)
{
    const libcurl *c = t->curl;
    CURL *easy = t->easy;
    t->resumed = pt_part_file_size(t->part);
    c->easy_setopt(easy, CURLOPT_URL, t->fetch->url);
    c->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    c->easy_setopt(easy, CURLOPT_WRITEDATA, t);
    c->easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    c->easy_setopt(easy, CURLOPT_XFERINFODATA, t);
    c->easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    c->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    c->easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    c->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    c->easy_setopt(easy, CURLOPT_MAXREDIRS, MAX_REDIRECTS);
    c->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    c->easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    c->easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
    c->easy_setopt(easy, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)t->resumed);
    /* A server must not choose what else libcurl can do, nor have a file of this machine read. */
    CURLcode code = c->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http,file");
    if (code == CURLE_OK) code = c->easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "https,http");
    return code == CURLE_OK ? c->easy_perform(easy) : code;
}

static pt_status explain(const transfer *t, CURLcode code, pt_error *err)
{
    long http = 0;
    const char *url = t->fetch->url;
    int64_t got = pt_part_file_size(t->part);
    t->curl->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &http);
    switch (code) {
    case CURLE_HTTP_RETURNED_ERROR:
        return pt_fail(err, http == 404 || http == 410 ? PT_NOT_FOUND : PT_IO,
                       "the server answers %ld for %s", http, url);
    case CURLE_UNKNOWN_OPTION:
        return pt_fail(err, PT_UNSUPPORTED, "the library libcurl here is too old: 7.85 is needed");
    case CURLE_FILE_COULDNT_READ_FILE: return pt_fail(err, PT_NOT_FOUND, "there is no %s", url);
    case CURLE_UNSUPPORTED_PROTOCOL:
        if (http / 100 == 3)
            return pt_fail(err, PT_UNSUPPORTED,
                           "%s leads to an address that is neither https nor http", url);
        return pt_fail(err, PT_BAD_INPUT, "'%s' is no address to fetch: https, http and file are",
                       url);
    case CURLE_URL_MALFORMAT: return pt_fail(err, PT_BAD_INPUT, "'%s' is no address to fetch", url);
    case CURLE_TOO_MANY_REDIRECTS:
        return pt_fail(err, PT_IO, "%s leads on from address to address, more than %ld times", url,
                       MAX_REDIRECTS);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return pt_fail(err, PT_IO, "no way to the network for %s: %s", url,
                       t->curl->easy_strerror(code));
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return pt_fail(err, PT_IO,
                       "the transfer of %s broke off after %lld bytes (%s): the same command goes "
                       "on from there",
                       url, (long long)got, t->curl->easy_strerror(code));
    default: break;
    }
    return pt_fail(err, PT_IO, "%s cannot be fetched: %s", url, t->curl->easy_strerror(code));
}

/* One more try from the begin when what is there cannot be gone on from. */
static pt_status run(transfer *t, pt_error *err)
{
    CURLcode code = perform(t);
    long http = 0;
    t->curl->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &http);
    bool refused = code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME ||
                   (code == CURLE_HTTP_RETURNED_ERROR && http == 416);
    if (t->resumed && refused && !t->status) {
        pt_status s = pt_part_file_restart(t->part, err);
        if (s) return s;
        code = perform(t);
    }
    if (t->status) return t->status;
    return code == CURLE_OK ? PT_OK : explain(t, code, err);
}

static pt_status transfer_all(transfer *t, pt_error *err)
{
    libcurl curl;
    pt_status s = PT_OK;
    if (!load(&curl))
        return pt_fail(err, PT_UNSUPPORTED,
                       "fetching needs the library libcurl, which is not installed here (Debian: "
                       "apt-get install libcurl4)");
    t->curl = &curl;
    t->easy = curl.easy_init();
    s = t->easy ? run(t, err) : pt_fail(err, PT_NO_MEMORY, "libcurl cannot begin");
    if (t->easy) curl.easy_cleanup(t->easy);
    return s;
}

#else

const char *pt_fetch_version(void) { return NULL; }

typedef struct transfer {
    const pt_fetch *fetch;
    pt_part_file *part;
    pt_error *err;
} transfer;

static pt_status transfer_all(transfer *t, pt_error *err)
{
    (void)t;
    return pt_fail(
        err, PT_UNSUPPORTED,
        "this program was built without libcurl 7.85 or later, which fetching needs: tools/setup "
        "installs it, then build again");
}

#endif

/* Whether the file has the checksum that is wanted; any file has an unknown one. */
static pt_status check(const char *path, const char *want, bool *right, pt_error *err)
{
    char hex[65];
    *right = true;
    if (!want) return PT_OK;
    pt_status s = pt_fs_sha256(path, hex, err);
    *right = s == PT_OK && strcmp(hex, want) == 0;
    return s;
}

/* The part becomes whole and right. What was there before may be of another file: then once more from
 * the begin. */
static pt_status obtain(transfer *t, pt_error *err)
{
    const char *want = t->fetch->sha256, *path = pt_part_file_path(t->part);
    pt_status s = PT_OK;
    bool right = false;
    if (t->fetch->most && pt_part_file_size(t->part) > t->fetch->most)
        s = pt_part_file_restart(t->part, err);
    if (s) return s;
    int64_t before = pt_part_file_size(t->part);
    /* It may have broken off after its last byte. */
    s = before && want ? check(path, want, &right, err) : PT_OK;
    for (int tries = before ? 2 : 1; tries > 0 && s == PT_OK && !right; tries--) {
        s = transfer_all(t, err);
        if (s == PT_OK) s = check(path, want, &right, err);
        if (s == PT_OK && !right) s = pt_part_file_restart(t->part, err);
    }
    if (s || right) return s;
    return pt_fail(err, PT_CORRUPT, "%s is not what was expected: its sha256 is not %.12s…",
                   t->fetch->url, want);
}

pt_status pt_fetch_file(const pt_fetch *fetch, bool *fetched, pt_error *err)
{
    bool right = false, there = pt_fs_exists(fetch->path);
    if (fetched) *fetched = false;
    if (there && !fetch->sha256) return pt_fail(err, PT_EXISTS, "'%s' exists already", fetch->path);
    pt_status s = there ? check(fetch->path, fetch->sha256, &right, err) : PT_OK;
    if (s || right) return s;
    if (there && !fetch->replace)
        return pt_fail(err, PT_EXISTS, "'%s' exists already and is another file", fetch->path);
    transfer t = {.fetch = fetch, .err = err};
    s = pt_part_file_open(&t.part, fetch->path, err);
    if (s) return s;
    s = obtain(&t, err);
    if (s) {
        pt_part_file_close(t.part);
        return s;
    }
    if (fetched) *fetched = true;
    return pt_part_file_commit(t.part, fetch->replace, err);
}
