/* Whole runs on a GPU through the command line, also on an emulated one: the curve, the checks and the text are the
 * processor's. Skipped without a library that offers webgpu.h (POSTTRAIN_WEBGPU). SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "program.h"

#define STEPS 50
#define LOSS_TOLERANCE 2e-5 /* of a step, relative */
#define NORM_TOLERANCE 1e-3 /* the gradient's norm, relative */

static pt_error err;
static pt_arena arena;

typedef struct curve {
    double loss[STEPS], norm[STEPS], held[STEPS + 1];
    int steps, checks;
} curve;

static bool no_gpu(void)
{
    const char *library = getenv("POSTTRAIN_WEBGPU");
    return !library || !*library;
}

static void write_corpus(void)
{
    FILE *f = fopen(in_folder("corpus.txt"), "wb");
    CHECK(f != NULL);
    for (int i = 0; i < 4000; i++) fputc("abcdefgh ijklm nopq\n"[(i * i + i / 7) % 20], f);
    fclose(f);
}

static const char *copied(const char *path)
{
    static char paths[4][512];
    static int next;
    char *to = paths[next++ % 4];
    snprintf(to, sizeof paths[0], "%s", path);
    return to;
}

static double number(const pt_json *json, const char *key)
{
    double value = 0;
    CHECK(pt_json_get_double(json, key, &value));
    return value;
}

static void read_event(curve *c, const pt_json *event)
{
    const char *type = pt_json_get_string(event, "type");
    if (strcmp(type, "step") == 0) {
        CHECK(c->steps < STEPS);
        c->loss[c->steps] = number(event, "loss");
        c->norm[c->steps++] = number(event, "grad_norm");
    } else if (strcmp(type, "val") == 0) {
        c->held[c->checks++] = number(event, "val_loss");
    }
}

/* A model of 8,448 parameters on a device: dropout, clipping that cuts, accumulation and checks on the way. */
static curve train(const char *device, const char *run)
{
    static char log[1 << 18];
    curve c = {0};
    const char *out = copied(in_folder(run)), *corpus = copied(in_folder("corpus.txt"));
    char steps[8];
    snprintf(steps, sizeof steps, "%d", STEPS);
    result *r = RUN("train", "--device", device, "--corpus", corpus, "--out", out, "--layers", "1",
                    "--d-model", "16", "--heads", "2", "--ctx", "16", "--batch", "4", "--steps",
                    steps, "--lr", "3e-4", "--clip", "0.5", "--dropout", "0.1", "--eval-every",
                    "25", "--eval-batches", "2");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    CHECK(!!strstr(r->error, " thread") == !strcmp(device, "cpu")); /* a GPU's are none of ours */
    char path[600];
    snprintf(path, sizeof path, "%s/log.jsonl", out);
    size_t n = read_whole(path, log, sizeof log);
    for (char *line = log; line < log + n;) {
        char *end = strchr(line, '\n');
        const pt_json *event = NULL;
        CHECK(end != NULL);
        CHECK_OK(pt_json_parse(line, (size_t)(end - line), &arena, &event, &err), err);
        read_event(&c, event);
        line = end + 1;
    }
    CHECK_INT(c.steps, STEPS);
    return c;
}

static void check_text(const char *run)
{
    static char want[1 << 12];
    char model[600];
    snprintf(model, sizeof model, "%s/model.tinygpt", copied(in_folder(run)));
    result *r = RUN("sample", model, "--temperature", "0", "--max-tokens", "24", "--prompt", "ab");
    CHECK_INT(r->code, 0);
    snprintf(want, sizeof want, "%.4000s", r->out);
    r = RUN("sample", model, "--temperature", "0", "--max-tokens", "24", "--prompt", "ab",
            "--device", "webgpu-software");
    CHECK_INT(r->code, 0);
    CHECK_STR(r->out, want);
}

TEST(trains_and_writes_as_the_processor_does)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    fresh_folder();
    write_corpus();
    curve cpu = train("cpu", "cpu"), gpu = train("webgpu-software", "gpu");
    double worst = 0;
    for (int i = 0; i < STEPS; i++) {
        double off = pt_fabs(gpu.loss[i] / cpu.loss[i] - 1);
        if (!(off <= LOSS_TOLERANCE))
            printf("step %d: %.9g, cpu %.9g\n", i + 1, gpu.loss[i], cpu.loss[i]);
        CHECK(off <= LOSS_TOLERANCE);
        CHECK_CLOSE(gpu.norm[i], cpu.norm[i], NORM_TOLERANCE * cpu.norm[i]);
        if (off > worst) worst = off;
    }
    CHECK(cpu.loss[STEPS - 1] < cpu.loss[0]);
    CHECK_INT(gpu.checks, cpu.checks);
    CHECK(cpu.checks >= 2);
    for (int i = 0; i < cpu.checks; i++)
        CHECK_CLOSE(gpu.held[i], cpu.held[i], LOSS_TOLERANCE * cpu.held[i]);
    printf("note: %d steps on a GPU, each loss within %.1e of the processor's\n", STEPS, worst);
    check_text("gpu");
}

static double loss_of(const char *model, const char *device, const char *weights)
{
    const pt_json *told = NULL;
    result *r = RUN("eval", model, "--corpus", in_folder("held.txt"), "--device", device,
                    "--weights", weights, "--batch", "2", "--json");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    CHECK_OK(pt_json_parse(r->out, r->n_out, &arena, &told, &err), err);
    return number(told, "loss");
}

static void written(const char *model, const char *weights, char text[64])
{
    result *r = RUN("sample", model, "--temperature", "0", "--max-tokens", "24", "--prompt", "ab",
                    "--device", "webgpu-software", "--weights", weights);
    CHECK_INT(r->code, 0);
    CHECK_INT(r->n_out, 24);
    snprintf(text, 64, "%.63s", r->out);
}

TEST(weights_in_f16_and_int8)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    fresh_folder();
    write_corpus();
    FILE *f = fopen(in_folder("held.txt"), "wb");
    for (int i = 4000; i < 4400; i++) fputc("abcdefgh ijklm nopq\n"[(i * i + i / 7) % 20], f);
    fclose(f);
    char model[600], text[3][64];
    snprintf(model, sizeof model, "%s/model.tinygpt", copied(in_folder("run")));
    CHECK_INT(RUN("train", "--corpus", copied(in_folder("corpus.txt")), "--out",
                  copied(in_folder("run")), "--layers", "2", "--d-model", "40", "--heads", "2",
                  "--ctx", "16", "--batch", "4", "--steps", "200", "--lr", "3e-3")
                  ->code,
              0);
    const char *const words[] = {"f32", "f16", "int8"};
    double loss[3];
    for (int i = 0; i < 3; i++) {
        double ref = loss_of(model, "ref", words[i]);
        loss[i] = loss_of(model, "webgpu-software", words[i]);
        CHECK_CLOSE(loss[i], ref, LOSS_TOLERANCE * ref);
        written(model, words[i], text[i]);
    }
    CHECK_STR(text[1], text[0]);
    printf("note: the loss is %.6f, %+.1e of it in f16, %+.1e in int8\n", loss[0],
           loss[1] / loss[0] - 1, loss[2] / loss[0] - 1);
    CHECK(loss[1] != loss[0] && pt_fabs(loss[1] / loss[0] - 1) < 1e-3);
    CHECK(loss[2] != loss[0] && pt_fabs(loss[2] / loss[0] - 1) < 1e-2);
    result *r = RUN("sample", model, "--weights", "int8");
    check_refused(r, 6, "device cpu has no kernels for weights in int8: the devices webgpu");
    check_refused(RUN("eval", model, "--weights", "int4"), 2, "f32, f16 or int8");
}

TEST(an_emulated_gpu_is_declined_by_default)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    fresh_folder();
    result *r = RUN("devices");
    CHECK_INT(r->code, 0);
    if (!strstr(r->out, "emulated, much slower than cpu")) return;
    write_corpus();
    r = RUN("train", "--device", "webgpu", "--corpus", copied(in_folder("corpus.txt")), "--preset",
            "tiny", "--out", in_folder("run"));
    check_refused(r, 6, "only an emulation on the processor, for --device webgpu-software");
}

static void check_library_refused(const char *named, const char *why)
{
    setenv("POSTTRAIN_WEBGPU", named, 1);
    result *r = RUN("train", "--device", "webgpu", "--corpus", copied(in_folder("corpus.txt")),
                    "--preset", "tiny", "--out", in_folder("run"));
    check_refused(r, 6, why);
}

/* Where one is named, with what is wrong with it: not the advice to name one. */
TEST(a_library_that_is_none_is_a_sentence)
{
    fresh_folder();
    write_corpus();
    const char *text = copied(in_folder("corpus.txt"));
    check_library_refused("/no/such/library.so",
                          "POSTTRAIN_WEBGPU names no library with webgpu.h: /no/such/library.so: ");
    check_library_refused(text, text);
#ifdef __GLIBC__
    check_library_refused("libm.so.6", "undefined symbol: wgpu");
#endif
}

TEST(a_library_with_an_odd_name_reaches_no_terminal)
{
    fresh_folder();
    setenv("POSTTRAIN_WEBGPU", "a\nb\033[31m", 1);
    result *r = RUN("devices");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->out, "webgpu no GPU") && !strchr(r->out, '\033'));
}

PT_TEST_MAIN
