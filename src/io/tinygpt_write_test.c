/* The .tinygpt writer: its header, its order of calls, its quantiser, its failures.
 * SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "io/test_tinygpt.h"

static const pt_tinygpt_config small = {
    .layers = 1, .heads = 2, .d_model = 4, .d_mlp = 8, .ctx = 3, .vocab = 5};

static pt_tinygpt_desc small_desc(pt_tinygpt_dtype dtype)
{
    return (pt_tinygpt_desc){
        .config = small, .dtype = dtype, .step = 7, .saved_at = "2026-11-30T03:05:40.123Z"};
}

/* A value for every element of every part, exact in f16. */
static float value_of(int64_t tensor, int part, int64_t k)
{
    return (float)((tensor * 37 + part * 11 + k * 5) % 97 - 48) / 16;
}

static void fill(const pt_tinygpt_tensor *t, int64_t tensor, int part, float *x)
{
    for (int64_t k = 0; k < t->n; k++) x[k] = value_of(tensor, part, k);
}

/* Writes the small model; untransposed tensors in pieces of `rows` rows. */
static pt_status write_small(const pt_tinygpt_desc *desc, int64_t rows, const pt_sink *sink,
                             pt_error *err)
{
    pt_tinygpt_writer *w;
    pt_status s = pt_tinygpt_writer_begin(&w, desc, sink, err);
    if (s) return s;
    float x[64];
    int last = desc->dtype == PT_TINYGPT_F32 ? PT_TINYGPT_V : PT_TINYGPT_W;
    for (int64_t i = 0; i < pt_tinygpt_n_tensors(&desc->config) && s == PT_OK; i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&desc->config, i);
        for (int part = 0; part <= last && s == PT_OK; part++) {
            fill(&t, i, part, x);
            for (int64_t r = 0, k; r < t.dim[0] && s == PT_OK; r += k) {
                k = t.transposed || !rows ? t.dim[0] : pt_min_i64(rows, t.dim[0] - r);
                s = pt_tinygpt_writer_put(w, i, (pt_tinygpt_part)part, x + r * t.dim[1], k, err);
            }
        }
    }
    if (s == PT_OK) return pt_tinygpt_writer_end(w, err);
    pt_tinygpt_writer_discard(w);
    return s;
}

static pt_tinygpt *open_text(const pt_strbuf *text)
{
    pt_tinygpt *file = NULL;
    pt_error err = {0};
    CHECK_OK(pt_tinygpt_open(&file, (const uint8_t *)text->data, (int64_t)text->len, &err), err);
    CHECK_OK(pt_tinygpt_verify(file, &err), err);
    return file;
}

TEST(what_is_put_is_read_in_pieces_of_any_size)
{
    for (int64_t rows = 0; rows <= 9; rows++) {
        pt_strbuf out = {0};
        pt_sink sink = pt_sink_to_strbuf(&out);
        pt_error err = {0};
        pt_tinygpt_desc desc = small_desc(rows % 2 ? PT_TINYGPT_F32 : PT_TINYGPT_F16);
        CHECK_OK(write_small(&desc, rows, &sink, &err), err);
        pt_tinygpt *file = open_text(&out);
        const pt_tinygpt_info *info = pt_tinygpt_get(file);
        CHECK_INT(info->step, 7);
        CHECK_INT(info->dtype, desc.dtype);
        CHECK_INT(info->config.vocab, 5);
        CHECK_INT(info->config.heads, 2);
        for (int64_t i = 0; i < info->n_tensors; i++)
            for (int part = 0; part < 3; part++) {
                pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&small, i);
                float x[64];
                CHECK_OK(pt_tinygpt_read(file, i, (pt_tinygpt_part)part, x, &err), err);
                bool zero = part && desc.dtype != PT_TINYGPT_F32;
                for (int64_t k = 0; k < t.n; k++) CHECK(x[k] == (zero ? 0 : value_of(i, part, k)));
            }
        pt_tinygpt_close(file);
        pt_strbuf_deinit(&out);
    }
}

/* ---- header ---- */

static void check_header(const pt_tinygpt_desc *desc, const char *want)
{
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_error err = {0};
    CHECK_OK(write_small(desc, 0, &sink, &err), err);
    pt_tinygpt *file = open_text(&out);
    char header[8192];
    int64_t n = pt_tinygpt_get(file)->header_bytes;
    CHECK(n < (int64_t)sizeof header);
    memcpy(header, out.data + 12, (size_t)n);
    header[n] = 0;
    /* the manifest has its own tests; the checksum is not known beforehand */
    char *manifest = strstr(header, "\"manifest\":["), *end = strstr(header, "],\"includes");
    CHECK(manifest && end);
    memmove(manifest + 12, end, strlen(end) + 1);
    char *crc = strstr(header, "bodyCrc32c\":\"");
    CHECK(crc);
    memcpy(crc + 13, "xxxxxxxx", 8);
    CHECK_STR(header, want);
    pt_tinygpt_close(file);
    pt_strbuf_deinit(&out);
}

TEST(the_least_header)
{
    pt_tinygpt_desc desc = small_desc(PT_TINYGPT_INT4);
    check_header(
        &desc, "{\"version\":2,\"savedAt\":\"2026-11-30T03:05:40.123Z\",\"config\":{\"ctx\":3,"
               "\"layers\":1,\"heads\":2,\"dModel\":4,\"dMlp\":8,\"vocabSize\":5},\"manifest\":[],"
               "\"includesOptimizerState\":false,\"stateByteLength\":684,\"lossHistory\":[],"
               "\"finalLoss\":null,\"sample\":\"\",\"bestVal\":null,"
               "\"project\":\"https://github.com/PostTrainLLM/posttrainllm\","
               "\"weightDtype\":\"int4\",\"int4BlockSize\":64,\"int4ScalesBytes\":40,"
               "\"int4PackedBytes\":640,\"posttrain\":{\"bodyCrc32c\":\"xxxxxxxx\"}}");
}

TEST(a_full_header)
{
    pt_arena arena = {0};
    pt_error err = {0};
    const char own[] = "{\"version\":\"0.1.0\",\"bodyCrc32c\":\"no\",\"n\":18446744073709551615}";
    const pt_json *posttrain;
    CHECK_OK(pt_json_parse(own, strlen(own), &arena, &posttrain, &err), err);
    pt_tinygpt_run run = {.batch_size = 16,
                          .max_steps = 300,
                          .eval_every = 50,
                          .learning_rate = 3e-4,
                          .grad_clip = 1,
                          .seed = UINT64_MAX,
                          .backend = "cpu"};
    pt_tinygpt_loss history[] = {{0, 5.53273964, 5.53296}, {56, 2.95264244, PT_NAN}};
    pt_tinygpt_loss final = {300, 2.4247450828552246, PT_NAN}, best = {256, 9, 2.5};
    pt_tinygpt_desc desc = small_desc(PT_TINYGPT_F32);
    desc.run = &run;
    desc.corpus = "caf\xc3\xa9\n\"q\"";
    desc.corpus_len = strlen(desc.corpus);
    desc.history = history;
    desc.n_history = 2;
    desc.final_loss = &final;
    desc.best_val = &best;
    desc.sample = "so\tit";
    desc.posttrain = posttrain;
    static const char want[] =
        "{\"version\":2,\"savedAt\":\"2026-11-30T03:05:40.123Z\",\"config\":{\"ctx\":3,"
        "\"layers\":1,\"heads\":2,\"dModel\":4,\"dMlp\":8,\"batchSize\":16,"
        "\"learningRate\":0.0003,\"gradClip\":1,\"maxSteps\":300,\"evalEvery\":50,"
        "\"seed\":18446744073709551615,\"backend\":\"cpu\",\"vocabSize\":5},"
        "\"corpus\":\"caf\xc3\xa9\\n\\\"q\\\"\",\"manifest\":[],\"includesOptimizerState\":true,"
        "\"stateByteLength\":2548,\"lossHistory\":[{\"step\":0,\"train\":5.5327,\"val\":5.533},"
        "{\"step\":56,\"train\":2.9526,\"val\":null}],\"finalLoss\":{\"step\":300,"
        "\"train\":2.4247450828552246,\"val\":null},\"sample\":\"so\\tit\","
        "\"bestVal\":{\"loss\":2.5,\"step\":256},"
        "\"project\":\"https://github.com/PostTrainLLM/posttrainllm\","
        "\"posttrain\":{\"version\":\"0.1.0\",\"n\":18446744073709551615,"
        "\"bodyCrc32c\":\"xxxxxxxx\"}}";
    check_header(&desc, want);
    check_header(&desc, want);
    pt_arena_deinit(&arena);
}

/* Keys that we do not know stay where they are, also inside config and posttrain; the two keys with
 * a NUL cannot be told from others and go. */
TEST(a_header_passed_through)
{
    pt_arena arena = {0};
    pt_error err = {0};
    const char old[] =
        "{\"a\":[1e2],\"posttrain\":{\"x\":1,\"version\":\"0\",\"bodyCrc32c\":\"00000000\"},"
        "\"config\":{\"heads\":2,\"b\":-0,\"seed\":1,\"ctx\":3,\"layers\":1,\"dModel\":4,"
        "\"vocabSize\":5,\"c\\u0000\":1},\"savedAt\":\"then\",\"corpus\":\"old\","
        "\"weightDtype\":\"fp16\",\"a\\u0000\":2,\"project\":\"mine\",\"sample\":\"s\","
        "\"bestVal\":7}";
    const char own[] = "{\"version\":\"0.1.0\",\"n\":18446744073709551615}";
    const pt_json *from, *posttrain;
    CHECK_OK(pt_json_parse(old, strlen(old), &arena, &from, &err), err);
    CHECK_OK(pt_json_parse(own, strlen(own), &arena, &posttrain, &err), err);
    pt_tinygpt_desc desc = {.config = small, .from = from, .posttrain = posttrain, .step = 1};
    pt_tinygpt_writer *w;
    pt_sink none = {0};
    CHECK_INT(pt_tinygpt_writer_begin(&w, &desc, &none, &err), PT_BAD_INPUT);
    CHECK(!w && strstr(err.message, "another shape"));
    desc.config.d_mlp = 16; /* four times dModel, where config says nothing */
    check_header(&desc, "{\"a\":[1e2],\"config\":{\"heads\":2,\"b\":-0,\"seed\":1,\"ctx\":3,"
                        "\"layers\":1,\"dModel\":4,\"vocabSize\":5,\"dMlp\":16},"
                        "\"savedAt\":\"then\",\"corpus\":\"old\",\"weightDtype\":\"fp32\","
                        "\"project\":\"mine\",\"sample\":\"s\",\"bestVal\":7,\"version\":2,"
                        "\"manifest\":[],\"includesOptimizerState\":true,"
                        "\"stateByteLength\":3412,\"lossHistory\":[],\"finalLoss\":null,"
                        "\"posttrain\":{\"x\":1,\"version\":\"0.1.0\","
                        "\"n\":18446744073709551615,\"bodyCrc32c\":\"xxxxxxxx\"}}");
    pt_tinygpt_run run = {.seed = 2, .backend = "ref"};
    pt_tinygpt_loss best = {4, 0, 1.5};
    desc.run = &run;
    desc.posttrain = NULL;
    desc.drop_corpus = true;
    desc.saved_at = "now";
    desc.converted_from = "x.tinygpt";
    desc.sample = "";
    desc.best_val = &best;
    check_header(&desc, "{\"a\":[1e2],\"config\":{\"heads\":2,\"b\":-0,\"seed\":2,\"ctx\":3,"
                        "\"layers\":1,\"dModel\":4,\"vocabSize\":5,\"dMlp\":16,"
                        "\"batchSize\":0,\"learningRate\":0,\"gradClip\":0,\"maxSteps\":0,"
                        "\"evalEvery\":0,\"backend\":\"ref\"},\"savedAt\":\"now\","
                        "\"weightDtype\":\"fp32\",\"project\":\"mine\",\"sample\":\"\","
                        "\"bestVal\":{\"loss\":1.5,\"step\":4},\"version\":2,\"manifest\":[],"
                        "\"includesOptimizerState\":true,\"stateByteLength\":3412,"
                        "\"lossHistory\":[],\"finalLoss\":null,"
                        "\"sourceConvertedFrom\":\"x.tinygpt\",\"convertedAt\":\"now\","
                        "\"posttrain\":{\"x\":1,\"version\":\"0\",\"bodyCrc32c\":\"xxxxxxxx\"}}");
    pt_arena_deinit(&arena);
}

static const pt_json *header_of(const pt_tinygpt_desc *desc, pt_tinygpt **file, pt_strbuf *out)
{
    pt_sink sink = pt_sink_to_strbuf(out);
    pt_error err = {0};
    CHECK_OK(write_small(desc, 0, &sink, &err), err);
    *file = open_text(out);
    return pt_tinygpt_get(*file)->header;
}

/* At most 512 points as they are; above that every ceil(n/512)-th, and the last. */
TEST(long_histories_are_thinned)
{
    static const int64_t counts[][2] = {{1, 1},      {512, 512},  {513, 257},  {514, 258},
                                        {1024, 512}, {1025, 342}, {1023, 512}, {5000, 500}};
    static pt_tinygpt_loss history[5000];
    for (int64_t i = 0; i < 5000; i++) history[i] = (pt_tinygpt_loss){i * 10, (double)i, PT_NAN};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        int64_t n = counts[c][0], stride = n > 512 ? (n + 511) / 512 : 1, at = 0, last = -1;
        pt_tinygpt_desc desc = small_desc(PT_TINYGPT_F16);
        desc.history = history;
        desc.n_history = n;
        pt_tinygpt *file;
        pt_strbuf out = {0};
        const pt_json *points = pt_json_get(header_of(&desc, &file, &out), "lossHistory");
        CHECK_INT(points->n_children, (n + stride - 1) / stride + ((n - 1) % stride != 0));
        CHECK_INT((n + stride - 1) / stride, counts[c][1] - (n == 514));
        for (const pt_json *p = points->child; p; p = p->next, at += stride) {
            CHECK(pt_json_get_i64(p, "step", &last));
            CHECK_INT(last, 10 * pt_min_i64(at, n - 1));
        }
        CHECK_INT(last, 10 * (n - 1));
        pt_tinygpt_close(file);
        pt_strbuf_deinit(&out);
    }
}

/* 320 UTF-16 units: characters beyond U+FFFF count twice and are not cut in half. */
TEST(samples_are_cut)
{
    static char text[2000];
    for (int lead = 0; lead < 2; lead++)
        for (int kind = 1; kind <= 4; kind++) {
            static const char *const chars[] = {"", "x", "\xc3\xa9", "\xe6\x97\xa5",
                                                "\xf0\x9f\x8e\xb2"};
            text[0] = 'a';
            for (int i = 0; i < 400; i++) memcpy(text + lead + i * kind, chars[kind], (size_t)kind);
            text[lead + 400 * kind] = 0;
            pt_tinygpt_desc desc = small_desc(PT_TINYGPT_F16);
            desc.sample = text;
            pt_tinygpt *file;
            pt_strbuf out = {0};
            const pt_json *sample = pt_json_get(header_of(&desc, &file, &out), "sample");
            int n = kind == 4 ? (320 - lead) / 2 : 320 - lead;
            CHECK_INT(sample->text_len, lead + n * kind);
            CHECK(memcmp(sample->text, text, sample->text_len) == 0);
            pt_tinygpt_close(file);
            pt_strbuf_deinit(&out);
        }
}

/* ---- what the writer refuses ---- */

static void refuse(const pt_tinygpt_desc *desc, const char *words)
{
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_error err = {0};
    pt_tinygpt_writer *w;
    CHECK_INT(pt_tinygpt_writer_begin(&w, desc, &sink, &err), PT_BAD_INPUT);
    CHECK(!w && out.len == 0);
    CHECK(strstr(err.message, words));
}

TEST(descriptions_that_are_refused)
{
    pt_tinygpt_desc desc = small_desc(PT_TINYGPT_F32_WEIGHTS);
    refuse(&desc, "f32 weights");
    desc = small_desc(PT_TINYGPT_F32);
    desc.step = -1;
    refuse(&desc, "step is -1");
    desc.step = (int64_t)1 << 31;
    refuse(&desc, "step is 2147483648");
    desc = small_desc(PT_TINYGPT_F32);
    desc.saved_at = NULL;
    refuse(&desc, "date");
    desc = small_desc(PT_TINYGPT_F32);
    desc.config.layers = 0;
    refuse(&desc, "layers is 0");
}

TEST(tensors_out_of_order_are_refused)
{
    static const struct {
        int64_t index;
        int part;
        int64_t rows;
        const char *words;
    } bad[] = {
        {1, 0, 3, "token_embedding.weight) is due"},
        {0, 1, 5, "token_embedding.weight) is due"},
        {-1, 0, 5, "is due"},
        {INT64_MAX, 0, 5, "is due"},
        {0, 0, 6, "6 rows come where 5 are due"},
        {0, 0, -1, "-1 rows"},
        {0, 0, INT64_MAX, "rows come"},
    };
    static const float x[64];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pt_strbuf out = {0};
        pt_sink sink = pt_sink_to_strbuf(&out);
        pt_error err = {0};
        pt_tinygpt_desc desc = small_desc(PT_TINYGPT_F32);
        pt_tinygpt_writer *w;
        CHECK_OK(pt_tinygpt_writer_begin(&w, &desc, &sink, &err), err);
        pt_tinygpt_part part = (pt_tinygpt_part)bad[i].part;
        CHECK_INT(pt_tinygpt_writer_put(w, bad[i].index, part, x, bad[i].rows, &err), PT_BAD_INPUT);
        CHECK(strstr(err.message, bad[i].words));
        CHECK_INT(pt_tinygpt_writer_put(w, 0, PT_TINYGPT_W, x, 5, NULL), PT_BAD_INPUT);
        CHECK_INT(pt_tinygpt_writer_end(w, NULL), PT_BAD_INPUT);
        pt_strbuf_deinit(&out);
    }
}

TEST(a_transposed_tensor_comes_whole_and_nothing_after_the_last)
{
    static const float x[64];
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_error err = {0};
    pt_tinygpt_desc desc = small_desc(PT_TINYGPT_F16);
    pt_tinygpt_writer *w;
    CHECK_OK(pt_tinygpt_writer_begin(&w, &desc, &sink, &err), err);
    for (int64_t i = 0; i < 6; i++) {
        int64_t rows = pt_tinygpt_tensor_at(&small, i).dim[0];
        CHECK_OK(pt_tinygpt_writer_put(w, i, PT_TINYGPT_W, NULL, rows, &err), err);
    }
    CHECK_INT(pt_tinygpt_writer_put(w, 6, PT_TINYGPT_W, x, 2, &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "blocks.0.attn.q_proj.weight: 2 rows come where 4 are due"));
    pt_tinygpt_writer_discard(w);
    pt_tinygpt_writer_discard(NULL);
    pt_strbuf_clear(&out);
    err = (pt_error){0};
    CHECK_OK(pt_tinygpt_writer_begin(&w, &desc, &sink, &err), err);
    for (int64_t i = 0; i < 20; i++) {
        int64_t rows = pt_tinygpt_tensor_at(&small, i).dim[0];
        CHECK_OK(pt_tinygpt_writer_put(w, i, PT_TINYGPT_W, NULL, rows, &err), err);
    }
    CHECK_INT(pt_tinygpt_writer_put(w, 20, PT_TINYGPT_W, x, 1, &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "after the last"));
    CHECK_INT(pt_tinygpt_writer_end(w, NULL), PT_BAD_INPUT);
    pt_strbuf_deinit(&out);
}

/* A number of one tensor as it comes back from another dtype. */
static pt_status through(pt_tinygpt_dtype dtype, const float *x, float *back, pt_error *err)
{
    pt_tinygpt_config config = small;
    config.d_model = 64;
    config.vocab = 1;
    pt_tinygpt_desc desc = small_desc(dtype);
    desc.config = config;
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_tinygpt_writer *w;
    CHECK_OK(pt_tinygpt_writer_begin(&w, &desc, &sink, err), *err);
    pt_status s = pt_tinygpt_writer_put(w, 0, PT_TINYGPT_W, x, 1, err);
    for (int64_t i = 1; i < 20 && s == PT_OK; i++)
        s = pt_tinygpt_writer_put(w, i, PT_TINYGPT_W, NULL, pt_tinygpt_tensor_at(&config, i).dim[0],
                                  err);
    if (s) {
        pt_tinygpt_writer_discard(w);
        pt_strbuf_deinit(&out);
        return s;
    }
    CHECK_OK(pt_tinygpt_writer_end(w, err), *err);
    pt_tinygpt *file = open_text(&out);
    CHECK_OK(pt_tinygpt_read(file, 0, PT_TINYGPT_W, back, err), *err);
    pt_tinygpt_close(file);
    pt_strbuf_deinit(&out);
    return s;
}

TEST(numbers_that_do_not_fit_are_refused)
{
    float x[64] = {0}, back[64];
    pt_error err = {0};
    x[3] = 65519.99f; /* rounds to the largest half */
    CHECK_OK(through(PT_TINYGPT_F16, x, back, &err), err);
    CHECK(back[3] == 65504);
    x[3] = -65520;
    CHECK_INT(through(PT_TINYGPT_F16, x, back, &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "token_embedding.weight holds -65520, too large for f16"));
    err = (pt_error){0};
    x[3] = (float)PT_INF; /* a half can say that, and so the file does */
    CHECK_OK(through(PT_TINYGPT_F16, x, back, &err), err);
    CHECK(back[3] == (float)PT_INF);
    CHECK_INT(through(PT_TINYGPT_INT4, x, back, NULL), PT_BAD_INPUT);
    x[3] = (float)PT_NAN;
    CHECK_INT(through(PT_TINYGPT_INT4, x, back, NULL), PT_BAD_INPUT);
    x[3] = 70000; /* seven times a half */
    CHECK_OK(through(PT_TINYGPT_INT4, x, back, &err), err);
    CHECK(back[3] == 70000);
    x[3] = 70001;
    CHECK_INT(through(PT_TINYGPT_INT4, x, back, &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "70001"));
}

/* ---- int4 ---- */

/* The half nearest to x >= 0, ties away from zero, by looking for it. */
static double nearest_half(double x)
{
    double best = 0;
    for (uint16_t h = 1; h < 0x7c00; h++) {
        double value = (double)pt_float_from_half(h);
        if (pt_fabs(value - x) <= pt_fabs(best - x)) best = value;
    }
    return best;
}

static void check_block(const float *x)
{
    float got[64], again[64];
    double most = 0;
    pt_error err = {0};
    CHECK_OK(through(PT_TINYGPT_INT4, x, got, &err), err);
    for (int i = 0; i < 64; i++) {
        double half = pt_fabs((double)pt_float_from_half(pt_half_from_float(x[i])));
        if (half > most) most = half;
    }
    double stored = nearest_half((double)(float)(most / 7));
    for (int i = 0; i < 64; i++) {
        double scaled = (double)pt_float_from_half(pt_half_from_float(x[i])) * (1 / (most / 7));
        double q = most > 0 ? pt_floor(scaled + 0.5) : 0;
        CHECK(got[i] == (float)(q * stored));
    }
    CHECK_OK(through(PT_TINYGPT_INT4, got, again, &err), err);
    for (int i = 0; i < 64; i++) CHECK(again[i] == got[i]);
}

TEST(the_quantiser_is_the_originals)
{
    float x[64];
    uint32_t r = 1;
    for (int round = 0; round < 40; round++) {
        float size = round < 30 ? 1.0f / (float)(1 << round) : (float)(1 << (round - 28));
        for (int i = 0; i < 64; i++) {
            r = r * 1664525u + 1013904223u;
            x[i] = ((float)(r >> 8) / 8388608.0f - 1.0f) * size;
        }
        check_block(x);
    }
    for (int i = 0; i < 64; i++) x[i] = (float)(i % 15 - 7) / 2; /* exact halves between steps */
    x[0] = 7;
    check_block(x);
    memset(x, 0, sizeof x);
    check_block(x);
    x[63] = 65504;
    x[62] = -65504;
    check_block(x);
}

/* Blocks that are multiples of a scale, which rounding to f16 would spoil. */
TEST(quantised_blocks_stay_as_they_are)
{
    float x[64], got[64];
    pt_error err = {0};
    for (uint16_t h = 1; h < 0x7000; h += 333) {
        for (int i = 0; i < 64; i++) x[i] = (float)(i % 15 - 7) * pt_float_from_half(h);
        CHECK_OK(through(PT_TINYGPT_INT4, x, got, &err), err);
        for (int i = 0; i < 64; i++) CHECK(got[i] == x[i]);
    }
}

/* ---- failures below ---- */

typedef struct failing {
    pt_strbuf out;
    int64_t left; /* calls until one fails */
} failing;

static pt_status failing_write(void *ctx, const void *bytes, int64_t n, pt_error *err)
{
    failing *f = ctx;
    if (f->left-- == 0) return pt_fail(err, PT_IO, "no more");
    pt_strbuf_append(&f->out, bytes, (size_t)n);
    return PT_OK;
}

static pt_status failing_patch(void *ctx, int64_t offset, const void *bytes, int64_t n,
                               pt_error *err)
{
    failing *f = ctx;
    if (f->left-- == 0) return pt_fail(err, PT_IO, "no more");
    CHECK(offset >= 0 && offset + n <= (int64_t)f->out.len);
    memcpy(f->out.data + offset, bytes, (size_t)n);
    return PT_OK;
}

TEST(a_failing_sink_is_reported)
{
    pt_tinygpt_desc desc = small_desc(PT_TINYGPT_F32);
    int64_t calls = 0;
    for (pt_status s = PT_IO; s != PT_OK; calls++) {
        failing f = {.left = calls};
        pt_sink sink = {.write = failing_write, .patch = failing_patch, .ctx = &f};
        pt_error err = {0};
        s = write_small(&desc, 1, &sink, &err);
        CHECK(s == PT_OK || s == PT_IO);
        if (s == PT_OK) pt_tinygpt_close(open_text(&f.out));
        pt_strbuf_deinit(&f.out);
    }
    CHECK_INT(calls, 5); /* prefix, header, body, patch, none */
}

TEST(no_memory_is_reported)
{
    static const pt_tinygpt_dtype dtypes[] = {PT_TINYGPT_F32, PT_TINYGPT_F16, PT_TINYGPT_INT4};
    for (int d = 0; d < 3; d++) {
        pt_tinygpt_desc desc = small_desc(dtypes[d]);
        int64_t nth = 1;
        for (pt_status s = PT_NO_MEMORY; s != PT_OK; nth++) {
            pt_strbuf out = {0};
            pt_sink sink = pt_sink_to_strbuf(&out);
            pt_alloc_fail_after(nth);
            s = write_small(&desc, 2, &sink, NULL);
            pt_alloc_fail_after(0);
            CHECK(s == PT_OK || s == PT_NO_MEMORY);
            pt_strbuf_deinit(&out);
        }
        CHECK(nth > 5);
        pt_strbuf out = {0};
        pt_sink sink = pt_sink_to_strbuf(&out);
        CHECK_INT(write_small(&desc, 2, &sink, NULL), PT_OK);
        nth = 1;
        for (pt_status s = PT_NO_MEMORY; s != PT_OK; nth++) {
            pt_tinygpt *file;
            pt_alloc_fail_after(nth);
            s = pt_tinygpt_open(&file, (uint8_t *)out.data, (int64_t)out.len, NULL);
            pt_alloc_fail_after(0);
            CHECK(s == PT_OK ? file != NULL : s == PT_NO_MEMORY && !file);
            pt_tinygpt_close(file);
        }
        CHECK(nth > 3);
        pt_strbuf_deinit(&out);
    }
}

PT_TEST_MAIN
