/* Memory by part, and what would fit. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "train/memory.h"

static pt_error err;
static uint8_t corpus[4096];

static pt_status save_begin(void *ctx, int64_t step, pt_sink *sink, pt_error *e)
{
    (void)ctx, (void)step, (void)sink, (void)e;
    return PT_OK;
}

static pt_trainer_desc desc_of(int64_t batch, int64_t accum)
{
    pt_trainer_desc desc = {.config = {.n_layers = 3, .d_model = 64, .n_heads = 2, .ctx = 32},
                            .options = pt_train_defaults(),
                            .corpus = corpus,
                            .corpus_bytes = sizeof corpus,
                            .corpus_memory = sizeof corpus,
                            .events = {.save_begin = save_begin}};
    pt_model_config_complete(&desc.config);
    desc.options.batch = batch;
    desc.options.accum = accum;
    desc.options.sample_every = 10;
    return desc;
}

static pt_device *cpu(void)
{
    pt_device *device = NULL;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_device_cpu_new(&device, &(pt_cpu_options){.threads = 2}, &err), err);
    return device;
}

static int64_t planned(pt_device *device, const pt_trainer_desc *desc)
{
    pt_trainer *t = NULL;
    CHECK_OK(pt_trainer_new(&t, device, desc, &err), err);
    int64_t bytes = pt_plan_total_bytes(pt_trainer_plan(t));
    pt_trainer_free(t);
    return bytes;
}

/* Sizes worked out from the shape: N parameters, B T = 16 * 32 tokens, C = 64, F = 256, L = 3. */
TEST(parts_add_up_and_are_what_the_shape_says)
{
    pt_device *device = cpu();
    pt_trainer_desc desc = desc_of(16, 1);
    pt_trainer *t = NULL;
    int64_t bytes[PT_MEMORY_PARTS], sum = 0, tokens = 16 * 32;
    CHECK_OK(pt_trainer_new(&t, device, &desc, &err), err);
    pt_memory_by_part(pt_trainer_plan(t), bytes);
    for (int i = 0; i < PT_MEMORY_PARTS; i++) {
        CHECK(bytes[i] > 0);
        CHECK(pt_memory_part_name((pt_memory_part)i)[0]);
        sum += bytes[i];
    }
    CHECK_INT(sum, pt_plan_total_bytes(pt_trainer_plan(t)));
    int64_t elements = pt_trainer_model(t)->params.n_elements;
    CHECK_INT(bytes[PT_MEMORY_WEIGHTS], 4 * elements);
    CHECK_INT(bytes[PT_MEMORY_GRADIENTS], 4 * elements);
    CHECK_INT(bytes[PT_MEMORY_MOMENTS], 8 * elements + pt_div_up(elements, 64));
    CHECK_INT(bytes[PT_MEMORY_MLP], 3 * 4 * tokens * 2 * 256);
    CHECK_INT(bytes[PT_MEMORY_RESIDUAL], 4 * tokens * 64 * (3 * 2 + 2));
    CHECK_INT(bytes[PT_MEMORY_ATTENTION], 3 * 4 * tokens * (4 * 64 + 2));
    CHECK_INT(bytes[PT_MEMORY_CORPUS], 4096);
    pt_trainer_free(t);
    pt_device_free(device);
}

/* An entry that nobody sorted in would hide in the scratch. */
TEST(every_entry_has_its_part)
{
    pt_device *device = cpu();
    static const int recompute[] = {PT_RECOMPUTE_NONE, PT_RECOMPUTE_CHEAP, PT_RECOMPUTE_BLOCK};
    for (int i = 0; i < 6; i++) {
        pt_trainer_desc desc = desc_of(4, 1);
        desc.options.recompute = recompute[i % 3];
        desc.options.bf16 = i >= 3;
        pt_trainer *t = NULL;
        CHECK_OK(pt_trainer_new(&t, device, &desc, &err), err);
        const pt_plan *plan = pt_trainer_plan(t);
        int64_t scratch = 0;
        for (int64_t k = 0; k < plan->n_entries; k++)
            if (pt_memory_part_of(plan->entries[k].name) == PT_MEMORY_SCRATCH) scratch++;
        CHECK_INT(scratch, 3); /* step state, ring of losses, thread scratch */
        pt_trainer_free(t);
    }
    CHECK_INT(pt_memory_part_of("something new"), PT_MEMORY_SCRATCH);
    CHECK_INT(pt_memory_part_of("blocks.12.att"), PT_MEMORY_ATTENTION);
    CHECK_INT(pt_memory_part_of("blocks.norm2"), PT_MEMORY_NORMS);
    CHECK_INT(pt_memory_part_of("session.blocks.0.cache_k"), PT_MEMORY_SAMPLING);
    pt_device_free(device);
}

TEST(the_largest_come_first)
{
    pt_plan plan;
    int64_t at[3];
    pt_plan_init(&plan);
    CHECK_INT(pt_memory_largest(&plan, at, 3), 0);
    static const int64_t sizes[] = {10, 70, 30, 70, 5, 50};
    for (int i = 0; i < 6; i++) pt_plan_add_host(&plan, "x", sizes[i]);
    CHECK_INT(pt_memory_largest(&plan, at, 3), 3);
    CHECK_INT(at[0], 1);
    CHECK_INT(at[1], 3); /* of equals the first */
    CHECK_INT(at[2], 5);
    CHECK_INT(pt_memory_largest(&plan, at, 0), 0);
    pt_plan_deinit(&plan);
}

static void find_ways(pt_device *device, const pt_trainer_desc *desc, int64_t available,
                      pt_memory_may may, pt_memory_way way[PT_MEMORY_WAYS], int *n)
{
    pt_memory_question q = {
        .device = device, .desc = desc, .room = {.machine = available}, .may = may};
    pt_memory_ways(&q, way, n);
}

/* Every way is what a trainer of that shape really plans, fits, and has the run's tokens a step. */
static void check_ways(pt_device *device, const pt_trainer_desc *desc, const pt_memory_way *way,
                       int n, int64_t available)
{
    for (int i = 0; i < n; i++) {
        pt_trainer_desc other = *desc;
        other.options.batch = way[i].batch;
        other.options.accum = way[i].accum;
        other.options.recompute = way[i].recompute;
        other.options.bf16 = way[i].bf16;
        CHECK_INT(way[i].batch * way[i].accum, desc->options.batch * desc->options.accum);
        CHECK_INT(planned(device, &other), way[i].bytes);
        CHECK(way[i].fits == (way[i].bytes <= available));
    }
}

TEST(what_fits_is_planned_not_guessed)
{
    pt_device *device = cpu();
    pt_trainer_desc desc = desc_of(96, 3);
    int64_t bytes = planned(device, &desc);
    pt_memory_way way[PT_MEMORY_WAYS];
    int n = 0, found = 0;
    for (int64_t available = bytes - 1; available > 0; available -= bytes / 23) {
        find_ways(device, &desc, available, PT_MEMORY_MAY_ALL, way, &n);
        check_ways(device, &desc, way, n, available);
        if (!n || !way[0].fits) continue;
        found++;
        if (way[0].recompute || way[0].bf16) continue;
        for (int64_t batch = way[0].batch + 1; batch <= 96; batch++) { /* no larger one fits */
            pt_trainer_desc other = desc;
            other.options.batch = batch;
            other.options.accum = 288 / batch;
            CHECK(288 % batch || planned(device, &other) > available);
        }
    }
    CHECK(found > 10);
    pt_device_free(device);
}

TEST(when_nothing_fits_the_smallest_is_named)
{
    pt_device *device = cpu();
    pt_trainer_desc desc = desc_of(1, 1); /* no smaller batch */
    pt_memory_way way[PT_MEMORY_WAYS];
    int n = 0;
    find_ways(device, &desc, 1000, PT_MEMORY_MAY_ALL, way, &n);
    CHECK_INT(n, 1);
    CHECK(!way[0].fits && way[0].bytes < planned(device, &desc));
    check_ways(device, &desc, way, n, 1000);
    desc.options.recompute = PT_RECOMPUTE_BLOCK;
    desc.options.bf16 = true;
    find_ways(device, &desc, 1000, PT_MEMORY_MAY_ALL, way,
              &n); /* all is done already: the run itself is no way */
    CHECK_INT(n, 0);
    desc.options.accum = 6;
    find_ways(device, &desc, 1000, PT_MEMORY_MAY_ALL, way, &n);
    CHECK_INT(n, 0);
    pt_device_free(device);
}

/* Another batch or dtype would be another run. */
TEST(a_run_that_has_begun_can_only_compute_more)
{
    pt_device *device = cpu();
    pt_trainer_desc desc = desc_of(96, 3);
    pt_memory_way way[PT_MEMORY_WAYS];
    int n = 0;
    for (int64_t available = planned(device, &desc) - 1; available > 0; available /= 4) {
        find_ways(device, &desc, available, PT_MEMORY_MAY_RECOMPUTE, way, &n);
        CHECK_INT(n, 1);
        CHECK(way[0].batch == 96 && way[0].accum == 3 && !way[0].bf16);
        CHECK_INT(way[0].recompute, PT_RECOMPUTE_BLOCK);
        check_ways(device, &desc, way, n, available);
    }
    desc.options.recompute = PT_RECOMPUTE_BLOCK;
    find_ways(device, &desc, 1000, PT_MEMORY_MAY_RECOMPUTE, way, &n);
    CHECK_INT(n, 0);
    pt_device_free(device);
}

/* ref computes in f32 alone: bf16 is no way there. */
TEST(a_way_that_the_device_lacks_is_left_out)
{
    pt_device *device = NULL;
    pt_trainer_desc desc = desc_of(64, 1);
    pt_memory_way way[PT_MEMORY_WAYS];
    int n = 0;
    CHECK_OK(pt_device_ref_new(&device, PT_F32, &err), err);
    find_ways(device, &desc, planned(device, &desc) - 1, PT_MEMORY_MAY_ALL, way, &n);
    CHECK_INT(n, 2);
    for (int i = 0; i < n; i++) CHECK(!way[i].bf16);
    CHECK_INT(way[0].batch, 32);
    CHECK_INT(way[1].recompute, PT_RECOMPUTE_BLOCK);
    pt_device_free(device);
}

/* A page offers the batch alone: its tokens a step go with it. */
TEST(the_batch_alone_may_be_smaller)
{
    pt_device *device = cpu();
    pt_trainer_desc desc = desc_of(37, 3);
    pt_memory_way way[PT_MEMORY_WAYS];
    int n = 0;
    int64_t available = planned(device, &desc) - 1;
    find_ways(device, &desc, available, PT_MEMORY_MAY_BATCH, way, &n);
    CHECK_INT(n, 1);
    CHECK(way[0].fits && way[0].batch == 36 && way[0].accum == 3 && !way[0].recompute);
    find_ways(device, &desc, 1000, PT_MEMORY_MAY_BATCH, way, &n);
    CHECK(n == 1 && !way[0].fits && way[0].batch == 1);
    pt_device_free(device);
}

/* Of a device with memory of its own, the machine holds what is the host's alone. */
TEST(a_device_of_its_own_memory_is_short_by_its_own_measure)
{
    pt_device *device = cpu();
    pt_trainer_desc desc = desc_of(96, 1);
    pt_trainer *t = NULL;
    pt_memory_question q = {.device = device, .desc = &desc};
    pt_memory_way way[PT_MEMORY_WAYS];
    int n = 0;
    CHECK_OK(pt_trainer_new(&t, device, &desc, &err), err);
    const pt_plan *plan = pt_trainer_plan(t);
    int64_t host = plan->arena_bytes[PT_ARENA_HOST], own = pt_plan_total_bytes(plan) - host;
    CHECK(pt_memory_fits(&q, plan));
    q.room.machine = host;
    CHECK(!pt_memory_fits(&q, plan));
    device->own_memory = true;
    CHECK(pt_memory_fits(&q, plan));
    q.room.device = own;
    q.room.buffer = plan->arena_bytes[PT_ARENA_STEP];
    CHECK(pt_memory_fits(&q, plan));
    q.room.device = own - 1;
    CHECK(!pt_memory_fits(&q, plan));
    q.room = (pt_memory_room){.buffer = plan->arena_bytes[PT_ARENA_STEP] - 1};
    CHECK(!pt_memory_fits(&q, plan));
    pt_memory_ways(&q, way, &n);
    CHECK(n >= 2 && way[0].fits && way[0].batch == 48 && way[0].accum == 2);
    CHECK_INT(pt_memory_refuse(&q, plan, way, n, &err), PT_NO_MEMORY);
    CHECK(strstr(err.message, "needs a buffer of ") && strstr(err.message, " on device cpu"));
    CHECK(strstr(err.message, ": --batch 48 --accum 2 would fit ("));
    pt_trainer_free(t);
    pt_device_free(device);
}

static pt_device *gpu(const pt_webgpu_options *options)
{
    pt_device *device = NULL;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_device_webgpu_new(&device, options, &err), err);
    return device;
}

static pt_status begins(pt_device *device, const pt_trainer_desc *desc)
{
    pt_trainer *t = NULL;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_trainer_new(&t, device, desc, &err), err);
    pt_status s = pt_trainer_begin(t, NULL, &err);
    pt_trainer_free(t);
    return s;
}

/* The first of the ways begins where the run itself does not. */
static void check_advice(pt_device *device, const pt_memory_question *q)
{
    pt_memory_way way[PT_MEMORY_WAYS];
    int n = 0;
    pt_trainer_desc other = *q->desc;
    pt_memory_ways(q, way, &n);
    CHECK(n > 0 && way[0].fits && way[0].batch < q->desc->options.batch);
    other.options.batch = way[0].batch;
    other.options.accum = way[0].accum;
    CHECK_OK(begins(device, &other), err);
}

TEST(a_gpu_that_gives_too_little_gives_what_is_advised)
{
    const char *library = getenv("POSTTRAIN_WEBGPU");
    if (!library || !*library) SKIP("no library that offers webgpu.h: make webgpu");
    pt_trainer_desc desc = desc_of(96, 1);
    pt_device *device = gpu(&(pt_webgpu_options){.software = true, .buffer_bytes = 8 << 20});
    pt_memory_question q = {.device = device, .desc = &desc, .room = pt_memory_room_of(device, 0)};
    CHECK_INT(q.room.buffer, 8 << 20);
    CHECK_INT(begins(device, &desc), PT_NO_MEMORY);
    CHECK(strstr(err.message, "needs a buffer of "));
    check_advice(device, &q);
    pt_device_free(device);

    device = gpu(&(pt_webgpu_options){.software = true, .memory_bytes = 24 << 20});
    CHECK_INT(begins(device, &desc), PT_NO_MEMORY);
    int64_t room = pt_device_room(device, 100 << 20);
    CHECK(room > 20 << 20 && room <= 24 << 20);
    CHECK_INT(pt_device_room(device, 10 << 20), 10 << 20);
    q = (pt_memory_question){
        .device = device, .desc = &desc, .room = pt_memory_room_of(device, room)};
    check_advice(device, &q);
    pt_device_free(device);
}

PT_TEST_MAIN
