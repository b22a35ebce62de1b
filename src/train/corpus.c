/* A corpus from files. SPDX-License-Identifier: MIT */
#include "train/corpus.h"

#include "base/fs.h"
#include "text/bytes.h"

#define PIECE_BYTES 4096
#define HASH_PIECE (64 * 1024)

/* A run of tokens that lie in one place. */
typedef struct segment {
    int64_t first, n;           /* in the stream */
    const char *path;           /* NULL: a separator */
    pt_file_view view;          /* in memory, */
    pt_open_file file;          /* or in a file of text, */
    const pt_shard_file *shard; /* or in a shard */
} segment;

typedef struct stream {
    segment *segment; /* [n] */
    int64_t n, cap;
    int64_t tokens;
    pt_open_files *files; /* the corpus's */
    bool started;         /* it holds a document: another one comes behind a separator */
} stream;

struct pt_corpus {
    pt_corpus_source *source; /* [n_sources] */
    pt_shard_folder *folder;  /* [n_sources]; zeroed for text */
    int n_sources;
    stream stream[PT_SOURCES_MAX];
    pt_tokens tokens[PT_SOURCES_MAX];
    int n_streams;
    pt_separator separator;
    pt_skipped skipped;
    pt_arena memory;
    pt_open_files files;
    int64_t text_bytes, most_text; /* in memory: they are, may be */
    char sha256[65];
};

/* ---- reading tokens ---- */

static const segment *find(const stream *s, int64_t token)
{
    int64_t low = 0, high = s->n - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (s->segment[middle].first <= token) low = middle;
        else high = middle - 1;
    }
    return &s->segment[low];
}

/* Tokens of one segment, from its token `at`. */
static pt_status read_segment(pt_open_files *files, const segment *g, int64_t at, int64_t n,
                              int32_t *ids, pt_error *err)
{
    uint8_t piece[PIECE_BYTES];
    if (g->view.data) {
        pt_bytes_encode(g->view.data + at, n, ids);
        return PT_OK;
    }
    int64_t width = g->shard ? g->shard->shard.width : 1;
    while (n > 0) {
        int64_t some = pt_min_i64(n, PIECE_BYTES / width);
        const pt_open_file *file = g->shard ? &g->shard->file : &g->file;
        int64_t from = at * width + (g->shard ? PT_SHARD_HEADER_BYTES : 0);
        pt_status s = pt_open_files_read(files, file, from, piece, some * width, err);
        if (s) return s;
        if (!g->shard) pt_bytes_encode(piece, some, ids);
        else s = pt_shard_decode(&g->shard->shard, piece, some, ids, err);
        if (s) {
            pt_error_prefix(err, "%s", g->path);
            return s;
        }
        at += some, ids += some, n -= some;
    }
    return PT_OK;
}

static pt_status read_stream(const void *ctx, int64_t first, int64_t n, int32_t *ids, pt_error *err)
{
    const stream *s = ctx;
    if (n < 1) return PT_OK; /* an empty stream has no segment to begin in */
    for (const segment *g = find(s, first); n > 0; g++) {
        int64_t some = pt_min_i64(n, g->first + g->n - first);
        pt_status status = read_segment(s->files, g, first - g->first, some, ids, err);
        if (status) return status;
        first += some, ids += some, n -= some;
    }
    return PT_OK;
}

/* ---- opening ---- */

/* A new segment of g's kind at the end of the stream. */
static pt_status append(stream *s, segment g, pt_error *err)
{
    if (s->n == s->cap) {
        int64_t cap = pt_max_i64(16, 2 * s->cap);
        size_t size = sizeof *s->segment;
        void *more = pt_realloc(s->segment, (size_t)s->cap * size, (size_t)cap * size);
        if (!more) return pt_fail(err, PT_NO_MEMORY, "no memory for a list of files");
        s->segment = more;
        s->cap = cap;
    }
    g.first = s->tokens;
    s->tokens += g.n;
    s->segment[s->n++] = g;
    return PT_OK;
}

/* What goes before the next document, if anything. `hash`: of the source it is in, or NULL. */
static pt_status separate(pt_corpus *c, stream *s, pt_sha256 *hash, pt_error *err)
{
    const pt_separator *between = &c->separator;
    bool needed = s->started && between->n > 0;
    s->started = true;
    if (!needed) return PT_OK;
    if (hash) pt_sha256_update(hash, between->bytes, (size_t)between->n);
    segment g = {.n = between->n, .view = {.data = between->bytes, .size = between->n}};
    return append(s, g, err);
}

static pt_status hash_file(pt_corpus *c, const segment *g, pt_sha256 *hash, pt_error *err)
{
    uint8_t *piece = pt_alloc(HASH_PIECE);
    pt_status s = piece ? PT_OK : pt_fail(err, PT_NO_MEMORY, "no memory to read '%s'", g->path);
    for (int64_t at = 0; at < g->n && s == PT_OK; at += HASH_PIECE) {
        int64_t n = pt_min_i64(HASH_PIECE, g->n - at);
        s = pt_open_files_read(&c->files, &g->file, at, piece, n, err);
        if (s == PT_OK) pt_sha256_update(hash, piece, (size_t)n);
    }
    pt_free(piece);
    return s;
}

static void close_segment(segment *g)
{
    if (g->path) pt_file_view_close(&g->view); /* else a separator, which is the corpus's */
}

/* Into memory while there is room for it, else opened. */
static pt_status open_text(pt_corpus *c, const pt_text_file *file, segment *g, pt_error *err)
{
    *g = (segment){.path = pt_arena_copy(&c->memory, file->path, strlen(file->path))};
    if (!g->path) return pt_fail(err, PT_NO_MEMORY, "no memory for a list of files");
    if (file->bytes > c->most_text - c->text_bytes) {
        pt_status s = pt_open_files_add(&c->files, g->path, &g->file, err);
        g->n = g->file.size;
        return s;
    }
    pt_status s = pt_file_view_read_any(&g->view, g->path, err);
    g->n = g->view.size;
    return s;
}

static pt_status add_text(pt_corpus *c, stream *s, pt_corpus_source *source,
                          const pt_text_file *file, pt_sha256 *hash, pt_error *err)
{
    segment g;
    pt_status status = open_text(c, file, &g, err);
    if (status) return status;
    if (g.n == 0) {
        if (c->skipped.fn) c->skipped.fn(c->skipped.ctx, file->path, "it is empty");
        close_segment(&g);
        return PT_OK;
    }
    /* A separator between two sources belongs to neither. */
    status = separate(c, s, source->documents ? hash : NULL, err);
    if (status == PT_OK && g.view.data) pt_sha256_update(hash, g.view.data, (size_t)g.n);
    else if (status == PT_OK) status = hash_file(c, &g, hash, err);
    if (status == PT_OK) status = append(s, g, err);
    if (status) {
        close_segment(&g);
        return status;
    }
    if (g.view.data) c->text_bytes += g.n;
    source->files++;
    source->documents++;
    source->bytes += g.n;
    return PT_OK;
}

static pt_status open_texts(pt_corpus *c, stream *s, pt_corpus_source *source, pt_error *err)
{
    pt_text_files files = {.skipped = c->skipped};
    pt_sha256 hash;
    uint8_t digest[32];
    int64_t before = s->tokens;
    bool started = s->started;
    pt_sha256_init(&hash);
    pt_status status = pt_text_files_add(&files, source->path, err);
    for (int64_t i = 0; i < files.n && status == PT_OK; i++)
        status = add_text(c, s, source, &files.file[i], &hash, err);
    if (status == PT_OK && !source->files && pt_fs_is_folder(source->path))
        status = pt_fail(err, PT_BAD_INPUT, "the folder '%s' holds no text", source->path);
    source->runs = files.runs;
    source->tokens = s->tokens - before;
    if (started && source->files) source->tokens -= c->separator.n;
    pt_sha256_final(&hash, digest);
    pt_hex(digest, sizeof digest, source->sha256);
    pt_text_files_deinit(&files);
    return status;
}

/* How the stream is cut, in one hash: there may be thousands of shards. */
static void hash_cut(const pt_shard_folder *folder, char hex[65])
{
    pt_sha256 all;
    uint8_t digest[32];
    pt_sha256_init(&all);
    for (int64_t i = 0; i < folder->n; i++)
        pt_sha256_update(&all, folder->file[i].shard.sha256, sizeof folder->file[i].shard.sha256);
    pt_sha256_final(&all, digest);
    pt_hex(digest, sizeof digest, hex);
}

static pt_status open_shards(pt_corpus *c, stream *s, pt_corpus_source *source,
                             pt_shard_folder *folder, pt_error *err)
{
    pt_status status = pt_shard_folder_open(folder, source->path, &c->files, err);
    if (status) return status;
    const pt_shard *last = folder->last;
    if (strcmp(last->tokenizer, "bytes") != 0 || last->vocab != PT_BYTES_VOCAB)
        return pt_fail(err, PT_UNSUPPORTED,
                       "%s: tokens of '%s', a vocabulary of %lld; only bytes can be trained on",
                       source->path, last->tokenizer, (long long)last->vocab);
    source->separator.n = last->n_separator;
    for (int i = 0; i < last->n_separator; i++)
        source->separator.bytes[i] = (uint8_t)last->separator[i];
    source->files = folder->n;
    source->n_shards = (int)folder->n;
    source->documents = last->documents;
    source->tokens = folder->tokens;
    source->bytes = folder->bytes;
    pt_hex(last->sha256, sizeof last->sha256, source->sha256);
    hash_cut(folder, source->cut_sha256);
    if (folder->tokens) status = separate(c, s, NULL, err);
    for (int64_t i = 0; i < folder->n && status == PT_OK; i++) {
        const pt_shard_file *file = &folder->file[i];
        segment g = {.n = file->shard.n, .path = file->file.path, .shard = file};
        if (g.n) status = append(s, g, err);
    }
    return status;
}

static void hash_sources(pt_corpus *c)
{
    pt_sha256 all;
    uint8_t digest[32];
    pt_sha256_init(&all);
    for (int i = 0; i < c->n_sources; i++) {
        (void)pt_unhex(c->source[i].sha256, digest, sizeof digest); /* pt_hex made it */
        pt_sha256_update(&all, digest, sizeof digest);
    }
    pt_sha256_final(&all, digest);
    if (c->n_sources == 1) memcpy(c->sha256, c->source[0].sha256, sizeof c->sha256);
    else pt_hex(digest, sizeof digest, c->sha256);
}

static pt_status open_sources(pt_corpus *c, const pt_corpus_options *o, pt_error *err)
{
    pt_status s = PT_OK;
    for (int i = 0; i < o->n && s == PT_OK; i++) {
        pt_corpus_source *source = &c->source[i];
        stream *to = &c->stream[o->mixed ? i : 0];
        source->path = o->path[i];
        source->separator = o->separator;
        c->n_sources = i + 1;
        s = pt_shard_folder_is(source->path) ? open_shards(c, to, source, &c->folder[i], err)
                                             : open_texts(c, to, source, err);
    }
    return s;
}

pt_status pt_corpus_open(pt_corpus **out, const pt_corpus_options *o, pt_error *err)
{
    *out = NULL;
    if (o->n < 1 || (o->mixed && o->n > PT_SOURCES_MAX))
        return pt_fail(err, PT_BAD_INPUT, "%d sources, there must be 1 to %d", o->n,
                       PT_SOURCES_MAX);
    pt_corpus *c = pt_alloc(sizeof *c);
    if (!c) return pt_fail(err, PT_NO_MEMORY, "no memory for a corpus");
    c->separator = o->separator;
    c->skipped = o->skipped;
    c->most_text = o->memory ? o->memory : PT_CORPUS_MEMORY;
    for (int i = 0; i < PT_SOURCES_MAX; i++) c->stream[i].files = &c->files;
    c->source = pt_arena_array(&c->memory, o->n, sizeof *c->source);
    c->folder = pt_arena_array(&c->memory, o->n, sizeof *c->folder);
    pt_status s = c->source && c->folder
                      ? open_sources(c, o, err)
                      : pt_fail(err, PT_NO_MEMORY, "no memory for %d sources", o->n);
    if (s) {
        pt_corpus_close(c);
        return s;
    }
    hash_sources(c);
    c->n_streams = o->mixed ? o->n : 1;
    for (int i = 0; i < c->n_streams; i++)
        c->tokens[i] =
            (pt_tokens){.n = c->stream[i].tokens, .read = read_stream, .ctx = &c->stream[i]};
    *out = c;
    return PT_OK;
}

void pt_corpus_close(pt_corpus *c)
{
    if (!c) return;
    for (int i = 0; i < PT_SOURCES_MAX; i++) {
        stream *s = &c->stream[i];
        for (int64_t k = 0; k < s->n; k++) close_segment(&s->segment[k]);
        pt_free(s->segment);
    }
    for (int i = 0; i < c->n_sources; i++) pt_shard_folder_close(&c->folder[i]);
    pt_open_files_close(&c->files);
    pt_arena_deinit(&c->memory);
    pt_free(c);
}

/* ---- questions ---- */

const pt_tokens *pt_corpus_streams(const pt_corpus *c, int *n)
{
    *n = c->n_streams;
    return c->tokens;
}

const pt_corpus_source *pt_corpus_sources(const pt_corpus *c, int *n)
{
    *n = c->n_sources;
    return c->source;
}

int64_t pt_corpus_tokens(const pt_corpus *c)
{
    int64_t n = 0;
    for (int i = 0; i < c->n_streams; i++) n += c->tokens[i].n;
    return n;
}

int64_t pt_corpus_memory(const pt_corpus *c) { return c->text_bytes; }
const char *pt_corpus_sha256(const pt_corpus *c) { return c->sha256; }

pt_status pt_corpus_verify(const pt_corpus *c, int i, const pt_job *job, pt_error *err)
{
    if (!c->source[i].n_shards) return PT_OK;
    return pt_shard_folder_verify(&c->folder[i], job, err);
}

const char *pt_corpus_locate(const pt_corpus *c, int i, int64_t token, int64_t *at)
{
    const stream *s = &c->stream[i];
    const segment *g = find(s, token);
    *at = token - g->first;
    if (g->path) return g->path;
    *at = 0; /* in a separator: the file behind it */
    return g[1].path;
}

static void write_shards(const pt_corpus_source *source, pt_json_writer *w)
{
    pt_json_begin_object(w, "shards");
    pt_json_i64(w, "count", source->n_shards);
    pt_json_i64(w, "bytes", source->bytes);
    pt_json_string(w, "sha256", source->cut_sha256);
    pt_json_end_object(w);
}

void pt_corpus_write_json(const pt_corpus *c, const double *weight, pt_json_writer *w)
{
    pt_strbuf separator = {0};
    pt_separator_print(&c->separator, &separator);
    pt_json_string_n(w, "separator", separator.data ? separator.data : "", separator.len);
    pt_strbuf_deinit(&separator);
    pt_json_begin_array(w, "sources");
    for (int i = 0; i < c->n_sources; i++) {
        const pt_corpus_source *source = &c->source[i];
        pt_json_begin_object(w, NULL);
        pt_json_string(w, "path", source->path);
        if (weight) pt_json_double(w, "weight", weight[i]);
        pt_json_i64(w, "files", source->files);
        pt_json_i64(w, "documents", source->documents);
        pt_json_i64(w, "tokens", source->tokens);
        pt_json_string(w, "sha256", source->sha256);
        if (source->n_shards) write_shards(source, w);
        pt_json_end_object(w);
    }
    pt_json_end_array(w);
}
