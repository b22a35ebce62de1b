/* Saving: the file decodes to the weights and moments on the device. SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "base/test.h"
#include "train/save.h"

typedef struct fixture {
    pt_device *device;
    pt_model *model;
    pt_plan plan;
    pt_optimizer optimizer;
    pt_saver *saver;
} fixture;

static pt_error err;

static const pt_model_config small = {
    .n_layers = 2, .d_model = 6, .n_heads = 2, .d_mlp = 15, .ctx = 5, .vocab = 13};
/* An embedding of more than one piece (2^18 elements), and not of whole pieces. */
static const pt_model_config wide_vocab = {
    .n_layers = 1, .d_model = 96, .n_heads = 2, .d_mlp = 8, .ctx = 3, .vocab = 2801};

/* What stands at element i of part p (0 weights, 1 m, 2 v) of the flat arrays. */
static float value_at(int part, int64_t i)
{
    return (float)(i % 100003) * (part == 2 ? 1e-9F : 1e-4F) - (part == 2 ? 0.0F : 3.0F) +
           (float)part * 0.25F;
}

static void fill_flat(fixture *f, const pt_tensor *flat, int part)
{
    int64_t n = f->model->params.n_elements;
    bool wide = f->device->compute == PT_F64;
    float *x = malloc((size_t)n * sizeof *x);
    double *y = malloc((size_t)n * sizeof *y);
    for (int64_t i = 0; i < n; i++) y[i] = (double)(x[i] = value_at(part, i));
    CHECK_OK(pt_upload(f->device, flat, wide ? (void *)y : x, pt_tensor_bytes(flat), &err), err);
    free(x);
    free(y);
}

static void open_fixture(fixture *f, const char *kind, const pt_model_config *shape)
{
    pt_model_config config = *shape;
    pt_model_config_complete(&config);
    pt_model_options train = {.mode = PT_MODEL_TRAIN, .batch = 1};
    memset(&err, 0, sizeof err);
    *f = (fixture){0};
    CHECK_OK(pt_device_ref_new(&f->device, strcmp(kind, "f64") ? PT_F32 : PT_F64, &err), err);
    if (strcmp(kind, "fake") == 0)
        CHECK_OK(pt_device_fake_new(&f->device, f->device, 2, &err), err);
    CHECK_OK(pt_model_new(&f->model, f->device, &config, &train, &err), err);
    pt_plan_init(&f->plan);
    pt_model_plan(f->model, &f->plan, "");
    f->optimizer = (pt_optimizer){.model = f->model, .options = {.ring = 1}};
    pt_optimizer_plan(&f->optimizer, &f->plan);
    CHECK_OK(pt_saver_new(&f->saver, &f->optimizer, &err), err);
    pt_saver_plan(f->saver, &f->plan);
    CHECK_OK(pt_device_allocate_plan(f->device, &f->plan, &err), err);
    CHECK_OK(pt_model_bind(f->model, &f->plan, &err), err);
    CHECK_OK(pt_optimizer_bind(&f->optimizer, &f->plan, &err), err);
    CHECK_OK(pt_saver_bind(f->saver, &err), err);
    fill_flat(f, &f->model->weights.flat, 0);
    fill_flat(f, &f->optimizer.m, 1);
    fill_flat(f, &f->optimizer.v, 2);
}

static void close_fixture(fixture *f)
{
    pt_saver_free(f->saver);
    pt_model_free(f->model);
    pt_device_release_plan(&f->plan);
    pt_plan_deinit(&f->plan);
    pt_device_free(f->device);
}

static const pt_tinygpt_run run = {.batch_size = 4, .backend = "test"};
static const pt_tinygpt_desc desc = {
    .step = 77, .run = &run, .saved_at = "2026-01-02T03:04:05.678Z"};

static pt_status save(fixture *f, const pt_sink *sink)
{
    pt_status s = pt_saver_begin(f->saver, &desc, sink, &err);
    if (s) return s;
    s = PT_PENDING;
    while (s == PT_PENDING) s = pt_saver_poll(f->saver, &err);
    return s;
}

/* Every tensor of the file is that of the device, in the model's order of rows and columns. */
static void check_file(fixture *f, const pt_strbuf *text)
{
    pt_tinygpt *file = NULL;
    CHECK_OK(pt_tinygpt_open(&file, (const uint8_t *)text->data, (int64_t)text->len, &err), err);
    CHECK_OK(pt_tinygpt_verify(file, &err), err);
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    CHECK(info->has_crc && info->dtype == PT_TINYGPT_F32);
    CHECK_INT(info->step, 77);
    CHECK_INT(info->n_params, f->model->params.n_params);
    CHECK_INT(info->n_tensors, f->model->params.n);
    for (int64_t i = 0; i < info->n_tensors; i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&info->config, i);
        const pt_param *p = pt_params_find(&f->model->params, t.name);
        CHECK(p && p->n == t.n && p->dim[0] == t.dim[0]);
        float *x = malloc((size_t)t.n * sizeof *x);
        for (int part = PT_TINYGPT_W; part <= PT_TINYGPT_V; part++) {
            CHECK_OK(pt_tinygpt_read(file, i, (pt_tinygpt_part)part, x, &err), err);
            for (int64_t k = 0; k < t.n; k++) CHECK(x[k] == value_at(part, p->offset + k));
        }
        free(x);
    }
    pt_tinygpt_close(file);
}

/* The bytes themselves: q_proj of the first block is stored as [in,out]. */
static void check_transposed(const fixture *f, const pt_strbuf *text)
{
    pt_tinygpt *file = NULL;
    CHECK_OK(pt_tinygpt_open(&file, (const uint8_t *)text->data, (int64_t)text->len, &err), err);
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    const pt_param *p = pt_params_find(&f->model->params, "blocks.0.mlp.fc_in.weight");
    int64_t i = 0;
    while (strcmp(pt_tinygpt_tensor_at(&info->config, i).name, p->name) != 0) i++;
    pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&info->config, i);
    CHECK(t.transposed && t.dim[0] == 15 && t.dim[1] == 6);
    const char *at = text->data + info->body_offset + 4 + 12 * t.offset;
    for (int part = 0; part < 3; part++)
        for (int64_t k = 0; k < t.n; k++) {
            float stored;
            int64_t in = k / t.dim[0], out = k % t.dim[0];
            memcpy(&stored, at + 4 * (part * t.n + k), 4);
            CHECK(stored == value_at(part, p->offset + out * t.dim[1] + in));
        }
    pt_tinygpt_close(file);
}

static const char *const kinds[] = {"f64", "ref", "fake"};

TEST(a_file_holds_what_the_device_holds)
{
    pt_strbuf first = {0};
    for (int k = 0; k < 3; k++) {
        fixture f;
        pt_strbuf file = {0};
        pt_sink sink = pt_sink_to_strbuf(&file);
        open_fixture(&f, kinds[k], &small);
        CHECK_OK(save(&f, &sink), err);
        check_file(&f, &file);
        check_transposed(&f, &file);
        if (k == 0) pt_strbuf_append(&first, file.data, file.len);
        CHECK(first.len == file.len && memcmp(first.data, file.data, file.len) == 0);
        /* a saver saves again */
        pt_strbuf_deinit(&file);
        CHECK_OK(save(&f, &sink), err);
        CHECK(first.len == file.len && memcmp(first.data, file.data, file.len) == 0);
        pt_strbuf_deinit(&file);
        close_fixture(&f);
    }
    pt_strbuf_deinit(&first);
}

TEST(large_embeddings_go_in_pieces)
{
    for (int k = 0; k < 3; k++) {
        fixture f;
        pt_strbuf file = {0};
        pt_sink sink = pt_sink_to_strbuf(&file);
        open_fixture(&f, kinds[k], &wide_vocab);
        CHECK(f.model->params.list[0].n > 1 << 18);
        CHECK_OK(save(&f, &sink), err);
        check_file(&f, &file);
        pt_strbuf_deinit(&file);
        close_fixture(&f);
    }
}

TEST(nothing_waits)
{
    fixture f;
    pt_strbuf file = {0};
    pt_sink sink = pt_sink_to_strbuf(&file);
    open_fixture(&f, "fake", &small);
    CHECK_OK(pt_saver_begin(f.saver, &desc, &sink, &err), err);
    int polls = 0;
    pt_status s = PT_PENDING;
    for (; s == PT_PENDING; polls++) {
        size_t before = file.len;
        s = pt_saver_poll(f.saver, &err);
        if (polls % 3 != 2 && s == PT_PENDING) CHECK_INT(file.len, before); /* not there yet */
    }
    CHECK_OK(s, err);
    CHECK_INT(polls, 3 * 3 * f.model->params.n + 1);
    pt_strbuf_deinit(&file);
    close_fixture(&f);
}

/* ---- what cannot be saved ---- */

TEST(shapes_that_the_format_cannot_hold_are_named)
{
    static const struct {
        const char *word;
        pt_model_config config;
    } cases[] = {{"rmsnorm", {.norm = PT_NORM_RMS}},
                 {"rope", {.positions = PT_POSITION_ROPE}},
                 {"swiglu", {.mlp = PT_MLP_SWIGLU}},
                 {"bias", {.no_bias = true}},
                 {"qk norm", {.qk_norm = true}},
                 {"untied head", {.untied_head = true}},
                 {"sliding window", {.window = 3}},
                 {"grouped kv", {.n_kv_heads = 1}},
                 {"heads that do not add up", {.d_head = 6}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pt_device *device = NULL;
        pt_saver *saver = NULL;
        pt_optimizer optimizer = {0};
        pt_model_options train = {.mode = PT_MODEL_TRAIN, .batch = 1};
        pt_model_config config = cases[i].config;
        config.n_layers = 1, config.d_model = 8, config.n_heads = 2, config.ctx = 5;
        pt_model_config_complete(&config);
        memset(&err, 0, sizeof err);
        CHECK_OK(pt_device_ref_new(&device, PT_F32, &err), err);
        CHECK_OK(pt_model_new(&optimizer.model, device, &config, &train, &err), err);
        CHECK_INT(pt_saver_new(&saver, &optimizer, &err), PT_UNSUPPORTED);
        if (!strstr(err.message, cases[i].word)) printf("%s\n", err.message);
        CHECK(strstr(err.message, cases[i].word));
        pt_model_free(optimizer.model);
        pt_device_free(device);
    }
}

/* A sink that takes `left` bytes and then is full. */
typedef struct small_disk {
    int64_t left, taken;
    bool no_patches;
} small_disk;

static pt_status disk_write(void *ctx, const void *bytes, int64_t n, pt_error *e)
{
    (void)bytes;
    small_disk *d = ctx;
    if (n > d->left) return pt_fail(e, PT_IO, "the disk is full");
    d->left -= n;
    d->taken += n;
    return PT_OK;
}

static pt_status disk_patch(void *ctx, int64_t offset, const void *bytes, int64_t n, pt_error *e)
{
    (void)bytes;
    small_disk *d = ctx;
    CHECK(offset >= 0 && offset + n <= d->taken);
    return d->no_patches ? pt_fail(e, PT_IO, "the disk is full") : PT_OK;
}

TEST(a_full_disk_is_reported_wherever_it_fills)
{
    fixture f;
    open_fixture(&f, "fake", &small);
    small_disk whole = {.left = 1 << 30};
    pt_sink sink = {disk_write, disk_patch, &whole};
    CHECK_OK(save(&f, &sink), err);
    for (int64_t n = 0; n < whole.taken; n += 1 + whole.taken / 60) {
        small_disk d = {.left = n};
        sink.ctx = &d;
        memset(&err, 0, sizeof err);
        CHECK_INT(save(&f, &sink), PT_IO);
        CHECK_STR(err.message, "the disk is full");
    }
    small_disk d = {.left = whole.taken - 1};
    sink.ctx = &d;
    memset(&err, 0, sizeof err);
    CHECK_INT(save(&f, &sink), PT_IO);
    d = (small_disk){.left = whole.taken, .no_patches = true};
    CHECK_INT(save(&f, &sink), PT_IO);
    /* and then a good one */
    pt_strbuf file = {0};
    sink = pt_sink_to_strbuf(&file);
    memset(&err, 0, sizeof err);
    CHECK_OK(save(&f, &sink), err);
    check_file(&f, &file);
    pt_strbuf_deinit(&file);
    close_fixture(&f);
}

TEST(an_unfinished_file_is_abandoned_without_a_leak)
{
    fixture f;
    pt_strbuf file = {0};
    pt_sink sink = pt_sink_to_strbuf(&file);
    open_fixture(&f, "fake", &small);
    CHECK_OK(pt_saver_begin(f.saver, &desc, &sink, &err), err);
    for (int i = 0; i < 10; i++) CHECK_INT(pt_saver_poll(f.saver, &err), PT_PENDING);
    pt_strbuf_deinit(&file);
    CHECK_OK(save(&f, &sink), err); /* a new file while a download is still under way */
    check_file(&f, &file);
    CHECK_OK(pt_saver_begin(f.saver, &desc,
                            &(pt_sink){disk_write, disk_patch, &(small_disk){.left = 1 << 30}},
                            &err),
             err);
    CHECK_INT(pt_saver_poll(f.saver, &err), PT_PENDING);
    pt_strbuf_deinit(&file);
    close_fixture(&f);
}

TEST(every_failing_allocation_is_reported)
{
    fixture f;
    open_fixture(&f, "f64", &small);
    int64_t nth = 1;
    for (pt_status s = PT_NO_MEMORY; s; nth++) {
        pt_saver *saver = NULL, *kept = f.saver;
        pt_strbuf file = {0};
        pt_sink sink = pt_sink_to_strbuf(&file);
        memset(&err, 0, sizeof err);
        pt_alloc_fail_after(nth);
        s = pt_saver_new(&saver, &f.optimizer, &err);
        f.saver = saver;
        if (s == PT_OK) s = pt_saver_bind(saver, &err);
        if (s == PT_OK) s = save(&f, &sink);
        pt_alloc_fail_after(0);
        f.saver = kept;
        pt_saver_free(saver);
        CHECK_INT(s, s ? PT_NO_MEMORY : PT_OK);
        CHECK(s == PT_OK || err.message[0]);
        if (s == PT_OK) check_file(&f, &file);
        pt_strbuf_deinit(&file);
    }
    CHECK(nth > 5);
    close_fixture(&f);
}

PT_TEST_MAIN
