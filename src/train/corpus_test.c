/* Corpora from files: what is found, how it is joined, what shards change (nothing), and what is refused.
 * SPDX-License-Identifier: MIT */
#include <sys/resource.h>

#include "base/fs_calls.h"
#include "base/test_folder.h"
#include "train/corpus.h"

static pt_error err;

/* ---- helpers ---- */

static char skipped[4096];

static void note_skipped(void *ctx, const char *path, const char *why)
{
    (void)ctx;
    size_t n = strlen(skipped), root = strlen(in_folder(""));
    if (strncmp(path, in_folder(""), root) == 0) path += root;
    snprintf(skipped + n, sizeof skipped - n, "%s: %s\n", path, why);
}

typedef struct source_list {
    const char *path[4];
    char kept[4][512];
    int n;
    bool mixed;
    int64_t memory;
} source_list;

/* The paths of these names in the test's folder. */
static source_list sources(const char *a, const char *b, const char *c)
{
    source_list list = {0};
    const char *names[] = {a, b, c};
    for (int i = 0; i < 3 && names[i]; i++)
        snprintf(list.kept[list.n++], sizeof list.kept[0], "%s",
                 names[i][0] == '/' ? names[i] : in_folder(names[i]));
    return list;
}

static pt_status open_sources(source_list *list, pt_corpus **out)
{
    for (int i = 0; i < list->n; i++) list->path[i] = list->kept[i];
    pt_corpus_options o = {.path = list->path,
                           .n = list->n,
                           .mixed = list->mixed,
                           .separator = PT_SEPARATOR_DEFAULT,
                           .skipped = {note_skipped, NULL},
                           .memory = list->memory};
    memset(&err, 0, sizeof err);
    skipped[0] = 0;
    return pt_corpus_open(out, &o, &err);
}

/* All tokens of a stream as text. */
static const char *all_of(const pt_corpus *corpus, int stream)
{
    static char text[3][20000];
    static int32_t ids[20000];
    static int next;
    char *to = text[next++ % 3];
    int n = 0;
    const pt_tokens *t = &pt_corpus_streams(corpus, &n)[stream];
    CHECK(stream < n && t->n < 20000);
    CHECK_OK(t->read(t->ctx, 0, t->n, ids, &err), err);
    for (int64_t i = 0; i < t->n; i++) to[i] = (char)ids[i];
    to[t->n] = 0;
    return to;
}

/* The tokens that a, b and c give together. */
static const char *joined(const char *a, const char *b, const char *c)
{
    source_list list = sources(a, b, c);
    pt_corpus *corpus = NULL;
    CHECK_OK(open_sources(&list, &corpus), err);
    const char *text = all_of(corpus, 0);
    pt_corpus_close(corpus);
    return text;
}

static void refuse(const char *path, pt_status status, const char *words)
{
    source_list list = sources(path, NULL, NULL);
    pt_corpus *corpus = NULL;
    CHECK_INT(open_sources(&list, &corpus), status);
    if (!strstr(err.message, words)) printf("%s\n", err.message);
    CHECK(strstr(err.message, words) && !corpus);
}

static void put_bytes(const char *name, const char *bytes, size_t n)
{
    FILE *f = fopen(in_folder(name), "wb");
    CHECK(f && fwrite(bytes, 1, n, f) == n);
    fclose(f);
}

/* ---- files and folders ---- */

TEST(files_are_joined_with_the_separator_between)
{
    fresh_folder();
    put_text(in_folder("a"), "first");
    put_text(in_folder("b"), "second");
    put_text(in_folder("c"), "");
    CHECK_STR(joined("a", NULL, NULL), "first");
    CHECK_STR(joined("a", "b", NULL), "first\n\nsecond");
    CHECK_STR(joined("b", "c", "a"), "second\n\nfirst");
    CHECK_STR(skipped, "c: it is empty\n");
    CHECK_STR(joined("a", "a", NULL), "first\n\nfirst");
    CHECK_STR(joined("c", NULL, NULL), "");
}

TEST(a_folder_gives_its_texts_in_byte_order)
{
    fresh_folder();
    CHECK_OK(pt_fs_make_folder(in_folder("d/m/deep"), &err), err);
    CHECK_OK(pt_fs_make_folder(in_folder("d/.git"), &err), err);
    put_text(in_folder("d/z"), "last");
    put_text(in_folder("d/B"), "upper");
    put_text(in_folder("d/m/deep/x"), "deep");
    put_text(in_folder("d/m/a"), "in m");
    put_text(in_folder("d/m.txt"), "beside m");
    put_text(in_folder("d/\xc3\xa9"), "\xc3\xa9t\xc3\xa9");
    put_text(in_folder("d/.hidden"), "hidden");
    put_text(in_folder("d/.git/x"), "hidden");
    put_text(in_folder("d/nothing"), "");
    put_text(in_folder("d/latin1"), "\xe9t\xe9");
    put_bytes("d/binary", "text\0text", 9);
    CHECK(symlink("m", in_folder("d/loop")) == 0 && symlink("z", in_folder("d/zz")) == 0);
    CHECK(symlink("nowhere", in_folder("d/dead")) == 0);
    CHECK(mkfifo(in_folder("d/pipe"), 0600) == 0);
    CHECK_STR(joined("d", NULL, NULL),
              "upper\n\nin m\n\ndeep\n\nbeside m\n\nlast\n\nlast\n\n\xc3\xa9t\xc3\xa9");
    CHECK_STR(skipped, "d/.git: its name begins with a dot\n"
                       "d/.hidden: its name begins with a dot\n"
                       "d/binary: it is no text: it holds a zero byte\n"
                       "d/dead: it is no regular file\n"
                       "d/latin1: it is no text in UTF-8\n"
                       "d/loop: it is a link to a folder\n"
                       "d/nothing: it is empty\n"
                       "d/pipe: it is no regular file\n");
    /* What is named itself is taken whatever it holds. */
    CHECK_STR(joined("d/latin1", "d/.hidden", NULL), "\xe9t\xe9\n\nhidden");
}

TEST(where_text_is_cut_a_character_may_be_half)
{
    fresh_folder();
    static char text[70001];
    for (size_t i = 0; i + 1 < sizeof text; i++) text[i] = i % 2 ? '\xa9' : '\xc3';
    CHECK_OK(pt_fs_make_folder(in_folder("d"), &err), err);
    text[0] = 'x', text[1] = 'y', text[2] = 'z';
    memmove(text + 3, text + 4, sizeof text - 4);
    put_bytes("d/a", text, 69999);
    source_list list = sources("d", NULL, NULL);
    pt_corpus *corpus = NULL;
    CHECK_OK(open_sources(&list, &corpus), err);
    CHECK_INT(pt_corpus_tokens(corpus), 69999);
    CHECK_STR(skipped, "");
    pt_corpus_close(corpus);
}

TEST(what_is_refused)
{
    fresh_folder();
    CHECK_OK(pt_fs_make_folder(in_folder("d/e"), &err), err);
    refuse("d", PT_BAD_INPUT, "holds no text");
    put_bytes("d/e/binary", "\0", 1);
    refuse("d", PT_BAD_INPUT, "holds no text");
    refuse("none", PT_NOT_FOUND, "none");
    put_text(in_folder("a"), "text");
    source_list list = sources("a", "none", "a");
    pt_corpus *corpus = NULL;
    CHECK_INT(open_sources(&list, &corpus), PT_NOT_FOUND);
    list.n = 0;
    CHECK_INT(open_sources(&list, &corpus), PT_BAD_INPUT);
    put_bytes("shard", "PTSHARD\0....", 12);
    refuse("shard", PT_BAD_INPUT, "give the folder");
}

TEST(a_text_in_memory_outlives_its_file)
{
    fresh_folder();
    put_text(in_folder("a"), "first");
    put_text(in_folder("b"), "second");
    source_list list = sources("a", "b", NULL);
    pt_corpus *corpus = NULL;
    CHECK_OK(open_sources(&list, &corpus), err);
    put_text(in_folder("a"), "x");
    unlink(in_folder("b"));
    CHECK_STR(all_of(corpus, 0), "first\n\nsecond");
    CHECK_INT(pt_corpus_memory(corpus), 11);
    pt_corpus_close(corpus);
}

TEST(any_piece_of_a_stream_can_be_read)
{
    fresh_folder();
    put_text(in_folder("a"), "first");
    put_text(in_folder("b"), "2");
    put_text(in_folder("c"), "third");
    source_list list = sources("a", "b", "c");
    pt_corpus *corpus = NULL;
    CHECK_OK(open_sources(&list, &corpus), err);
    static const char want[] = "first\n\n2\n\nthird";
    int n = 0;
    const pt_tokens *t = pt_corpus_streams(corpus, &n);
    CHECK(n == 1 && t->n == 15);
    for (int64_t from = 0; from < 15; from++)
        for (int64_t to = from + 1; to <= 15; to++) {
            int32_t ids[15];
            CHECK_OK(t->read(t->ctx, from, to - from, ids, &err), err);
            for (int64_t i = from; i < to; i++) CHECK_INT(ids[i - from], want[i]);
        }
    int64_t at = -1;
    CHECK(pt_str_ends(pt_corpus_locate(corpus, 0, 4, &at), "/a") && at == 4);
    CHECK(pt_str_ends(pt_corpus_locate(corpus, 0, 6, &at), "/b") && at == 0);
    CHECK(pt_str_ends(pt_corpus_locate(corpus, 0, 14, &at), "/c") && at == 4);
    pt_corpus_close(corpus);
}

TEST(a_mix_has_a_stream_for_each)
{
    fresh_folder();
    put_text(in_folder("a"), "first");
    put_text(in_folder("b"), "second");
    source_list list = sources("a", "b", NULL);
    list.mixed = true;
    pt_corpus *corpus = NULL;
    CHECK_OK(open_sources(&list, &corpus), err);
    CHECK_STR(all_of(corpus, 0), "first");
    CHECK_STR(all_of(corpus, 1), "second");
    CHECK_INT(pt_corpus_tokens(corpus), 11);
    pt_corpus_close(corpus);
}

TEST(checksums)
{
    fresh_folder();
    char first[65], both[65];
    uint8_t digests[64];
    put_text(in_folder("a"), "first");
    put_text(in_folder("b"), "second");
    source_list list = sources("a", NULL, NULL);
    pt_corpus *corpus = NULL;
    CHECK_OK(open_sources(&list, &corpus), err);
    pt_sha256_hex("first", 5, first);
    CHECK_STR(pt_corpus_sha256(corpus), first); /* one file: its own */
    pt_corpus_close(corpus);
    list = sources("a", "b", NULL);
    CHECK_OK(open_sources(&list, &corpus), err);
    pt_sha256 h;
    pt_sha256_init(&h), pt_sha256_update(&h, "first", 5), pt_sha256_final(&h, digests);
    pt_sha256_init(&h), pt_sha256_update(&h, "second", 6), pt_sha256_final(&h, digests + 32);
    pt_sha256_hex(digests, 64, both);
    CHECK_STR(pt_corpus_sha256(corpus), both);
    pt_corpus_close(corpus);
}

/* ---- shards ---- */

static pt_shard byte_shard(void)
{
    return (pt_shard){
        .tokenizer = "bytes", .width = 1, .vocab = 256, .separator = {10, 10}, .n_separator = 2};
}

/* Shards of these documents in folder `name`, in pieces of any size. */
static pt_status make_shards(const char *name, const char *const *documents, int64_t shard_tokens,
                             pt_shard *total)
{
    pt_shard like = byte_shard();
    pt_shard_maker *m = NULL;
    memset(&err, 0, sizeof err);
    pt_status s = pt_shard_maker_new(&m, in_folder(name), shard_tokens, &like, &err);
    for (; s == PT_OK && *documents; documents++) {
        const char *at = *documents;
        pt_shard_maker_document(m);
        for (int64_t n = 1, left = (int64_t)strlen(at); left > 0 && s == PT_OK; n++) {
            int64_t some = pt_min_i64(n, left);
            s = pt_shard_maker_put(m, at, some, &err);
            at += some, left -= some;
        }
    }
    if (s == PT_OK) return pt_shard_maker_end(m, total, &err);
    pt_shard_maker_discard(m);
    return s;
}

static const char *const documents[] = {"first", "", "the second document", "3", NULL};
static const char whole[] = "first\n\nthe second document\n\n3";

TEST(shards_of_every_size_are_one_stream)
{
    for (int64_t size = 1; size <= 32; size++) {
        fresh_folder();
        pt_shard total;
        pt_shard_folder folder;
        pt_open_files files = {0};
        pt_job none = {0};
        char hex[65], want[65];
        CHECK_OK(make_shards("s", documents, size, &total), err);
        CHECK_INT(n_entries(), 1);
        CHECK_INT(total.first, sizeof whole - 1);
        CHECK_INT(total.documents, 3);
        CHECK_INT(total.index, pt_div_up(sizeof whole - 1, size));
        CHECK_STR(joined("s", NULL, NULL), whole);
        CHECK_OK(pt_shard_folder_open(&folder, in_folder("s"), &files, &err), err);
        CHECK_OK(pt_shard_folder_verify(&folder, &none, &err), err);
        pt_hex(folder.last->sha256, 32, hex);
        pt_sha256_hex(whole, sizeof whole - 1, want);
        CHECK_STR(hex, want);
        CHECK_INT(folder.tokens, sizeof whole - 1);
        CHECK_INT(folder.last->documents, 3);
        for (int64_t i = 0; i < folder.n; i++) { /* a document is counted where it begins */
            const pt_shard *s = &folder.file[i].shard;
            int64_t end = s->first + s->n;
            CHECK_INT(s->documents, 1 + (end > 7) + (end > 28));
        }
        pt_shard_folder_close(&folder);
        pt_open_files_close(&files);
    }
}

TEST(shards_and_texts_can_be_joined)
{
    fresh_folder();
    pt_shard total;
    CHECK_OK(make_shards("s", documents, 10, &total), err);
    put_text(in_folder("a"), "a");
    CHECK_STR(joined("a", "s", "a"), "a\n\nfirst\n\nthe second document\n\n3\n\na");
}

TEST(shards_appear_whole_or_not_at_all)
{
    int64_t nth = 1;
    for (pt_status s = PT_IO; s; nth++) {
        fresh_folder();
        pt_shard total;
        pt_fs_fail_after(nth);
        s = make_shards("s", documents, 10, &total);
        pt_fs_fail_after(0);
        CHECK(s == PT_OK || s == PT_IO);
        /* When only the last fsync failed, the folder is there and whole. */
        if (s == PT_OK || pt_fs_exists(in_folder("s"))) CHECK_STR(joined("s", NULL, NULL), whole);
        else CHECK_INT(n_entries(), 0);
    }
    CHECK(nth > 10);
    for (nth = 1; nth < 100; nth++) {
        fresh_folder();
        pt_shard total;
        pt_alloc_fail_after(nth);
        pt_status s = make_shards("s", documents, 10, &total);
        pt_alloc_fail_after(0);
        if (s == PT_OK) break;
        CHECK_INT(s, PT_NO_MEMORY);
        CHECK_INT(n_entries(), 0);
    }
    CHECK(nth > 1);
}

TEST(what_a_killed_maker_left_is_removed)
{
    fresh_folder();
    pt_shard total;
    char name[100];
    for (int n = 0; n < 3;
         n++) { /* of a process with our number: in a container it may always be the same */
        snprintf(name, sizeof name, ".s.%ld.%d.tmp", (long)getpid(), 100000 + n);
        CHECK_OK(pt_fs_make_folder(in_folder(name), &err), err);
    }
    CHECK_OK(make_shards("s", documents, 10, &total), err);
    CHECK_INT(n_entries(), 1);
}

TEST(nothing_is_overwritten)
{
    fresh_folder();
    pt_shard total;
    CHECK_OK(make_shards("s", documents, 10, &total), err);
    CHECK_INT(make_shards("s", documents, 5, &total), PT_EXISTS);
    CHECK_STR(joined("s", NULL, NULL), whole);
    put_text(in_folder("file"), "x");
    CHECK_INT(make_shards("file", documents, 5, &total), PT_EXISTS);
    CHECK_OK(pt_fs_make_folder(in_folder("empty"), &err), err);
    CHECK_OK(make_shards("empty", documents, 5, &total), err); /* an empty one will do */
    CHECK_STR(joined("empty", NULL, NULL), whole);
    CHECK_OK(make_shards("new/parent/s", documents, 5, &total), err);
    static const char *const nothing[] = {"", "", NULL};
    CHECK_INT(make_shards("n", nothing, 5, &total), PT_BAD_INPUT);
    CHECK_INT(make_shards("n", documents, 0, &total), PT_BAD_INPUT);
    CHECK(!pt_fs_exists(in_folder("n")));
    CHECK_INT(n_entries(), 4);
}

/* Three shards, of which one is replaced by these bytes; NULL: it is removed. */
static void spoil(const char *name, const char *bytes, size_t n)
{
    pt_shard total;
    fresh_folder();
    CHECK_OK(make_shards("s", documents, 12, &total), err);
    char path[64];
    snprintf(path, sizeof path, "s/%s", name);
    if (bytes) put_bytes(path, bytes, n);
    else CHECK(unlink(in_folder(path)) == 0);
}

TEST(a_spoilt_folder_is_refused_by_name)
{
    char other[4096];
    spoil("shard-00001.bin", NULL, 0);
    refuse("s", PT_CORRUPT, "shard-00001.bin");
    spoil("shard-00000.bin", NULL, 0);
    refuse("s", PT_CORRUPT, "shard-00000.bin");
    spoil("shard-00002.bin", NULL, 0);
    refuse("s", PT_CORRUPT, "shard 2 is missing");
    spoil("shard-00001.bin", "", 0);
    refuse("s", PT_CORRUPT, "shard-00001.bin: no token shard");
    spoil("shard-00003.bin", "x", 1);
    refuse("s", PT_CORRUPT, "shard-00003.bin");
    /* One of the others under its name; a shorter and a longer one; another version. */
    spoil("none", "", 0);
    memcpy(other, text_of(in_folder("s/shard-00000.bin")), 140);
    put_bytes("s/shard-00001.bin", other, 140);
    refuse("s", PT_CORRUPT, "shard-00001.bin: its header says shard 0");
    put_bytes("s/shard-00000.bin", other, 139);
    refuse("s", PT_CORRUPT, "shard-00000.bin: the shard has 139 bytes");
    put_bytes("s/shard-00000.bin", other, 100);
    refuse("s", PT_CORRUPT, "shard-00000.bin: 100 bytes");
    other[8] = 9;
    put_bytes("s/shard-00000.bin", other, 140);
    refuse("s", PT_UNSUPPORTED, "shard-00000.bin: a token shard of version 9");
    other[8] = 1;
    other[40]++;
    put_bytes("s/shard-00000.bin", other, 140);
    refuse("s", PT_CORRUPT, "shard-00000.bin: the checksum");
}

TEST(a_flipped_token_is_found_by_verifying)
{
    char bytes[4096];
    spoil("none", "", 0);
    memcpy(bytes, text_of(in_folder("s/shard-00001.bin")), 140);
    bytes[135] ^= 4;
    put_bytes("s/shard-00001.bin", bytes, 140);
    pt_shard_folder folder;
    pt_open_files files = {0};
    pt_job none = {0};
    CHECK_OK(pt_shard_folder_open(&folder, in_folder("s"), &files, &err), err);
    CHECK_INT(pt_shard_folder_verify(&folder, &none, &err), PT_CORRUPT);
    CHECK(strstr(err.message, "shard-00001.bin: the checksum of its tokens"));
    pt_shard_folder_close(&folder);
    pt_open_files_close(&files);
}

TEST(a_shard_that_is_cut_while_in_use_is_an_error)
{
    pt_shard total;
    fresh_folder();
    CHECK_OK(make_shards("s", documents, 12, &total), err);
    source_list list = sources("s", NULL, NULL);
    pt_corpus *corpus = NULL;
    int32_t ids[12];
    int n = 0;
    CHECK_OK(open_sources(&list, &corpus), err);
    const pt_tokens *t = pt_corpus_streams(corpus, &n);
    CHECK(truncate(in_folder("s/shard-00001.bin"), 130) == 0);
    CHECK_INT(t->read(t->ctx, 12, 3, ids, &err), PT_IO);
    CHECK(strstr(err.message, "shard-00001.bin"));
    /* Another file under the name is not what is read. */
    unlink(in_folder("s/shard-00000.bin"));
    put_text(in_folder("s/shard-00000.bin"), "other");
    CHECK_INT(t->read(t->ctx, 0, 12, ids, NULL), PT_OK);
    CHECK_INT(ids[0], 'f');
    pt_corpus_close(corpus);
}

TEST(shards_of_another_tokenizer_are_refused)
{
    fresh_folder();
    pt_shard like = byte_shard(), total;
    pt_shard_maker *m = NULL;
    memcpy(like.tokenizer, "gpt2", 5);
    CHECK_OK(pt_shard_maker_new(&m, in_folder("s"), 10, &like, &err), err);
    pt_shard_maker_document(m);
    CHECK_OK(pt_shard_maker_put(m, "abc", 3, &err), err);
    CHECK_OK(pt_shard_maker_end(m, &total, &err), err);
    refuse("s", PT_UNSUPPORTED, "'gpt2'");
}

static pt_status stop(void *ctx, int64_t bytes, pt_error *e)
{
    *(int64_t *)ctx = bytes;
    return pt_fail(e, PT_INTERRUPTED, "stop");
}

TEST(verifying_can_be_stopped)
{
    spoil("none", "", 0);
    pt_shard_folder folder;
    pt_open_files files = {0};
    int64_t seen = 0;
    pt_job job = {stop, &seen};
    CHECK_OK(pt_shard_folder_open(&folder, in_folder("s"), &files, &err), err);
    CHECK_INT(pt_shard_folder_verify(&folder, &job, &err), PT_INTERRUPTED);
    CHECK_INT(seen, 12);
    pt_shard_folder_close(&folder);
    pt_open_files_close(&files);
}

/* ---- more files than may be open ---- */

#define N_FILES 300

static rlim_t limit_files(rlim_t n)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = n;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    return before;
}

/* Reads single tokens all over the stream, twice, and compares them with `text`. */
static void check_tokens(const pt_corpus *corpus, const char *text)
{
    int n_streams = 0;
    const pt_tokens *t = pt_corpus_streams(corpus, &n_streams);
    CHECK_INT(t->n, strlen(text));
    for (int64_t i = 0; i < 2 * t->n; i++) {
        int32_t id = -1;
        int64_t at = i * 997 % t->n;
        CHECK_OK(t->read(t->ctx, at, 1, &id, &err), err);
        CHECK_INT(id, text[at]);
    }
}

/* N_FILES texts in the folder d, and in `text` what they give joined. */
static void make_many(char *text)
{
    char name[32];
    CHECK_OK(pt_fs_make_folder(in_folder("d"), &err), err);
    *text = 0;
    for (int i = 0; i < N_FILES; i++) {
        char *own = text + strlen(text);
        snprintf(name, sizeof name, "d/%04d", i);
        snprintf(own, 32, "text %d", i * i);
        put_text(in_folder(name), own);
        snprintf(own + strlen(own), 4, i + 1 < N_FILES ? "\n\n" : "");
    }
}

TEST(a_corpus_of_more_files_than_may_be_open)
{
    static char text[32 * N_FILES];
    fresh_folder();
    make_many(text);
    rlim_t before = limit_files(100);
    for (int memory = 1; memory <= 100; memory += 99) { /* nothing but tiny files; a few of them */
        source_list list = sources("d", NULL, NULL);
        pt_corpus *corpus = NULL;
        list.memory = memory;
        CHECK_OK(open_sources(&list, &corpus), err);
        CHECK(pt_corpus_memory(corpus) <= memory);
        check_tokens(corpus, text);
        pt_corpus_close(corpus);
    }
    const char *const one[] = {text, NULL};
    pt_shard total;
    CHECK_OK(make_shards("s", one, (int64_t)strlen(text) / N_FILES, &total), err);
    CHECK(total.index >= N_FILES);
    source_list list = sources("s", NULL, NULL);
    pt_corpus *corpus = NULL;
    CHECK_OK(open_sources(&list, &corpus), err);
    check_tokens(corpus, text);
    pt_corpus_close(corpus);
    limit_files(before);
}

TEST(a_file_that_changed_while_it_was_closed_is_refused)
{
    static char text[32 * N_FILES];
    fresh_folder();
    make_many(text);
    source_list list = sources("d", NULL, NULL);
    pt_corpus *corpus = NULL;
    int n = 0;
    int32_t ids[32];
    list.memory = 1;
    CHECK_OK(open_sources(&list, &corpus), err);
    const pt_tokens *t = pt_corpus_streams(corpus, &n);
    put_text(in_folder("d/0000"), "another"); /* long closed */
    CHECK_INT(t->read(t->ctx, 0, 3, ids, &err), PT_IO);
    CHECK(strstr(err.message, "d/0000' was changed"));
    memset(&err, 0, sizeof err);
    CHECK_INT(t->read(t->ctx, 0, 3, ids, &err), PT_IO); /* and stays so */
    unlink(in_folder("d/0001"));
    CHECK_INT(t->read(t->ctx, 8, 3, ids, NULL), PT_NOT_FOUND);
    unlink(in_folder("d/0299")); /* still open */
    CHECK_INT(t->read(t->ctx, t->n - 3, 3, ids, NULL), PT_OK);
    pt_corpus_close(corpus);
}

PT_TEST_MAIN
