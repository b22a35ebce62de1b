/* The .tinygpt reader against files that are wrong: cut anywhere, every field of the header changed,
 * numbers of every size. SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "io/test_tinygpt.h"

enum { MAX_FILE = 16384 };

/* A file is written from a header text and a number of body bytes. */
typedef struct hostile {
    uint8_t bytes[MAX_FILE];
    int64_t size;
} hostile;

static void put_u32(uint8_t *at, uint32_t v) { memcpy(at, &v, 4); }

static void build(hostile *h, const char *header, int64_t body_bytes)
{
    size_t n = strlen(header);
    h->size = 12 + (int64_t)n + body_bytes;
    CHECK(h->size <= MAX_FILE);
    memset(h->bytes, 0, sizeof h->bytes);
    memcpy(h->bytes, "TGPT", 4);
    put_u32(h->bytes + 4, 2);
    put_u32(h->bytes + 8, (uint32_t)n);
    memcpy(h->bytes + 12, header, n);
}

/* Opened from a block of exactly its size, so that a sanitizer sees every step beyond. */
static pt_status open_exact(const uint8_t *bytes, int64_t size, pt_tinygpt_info *info,
                            pt_error *err)
{
    uint8_t *copy = malloc((size_t)size + (size == 0));
    memcpy(copy, bytes, (size_t)size);
    pt_tinygpt *file;
    pt_status s = pt_tinygpt_open(&file, copy, size, err);
    CHECK((s == PT_OK) == (file != NULL));
    if (s == PT_OK) {
        if (info) *info = *pt_tinygpt_get(file);
        for (int64_t i = 0; i < pt_tinygpt_get(file)->n_tensors; i++) {
            pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&pt_tinygpt_get(file)->config, i);
            float *x = malloc((size_t)t.n * sizeof *x);
            for (int part = 0; part < 3; part++)
                CHECK_OK(pt_tinygpt_read(file, i, (pt_tinygpt_part)part, x, err), *err);
            free(x);
        }
    }
    pt_tinygpt_close(file);
    free(copy);
    return s;
}

#define CONFIG "\"ctx\":3,\"layers\":1,\"heads\":2,\"dModel\":4,\"vocabSize\":5,\"dMlp\":8"
#define N 212 /* parameters of CONFIG */

static void accept(const char *header, int64_t body, pt_tinygpt_dtype dtype)
{
    static hostile h;
    pt_error err = {0};
    pt_tinygpt_info info = {0};
    build(&h, header, body);
    CHECK_OK(open_exact(h.bytes, h.size, &info, &err), err);
    CHECK_INT(info.dtype, dtype);
}

static void refuse(const char *header, int64_t body, pt_status status, const char *words)
{
    static hostile h;
    pt_error err = {0};
    build(&h, header, body);
    pt_status s = open_exact(h.bytes, h.size, NULL, &err);
    if (s != status || !strstr(err.message, words))
        printf("%s\n  gives %s: %s\n  not %s\n", header, pt_status_name(s), err.message, words);
    CHECK_INT(s, status);
    CHECK(strstr(err.message, words));
}

TEST(layouts_by_their_words)
{
    accept("{\"config\":{" CONFIG "}}", 4 + 12 * N, PT_TINYGPT_F32);
    accept("{\"config\":{" CONFIG "},\"weightDtype\":\"fp32\"}", 4 + 12 * N, PT_TINYGPT_F32);
    accept("{\"config\":{" CONFIG "},\"weightDtype\":null,\"includesOptimizerState\":null}",
           4 + 12 * N, PT_TINYGPT_F32);
    accept("{\"config\":{" CONFIG "},\"includesOptimizerState\":false}", 4 + 4 * N,
           PT_TINYGPT_F32_WEIGHTS);
    accept("{\"config\":{" CONFIG "},\"includesOptimizerState\":false}", 4 + 2 * N, PT_TINYGPT_F16);
    accept("{\"config\":{" CONFIG "},\"weightDtype\":\"FP16\"}", 4 + 2 * N, PT_TINYGPT_F16);
    accept("{\"config\":{" CONFIG "},\"weightDtype\":\"int4\",\"includesOptimizerState\":false}",
           4 + 34 * 20, PT_TINYGPT_INT4);
    refuse("{\"config\":{" CONFIG "},\"weightDtype\":\"fp32\",\"includesOptimizerState\":false}",
           4 + 2 * N, PT_CORRUPT, "f32 weights body of 212 parameters has 852");
    refuse("{\"config\":{" CONFIG "},\"weightDtype\":\"fp16\",\"includesOptimizerState\":true}",
           4 + 2 * N, PT_CORRUPT, "includesOptimizerState is true");
    refuse("{\"config\":{" CONFIG "},\"weightDtype\":\"bf16\"}", 4 + 2 * N, PT_UNSUPPORTED,
           "weightDtype is bf16");
    refuse("{\"config\":{" CONFIG "},\"weightDtype\":4}", 4 + 2 * N, PT_UNSUPPORTED,
           "weightDtype is 4");
    refuse("{\"config\":{" CONFIG "},\"includesOptimizerState\":\"no\"}", 4 + 2 * N, PT_CORRUPT,
           "includesOptimizerState is no");
}

TEST(sizes_of_the_body)
{
    static const int64_t off[] = {-4 - 12 * N, -12 * N, -1, 1, 4, 100};
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        refuse("{\"config\":{" CONFIG "}}", 4 + 12 * N + off[i], PT_CORRUPT,
               off[i] == -4 - 12 * N ? "cut short"
               : off[i] < 0          ? "cut short"
                                     : "too long");
    refuse("{\"config\":{" CONFIG "},\"stateByteLength\":2547}", 4 + 12 * N, PT_CORRUPT,
           "stateByteLength is 2547; this model's is 2548");
    refuse("{\"config\":{" CONFIG "},\"stateByteLength\":\"2548\"}", 4 + 12 * N, PT_CORRUPT,
           "stateByteLength");
    accept("{\"config\":{" CONFIG "},\"stateByteLength\":2548.0}", 4 + 12 * N, PT_TINYGPT_F32);
    refuse("{\"config\":{" CONFIG "},\"weightDtype\":\"int4\",\"int4BlockSize\":32}", 4 + 34 * 20,
           PT_CORRUPT, "int4BlockSize is 32; this model's is 64");
    refuse("{\"config\":{" CONFIG "},\"weightDtype\":\"int4\",\"int4ScalesBytes\":41}", 4 + 34 * 20,
           PT_CORRUPT, "int4ScalesBytes is 41");
    refuse("{\"config\":{" CONFIG "},\"weightDtype\":\"int4\",\"int4PackedBytes\":-640}",
           4 + 34 * 20, PT_CORRUPT, "int4PackedBytes is -640");
}

TEST(configurations)
{
    static const struct {
        const char *config;
        pt_status status;
        const char *words;
    } bad[] = {
        {"", PT_CORRUPT, "config.ctx is missing"},
        {"\"ctx\":null,\"layers\":1,\"heads\":2,\"dModel\":4", PT_CORRUPT, "config.ctx is missing"},
        {"\"ctx\":3,\"layers\":1,\"dModel\":4", PT_CORRUPT, "config.heads is missing"},
        {"\"ctx\":3,\"layers\":1,\"heads\":3,\"dModel\":4", PT_CORRUPT, "does not divide dModel 4"},
        {"\"ctx\":0,\"layers\":1,\"heads\":2,\"dModel\":4", PT_CORRUPT, "config.ctx is 0"},
        {"\"ctx\":3,\"layers\":-1,\"heads\":2,\"dModel\":4", PT_CORRUPT, "config.layers is -1"},
        {"\"ctx\":3,\"layers\":1025,\"heads\":2,\"dModel\":4", PT_CORRUPT, "layers is 1025"},
        {"\"ctx\":3,\"layers\":1.5,\"heads\":2,\"dModel\":4", PT_CORRUPT, "layers is 1.5"},
        {"\"ctx\":3,\"layers\":1e99,\"heads\":2,\"dModel\":4", PT_CORRUPT, "layers is 1e99"},
        {"\"ctx\":3,\"layers\":1e999,\"heads\":2,\"dModel\":4", PT_CORRUPT, "layers is 1e999"},
        {"\"ctx\":3,\"layers\":\"1\",\"heads\":2,\"dModel\":4", PT_CORRUPT, "layers is 1;"},
        {"\"ctx\":3,\"layers\":[1],\"heads\":2,\"dModel\":4", PT_CORRUPT, "layers is an array"},
        {"\"ctx\":3,\"layers\":1,\"heads\":2,\"dModel\":9223372036854775807", PT_CORRUPT,
         "config.dModel is 9223372036854775807"},
        {"\"ctx\":3,\"layers\":1,\"heads\":2,\"dModel\":9223372036854775808", PT_CORRUPT,
         "config.dModel is 9223372036854775808"},
        {"\"ctx\":3,\"layers\":1,\"heads\":2,\"dModel\":4,\"dMlp\":0", PT_CORRUPT, "dMlp is 0"},
        {"\"ctx\":3,\"layers\":1,\"heads\":2,\"dModel\":4,\"vocabSize\":-5", PT_CORRUPT,
         "vocabSize is -5"},
        {CONFIG ",\"nExperts\":4", PT_UNSUPPORTED, "config.nExperts is 4"},
        {CONFIG ",\"useMoD\":true", PT_UNSUPPORTED, "config.useMoD is true"},
        {CONFIG ",\"useDifferentialAttention\":true", PT_UNSUPPORTED, "useDifferentialAttention"},
        {CONFIG ",\"useEmbeddingRMSNorm\":true", PT_UNSUPPORTED, "useEmbeddingRMSNorm"},
        {CONFIG ",\"useYOCO\":1", PT_UNSUPPORTED, "useYOCO"},
        {CONFIG ",\"useDeepNorm\":{}", PT_UNSUPPORTED, "useDeepNorm is an object"},
        {CONFIG ",\"slidingWindow\":16", PT_UNSUPPORTED, "slidingWindow"},
        {CONFIG ",\"tokenizerSource\":\"bpe/\\u001b[2Jtokenizer.json\"", PT_UNSUPPORTED,
         "tokenizerSource is bpe/·[2Jtokenizer.json"},
        {CONFIG ",\"ctx\":3", PT_CORRUPT, "ctx"}, /* twice */
    };
    char header[512];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(header, sizeof header, "{\"config\":{%s}}", bad[i].config);
        refuse(header, 4 + 12 * N, bad[i].status, bad[i].words);
    }
    refuse("{}", 4 + 12 * N, PT_CORRUPT, "config is absent");
    refuse("{\"config\":[]}", 4 + 12 * N, PT_CORRUPT, "config is an array");
    refuse("[]", 4 + 12 * N, PT_CORRUPT, "it is an array");
    refuse("7", 4 + 12 * N, PT_CORRUPT, "it is 7");
    accept("{\"config\":{" CONFIG ",\"nExperts\":0,\"useMoD\":false,\"slidingWindow\":null,"
           "\"tokenizerSource\":\"byte\",\"kviBits\":8,\"backend\":\"mlx-swift\"}}",
           4 + 12 * N, PT_TINYGPT_F32);
}

/* A model at the bounds must fail by its size, not by allocating. */
TEST(the_largest_model_of_an_empty_file)
{
    int64_t calls = pt_alloc_count();
    refuse("{\"config\":{\"ctx\":1048576,\"layers\":1024,\"heads\":1,\"dModel\":65536,"
           "\"dMlp\":262144,\"vocabSize\":4194304}}",
           4, PT_CORRUPT, "the body has 4 bytes");
    CHECK(pt_alloc_count() - calls <= 4);
}

TEST(headers_that_are_not_json)
{
    refuse("", 4 + 12 * N, PT_CORRUPT, "header: ");
    refuse("{\"config\":{" CONFIG "}", 4 + 12 * N, PT_CORRUPT, "header: ");
    refuse("{\"config\":{" CONFIG "}}}", 4 + 12 * N, PT_CORRUPT, "header: ");
    refuse("{\"config\":{" CONFIG "},\"x\":NaN}", 4 + 12 * N, PT_CORRUPT, "header: ");
    refuse("{\"config\":{" CONFIG "},\"x\":Infinity}", 4 + 12 * N, PT_CORRUPT, "header: ");
    refuse("{\"config\":{" CONFIG "},\"corpus\":\"\xff\"}", 4 + 12 * N, PT_CORRUPT, "header: ");
    refuse("{\"config\":{" CONFIG "},\"corpus\":\"\xc3\"}", 4 + 12 * N, PT_CORRUPT, "header: ");
}

/* ---- manifest ---- */

static const char *manifest(const char *from, const char *to)
{
    static char text[MAX_FILE];
    static const pt_tinygpt_config c = {
        .layers = 1, .heads = 2, .d_model = 4, .d_mlp = 8, .ctx = 3, .vocab = 5};
    int n = snprintf(text, sizeof text, "{\"config\":{" CONFIG "},\"manifest\":[");
    for (int64_t i = 0; i < 20; i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&c, i);
        n += snprintf(text + n, sizeof text - (size_t)n, "%s{\"name\":\"%s\",\"shape\":[%d",
                      i ? "," : "", t.name, (int)t.dim[0]);
        if (t.rank == 2) n += snprintf(text + n, sizeof text - (size_t)n, ",%d", (int)t.dim[1]);
        n += snprintf(text + n, sizeof text - (size_t)n, "],\"floatOffset\":%d}", (int)t.offset);
    }
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    char *at = strstr(text, from);
    CHECK(at);
    static char tail[MAX_FILE];
    snprintf(tail, sizeof tail, "%s", at + strlen(from));
    snprintf(at, sizeof text - (size_t)(at - text), "%s%s", to, tail);
    return text;
}

TEST(manifests)
{
    accept(manifest("[{", "[{"), 4 + 12 * N, PT_TINYGPT_F32);
    accept(manifest(",\"floatOffset\":20", ""), 4 + 12 * N, PT_TINYGPT_F32);
    accept(manifest("\"floatOffset\":20}", "\"floatOffset\":20,\"more\":1}"), 4 + 12 * N,
           PT_TINYGPT_F32);
    refuse(manifest("\"floatOffset\":20}", "\"floatOffset\":21}"), 4 + 12 * N, PT_CORRUPT,
           "floatOffset of position_embedding.weight is 21; the tensors before it hold 20");
    refuse(manifest("\"floatOffset\":20}", "\"floatOffset\":-1}"), 4 + 12 * N, PT_CORRUPT, "is -1");
    refuse(manifest("\"floatOffset\":20}", "\"floatOffset\":1e30}"), 4 + 12 * N, PT_CORRUPT,
           "is 1e30");
    refuse(manifest("\"floatOffset\":20}", "\"floatOffset\":\"20\"}"), 4 + 12 * N, PT_CORRUPT,
           "floatOffset of position_embedding.weight");
    refuse(manifest("[5,4]", "[4,5]"), 4 + 12 * N, PT_CORRUPT,
           "shape of token_embedding.weight is [4,5]; config makes it [5,4]");
    refuse(manifest("[5,4]", "[5]"), 4 + 12 * N, PT_CORRUPT, "is [5];");
    refuse(manifest("[5,4]", "[]"), 4 + 12 * N, PT_CORRUPT, "shape");
    refuse(manifest("[5,4]", "[5,4,1]"), 4 + 12 * N, PT_CORRUPT, "is [5,4,1];");
    refuse(manifest("[5,4]", "[5.5,4]"), 4 + 12 * N, PT_CORRUPT, "is [5.5,4];");
    refuse(manifest("[5,4]", "[[[[]]],4]"), 4 + 12 * N, PT_CORRUPT, "is [an array,4];");
    refuse(manifest("[5,4]", "20"), 4 + 12 * N, PT_CORRUPT, "is 20;");
    refuse(manifest("[5,4]", "null"), 4 + 12 * N, PT_CORRUPT, "is null;");
    refuse(manifest("[8,4]", "[4,8]"), 4 + 12 * N, PT_CORRUPT, "fc_in.weight is [4,8]");
    refuse(manifest("ln_final.bias", "ln_final.weight"), 4 + 12 * N, PT_CORRUPT,
           "manifest[3].name is ln_final.weight; config makes it ln_final.bias");
    refuse(manifest("\"name\":\"ln_final.bias\",", ""), 4 + 12 * N, PT_CORRUPT, "name is absent");
    refuse(manifest("ln_final.bias", "ln_final.bias\\u0000"), 4 + 12 * N, PT_CORRUPT,
           "manifest[3]");
    refuse(manifest("},{", "},7,{"), 4 + 12 * N, PT_CORRUPT, "of 21 entries; config makes it");
    refuse(manifest("{\"name\":\"token_embedding.weight\",\"shape\":[5,4],\"floatOffset\":0},", ""),
           4 + 12 * N, PT_CORRUPT, "of 19 entries");
    refuse(manifest("{\"name\":\"token_embedding.weight\",\"shape\":[5,4],\"floatOffset\":0}", "1"),
           4 + 12 * N, PT_CORRUPT, "manifest[0].name is absent");
    refuse("{\"config\":{" CONFIG "},\"manifest\":{}}", 4 + 12 * N, PT_CORRUPT,
           "manifest is an object");
}

TEST(checksums)
{
    static const char *const bad[] = {"7", "\"0000000\"", "\"000000000\"", "\"0000000g\"", "[]"};
    char header[256];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(header, sizeof header,
                 "{\"config\":{" CONFIG "},\"posttrain\":{\"bodyCrc32c\":%s}}", bad[i]);
        refuse(header, 4 + 12 * N, PT_CORRUPT, "posttrain.bodyCrc32c is");
    }
    static hostile h;
    pt_error err = {0};
    pt_tinygpt *file;
    build(&h, "{\"config\":{" CONFIG "},\"posttrain\":{\"bodyCrc32c\":\"0Aff00bB\"}}", 4 + 12 * N);
    CHECK_OK(pt_tinygpt_open(&file, h.bytes, h.size, &err), err);
    CHECK(pt_tinygpt_get(file)->has_crc && pt_tinygpt_get(file)->crc == 0x0aff00bb);
    CHECK_INT(pt_tinygpt_verify(file, &err), PT_CORRUPT);
    CHECK(strstr(err.message, "0aff00bb"));
    pt_tinygpt_close(file);
    accept("{\"config\":{" CONFIG "},\"posttrain\":7}", 4 + 12 * N, PT_TINYGPT_F32);
}

/* ---- prefix ---- */

TEST(prefixes)
{
    static hostile h;
    static const uint32_t lengths[] = {0xffffffffu,    0x7fffffffu, 0x80000000u, 1u << 28,
                                       (1u << 28) + 1, 100000,      2700};
    pt_tinygpt_info info;
    pt_error err = {0};
    const char *header = "{\"config\":{" CONFIG "}}";
    build(&h, header, 4 + 12 * N);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        put_u32(h.bytes + 8, lengths[i]);
        err = (pt_error){0};
        pt_status s = open_exact(h.bytes, h.size, NULL, &err);
        CHECK(s == PT_CORRUPT || s == PT_UNSUPPORTED);
        CHECK(strstr(err.message, "header_len is "));
        CHECK_INT(err.offset, 8);
    }
    build(&h, header, 4 + 12 * N);
    put_u32(h.bytes + 4, 1); /* version 1: no manifest, as here */
    CHECK_INT(open_exact(h.bytes, h.size, &info, NULL), PT_OK);
    CHECK(info.version == 1 && !info.has_manifest);
    for (uint32_t version = 0; version < 300; version += 3) {
        if (version == 1 || version == 2) continue;
        put_u32(h.bytes + 4, version);
        err = (pt_error){0};
        CHECK_INT(open_exact(h.bytes, h.size, NULL, &err), PT_UNSUPPORTED);
        CHECK(strstr(err.message, "version is "));
    }
    build(&h, header, 4 + 12 * N);
    put_u32(h.bytes + 12 + strlen(header), 0x80000000u);
    err = (pt_error){0};
    CHECK_INT(open_exact(h.bytes, h.size, NULL, &err), PT_CORRUPT);
    CHECK(strstr(err.message, "step is -2147483648"));
    build(&h, header, 4 + 12 * N);
    h.bytes[3] = 'U';
    CHECK_INT(open_exact(h.bytes, h.size, NULL, NULL), PT_BAD_INPUT);
}

TEST(cut_at_every_byte)
{
    static hostile h;
    build(&h, manifest("[{", "[{"), 4 + 12 * N);
    pt_error err = {0};
    CHECK_OK(open_exact(h.bytes, h.size, NULL, &err), err);
    for (int64_t size = 0; size < h.size; size++) {
        err = (pt_error){0};
        pt_status s = open_exact(h.bytes, size, NULL, &err);
        CHECK_INT(s, size < 4 ? PT_BAD_INPUT : PT_CORRUPT);
        CHECK(err.message[0]);
    }
}

/* Every byte of a small file set to other values: accepted or refused, never a crash. */
TEST(every_byte_changed)
{
    static hostile h;
    build(&h, "{\"config\":{" CONFIG "},\"weightDtype\":\"int4\",\"includesOptimizerState\":false}",
          4 + 34 * 20);
    static const uint8_t to[] = {0, '"', '9', '}', 0xff, 0x80};
    for (int64_t i = 0; i < h.size; i++)
        for (size_t k = 0; k < sizeof to; k++) {
            uint8_t was = h.bytes[i];
            pt_error err = {0};
            h.bytes[i] = to[k];
            pt_status s = open_exact(h.bytes, h.size, NULL, &err);
            CHECK(s == PT_OK || err.message[0]);
            h.bytes[i] = was;
        }
}

PT_TEST_MAIN
