/* The public interface, against the golden model and bad input. SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/test_folder.h"
#include "posttrain.h"

#define MODEL "tests/golden/tiny-48.tinygpt"

static char text[6001];
static const char *corpus(void)
{
    for (int i = 0; i < 6000; i++) text[i] = "call me a whale of a tale, said he. "[i % 36];
    return text;
}

/* The call fails with this status, and its message has the words. */
#define CHECK_FAILS(call, want, words)                                              \
    do {                                                                            \
        CHECK_INT(call, want);                                                      \
        if (!strstr(posttrain_error(), words)) CHECK_STR(posttrain_error(), words); \
    } while (0)

static posttrain_options *options_of(const char *preset)
{
    posttrain_options *o = NULL;
    CHECK_INT(posttrain_options_new(&o), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_text(o, "preset", preset), POSTTRAIN_OK);
    return o;
}

static posttrain_model *open_golden(void)
{
    posttrain_model *m = NULL;
    CHECK_INT(posttrain_model_open(&m, MODEL, NULL), POSTTRAIN_OK);
    return m;
}

/* ---- a model ---- */

TEST(facts_of_a_model)
{
    posttrain_model *m = open_golden();
    CHECK_INT(posttrain_model_fact(m, POSTTRAIN_PARAMETERS), 70464);
    CHECK_INT(posttrain_model_fact(m, POSTTRAIN_VOCABULARY), 256);
    CHECK(posttrain_model_fact(m, POSTTRAIN_LAYERS) > 0);
    CHECK(posttrain_model_fact(m, POSTTRAIN_HEADS) > 0);
    CHECK(posttrain_model_fact(m, POSTTRAIN_WIDTH) > 0);
    CHECK(posttrain_model_fact(m, POSTTRAIN_CONTEXT) > 0);
    CHECK(posttrain_model_fact(m, POSTTRAIN_STEP) >= 0);
    CHECK_INT(posttrain_model_fact(m, (posttrain_fact)99), -1);
    posttrain_model_close(m);
    posttrain_model_close(NULL);
}

TEST(score_is_the_golden_loss)
{
    posttrain_model *m = open_golden();
    const char *words = "The ferry leaves before the rain.";
    double loss = 0, perplexity = 0;
    CHECK_INT(posttrain_score(m, words, 33, &loss, &perplexity), POSTTRAIN_OK);
    CHECK_CLOSE(loss, 2.1742221023849075, 2e-6);
    CHECK_CLOSE(log(perplexity), loss, 1e-9);
    CHECK_INT(posttrain_score(m, words, 33, NULL, NULL), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_score(m, "a", 1, &loss, NULL), POSTTRAIN_BAD_INPUT, "1 byte");
    CHECK_FAILS(posttrain_score(m, "", 0, &loss, NULL), POSTTRAIN_BAD_INPUT, "0 bytes");
    posttrain_model_close(m);
}

typedef struct collected {
    char bytes[256];
    size_t n, most; /* most: ends the text after so many pieces */
} collected;

static int collect(void *ctx, const char *bytes, size_t n)
{
    collected *c = ctx;
    CHECK(c->n + n <= sizeof c->bytes);
    memcpy(c->bytes + c->n, bytes, n);
    c->n += n;
    return c->most && c->n >= c->most;
}

TEST(generation_follows_the_options)
{
    posttrain_model *m = open_golden();
    posttrain_options *o = options_of("tiny");
    collected a = {.n = 0}, b = a, greedy = a, stopped = {.most = 3};
    CHECK_INT(posttrain_set_integer(o, "max-tokens", 40), POSTTRAIN_OK);
    CHECK_INT(posttrain_generate(m, "Harbour:\n", 9, o, collect, &a), POSTTRAIN_OK);
    CHECK_INT(posttrain_generate(m, "Harbour:\n", 9, o, collect, &b), POSTTRAIN_OK);
    CHECK(a.n == 40 && b.n == 40 && memcmp(a.bytes, b.bytes, 40) == 0);
    CHECK_INT(posttrain_set_integer(o, "seed", 7), POSTTRAIN_OK);
    b.n = 0;
    CHECK_INT(posttrain_generate(m, "Harbour:\n", 9, o, collect, &b), POSTTRAIN_OK);
    CHECK(memcmp(a.bytes, b.bytes, 40) != 0);
    CHECK_INT(posttrain_set_real(o, "temperature", 0), POSTTRAIN_OK);
    CHECK_INT(posttrain_generate(m, NULL, 0, o, collect, &greedy), POSTTRAIN_OK);
    CHECK_INT(posttrain_generate(m, "\n", 1, o, collect, &stopped), POSTTRAIN_OK);
    CHECK(greedy.n == 40 && stopped.n == 3 && memcmp(greedy.bytes, stopped.bytes, 3) == 0);
    CHECK_INT(posttrain_set_integer(o, "max-tokens", -1), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_generate(m, "x", 1, o, collect, &a), POSTTRAIN_BAD_INPUT, "max-tokens");
    CHECK_INT(posttrain_set_real(o, "temperature", (double)NAN), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_generate(m, "x", 1, o, collect, &a), POSTTRAIN_BAD_INPUT, "temperature");
    posttrain_options_free(o);
    posttrain_model_close(m);
}

TEST(logits_agree_with_greedy_text)
{
    static float logits[3 * 256];
    posttrain_model *m = open_golden();
    posttrain_options *o = options_of("tiny");
    collected c = {.n = 0};
    int best = 0;
    CHECK_INT(posttrain_logits(m, (const int32_t[]){'c', 'a', 'l'}, 3, logits), POSTTRAIN_OK);
    for (int i = 0; i < 256; i++)
        if (logits[2 * 256 + i] > logits[2 * 256 + best]) best = i;
    CHECK_INT(posttrain_set_integer(o, "max-tokens", 1), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_real(o, "temperature", 0), POSTTRAIN_OK);
    CHECK_INT(posttrain_generate(m, "cal", 3, o, collect, &c), POSTTRAIN_OK);
    CHECK(c.n == 1 && (unsigned char)c.bytes[0] == best);
    CHECK_FAILS(posttrain_logits(m, (const int32_t[]){256}, 1, logits), POSTTRAIN_BAD_INPUT, "256");
    CHECK_FAILS(posttrain_logits(m, (const int32_t[]){-1}, 1, logits), POSTTRAIN_BAD_INPUT, "-1");
    CHECK_FAILS(posttrain_logits(m, NULL, 0, logits), POSTTRAIN_BAD_INPUT, "no ids");
    CHECK_FAILS(posttrain_logits(m, NULL, 1 << 30, logits), POSTTRAIN_BAD_INPUT, "context");
    posttrain_options_free(o);
    posttrain_model_close(m);
}

TEST(models_that_cannot_be_opened)
{
    fresh_folder();
    posttrain_options *o = options_of("tiny");
    posttrain_model *m = NULL;
    put_text(in_folder("bad"), "TGPT and then nothing of the kind");
    CHECK_FAILS(posttrain_model_open(&m, in_folder("none"), NULL), POSTTRAIN_NOT_FOUND, "none");
    CHECK(m == NULL);
    CHECK(posttrain_model_open(&m, in_folder("bad"), NULL) != POSTTRAIN_OK && m == NULL);
    CHECK_FAILS(posttrain_model_open(&m, "/", NULL), POSTTRAIN_IO, "folder");
    CHECK_INT(posttrain_set_text(o, "device", "toaster"), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_model_open(&m, MODEL, o), POSTTRAIN_BAD_INPUT, "toaster");
    CHECK_INT(posttrain_set_text(o, "device", "ref"), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_integer(o, "threads", 4096), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_model_open(&m, MODEL, o), POSTTRAIN_BAD_INPUT, "threads");
    CHECK_INT(posttrain_set_integer(o, "threads", 1), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_integer(o, "score-batch", 0), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_model_open(&m, MODEL, o), POSTTRAIN_BAD_INPUT, "score-batch");
    CHECK_INT(posttrain_set_integer(o, "score-batch", 1), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_text(o, "weights", "f8"), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_model_open(&m, MODEL, o), POSTTRAIN_BAD_INPUT, "f8");
    CHECK_INT(posttrain_set_text(o, "weights", "int8"), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_text(o, "device", "cpu"), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_model_open(&m, MODEL, o), POSTTRAIN_UNSUPPORTED, "webgpu");
    posttrain_options_free(o);
}

/* ---- options ---- */

TEST(options_have_names_and_kinds)
{
    posttrain_options *o = options_of("tiny");
    CHECK_FAILS(posttrain_set_text(o, "devise", "cpu"), POSTTRAIN_BAD_INPUT, "'devise'");
    CHECK_FAILS(posttrain_set_real(o, "steps", 2), POSTTRAIN_BAD_INPUT,
                "is an integer, not a real");
    CHECK_FAILS(posttrain_set_integer(o, "lr", 2), POSTTRAIN_BAD_INPUT, "is a real number");
    CHECK_FAILS(posttrain_set_text(o, "preset", "enormous"), POSTTRAIN_BAD_INPUT, "enormous");
    CHECK_FAILS(posttrain_set_text(o, "isa", "a name that is far longer than any of them"),
                POSTTRAIN_BAD_INPUT, "longer");
    posttrain_options_free(o);
    posttrain_options_free(NULL);
    CHECK(posttrain_version()[0] >= '0');
}

TEST(nothing_where_something_is_needed)
{
    posttrain_options *o = options_of("tiny");
    posttrain_model *m = open_golden();
    posttrain_model *other = NULL;
    posttrain_trainer *t = NULL;
    collected c = {.n = 0};
    float logits[256];
    const int32_t id = 'a';
    const posttrain_status bad = POSTTRAIN_BAD_INPUT;
    CHECK_FAILS(posttrain_options_new(NULL), bad, "posttrain_options_new: out is NULL");
    CHECK_FAILS(posttrain_set_text(NULL, "isa", "base"), bad, "options is NULL");
    CHECK_FAILS(posttrain_set_text(o, NULL, "base"), bad, "name is NULL");
    CHECK_FAILS(posttrain_set_text(o, "isa", NULL), bad, "value is NULL");
    CHECK_FAILS(posttrain_set_integer(NULL, "steps", 1), bad, "options is NULL");
    CHECK_FAILS(posttrain_set_integer(o, NULL, 1), bad, "name is NULL");
    CHECK_FAILS(posttrain_set_real(NULL, "lr", 1), bad, "options is NULL");
    CHECK_FAILS(posttrain_set_real(o, NULL, 1), bad, "name is NULL");
    CHECK_FAILS(posttrain_model_open(NULL, MODEL, o), bad, "out is NULL");
    CHECK_FAILS(posttrain_model_open(&other, NULL, o), bad, "path is NULL");
    CHECK_INT(posttrain_model_fact(NULL, POSTTRAIN_STEP), -1);
    CHECK_FAILS(posttrain_generate(NULL, "x", 1, o, collect, &c), bad, "model is NULL");
    CHECK_FAILS(posttrain_generate(m, NULL, 1, o, collect, &c), bad, "prompt is NULL");
    CHECK_FAILS(posttrain_generate(m, "x", 1, o, NULL, &c), bad, "piece is NULL");
    CHECK_FAILS(posttrain_score(NULL, "xy", 2, NULL, NULL), bad, "model is NULL");
    CHECK_FAILS(posttrain_score(m, NULL, 2, NULL, NULL), bad, "text is NULL");
    CHECK_FAILS(posttrain_logits(NULL, &id, 1, logits), bad, "model is NULL");
    CHECK_FAILS(posttrain_logits(m, NULL, 1, logits), bad, "ids is NULL");
    CHECK_FAILS(posttrain_logits(m, &id, 1, NULL), bad, "logits is NULL");
    CHECK_FAILS(posttrain_trainer_new(NULL, corpus(), 6000, NULL, o), bad, "out is NULL");
    CHECK_FAILS(posttrain_trainer_new(&t, NULL, 6000, NULL, o), bad, "corpus is NULL");
    CHECK_FAILS(posttrain_trainer_poll(NULL), bad, "trainer is NULL");
    CHECK_FAILS(posttrain_trainer_run(NULL), bad, "trainer is NULL");
    posttrain_trainer_on_step(NULL, NULL, NULL);
    posttrain_trainer_stop(NULL);
    CHECK_INT(posttrain_trainer_steps(NULL), -1);
    CHECK(isnan(posttrain_trainer_loss(NULL)) && isnan(posttrain_trainer_validation_loss(NULL)));
    posttrain_model_close(m);
    posttrain_options_free(o);
}

/* ---- training ---- */

static int count_steps(void *ctx, int64_t step, double loss)
{
    int64_t *n = ctx;
    CHECK_INT(step, n[0] + 1);
    CHECK(loss > 0 && loss < 7);
    n[0] = step;
    return step == n[1]; /* n[1]: where to stop, or 0 */
}

static posttrain_options *training_options(void)
{
    posttrain_options *o = options_of("tiny");
    CHECK_INT(posttrain_set_integer(o, "steps", 6), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_integer(o, "batch", 4), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_real(o, "lr", 3e-3), POSTTRAIN_OK);
    return o;
}

TEST(training_saves_a_model_that_opens)
{
    fresh_folder();
    posttrain_options *o = training_options();
    posttrain_trainer *t = NULL;
    posttrain_model *m = NULL;
    int64_t n[2] = {0, 0};
    CHECK_INT(posttrain_set_integer(o, "save-every", 2), POSTTRAIN_OK);
    CHECK_INT(posttrain_trainer_new(&t, corpus(), 6000, in_folder("a.tinygpt"), o), POSTTRAIN_OK);
    CHECK(isnan(posttrain_trainer_validation_loss(t)));
    posttrain_trainer_on_step(t, count_steps, n);
    posttrain_status s = POSTTRAIN_PENDING;
    while (s == POSTTRAIN_PENDING) s = posttrain_trainer_poll(t);
    CHECK_INT(s, POSTTRAIN_OK);
    CHECK_INT(n[0], 6);
    CHECK_INT(posttrain_trainer_steps(t), 6);
    CHECK(posttrain_trainer_loss(t) < 5.6 && posttrain_trainer_validation_loss(t) < 5.6);
    CHECK_INT(n_entries(), 1); /* nothing half written beside it */
    double loss = 0;
    CHECK_INT(posttrain_model_open(&m, in_folder("a.tinygpt"), o), POSTTRAIN_OK);
    CHECK_INT(posttrain_model_fact(m, POSTTRAIN_STEP), 6);
    CHECK_INT(posttrain_score(m, corpus(), 500, &loss, NULL), POSTTRAIN_OK);
    CHECK(loss < 5.6);
    posttrain_model_close(m);
    posttrain_trainer_free(t);
    CHECK_FAILS(posttrain_trainer_new(&t, corpus(), 6000, in_folder("a.tinygpt"), o),
                POSTTRAIN_EXISTS, "set force");
    CHECK(t == NULL);
    CHECK_INT(posttrain_set_integer(o, "force", 1), POSTTRAIN_OK);
    CHECK_INT(posttrain_trainer_new(&t, corpus(), 6000, in_folder("a.tinygpt"), o), POSTTRAIN_OK);
    n[0] = 0, n[1] = 3;
    posttrain_trainer_on_step(t, count_steps, n);
    CHECK_INT(posttrain_trainer_run(t), POSTTRAIN_OK); /* stopped by its callback, and saved */
    CHECK_INT(posttrain_trainer_steps(t), 3);
    posttrain_trainer_free(t);
    CHECK_INT(posttrain_model_open(&m, in_folder("a.tinygpt"), NULL), POSTTRAIN_OK);
    CHECK_INT(posttrain_model_fact(m, POSTTRAIN_STEP), 3);
    posttrain_model_close(m);
    posttrain_options_free(o);
}

TEST(training_that_cannot_begin)
{
    fresh_folder();
    posttrain_options *o = training_options();
    posttrain_trainer *t = NULL;
    CHECK_FAILS(posttrain_trainer_new(&t, "short", 5, NULL, o), POSTTRAIN_BAD_INPUT, "corpus");
    CHECK_INT(posttrain_set_text(o, "dtype", "f8"), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_trainer_new(&t, corpus(), 6000, NULL, o), POSTTRAIN_BAD_INPUT, "f8");
    CHECK_INT(posttrain_set_text(o, "dtype", "f32"), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_real(o, "lr", -1), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_trainer_new(&t, corpus(), 6000, NULL, o), POSTTRAIN_BAD_INPUT, "lr is");
    CHECK(!strstr(posttrain_error(), "--")); /* that is how the program's options are written */
    CHECK_INT(posttrain_set_real(o, "lr", 3e-3), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_text(o, "schedule", "wavy"), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_trainer_new(&t, corpus(), 6000, NULL, o), POSTTRAIN_BAD_INPUT, "wavy");
    CHECK_INT(posttrain_set_text(o, "schedule", "cosine"), POSTTRAIN_OK);
    CHECK_INT(posttrain_set_integer(o, "heads", 5), POSTTRAIN_OK);
    CHECK_FAILS(posttrain_trainer_new(&t, corpus(), 6000, NULL, o), POSTTRAIN_BAD_INPUT, "heads");
    CHECK(t == NULL);
    posttrain_trainer_free(NULL);
    CHECK_INT(n_entries(), 0);
    posttrain_options_free(o);
}

TEST(a_trainer_freed_in_the_middle_leaves_nothing)
{
    fresh_folder();
    posttrain_options *o = training_options();
    posttrain_trainer *t = NULL;
    CHECK_INT(posttrain_set_integer(o, "save-every", 1), POSTTRAIN_OK);
    CHECK_INT(posttrain_trainer_new(&t, corpus(), 6000, in_folder("a.tinygpt"), o), POSTTRAIN_OK);
    while (n_entries() == 0) CHECK_INT(posttrain_trainer_poll(t), POSTTRAIN_PENDING);
    posttrain_trainer_free(t); /* while its first save is under way */
    CHECK_INT(n_entries(), 0);
    CHECK_FAILS(posttrain_trainer_new(&t, corpus(), 6000, in_folder("no/such/a"), o),
                POSTTRAIN_NOT_FOUND, "no/such");
    posttrain_options_free(o);
}

PT_TEST_MAIN
