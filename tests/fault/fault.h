/* For tests of faults: a small training run in a run folder, begun or gone on with as the command line does it, and
 * what must hold of its folder however it was broken off. Hosted only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TESTS_FAULT_H
#define PT_TESTS_FAULT_H

#include <sys/wait.h>

/* In memory where that can be had: what is tested is the order of the calls, and fsync on a disk takes long. */
#define PT_TEST_PLACE (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")

#include "base/json.h"
#include "base/test_folder.h"
#include "io/checkpoint.h"
#include "io/tfevents.h"
#include "train/run_events.h"
#include "train/run_folder.h"

#define KEEP 2
#define STEPS 9
#define FAULT_MAX_STEPS 1000

/* The long version of a test (make fault) looks at everything, the short one (make test) at samples. */
static inline bool fault_long(void) { return getenv("FAULT") != NULL; }

/* ---- the run ---- */

/* Which run the test is of. */
typedef enum fault_kind {
    FAULT_PLAIN,
    FAULT_MIX,       /* of a text and a folder of shards */
    FAULT_ROLLBACK,  /* that spikes and goes back twice, with event files */
    FAULT_LONG_LOOKS /* whose evaluations and samples take many polls */
} fault_kind;

static fault_kind fault_run;

static inline const uint8_t *fault_corpus(void)
{
    static uint8_t text[1500];
    const char *words =
        fault_run == FAULT_ROLLBACK ? "abcdefghabcdefghabcd" : "the whale, the sea. ";
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)words[i % 20];
    return text;
}

/* The two sources of a mix, in the test's folder, which is fresh. */
static inline void fault_make_mix(void)
{
    pt_error err = {0};
    pt_shard like = {.tokenizer = "bytes", .width = 1, .vocab = 256}, total;
    pt_shard_maker *maker = NULL;
    put_text(in_folder("sea.txt"), (const char[]){"the whale, the sea. the whale, the ship. "});
    CHECK_OK(pt_shard_maker_new(&maker, in_folder("shards"), 400, &like, &err), err);
    for (int i = 0; i < 30; i++) {
        char text[64];
        int n =
            snprintf(text, sizeof text, "document %d of %d, on whales and on the sea", i, i * i);
        pt_shard_maker_document(maker);
        CHECK_OK(pt_shard_maker_put(maker, text, n, &err), err);
    }
    CHECK_OK(pt_shard_maker_end(maker, &total, &err), err);
    CHECK(total.index > 2);
}

static inline pt_trainer_desc fault_desc(void)
{
    pt_trainer_desc desc = {
        .config = {.n_layers = 1, .d_model = 16, .n_heads = 2, .ctx = 8, .dropout = 0.1},
        .options = pt_train_defaults(),
        .corpus = fault_corpus(),
        .corpus_bytes = 1500};
    pt_model_config_complete(&desc.config);
    desc.options.steps = STEPS;
    desc.options.batch = 2;
    desc.options.accum = 2;
    desc.options.lr = 1e-2;
    desc.options.schedule = PT_SCHEDULE_COSINE;
    desc.options.eval_every = 3;
    desc.options.eval_batches = 1;
    desc.options.sample_every = 4;
    desc.options.sample_tokens = 3;
    desc.options.save_every = 2;
    if (fault_run == FAULT_LONG_LOOKS) {
        desc.options.eval_batches = 60;
        desc.options.sample_tokens = 400;
    }
    if (fault_run == FAULT_ROLLBACK) {
        desc.options.on_spike = PT_SPIKE_ROLLBACK;
        desc.options.steps = 120;
        desc.options.warmup = 100;
        desc.options.lr = 0.2;
        desc.options.accum = 1;
        desc.options.save_every = 10;
        desc.options.eval_every = desc.options.sample_every = 40;
    }
    return desc;
}

typedef struct fault_parts {
    pt_device *device;
    pt_corpus *corpus; /* of a mix; else NULL */
    pt_data data;
    pt_trainer *trainer;
    pt_run_folder *run;
    pt_run_events *events; /* of a run that rolls back; else NULL */
    pt_arena arena;
} fault_parts;

static inline pt_status fault_step(void *ctx, const pt_step_report *r, pt_error *err)
{
    fault_parts *p = ctx;
    pt_status s = pt_run_folder_step(p->run, r, err);
    return s ? s : pt_run_events_step(p->events, r, err);
}

static inline pt_status fault_spiked(void *ctx, const pt_spike_report *r, pt_error *err)
{
    return pt_run_folder_spiked(((fault_parts *)ctx)->run, r, err);
}

static inline pt_status fault_roll_back(void *ctx, int64_t from, double lr_scale, pt_error *err)
{
    fault_parts *p = ctx;
    pt_status s = pt_run_folder_roll_back(p->run, p->trainer, from, lr_scale, err);
    return s ? s : pt_run_events_went_back(p->events, pt_trainer_step(p->trainer), err);
}

static inline pt_status fault_evaluated(void *ctx, int64_t step, double loss, pt_error *err)
{
    fault_parts *p = ctx;
    pt_status s = pt_run_folder_evaluated(p->run, step, loss, err);
    return s ? s : pt_run_events_evaluated(p->events, step, loss, err);
}

static inline pt_status fault_sampled(void *ctx, int64_t step, const char *bytes, int64_t n,
                                      pt_error *err)
{
    fault_parts *p = ctx;
    pt_status s = pt_run_folder_sampled(p->run, step, bytes, n, err);
    return s ? s : pt_run_events_sampled(p->events, step, bytes, n, err);
}

static inline pt_status fault_save_begin(void *ctx, int64_t step, pt_sink *sink, pt_error *err)
{
    return pt_run_folder_save_begin(((fault_parts *)ctx)->run, step, sink, err);
}

static inline pt_status fault_save_end(void *ctx, int64_t step, bool failed, pt_error *err)
{
    return pt_run_folder_save_end(((fault_parts *)ctx)->run, step, failed, err);
}

static const double fault_weights[] = {0.3, 0.7};

static inline pt_status fault_open_mix(fault_parts *p, pt_error *err)
{
    char paths[2][600];
    const char *const path[] = {paths[0], paths[1]};
    const pt_corpus_options options = {.path = path, .n = 2, .mixed = true};
    snprintf(paths[0], sizeof paths[0], "%s", in_folder("sea.txt"));
    snprintf(paths[1], sizeof paths[1], "%s", in_folder("shards"));
    pt_status s = pt_corpus_open(&p->corpus, &options, err);
    if (s) return s;
    p->data.source = pt_corpus_streams(p->corpus, &p->data.n);
    p->data.weight = fault_weights;
    return PT_OK;
}

/* The folder, new or as it was left, and the trainer where it stands. */
static inline pt_status fault_open(fault_parts *p, const char *folder, pt_error *err)
{
    char path[600], *text = NULL;
    int64_t size = 0;
    pt_run_found found = {0};
    pt_run_restored restored;
    pt_run_description d = {.command = "fault",
                            .corpus_path = "whale",
                            .corpus_bytes = 1500,
                            .corpus_sha256 = "of no matter here",
                            .device = "cpu",
                            .isa = "base"};
    pt_trainer_desc desc = fault_desc();
    d.corpus = p->corpus;
    d.weight = p->corpus ? fault_weights : NULL;
    pt_fs_join(path, sizeof path, folder, "run.json");
    bool begun = pt_fs_exists(path);
    pt_status s = begun ? pt_run_folder_open(&p->run, folder, &found, err)
                        : pt_run_folder_new(&p->run, folder, err);
    if (s) return s;
    pt_run_folder_keep(p->run, KEEP);
    s = pt_trainer_begin(p->trainer, NULL, err);
    if (s == PT_OK && begun) s = pt_run_folder_restore(p->run, p->trainer, &restored, err);
    if (s == PT_OK && begun) s = pt_fs_read(path, 1 << 16, &text, &size, err);
    if (s == PT_OK && begun) s = pt_json_parse(text, (size_t)size, &p->arena, &d.previous, err);
    if (s == PT_OK)
        s = pt_run_folder_begin(p->run, &d, &desc.config, &desc.options,
                                pt_trainer_n_params(p->trainer), err);
    if (s == PT_OK && begun) s = pt_run_folder_resumed(p->run, &restored, &found, "fault", err);
    if (s == PT_OK && fault_run == FAULT_ROLLBACK)
        s = pt_run_events_open(&p->events, folder, begun, pt_trainer_step(p->trainer), 16, err);
    pt_free(text);
    return s;
}

static int64_t fault_stop_after; /* the step after which the run is asked to stop; 0: none */
static int64_t fault_stop_polls; /* and how many polls after that */
static int64_t fault_polls_then; /* polls that it took to its end, once it was asked */

/* Trains to the end, from where the folder stands. */
static inline pt_status fault_train(const char *folder, pt_error *err)
{
    fault_parts p = {0};
    pt_trainer_desc desc = fault_desc();
    desc.events = (pt_train_events){.ctx = &p,
                                    .step = fault_step,
                                    .spiked = fault_spiked,
                                    .roll_back = fault_roll_back,
                                    .evaluated = fault_evaluated,
                                    .sampled = fault_sampled,
                                    .save_begin = fault_save_begin,
                                    .save_end = fault_save_end};
    pt_cpu_options cpu = {.threads = 1, .isa = "base"};
    int64_t after = fault_polls_then = 0;
    pt_status s = pt_device_cpu_new(&p.device, &cpu, err);
    if (s == PT_OK && fault_run == FAULT_MIX) s = fault_open_mix(&p, err);
    if (p.corpus) desc.data = &p.data;
    if (s == PT_OK) s = pt_trainer_new(&p.trainer, p.device, &desc, err);
    if (s == PT_OK) s = fault_open(&p, folder, err);
    if (s == PT_OK) s = PT_PENDING;
    while (s == PT_PENDING) {
        s = pt_trainer_poll(p.trainer, err);
        if (!fault_stop_after || pt_trainer_step(p.trainer) < fault_stop_after) continue;
        if (++after <= fault_stop_polls) continue;
        pt_trainer_stop(p.trainer);
        fault_polls_then++;
    }
    if (s == PT_OK) s = pt_run_folder_end(p.run, desc.options.steps, PT_OK, "finished", err);
    pt_trainer_free(p.trainer);
    pt_corpus_close(p.corpus);
    pt_run_events_close(p.events);
    pt_run_folder_free(p.run);
    pt_device_free(p.device);
    pt_arena_deinit(&p.arena);
    return s;
}

/* ---- what came of it ---- */

static inline void fault_read(const char *path, pt_strbuf *to)
{
    pt_file_view view;
    pt_error err = {0};
    CHECK_OK(pt_file_view_read(&view, path, &err), err);
    pt_strbuf_append(to, (const char *)view.data, (size_t)view.size);
    pt_file_view_close(&view);
}

/* The last line of each step and of each evaluation, without the time. */
static inline void fault_curve(const char *folder, pt_strbuf *out)
{
    char path[600];
    static pt_strbuf lines[FAULT_MAX_STEPS][2];
    pt_strbuf text = {0};
    pt_arena arena = {0};
    pt_error err = {0};
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    fault_read(path, &text);
    pt_strbuf_putc(&text, 0);
    for (char *at = text.data, *end; (end = strchr(at, '\n')); at = end + 1) {
        const pt_json *line = NULL;
        int64_t step = 0;
        CHECK_OK(pt_json_parse(at, (size_t)(end - at), &arena, &line, &err), err);
        const char *type = pt_json_get_string(line, "type");
        bool val = strcmp(type, "val") == 0;
        if (!val && strcmp(type, "step") != 0) continue;
        CHECK(pt_json_get_i64(line, "step", &step) && step >= 0 && step < FAULT_MAX_STEPS);
        pt_strbuf_clear(&lines[step][val]);
        for (const pt_json *m = line->child; m; m = m->next)
            if (strcmp(m->key, "t") != 0 && strcmp(m->key, "seconds") != 0)
                pt_strbuf_printf(&lines[step][val], " %s=%s", m->key, m->text ? m->text : "on");
    }
    for (int i = 0; i < 2 * FAULT_MAX_STEPS; i++) {
        pt_strbuf *line = &lines[i / 2][i % 2];
        if (line->len) pt_strbuf_printf(out, "%s\n", line->data);
        pt_strbuf_deinit(line);
    }
    pt_strbuf_deinit(&text);
    pt_arena_deinit(&arena);
}

/* The run's model, with the time of saving blotted out. */
static inline void fault_model(const char *folder, pt_strbuf *out)
{
    char path[600];
    static const char key[] = "\"savedAt\":\"";
    snprintf(path, sizeof path, "%s/model.tinygpt", folder);
    fault_read(path, out);
    char *at = out->data + 12;
    for (; memcmp(at, key, sizeof key - 1) != 0; at++) CHECK(at < out->data + 4096);
    memset(at + sizeof key - 1, '-', strlen("2026-01-02T03:04:05.678Z"));
}

/* The curve and the model are those of the run that nothing happened to. */
static inline void fault_check_same(const char *folder, const char *whole)
{
    pt_strbuf a = {0}, b = {0};
    fault_curve(folder, &a);
    fault_curve(whole, &b);
    if (strcmp(a.data, b.data) != 0) printf("%s\n---- instead of\n%s", a.data, b.data);
    CHECK_STR(a.data, b.data);
    pt_strbuf_clear(&a);
    pt_strbuf_clear(&b);
    fault_model(folder, &a);
    fault_model(whole, &b);
    CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
    pt_strbuf_deinit(&a);
    pt_strbuf_deinit(&b);
}

/* I2, I3: of what is there the newest checkpoint loads, and so does the run's model. */
static inline void fault_check_loads(const char *folder)
{
    char path[600];
    int64_t step = -1;
    pt_error err = {0};
    CHECK_OK(pt_checkpoint_before(folder, INT64_MAX, &step, &err), err);
    if (step >= 0) {
        pt_checkpoint_file file;
        CHECK_OK(pt_checkpoint_open(&file, folder, step, &err), err);
        pt_checkpoint_close(&file);
    }
    snprintf(path, sizeof path, "%s/model.tinygpt", folder);
    if (!pt_fs_exists(path)) return;
    CHECK(step >= 0);
    pt_file_view view;
    pt_tinygpt *file = NULL;
    CHECK_OK(pt_file_view_open(&view, path, &err), err);
    CHECK_OK(pt_tinygpt_open(&file, view.data, view.size, &err), err);
    CHECK_OK(pt_tinygpt_verify(file, &err), err);
    pt_tinygpt_close(file);
    pt_file_view_close(&view);
}

typedef struct fault_events {
    const char *folder;
    int files, whole; /* whole: of those, the ones that do not end in half a record */
} fault_events;

static inline void fault_look_at_events(void *ctx, const char *name, bool folder)
{
    fault_events *found = ctx;
    char path[900];
    pt_strbuf bytes = {0};
    if (folder || !pt_str_starts(name, "events.out.tfevents.")) return;
    snprintf(path, sizeof path, "%s/%s", found->folder, name);
    fault_read(path, &bytes);
    int64_t n = (int64_t)bytes.len;
    found->files++;
    found->whole += pt_tfevents_whole((const uint8_t *)bytes.data, n) == n;
    pt_strbuf_deinit(&bytes);
}

/* Event files: one of each sitting of a run that writes them. */
static inline fault_events fault_count_events(const char *folder)
{
    fault_events found = {.folder = folder};
    pt_error err = {0};
    CHECK_OK(pt_fs_list(folder, fault_look_at_events, &found, &err), err);
    return found;
}

typedef struct fault_tree {
    char path[600];
    int hidden, checkpoints;
} fault_tree;

static inline void fault_walk(void *ctx, const char *name, bool folder)
{
    fault_tree *tree = ctx;
    size_t n = strlen(tree->path);
    tree->hidden += name[0] == '.';
    tree->checkpoints += folder && pt_str_starts(name, "step-");
    if (!folder) return;
    pt_error err = {0};
    snprintf(tree->path + n, sizeof tree->path - n, "/%s", name);
    CHECK_OK(pt_fs_list(tree->path, fault_walk, tree, &err), err);
    tree->path[n] = 0;
}

/* A finished run has no leftovers, and no checkpoint more than it should. */
static inline void fault_check_tidy(const char *folder, int64_t keep)
{
    fault_tree tree = {0};
    pt_error err = {0};
    snprintf(tree.path, sizeof tree.path, "%s", folder);
    CHECK_OK(pt_fs_list(folder, fault_walk, &tree, &err), err);
    CHECK_INT(tree.hidden, 0);
    CHECK(tree.checkpoints >= 1 && tree.checkpoints <= keep + 1);
}

/* ---- the run that nothing happened to, and the one that is broken ---- */

static char fault_whole[512], fault_broken[512]; /* their folders */

/* The first of them, in a fresh folder; of the second the path alone. *err is the test's, and holds nothing then. */
static inline void fault_make_whole(pt_error *err)
{
    memset(err, 0, sizeof *err);
    fresh_folder();
    snprintf(fault_whole, sizeof fault_whole, "%s", in_folder("whole"));
    snprintf(fault_broken, sizeof fault_broken, "%s", in_folder("broken"));
    if (fault_run == FAULT_MIX) fault_make_mix();
    CHECK_OK(fault_train(fault_whole, err), *err);
    fault_check_tidy(fault_whole, KEEP);
}

#endif
