/* The .tinygpt reader and writer against files that the original made (tests/golden). What they pin
 * is described in their .golden.json. SPDX-License-Identifier: MIT */
#include "io/tinygpt.h"

#include <math.h>

#include "io/test_tinygpt.h"

static const char *const golden_files[] = {"tiny-48.tinygpt", "small-96-step0.tinygpt",
                                           "tiny-48-fp16.tinygpt", "tiny-48-int4.tinygpt"};

static const pt_json *golden_json(const char *name, pt_arena *arena)
{
    pt_file_view view = golden(name);
    const pt_json *json = NULL;
    pt_error err = {0};
    CHECK_OK(pt_json_parse((const char *)view.data, (size_t)view.size, arena, &json, &err), err);
    return json;
}

/* ---- layout ---- */

TEST(the_tensor_list)
{
    pt_tinygpt_config c = {
        .layers = 2, .heads = 2, .d_model = 6, .d_mlp = 10, .ctx = 3, .vocab = 7};
    CHECK_INT(pt_tinygpt_n_tensors(&c), 36);
    int64_t sum = 0, blocks = 0;
    for (int64_t i = 0; i < 36; i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&c, i);
        CHECK_INT(t.offset, sum);
        CHECK_INT(t.n, t.dim[0] * t.dim[1]);
        CHECK(t.rank == 2 || t.dim[1] == 1);
        sum += t.n;
        blocks += (t.n + 63) / 64;
    }
    CHECK_INT(pt_tinygpt_n_params(&c), sum);
    CHECK_INT(sum, 7 * 6 + 3 * 6 + 12 + 2 * (4 * (36 + 6) + 4 * 6 + 2 * 60 + 10 + 6));
    CHECK_INT(pt_tinygpt_body_bytes(&c, PT_TINYGPT_F32), 4 + 12 * sum);
    CHECK_INT(pt_tinygpt_body_bytes(&c, PT_TINYGPT_F32_WEIGHTS), 4 + 4 * sum);
    CHECK_INT(pt_tinygpt_body_bytes(&c, PT_TINYGPT_F16), 4 + 2 * sum);
    CHECK_INT(pt_tinygpt_body_bytes(&c, PT_TINYGPT_INT4), 4 + 34 * blocks);
    pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&c, 34);
    CHECK_STR(t.name, "blocks.1.mlp.fc_out.weight");
    CHECK(t.transposed && t.dim[0] == 6 && t.dim[1] == 10);
    CHECK(!pt_tinygpt_tensor_at(&c, 0).transposed && !pt_tinygpt_tensor_at(&c, 1).transposed);
    CHECK(!pt_tinygpt_tensor_at(&c, 4).transposed);
    pt_tinygpt_config large = {
        .layers = 12, .heads = 8, .d_model = 256, .d_mlp = 1024, .ctx = 256, .vocab = 256};
    CHECK_INT(pt_tinygpt_n_params(&large), 9608704);
}

TEST(configurations_out_of_bounds)
{
    const pt_tinygpt_config good = {
        .layers = 1, .heads = 2, .d_model = 4, .d_mlp = 8, .ctx = 3, .vocab = 5};
    static const int64_t bad[] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)1 << 32};
    pt_error err = {0};
    CHECK_OK(pt_tinygpt_config_check(&good, &err), err);
    for (int field = 0; field < 6; field++)
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            pt_tinygpt_config c = good;
            int64_t *fields[] = {&c.layers, &c.heads, &c.d_model, &c.d_mlp, &c.ctx, &c.vocab};
            *fields[field] = bad[i];
            CHECK_INT(pt_tinygpt_config_check(&c, NULL), PT_BAD_INPUT);
        }
    pt_tinygpt_config c = good;
    c.heads = 3;
    CHECK_INT(pt_tinygpt_config_check(&c, &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "heads is 3"));
}

TEST(stored_order_and_back)
{
    pt_tinygpt_config c = {
        .layers = 1, .heads = 1, .d_model = 35, .d_mlp = 67, .ctx = 3, .vocab = 5};
    for (int64_t i = 0; i < pt_tinygpt_n_tensors(&c); i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&c, i);
        static float a[67 * 35], b[67 * 35], d[67 * 35];
        for (int64_t k = 0; k < t.n; k++) a[k] = (float)k;
        pt_tinygpt_to_stored(&t, b, a);
        pt_tinygpt_from_stored(&t, d, b);
        CHECK(memcmp(a, d, (size_t)t.n * sizeof *a) == 0);
        for (int64_t o = 0; o < t.dim[0]; o++)
            for (int64_t in = 0; in < t.dim[1]; in++) {
                int64_t at = t.transposed ? in * t.dim[0] + o : o * t.dim[1] + in;
                CHECK(b[at] == a[o * t.dim[1] + in]);
            }
    }
}

/* ---- golden files ---- */

TEST(golden_files_open)
{
    static const struct {
        pt_tinygpt_dtype dtype;
        int64_t d_model, layers, ctx, step, params;
    } want[] = {{PT_TINYGPT_F32, 48, 2, 32, 300, 70464},
                {PT_TINYGPT_F32, 96, 3, 64, 0, 366432},
                {PT_TINYGPT_F16, 48, 2, 32, 300, 70464},
                {PT_TINYGPT_INT4, 48, 2, 32, 300, 70464}};
    for (int i = 0; i < 4; i++) {
        pt_tinygpt *file = open_golden(golden_files[i]);
        const pt_tinygpt_info *info = pt_tinygpt_get(file);
        CHECK_INT(info->version, 2);
        CHECK_INT(info->dtype, want[i].dtype);
        CHECK_INT(info->config.layers, want[i].layers);
        CHECK_INT(info->config.heads, 3);
        CHECK_INT(info->config.d_model, want[i].d_model);
        CHECK_INT(info->config.d_mlp, 4 * want[i].d_model);
        CHECK_INT(info->config.ctx, want[i].ctx);
        CHECK_INT(info->config.vocab, 256);
        CHECK_INT(info->step, want[i].step);
        CHECK_INT(info->n_params, want[i].params);
        CHECK_INT(info->n_tensors, 4 + 16 * want[i].layers);
        CHECK(info->has_manifest && !info->has_crc);
        CHECK(pt_json_get_string(info->header, "corpus"));
        pt_tinygpt_close(file);
    }
    pt_tinygpt_close(NULL);
}

static void check_norms(const pt_tinygpt *file, const pt_json *norms, pt_tinygpt_part part)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    CHECK_INT(norms->n_children, info->n_tensors);
    for (int64_t i = 0; i < info->n_tensors; i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&info->config, i);
        float *x = malloc((size_t)t.n * sizeof *x);
        pt_error err = {0};
        CHECK_OK(pt_tinygpt_read(file, i, part, x, &err), err);
        double sum = 0, want = -1;
        for (int64_t k = 0; k < t.n; k++) sum += (double)x[k] * (double)x[k];
        free(x);
        CHECK(pt_json_get_double(norms, t.name, &want));
        CHECK_CLOSE(sqrt(sum), want, 6e-8 * want); /* the JSON has 8 digits */
    }
}

TEST(weights_and_moments_have_the_golden_norms)
{
    pt_arena arena = {0};
    const pt_json *norms = pt_json_get(golden_json("tiny-48.golden.json", &arena), "l2_norm");
    pt_tinygpt *file = open_golden("tiny-48.tinygpt");
    check_norms(file, pt_json_get(norms, "w"), PT_TINYGPT_W);
    check_norms(file, pt_json_get(norms, "m"), PT_TINYGPT_M);
    check_norms(file, pt_json_get(norms, "v"), PT_TINYGPT_V);
    pt_tinygpt_close(file);
    pt_arena_deinit(&arena);
}

/* Reads every tensor of every golden file by the format's own words, one number at a time. */
TEST(every_number_is_where_the_format_puts_it)
{
    for (int f = 0; f < 4; f++) {
        pt_tinygpt *file = open_golden(golden_files[f]);
        pt_file_view view = golden(golden_files[f]);
        const pt_tinygpt_info *info = pt_tinygpt_get(file);
        const uint8_t *body = view.data + info->body_offset + 4;
        int64_t block = 0, blocks = (info->body_bytes - 4) / 34;
        for (int64_t i = 0; i < info->n_tensors; i++) {
            pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&info->config, i);
            float *x = malloc((size_t)t.n * sizeof *x);
            pt_error err = {0};
            int part = info->dtype == PT_TINYGPT_F32 ? (int)(i % 3) : 0;
            CHECK_OK(pt_tinygpt_read(file, i, (pt_tinygpt_part)part, x, &err), err);
            for (int64_t k = 0; k < t.n; k++) {
                float want;
                uint16_t half;
                if (info->dtype == PT_TINYGPT_F32) {
                    memcpy(&want, body + 12 * t.offset + 4 * t.n * part + 4 * k, 4);
                } else if (info->dtype == PT_TINYGPT_F16) {
                    memcpy(&half, body + 2 * (t.offset + k), 2);
                    want = pt_float_from_half(half);
                } else {
                    int64_t b = block + k / 64;
                    memcpy(&half, body + 2 * b, 2);
                    uint8_t byte = body[2 * blocks + 32 * b + k % 64 / 2];
                    want = (float)((k % 2 ? byte >> 4 : byte & 15) - 8) * pt_float_from_half(half);
                }
                int64_t at = t.transposed ? k % t.dim[0] * t.dim[1] + k / t.dim[0] : k;
                CHECK(pt_float_bits(x[at]) == pt_float_bits(want));
            }
            block += (t.n + 63) / 64;
            free(x);
        }
        pt_tinygpt_close(file);
    }
}

TEST(moments_of_a_file_without_are_zero)
{
    pt_tinygpt *file = open_golden("tiny-48-int4.tinygpt");
    static float x[48 * 192];
    pt_error err = {0};
    for (int part = PT_TINYGPT_M; part <= PT_TINYGPT_V; part++) {
        memset(x, 1, sizeof x);
        CHECK_OK(pt_tinygpt_read(file, 16, (pt_tinygpt_part)part, x, &err), err);
        for (int64_t i = 0; i < pt_tinygpt_tensor_at(&pt_tinygpt_get(file)->config, 16).n; i++)
            CHECK(x[i] == 0);
    }
    CHECK_INT(pt_tinygpt_read(file, -1, PT_TINYGPT_W, x, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_tinygpt_read(file, 36, PT_TINYGPT_W, x, NULL), PT_BAD_INPUT);
    pt_tinygpt_close(file);
}

static pt_tinygpt *open_text(const pt_strbuf *text)
{
    pt_tinygpt *file = NULL;
    pt_error err = {0};
    CHECK_OK(pt_tinygpt_open(&file, (const uint8_t *)text->data, (int64_t)text->len, &err), err);
    CHECK_OK(pt_tinygpt_verify(file, &err), err);
    return file;
}

/* The header, too, is the old one and nothing but our object behind it. */
TEST(what_is_read_is_written_back)
{
    for (int f = 0; f < 4; f++) {
        pt_file_view view = golden(golden_files[f]);
        pt_tinygpt *file = open_golden(golden_files[f]);
        const pt_tinygpt_info *old = pt_tinygpt_get(file);
        pt_strbuf out = {0};
        pt_error err = {0};
        CHECK_OK(rewrite(file, old->dtype, &out, &err), err);
        pt_tinygpt *again = open_text(&out);
        const pt_tinygpt_info *new = pt_tinygpt_get(again);
        CHECK(new->has_crc);
        CHECK_INT(new->body_bytes, old->body_bytes);
        CHECK(memcmp(out.data + new->body_offset, view.data + old->body_offset,
                     (size_t)old->body_bytes) == 0);
        size_t same = (size_t)old->header_bytes - 1; /* without its last brace */
        CHECK(memcmp(out.data + 12, view.data + 12, same) == 0);
        char tail[64];
        snprintf(tail, sizeof tail, ",\"posttrain\":{\"bodyCrc32c\":\"%08x\"}}", new->crc);
        CHECK_INT(new->header_bytes, (int64_t)(same + strlen(tail)));
        CHECK(memcmp(out.data + 12 + same, tail, strlen(tail)) == 0);
        pt_tinygpt_close(again);
        pt_tinygpt_close(file);
        pt_strbuf_deinit(&out);
    }
}

static void body_sha256(const pt_strbuf *text, char hex[65])
{
    pt_tinygpt *file = open_text(text);
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    pt_sha256_hex(text->data + info->body_offset, (size_t)info->body_bytes, hex);
    pt_tinygpt_close(file);
}

TEST(conversions_give_the_golden_bodies)
{
    pt_arena arena = {0};
    pt_error err = {0};
    const pt_json *half = golden_json("tiny-48-fp16.golden.json", &arena);
    const pt_json *four = golden_json("tiny-48-int4.golden.json", &arena);
    pt_tinygpt *f32 = open_golden("tiny-48.tinygpt"), *f16 = open_golden("tiny-48-fp16.tinygpt");
    pt_strbuf out = {0};
    char hex[65];
    CHECK_OK(rewrite(f32, PT_TINYGPT_F16, &out, &err), err);
    body_sha256(&out, hex);
    CHECK_STR(hex, pt_json_get_string(half, "body_sha256_if_ties_to_even"));
    pt_strbuf_clear(&out);
    CHECK_OK(rewrite(f16, PT_TINYGPT_INT4, &out, &err), err);
    body_sha256(&out, hex);
    CHECK_STR(hex, pt_json_get_string(four, "body_sha256"));
    pt_strbuf_deinit(&out);
    pt_tinygpt_close(f32);
    pt_tinygpt_close(f16);
    pt_arena_deinit(&arena);
}

/* f32 -> int4 goes by way of f16, and int4 -> f32 -> int4 changes nothing. */
TEST(int4_from_f32_and_back_again)
{
    pt_error err = {0};
    pt_tinygpt *f32 = open_golden("tiny-48.tinygpt");
    pt_strbuf half = {0}, direct = {0}, by_half = {0}, wide = {0}, again = {0};
    CHECK_OK(rewrite(f32, PT_TINYGPT_F16, &half, &err), err);
    CHECK_OK(rewrite(f32, PT_TINYGPT_INT4, &direct, &err), err);
    pt_tinygpt *f16 = open_text(&half), *int4 = open_text(&direct);
    CHECK_OK(rewrite(f16, PT_TINYGPT_INT4, &by_half, &err), err);
    CHECK_OK(rewrite(int4, PT_TINYGPT_F32, &wide, &err), err);
    pt_tinygpt *back = open_text(&wide);
    CHECK_INT(pt_tinygpt_get(back)->dtype, PT_TINYGPT_F32);
    CHECK(!pt_json_get(pt_tinygpt_get(back)->header, "int4BlockSize"));
    CHECK_OK(rewrite(back, PT_TINYGPT_INT4, &again, &err), err);
    char a[65], b[65], c[65];
    body_sha256(&direct, a);
    body_sha256(&by_half, b);
    body_sha256(&again, c);
    CHECK_STR(a, b);
    CHECK_STR(a, c);
    pt_tinygpt *files[] = {f32, f16, int4, back};
    for (int i = 0; i < 4; i++) pt_tinygpt_close(files[i]);
    pt_strbuf *texts[] = {&half, &direct, &by_half, &wide, &again};
    for (int i = 0; i < 5; i++) pt_strbuf_deinit(texts[i]);
}

/* ---- damage ---- */

TEST(every_flipped_bit_of_the_body_is_noticed)
{
    pt_tinygpt *file = open_golden("tiny-48-int4.tinygpt");
    pt_strbuf out = {0};
    pt_error err = {0};
    CHECK_OK(rewrite(file, PT_TINYGPT_INT4, &out, &err), err);
    pt_tinygpt *again = open_text(&out);
    const pt_tinygpt_info *info = pt_tinygpt_get(again);
    for (int64_t i = info->body_offset; i < (int64_t)out.len; i += 997) {
        out.data[i] ^= (char)(1 << i % 8);
        err = (pt_error){0};
        CHECK_INT(pt_tinygpt_verify(again, &err), PT_CORRUPT);
        CHECK(strstr(err.message, "damaged"));
        out.data[i] ^= (char)(1 << i % 8);
    }
    pt_tinygpt_close(again);
    pt_tinygpt_close(file);
    pt_strbuf_deinit(&out);
}

PT_TEST_MAIN
