/* Fetching, from files and from a small server of our own that breaks off, refuses and lies.
 * SPDX-License-Identifier: MIT */
#include "io/fetch.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/hash.h"
#include "base/test_folder.h"

#define N 100000

static pt_error err;
static char text[N + 1], sha256[65];

static void make_text(void)
{
    for (int i = 0; i < N; i++) text[i] = (char)('a' + (i * 7 + i / 26) % 26);
    pt_sha256 h;
    uint8_t digest[32];
    pt_sha256_init(&h);
    pt_sha256_update(&h, text, N);
    pt_sha256_final(&h, digest);
    pt_hex(digest, 32, sha256);
}

/* ---- a server ---- */

static void send_all(int to, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = write(to, bytes, n);
        if (sent <= 0) return;
        bytes += sent, n -= (size_t)sent;
    }
}

/* Answers by the path: /text, /broken (half of it, then silence), /norange (always from the begin), /404, /500,
 * /to?URL, which leads there, and /round, which leads to itself. */
static void answer(int to)
{
    char request[4096], head[256];
    size_t n = 0;
    ssize_t got;
    while (n < sizeof request - 1 && (got = read(to, request + n, sizeof request - 1 - n)) > 0) {
        n += (size_t)got;
        request[n] = 0;
        if (strstr(request, "\r\n\r\n")) break;
    }
    if (n == 0) return;
    const char *range = strstr(request, "Range: bytes=");
    int from = range ? (int)strtol(range + 13, NULL, 10) : 0, status = range ? 206 : 200;
    if (strncmp(request, "GET /round", 10) == 0) memcpy(request, "GET /to?/round ", 15);
    if (strncmp(request, "GET /to?", 8) == 0) {
        int len = snprintf(head, sizeof head,
                           "HTTP/1.1 302 x\r\nContent-Length: 0\r\nConnection: close\r\n"
                           "Location: %.*s\r\n\r\n",
                           (int)strcspn(request + 8, " "), request + 8);
        send_all(to, head, (size_t)len);
        return;
    }
    bool broken = strncmp(request, "GET /broken", 11) == 0;
    if (strncmp(request, "GET /norange", 12) == 0) from = 0, status = 200;
    if (strncmp(request, "GET /404", 8) == 0) status = 404;
    if (strncmp(request, "GET /500", 8) == 0) status = 500;
    if (from >= N) status = 416;
    int left = status >= 300 ? 0 : N - from;
    int len =
        snprintf(head, sizeof head, "HTTP/1.1 %d x\r\nContent-Length: %d\r\nConnection: close\r\n",
                 status, left);
    if (status == 206)
        len += snprintf(head + len, sizeof head - (size_t)len, "Content-Range: bytes %d-%d/%d\r\n",
                        from, N - 1, N);
    send_all(to, head, (size_t)len);
    send_all(to, "\r\n", 2);
    send_all(to, text + from, (size_t)(broken ? left / 2 : left));
}

typedef struct server {
    pid_t pid;
    int port;
} server;

static server start_server(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&at, size) == 0);
    CHECK(listen(listener, 8) == 0 && getsockname(listener, (struct sockaddr *)&at, &size) == 0);
    server s = {fork(), ntohs(at.sin_port)};
    if (s.pid == 0) {
        signal(SIGPIPE, SIG_IGN);
        alarm(60); /* should the test die first */
        for (;;) {
            int to = accept(listener, NULL, NULL);
            if (to < 0) continue;
            answer(to);
            close(to);
        }
    }
    close(listener);
    return s;
}

static void stop_server(server s)
{
    kill(s.pid, SIGKILL);
    waitpid(s.pid, NULL, 0);
}

static pt_status fetch_to(const char *url, const char *want, bool replace, bool *fetched)
{
    pt_fetch f = {.url = url, .path = in_folder("f"), .sha256 = want, .replace = replace};
    memset(&err, 0, sizeof err);
    return pt_fetch_file(&f, fetched, &err);
}

static pt_status fetch(const char *url, const char *want, bool *fetched)
{
    return fetch_to(url, want, false, fetched);
}

static const char *url_of(server s, const char *path)
{
    static char url[1000];
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", s.port, path);
    return url;
}

/* False: fetching is not to be had here. */
static bool begin(void)
{
    fresh_folder();
    make_text();
    put_text(in_folder("source"), text);
    char url[600];
    snprintf(url, sizeof url, "file://%s", in_folder("source"));
    pt_status s = fetch(url, sha256, NULL);
    if (s == PT_UNSUPPORTED) return false;
    CHECK_OK(s, err);
    char hex[65];
    CHECK_OK(pt_fs_sha256(in_folder("f"), hex, &err), err);
    CHECK_STR(hex, sha256);
    pt_fs_remove(in_folder("f"), NULL);
    return true;
}

/* ---- tests ---- */

TEST(a_right_file_is_kept_without_asking)
{
    fresh_folder();
    make_text();
    put_text(in_folder("f"), text);
    bool fetched = true;
    CHECK_OK(fetch("http://127.0.0.1:1/", sha256, &fetched), err);
    CHECK(!fetched);
    CHECK_INT(n_entries(), 1);
    put_text(in_folder("f.part"), "x"); /* even with a part beside it */
    CHECK_OK(fetch("http://127.0.0.1:1/", sha256, &fetched), err);
    CHECK_INT(fetch("http://127.0.0.1:1/", NULL, NULL), PT_EXISTS);
}

TEST(a_file_over_http)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    bool fetched = false;
    pt_status status = fetch(url_of(s, "/text"), sha256, &fetched);
    stop_server(s);
    CHECK_OK(status, err);
    CHECK(fetched && pt_fs_size(in_folder("f")) == N && n_entries() == 2);
}

TEST(a_broken_transfer_goes_on)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    CHECK_INT(fetch(url_of(s, "/broken"), sha256, NULL), PT_IO);
    CHECK(strstr(err.message, "after 50000 bytes"));
    CHECK(!pt_fs_exists(in_folder("f")) && pt_fs_size(in_folder("f.part")) == N / 2);
    CHECK_INT(fetch(url_of(s, "/broken"), sha256, NULL), PT_IO);
    CHECK_INT(pt_fs_size(in_folder("f.part")), 3 * N / 4);
    pt_status status = fetch(url_of(s, "/text"), sha256, NULL);
    stop_server(s);
    CHECK_OK(status, err);
    CHECK(pt_fs_size(in_folder("f")) == N && n_entries() == 2);
}

TEST(a_server_without_ranges_begins_again)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    put_text(in_folder("f.part"), "half of another file");
    pt_status status = fetch(url_of(s, "/norange"), sha256, NULL);
    stop_server(s);
    CHECK_OK(status, err);
    CHECK_INT(pt_fs_size(in_folder("f")), N);
}

TEST(a_part_that_is_too_long_begins_again)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    text[N - 1] = 'X';
    put_text(in_folder("f.part"), text); /* as long as the file, but not it */
    pt_status status = fetch(url_of(s, "/text"), sha256, NULL);
    stop_server(s);
    CHECK_OK(status, err);
    CHECK_INT(pt_fs_size(in_folder("f")), N);
}

TEST(a_part_that_was_whole_needs_no_network)
{
    fresh_folder();
    make_text();
    put_text(in_folder("f.part"), text);
    CHECK_OK(fetch("http://127.0.0.1:1/", sha256, NULL), err);
    CHECK(pt_fs_size(in_folder("f")) == N && n_entries() == 1);
}

TEST(a_wrong_file_is_thrown_away)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    char wrong[65];
    memcpy(wrong, sha256, 65);
    wrong[5] = wrong[5] == '0' ? '1' : '0';
    put_text(in_folder("f"), "what was there");
    pt_status status = fetch_to(url_of(s, "/text"), wrong, true, NULL);
    CHECK_INT(status, PT_CORRUPT);
    CHECK(strstr(err.message, "not what was expected"));
    CHECK_STR(text_of(in_folder("f")), "what was there");
    CHECK_INT(n_entries(), 2);
    stop_server(s);
}

TEST(a_file_that_is_there_is_replaced_only_when_asked)
{
    fresh_folder();
    make_text();
    put_text(in_folder("f"), "mine");
    CHECK_INT(fetch("http://127.0.0.1:1/", sha256, NULL), PT_EXISTS);
    CHECK(strstr(err.message, "f' exists already and is another file"));
    CHECK_STR(text_of(in_folder("f")), "mine");
    CHECK_INT(n_entries(), 1);
    if (!begin()) SKIP("no libcurl");
    put_text(in_folder("f"), "mine");
    server s = start_server();
    pt_status status = fetch_to(url_of(s, "/text"), sha256, true, NULL);
    stop_server(s);
    CHECK_OK(status, err);
    CHECK_INT(pt_fs_size(in_folder("f")), N);
}

TEST(a_server_leads_nowhere_but_to_the_web)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    char url[1000], path[800];
    snprintf(path, sizeof path, "/to?file://%s", in_folder("source"));
    snprintf(url, sizeof url, "%s", url_of(s, path));
    CHECK_INT(fetch(url, sha256, NULL), PT_UNSUPPORTED);
    CHECK(strstr(err.message, "neither https nor http"));
    CHECK_INT(fetch(url_of(s, "/to?ftp://127.0.0.1:1/x"), sha256, NULL), PT_UNSUPPORTED);
    CHECK_INT(fetch("ftp://127.0.0.1:1/x", sha256, NULL), PT_BAD_INPUT);
    CHECK(!pt_fs_exists(in_folder("f")));
    pt_status status = fetch(url_of(s, "/to?/text"), sha256, NULL);
    stop_server(s);
    CHECK_OK(status, err);
}

TEST(an_address_that_leads_in_circles)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    CHECK_INT(fetch(url_of(s, "/round"), sha256, NULL), PT_IO);
    stop_server(s);
    CHECK(strstr(err.message, "leads on from address to address, more than 5 times"));
    CHECK_INT(fetch("", sha256, NULL), PT_BAD_INPUT);
    CHECK_STR(err.message, "'' is no address to fetch");
    CHECK_INT(n_entries(), 1);
}

/* Neither is waited for: not read to learn that it is wrong, not fetched to its end. */
TEST(more_than_there_can_be_is_thrown_away_at_once)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    pt_fetch f = {
        .url = "http://127.0.0.1:1/", .path = in_folder("f"), .sha256 = sha256, .most = N};
    char longer[N + 2] = "";
    memset(longer, 'x', N + 1);
    put_text(in_folder("f.part"), longer);
    memset(&err, 0, sizeof err);
    CHECK_INT(pt_fetch_file(&f, NULL, &err), PT_IO); /* nobody there */
    CHECK(!pt_fs_exists(in_folder("f.part")));
    f.url = url_of(s, "/text");
    f.most = N / 2;
    memset(&err, 0, sizeof err);
    CHECK_INT(pt_fetch_file(&f, NULL, &err), PT_CORRUPT);
    CHECK(strstr(err.message, "not what was expected: more than 50000 bytes"));
    CHECK_INT(n_entries(), 1);
    f.most = N;
    put_text(in_folder("f.part"), longer);
    pt_status status = pt_fetch_file(&f, NULL, &err);
    stop_server(s);
    CHECK_INT(status, PT_OK);
    CHECK_INT(pt_fs_size(in_folder("f")), N);
}

TEST(a_part_of_another_file_begins_again)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    text[10] = 'X';
    text[N / 2] = 0;
    put_text(in_folder("f.part"), text);
    pt_status status = fetch(url_of(s, "/text"), sha256, NULL);
    stop_server(s);
    CHECK_OK(status, err);
    CHECK_INT(pt_fs_size(in_folder("f")), N);
}

TEST(what_the_server_does_not_have)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    CHECK_INT(fetch(url_of(s, "/404"), sha256, NULL), PT_NOT_FOUND);
    CHECK(strstr(err.message, "404"));
    CHECK_INT(fetch(url_of(s, "/500"), sha256, NULL), PT_IO);
    stop_server(s);
    CHECK_INT(fetch(url_of(s, "/text"), sha256, NULL), PT_IO); /* nobody there */
    CHECK(strstr(err.message, "no way to the network"));
    CHECK_INT(fetch("file:///nowhere/at/all", sha256, NULL), PT_NOT_FOUND);
    CHECK_INT(fetch("gibberish://x", sha256, NULL), PT_BAD_INPUT);
    CHECK_INT(n_entries(), 1); /* no part of nothing */
}

static pt_status stop_late(void *ctx, int64_t bytes, int64_t total, pt_error *e)
{
    *(int64_t *)ctx = total;
    return bytes > 0 ? pt_fail(e, PT_INTERRUPTED, "stop") : PT_OK;
}

TEST(a_transfer_can_be_stopped)
{
    if (!begin()) SKIP("no libcurl");
    server s = start_server();
    int64_t total = 0;
    pt_fetch f = {.url = url_of(s, "/text"),
                  .path = in_folder("f"),
                  .sha256 = sha256,
                  .progress = stop_late,
                  .ctx = &total};
    memset(&err, 0, sizeof err);
    pt_status status = pt_fetch_file(&f, NULL, &err);
    stop_server(s);
    CHECK_INT(status, PT_INTERRUPTED);
    CHECK_INT(total, N);
    CHECK(!pt_fs_exists(in_folder("f")));
}

PT_TEST_MAIN
