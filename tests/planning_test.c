/* What is decided before and around a run, through the command line: schedules, --depth, --recipe, --dry-run,
 * memory, and --on-spike. SPDX-License-Identifier: MIT */
#include <sys/resource.h>

#include "program.h"

static pt_error err;
static pt_arena arena;

static const pt_json *parsed(const result *r)
{
    const pt_json *json = NULL;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_json_parse(r->out, r->n_out, &arena, &json, &err), err);
    return json;
}

static double number(const pt_json *json, const char *key)
{
    double value = 0;
    if (!pt_json_get_double(json, key, &value)) printf("no number %s\n", key);
    CHECK(pt_json_get_double(json, key, &value));
    return value;
}

/* ---- --recipe and --depth ---- */

static const pt_json *line_of(const pt_json *json, const char *name)
{
    const pt_json *list = pt_json_get(json, "recipe");
    for (const pt_json *l = list ? list->child : NULL; l; l = l->next)
        if (strcmp(pt_json_get_string(l, "name"), name) == 0) return l;
    printf("the recipe has no line %s\n", name);
    CHECK(false);
    return NULL;
}

static void check_line(const pt_json *json, const char *name, double value, const char *from)
{
    const pt_json *line = line_of(json, name);
    CHECK_CLOSE(number(line, "value"), value, 1e-12 + 1e-4 * value);
    CHECK_STR(pt_json_get_string(line, "from"), from);
    CHECK(pt_json_get_string(line, "why")[0]);
}

TEST(depth_gives_the_originals_table)
{
    static const struct {
        const char *depth;
        double lr, batch, steps;
    } rows[] = {{"2", 6e-3, 4, 1920},
                {"4", 4.2426e-3, 8, 7680},
                {"8", 3e-3, 16, 30720},
                {"16", 2.1213e-3, 32, 122880}};
    fresh_folder();
    for (int i = 0; i < 4; i++) {
        result *r = RUN("train", "--depth", rows[i].depth, "--recipe", "--json");
        CHECK_INT(r->code, 0);
        const pt_json *json = parsed(r);
        check_line(json, "lr", rows[i].lr, "depth");
        check_line(json, "batch", rows[i].batch, "depth");
        check_line(json, "steps", rows[i].steps, "depth");
        check_line(json, "min-lr", rows[i].lr / 10, "depth");
        check_line(json, "ctx", 1024, "depth");
        check_line(json, "beta2", 0.95, "default");
        pt_arena_deinit(&arena);
    }
}

TEST(a_recipe_can_be_read_and_typed)
{
    fresh_folder();
    result *r = RUN("train", "--depth", "12", "--lr", "6e-3", "--recipe");
    CHECK(r->code == 0 && strstr(r->out, "\nmin-lr         0.0006       ") != NULL);
    r = RUN("train", "--depth", "12", "--recipe", "--json");
    CHECK(strstr(r->out, "of the 12 blocks") != NULL);
    r = RUN("train", "--depth", "4", "--recipe");
    CHECK(strstr(r->out, "\nlr             0.00424264   ") != NULL);
    CHECK(!strstr(r->out, "\nepochs"));
    for (const char *line = r->out; *line;) {
        size_t n = strcspn(line, "\n");
        CHECK(n <= 80);
        line += n + (line[n] == '\n');
    }
    r = RUN("train", "--depth", "4", "--recipe", "--corpus", text_file()); /* of 6000 bytes */
    CHECK(strstr(r->out, "\nepochs         1.05e+04     ") && strstr(r->out, "2305.16264"));
    r = RUN("train", "--preset", "tiny", "--steps", "1", "--batch", "1", "--recipe", "--corpus",
            text_file());
    CHECK(strstr(r->out, "\nepochs ") && !strstr(r->out, "2305.16264"));
    CHECK(strstr(r->out, "times that the 5,400 bytes of text not held out are"));
    check_refused(RUN("train", "--recipe", "--corpus", in_folder("none")), 7, "none");
}

TEST(explicit_flags_win_and_what_follows_follows)
{
    fresh_folder();
    result *r = RUN("train", "--depth", "2", "--regime", "overtrained", "--recipe", "--json",
                    "--lr", "1e-3", "--accum", "4", "--ctx", "512");
    const pt_json *json = parsed(r);
    CHECK_INT(r->code, 0);
    check_line(json, "lr", 1e-3, "given");
    CHECK(strstr(pt_json_get_string(line_of(json, "lr"), "why"), "the recipe says 0.006"));
    check_line(json, "min-lr", 1e-4, "depth");
    check_line(json, "batch", 2, "depth"); /* 8 windows of 512, in 4 parts */
    check_line(json, "tokens a step", 4096, "follows");
    check_line(json, "steps", 3840, "depth");
    pt_arena_deinit(&arena);
    r = RUN("train", "--depth", "2", "--recipe", "--heads", "4");
    CHECK(r->code == 0 && strstr(r->out, "you gave it; the recipe says 2"));
    r = RUN("train", "--preset", "gpt2", "--recipe");
    CHECK(r->code == 0 && strstr(r->out, "of the preset gpt2") && strstr(r->out, "124439808"));
}

/* A run by depth, its overrides said aloud, gone on with under its recorded options. */
TEST(a_run_by_depth)
{
    fresh_folder();
    const char *run = kept("run");
    result *r = RUN("train", "--depth", "1", "--ctx", "16", "--steps", "3", "--batch", "2",
                    "--corpus", text_file(), "--out", run);
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "--steps 3: you gave it; the recipe says"));
    CHECK(strstr(r->error, "--batch 2: you gave it; the recipe says 128"));
    CHECK(!strstr(r->error, "--lr"));
    r = RUN("train", "--resume", run);
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "no step is left"));
}

/* It is greeted as what it is, not as the preset that it would have been without its shape. */
TEST(a_shape_is_called_a_preset_only_where_it_is_one)
{
    fresh_folder();
    const char *run = kept("run"), *text = text_file();
    CHECK_INT(RUN("train", "--depth", "1", "--ctx", "16", "--steps", "3", "--batch", "2",
                  "--schedule", "constant", "--warmup", "0", "--corpus", text, "--out", run)
                  ->code,
              0);
    result *r = RUN("train", "--resume", run, "--steps", "4");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "depth: ") && strstr(r->error, "(1 layer, "));
    CHECK(!strstr(r->error, "small"));
    r = RUN("train", "--preset", "tiny", "--steps", "1", "--batch", "2", "--corpus", text, "--out",
            kept("tiny"));
    CHECK(strstr(r->error, "tiny: 70,464 parameters"));
    r = RUN("train", "--preset", "tiny", "--layers", "1", "--steps", "1", "--batch", "2",
            "--corpus", text, "--out", kept("less"));
    CHECK(strstr(r->error, "custom: ") && !strstr(r->error, "tiny: "));
}

TEST(what_contradicts_is_refused)
{
    fresh_folder();
    const char *text = text_file();
#define TRAIN(...) RUN("train", "--corpus", text, "--out", kept("r"), __VA_ARGS__)
    check_refused(TRAIN("--depth", "2", "--preset", "tiny"), 2, "give one of them");
    check_refused(TRAIN("--depth", "0"), 2, "--depth is 0, it must be 1 to 128");
    check_refused(TRAIN("--depth", "2", "--regime", "lazy"), 2, "chinchilla or overtrained");
    check_refused(TRAIN("--regime", "overtrained"), 2, "--depth N");
    check_refused(TRAIN("--schedule", "wsd", "--decay-shape", "square"), 2, "1-sqrt, linear");
    check_refused(TRAIN("--decay-steps", "5"), 2, "--schedule wsd");
    check_refused(TRAIN("--steps", "100", "--warmup", "101"), 2, "--warmup is 101");
    check_refused(TRAIN("--schedule", "wsd", "--steps", "100", "--warmup", "95"), 2,
                  "--decay-steps 10 (a tenth of the run)");
    check_refused(
        TRAIN("--schedule", "wsd", "--steps", "100", "--warmup", "41", "--decay-steps", "60"), 2,
        "at most --steps, 100");
    check_refused(TRAIN("--min-lr", "1e-5"), 2, "--min-lr is for --schedule cosine and wsd");
    CHECK_INT(RUN("train", "--depth", "1", "--schedule", "constant", "--recipe")->code, 0);
    check_refused(TRAIN("--schedule", "cosine", "--lr", "1e-3", "--min-lr", "2e-3"), 2,
                  "--min-lr is 0.002");
    check_refused(TRAIN("--on-spike", "panic"), 2, "off, warn, skip, stop or rollback");
    check_refused(RUN("train", "--recipe", "--steps", "0"), 2, "--steps is 0");
    CHECK(!pt_fs_exists(in_folder("r")));
}

/* Products of what was given are only taken once each of it was checked. */
TEST(sizes_beyond_all_bounds_are_refused_by_name)
{
    fresh_folder();
    const char *text = text_file();
    static const char huge[] = "9000000000000000000", million[] = "1048576";
    check_refused(RUN("train", "--depth", "2", "--batch", huge, "--recipe"), 2, "--batch is 9000");
    check_refused(TRAIN("--depth", "2", "--accum", huge), 2, "--accum is 9000");
    check_refused(TRAIN("--depth", "2", "--accum", huge, "--batch", huge), 2, "--batch is 9000");
    check_refused(TRAIN("--depth", "2", "--batch", "-9000000000000000000"), 2, "--batch is -9000");
    check_refused(TRAIN("--depth", "2", "--batch", "4", "--ctx", huge), 2, "ctx is 9000");
    check_refused(TRAIN("--batch", million, "--accum", million, "--steps", "1g"), 2,
                  "are 1.09951e+21 windows, a run has at most 1e+18");
    result *r = RUN("train", "--recipe", "--json", "--batch", million, "--accum", million, "--ctx",
                    million, "--steps", "900k");
    CHECK_INT(r->code, 0);
    check_line(parsed(r), "tokens", 1152921504606846976.0 * 9e5, "follows");
    pt_arena_deinit(&arena);
}

/* ---- --dry-run and memory ---- */

TEST(a_dry_run_tells_memory_and_time)
{
    fresh_folder();
    result *r = RUN("train", "--preset", "tiny", "--corpus", text_file(), "--dry-run", "--json");
    CHECK_INT(r->code, 0);
    const pt_json *json = parsed(r), *parts = pt_json_get(json, "parts");
    double sum = 0;
    for (const pt_json *p = parts->child; p; p = p->next) sum += p->number;
    CHECK_CLOSE(sum, number(json, "planned_bytes"), 0);
    CHECK_INT(pt_json_get(json, "largest")->n_children, 5);
    CHECK(number(json, "available_bytes") > number(json, "planned_bytes"));
    const pt_json *time = pt_json_get(json, "time");
    CHECK(0 < number(time, "low") && number(time, "low") <= number(time, "seconds"));
    pt_arena_deinit(&arena);
    r = RUN("train", "--preset", "tiny", "--corpus", text_file(), "--dry-run");
    CHECK(r->code == 0 && strstr(r->out, "mlp activations") && strstr(r->out, "\n  2,000 steps "));
}

/* Runs with little address space, and with the limit as it was again. */
static result *run_limited(int64_t bytes, const char *const *words)
{
    struct rlimit old, small;
    CHECK(getrlimit(RLIMIT_AS, &old) == 0);
    small = old;
    small.rlim_cur = (rlim_t)bytes;
    CHECK(setrlimit(RLIMIT_AS, &small) == 0);
    pid_t pid = start(words);
    CHECK(setrlimit(RLIMIT_AS, &old) == 0);
    return wait_for(pid);
}

#define LIMITED(bytes, ...) run_limited(bytes, (const char *const[]){__VA_ARGS__, NULL})

static void check_dry(const result *r)
{
    if (r->code) printf("exit %d: %s", r->code, r->error);
    CHECK_INT(r->code, 0);
    const pt_json *json = parsed(r);
    CHECK(number(pt_json_get(json, "time"), "step_seconds") > 0);
    pt_arena_deinit(&arena);
}

/* Whatever a run may be asked for, its time can be told. */
TEST(a_dry_run_takes_every_schedule)
{
    fresh_folder();
#define DRY(...) check_dry(RUN("train", "--dry-run", "--json", __VA_ARGS__))
    DRY("--preset", "tiny", "--schedule", "constant", "--warmup", "5");
    DRY("--preset", "tiny", "--schedule", "cosine", "--min-lr", "1e-5", "--warmup", "5");
    DRY("--preset", "tiny", "--schedule", "wsd", "--min-lr", "1e-5", "--warmup", "5",
        "--decay-steps", "20", "--decay-shape", "linear");
    DRY("--depth", "1", "--ctx", "16");
    DRY("--depth", "1", "--ctx", "16", "--schedule", "wsd");
    const char *run = kept("run"), *config = kept("run/run.json");
    result *r = RUN("train", "--depth", "1", "--ctx", "16", "--steps", "2", "--batch", "2",
                    "--quiet", "--corpus", text_file(), "--out", run);
    CHECK_INT(r->code, 0);
    DRY("--config", config);
    check_dry(RUN("train", "--resume", run, "--dry-run", "--json"));
}

TEST(a_dry_run_needs_no_text_and_tells_the_disk)
{
    fresh_folder();
    result *r = RUN("train", "--preset", "tiny", "--dry-run", "--json", "--save-every", "10",
                    "--steps", "100", "--keep", "2");
    CHECK_INT(r->code, 0);
    const pt_json *json = parsed(r), *disk = pt_json_get(json, "disk");
    int64_t each = 0, kept = 0;
    CHECK(pt_json_get_i64(disk, "checkpoint_bytes", &each) && each == 4 + 12 * 70464);
    CHECK(pt_json_get_i64(disk, "checkpoints", &kept) && kept == 3);
    CHECK(pt_json_get(json, "time")->type == PT_JSON_OBJECT);
    pt_arena_deinit(&arena);
    r = RUN("train", "--preset", "tiny", "--dry-run", "--keep", "0", "--save-every", "7", "--steps",
            "20", "--save-minutes", "0");
    CHECK(r->code == 0 && strstr(r->out, "\ndisk\n") && strstr(r->out, "  3 kept "));
    r = RUN("train", "--preset", "tiny", "--dry-run"); /* saved every 10 minutes */
    CHECK(r->code == 0 && strstr(r->out, "  the newest 3 and the best  ") &&
          strstr(r->out, "  3.4 MB\n"));
    r = RUN("train", "--preset", "tiny", "--dry-run", "--save-minutes", "0");
    CHECK(r->code == 0 && strstr(r->out, "  1 kept  "));
    r = RUN("train", "--preset", "tiny", "--dry-run", "--keep", "0");
    CHECK(r->code == 0 && strstr(r->out, "  1 kept, more by time  "));
    r = RUN("train", "--preset", "tiny", "--dry-run", "--ctx", "100000", "--layers", "1");
    CHECK(r->code == 0 || r->code == 3);
    check_refused(RUN("train", "--preset", "tiny", "--out", in_folder("r")), 2, "which text?");
}

TEST(what_does_not_fit_is_refused_and_what_would_is_named)
{
    if (PT_SANITIZED) SKIP("a sanitizer takes address space of its own");
    fresh_folder();
    const char *text = text_file(), *run = kept("r");
    int64_t limit = 400 * 1000000;
    result *r = LIMITED(limit, "train", "--preset", "small", "--batch", "512", "--threads", "2",
                        "--corpus", text, "--out", run);
    check_refused(r, 3, "); --dry-run tells more");
    CHECK(strstr(r->error, " would fit ("));
    CHECK(strstr(r->error, "--batch 128 --accum 4") || strstr(r->error, "--batch 64 --accum 8"));
    CHECK(!pt_fs_exists(run));
    r = LIMITED(limit, "train", "--preset", "small", "--batch", "512", "--threads", "2", "--corpus",
                text, "--dry-run", "--json");
    CHECK_INT(r->code, 3);
    const pt_json *json = parsed(r), *ways = pt_json_get(json, "ways");
    bool fits = true;
    CHECK(pt_json_get_bool(json, "fits", &fits) && !fits);
    CHECK(pt_json_get(json, "time")->type == PT_JSON_NULL);
    CHECK(ways->n_children >= 1);
    for (const pt_json *w = ways->child; w; w = w->next) {
        CHECK(number(w, "bytes") <= number(json, "available_bytes"));
        CHECK(pt_json_get_bool(w, "fits", &fits) && fits);
    }
    pt_arena_deinit(&arena);
    r = LIMITED(limit, "train", "--preset", "small", "--batch", "64", "--accum", "8", "--threads",
                "2", "--corpus", text, "--out", run, "--steps", "1");
    CHECK_INT(r->code, 0); /* the advice holds */
    r = LIMITED(limit, "train", "--preset", "behemoth", "--threads", "2", "--corpus", text, "--out",
                kept("b"));
    check_refused(r, 3, "choose a smaller model or --ctx");
    r = LIMITED(limit, "train", "--preset", "behemoth", "--threads", "2", "--corpus", text, "--out",
                kept("b"), "--force-memory");
    check_refused(r, 3, "no memory for"); /* tried all the same */
}

/* How much address space so many threads take depends on the machine, so the limit is searched for. */
TEST(fewer_threads_are_the_last_resort)
{
    if (PT_SANITIZED) SKIP("a sanitizer takes address space of its own");
    fresh_folder();
    const char *text = text_file(), *run = kept("r");
#define THREADED(n)                                                                         \
    "train", "--preset", "tiny", "--batch", "1", "--recompute", "block", "--dtype", "bf16", \
        "--threads", n, "--corpus", text, "--steps", "1", "--out", run, "--quiet"
    result *r = NULL;
    const char *advice = NULL;
    int64_t limit = 100 * 1000000;
    for (; !advice && limit < 2000 * INT64_C(1000000); limit += advice ? 0 : 30 * 1000000) {
        CHECK_OK(pt_fs_remove(run, NULL), (pt_error){0});
        r = LIMITED(limit, THREADED("64"));
        advice = strstr(r->error, "are available: --threads ");
    }
    CHECK(advice);
    CHECK_INT(r->code, 3);
    CHECK(strstr(advice, " would fit ("));
    char threads[8] = "";
    advice = strstr(advice, "--threads ") + strlen("--threads ");
    snprintf(threads, sizeof threads, "%.*s", (int)strspn(advice, "0123456789"), advice);
    CHECK_INT(LIMITED(limit, THREADED(threads))->code, 0); /* the advice holds */
}

TEST(a_run_that_saves_memory_in_every_way_is_told_that_no_way_is_left)
{
    if (PT_SANITIZED) SKIP("a sanitizer takes address space of its own");
    fresh_folder();
    const char *text = text_file();
    int64_t limit = 400 * 1000000;
#define SPARING                                                                                 \
    "train", "--preset", "behemoth", "--batch", "1", "--recompute", "block", "--dtype", "bf16", \
        "--threads", "2", "--corpus", text
    result *r = LIMITED(limit, SPARING, "--dry-run");
    check_refused(r, 3, "no way to do the same was found: choose a smaller model or --ctx");
    CHECK(strstr(r->out, "\nit does not fit, and no way to do the same was found\n"));
    r = LIMITED(limit, SPARING, "--dry-run", "--json");
    CHECK_INT(r->code, 3);
    CHECK_INT(pt_json_get(parsed(r), "ways")->n_children, 0);
    pt_arena_deinit(&arena);
    check_refused(LIMITED(limit, SPARING, "--out", kept("r")), 3, "no way to do the same");
}

/* A way that a run which has begun cannot take is none. */
TEST(what_does_not_fit_when_a_run_goes_on)
{
    if (PT_SANITIZED) SKIP("a sanitizer takes address space of its own");
    fresh_folder();
    const char *text = text_file(), *run = kept("r"), *block = kept("b");
    int64_t limit = 100 * 1000000;
#define GO_ON "train", "--preset", "small", "--batch", "64", "--steps", "1", "--eval-batches", "1"
    CHECK_INT(RUN(GO_ON, "--corpus", text, "--out", run, "--quiet")->code, 0);
    result *r = LIMITED(limit, "train", "--resume", run, "--steps", "2", "--threads", "1");
    check_refused(r, 3, "memory and ");
    CHECK(!strstr(r->error, "--batch") && !strstr(r->error, "--dtype") &&
          !strstr(r->error, "--ctx"));
    CHECK(strstr(r->error, "available: --recompute block would fit ("));
    CHECK_INT(RUN(GO_ON, "--corpus", text, "--out", block, "--recompute", "block", "--quiet")->code,
              0);
    r = LIMITED(limit / 2, "train", "--resume", block, "--steps", "2", "--threads", "1");
    check_refused(r, 3,
                  "no way to do the same was found: go on with it where there is more; --dry-run");
}

/* The plan names the corpus, which is in memory when the plan is compared with what is still to be had. */
TEST(a_corpus_in_memory_is_not_asked_for_twice)
{
    if (PT_SANITIZED) SKIP("a sanitizer takes address space of its own");
    fresh_folder();
    const size_t n = 200 * 1000000;
    char *text = malloc(n);
    CHECK(text != NULL);
    for (size_t i = 0; i < n; i++) text[i] = "the whale, the sea\n"[i % 19];
    put(kept("large.txt"), text, n);
    free(text);
    const char *large = kept("large.txt");
    result *r = LIMITED(400 * 1000000, "train", "--preset", "tiny", "--batch", "2", "--threads",
                        "1", "--corpus", large, "--out", kept("r"), "--steps", "1",
                        "--eval-batches", "1", "--quiet");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    remove(large);
}

/* ---- schedules and spikes in the log ---- */

typedef struct log_facts {
    int64_t steps, marked, spikes, rollbacks, last_step, rolled_to;
    double lr[401], lr_scale;
    char did[16], end[256];
} log_facts;

static void take_line(log_facts *f, const pt_json *json)
{
    const char *type = pt_json_get_string(json, "type");
    bool spike = false;
    if (strcmp(type, "step") == 0) {
        f->last_step = (int64_t)number(json, "step");
        f->lr[f->last_step] = number(json, "lr");
        f->steps++;
        f->marked += pt_json_get_bool(json, "spike", &spike) && spike;
    } else if (strcmp(type, "spike") == 0) {
        f->spikes++;
        CHECK(number(json, "loss") > number(json, "limit"));
        snprintf(f->did, sizeof f->did, "%s", pt_json_get_string(json, "did"));
    } else if (strcmp(type, "rollback") == 0) {
        f->rollbacks++;
        f->lr_scale = number(json, "lr_scale");
        f->rolled_to = (int64_t)number(json, "to");
    } else if (strcmp(type, "end") == 0) {
        snprintf(f->end, sizeof f->end, "%s", pt_json_get_string(json, "how"));
    }
}

static void read_log(const char *run, log_facts *f)
{
    char path[600], *text = NULL;
    int64_t size = 0;
    memset(f, 0, sizeof *f);
    snprintf(path, sizeof path, "%s/log.jsonl", run);
    CHECK_OK(pt_fs_read(path, 1 << 20, &text, &size, &err), err);
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        const pt_json *json = NULL;
        CHECK_OK(pt_json_parse(line, (size_t)(end - line), &arena, &json, &err), err);
        take_line(f, json);
    }
    pt_arena_deinit(&arena);
    pt_free(text);
}

TEST(wsd_in_a_run)
{
    fresh_folder();
    const char *run = kept("run");
    log_facts f;
    CHECK_INT(RUN("train", "--preset", "tiny", "--corpus", text_file(), "--out", run, "--steps",
                  "10", "--batch", "2", "--lr", "1e-3", "--min-lr", "1e-4", "--schedule", "wsd",
                  "--warmup", "2", "--decay-steps", "4", "--decay-shape", "linear", "--quiet")
                  ->code,
              0);
    read_log(run, &f);
    static const double want[] = {5e-4, 1e-3,    1e-3,   1e-3,    1e-3,
                                  1e-3, 7.75e-4, 5.5e-4, 3.25e-4, 1e-4};
    for (int i = 0; i < 10; i++) CHECK_CLOSE(f.lr[i + 1], want[i], 1e-9);
}

/* A text that one window in a hundred departs from. */
static const char *odd_text(void)
{
    static char path[512], text[6001];
    for (int i = 0; i < 6000; i++) text[i] = "abcdefgh"[i % 8];
    for (int i = 0; i < 60; i++) text[2000 + i] = (char)(160 + i * 37 % 90);
    snprintf(path, sizeof path, "%s", in_folder("odd.txt"));
    put(path, text, 6000);
    return path;
}

static result *train_odd(const char *run, const char *on_spike, const char *steps)
{
    return RUN("train", "--corpus", odd_text(), "--out", run, "--layers", "1", "--d-model", "32",
               "--heads", "2", "--ctx", "8", "--batch", "1", "--steps", steps, "--lr", "1e-2",
               "--save-every", "20", "--on-spike", on_spike, "--json");
}

TEST(spikes_are_told_and_change_nothing_by_default)
{
    fresh_folder();
    log_facts off, warn;
    result *r = train_odd(kept("warn"), "warn", "400");
    CHECK_INT(r->code, 0);
    int64_t told = (int64_t)number(parsed(r), "spikes");
    pt_arena_deinit(&arena);
    CHECK(strstr(r->error, "loss spike: "));
    CHECK_INT(train_odd(kept("off"), "off", "400")->code, 0);
    read_log(in_folder("warn"), &warn);
    read_log(in_folder("off"), &off);
    CHECK(warn.spikes >= 1 && warn.spikes == warn.marked && warn.spikes == told);
    CHECK_STR(warn.did, "warn");
    CHECK_INT(off.spikes + off.marked, 0);
    static char a[1 << 20], b[1 << 20];
    size_t n = read_whole(in_folder("warn/model.tinygpt"), a, sizeof a);
    size_t m = read_whole(in_folder("off/model.tinygpt"), b, sizeof b);
    size_t body =
        100000; /* weights and moments, at the end of the file; more than 8,000 parameters */
    CHECK(n > body && m > body && memcmp(a + n - body, b + m - body, body) == 0);
}

TEST(a_spike_stops_a_run_which_can_go_on_without_the_step)
{
    fresh_folder();
    log_facts f;
    const char *run = kept("run");
    result *r = train_odd(run, "stop", "400");
    check_refused(r, 9, "is a spike");
    CHECK(strstr(r->error, "go on with: posttrain train --resume /"));
    CHECK(strstr(r->error, "--on-spike skip\nposttrain: "));
    read_log(run, &f);
    CHECK(f.spikes == 1 && f.marked == 1 && f.last_step < 400);
    CHECK_STR(f.did, "stop");
    CHECK(strstr(f.end, "is a spike"));
    char saved[64];
    snprintf(saved, sizeof saved, "run/checkpoints/step-%08d", (int)f.last_step - 1);
    CHECK(pt_fs_exists(in_folder(saved)));
    r = RUN("train", "--resume", run, "--on-spike", "skip");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "this step is left out"));
    read_log(run, &f);
    CHECK_INT(f.last_step, 400);
    CHECK_STR(f.end, "finished");
}

TEST(a_spike_rolls_a_run_back)
{
    fresh_folder();
    log_facts f;
    const char *run = kept("run");
    result *r = train_odd(run, "rollback", "400");
    CHECK(r->code == 0 ||
          r->code == 9); /* other windows hold odd bytes too: three times, then it ends */
    char words[64];
    read_log(run, &f);
    CHECK(f.rollbacks >= 1 && f.rollbacks <= 3);
    CHECK(f.steps > f.last_step); /* some were done again */
    CHECK_INT(f.rolled_to % 20, 0);
    snprintf(words, sizeof words, "back at step %d; ", (int)f.rolled_to);
    CHECK(strstr(r->error, words));
    CHECK_CLOSE(f.lr_scale, f.rollbacks == 1 ? 0.5 : f.rollbacks == 2 ? 0.25 : 0.125, 0);
    CHECK_CLOSE(f.lr[f.rolled_to + 1], 1e-2 * f.lr_scale, 1e-9);
}

/* Checkpoints of the clock are none to go back to, and none that must stay is pruned for them. */
TEST(a_rollback_does_not_depend_on_saving_by_time)
{
    static char model[2][1 << 20];
    static const char *const minutes[] = {"0", "0.00003"};
    log_facts f[2];
    size_t n[2];
    fresh_folder();
    for (int i = 0; i < 2; i++) {
        const char *run = kept(i ? "often" : "never");
        char path[600];
        result *r = RUN("train", "--corpus", odd_text(), "--out", run, "--layers", "1", "--d-model",
                        "32", "--heads", "2", "--ctx", "8", "--batch", "1", "--steps", "400",
                        "--lr", "1e-2", "--save-every", "20", "--keep", "2", "--on-spike",
                        "rollback", "--save-minutes", minutes[i], "--quiet");
        CHECK(r->code == 0 || r->code == 9);
        read_log(run, &f[i]);
        snprintf(path, sizeof path, "%s/model.tinygpt", run);
        n[i] = read_whole(path, model[i], sizeof model[i]);
    }
    CHECK(f[0].rollbacks >= 1 && f[0].rollbacks == f[1].rollbacks);
    CHECK_INT(f[0].rolled_to, f[1].rolled_to);
    CHECK_INT(f[0].last_step, f[1].last_step);
    size_t body = 100000; /* as above */
    CHECK(n[0] > body && memcmp(model[0] + n[0] - body, model[1] + n[1] - body, body) == 0);
}

PT_PROGRAM_TEST_MAIN
