/* Devices: memory and its bounds, plans, what they refuse, and the patience that the fake one asks.
 * SPDX-License-Identifier: MIT */
#include "base/platform.h"
#include "base/test.h"
#include "device/device.h"

static pt_error err;

static const char *const kinds[] = {"f64", "ref", "cpu", "fake"};
#define N_KINDS 4
#define POLLS 2

static pt_device *new_device(const char *kind)
{
    pt_device *device = NULL;
    pt_cpu_options options = {.threads = 2};
    memset(&err, 0, sizeof err);
    if (strcmp(kind, "cpu") == 0) CHECK_OK(pt_device_cpu_new(&device, &options, &err), err);
    else CHECK_OK(pt_device_ref_new(&device, strcmp(kind, "f64") ? PT_F32 : PT_F64, &err), err);
    if (strcmp(kind, "fake") == 0) CHECK_OK(pt_device_fake_new(&device, device, POLLS, &err), err);
    return device;
}

static pt_tensor new_bytes(pt_device *device, int64_t n)
{
    pt_tensor t = {.dtype = PT_U8};
    t = pt_view(&t, n, 0, 0, 0);
    CHECK_OK(pt_buffer_new(device, n, &t.buffer, &err), err);
    return t;
}

/* The answer of a download of the whole tensor, waited for. */
static pt_status fetch(const pt_tensor *t, void *to, int64_t bytes)
{
    pt_device *device = t->buffer->device;
    pt_download download;
    pt_status s = pt_download_begin(device, t, to, bytes, &download, &err);
    if (s == PT_OK) s = pt_submit(device, &err);
    if (s) return s;
    while ((s = pt_download_poll(device, &download, &err)) == PT_PENDING) continue;
    return s;
}

/* ---- choice ---- */

TEST(a_device_is_chosen_by_name)
{
    pt_device *device = NULL;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_device_choose(&(pt_device_choice){"cpu", "base", 3}, &device, &err), err);
    CHECK_STR(device->name, "cpu");
    CHECK_STR(device->detail, "base");
    CHECK_INT(pt_pool_threads(pt_device_pool(device)), 3);
    pt_device_free(device);
    CHECK_OK(pt_device_choose(&(pt_device_choice){"ref", NULL, 0}, &device, &err), err);
    CHECK_STR(device->name, "ref");
    CHECK(!pt_device_pool(device));
    pt_device_free(device);
}

TEST(a_device_that_is_not_there_is_refused)
{
    static const struct {
        pt_device_choice choice;
        const char *words;
    } bad[] = {
        {{"gpu", NULL, 1}, "--device is 'gpu', it must be cpu, webgpu, webgpu-software or ref"},
        {{"cpu", NULL, -1}, "--threads is -1, it must be 0 to 1024"},
        {{"ref", NULL, 1025}, "--threads is 1025, it must be 0 to 1024"},
        {{"cpu", "mmx", 1}, "mmx"}};
    for (int i = 0; i < 4; i++) {
        pt_device *device = NULL;
        memset(&err, 0, sizeof err);
        CHECK_INT(pt_device_choose(&bad[i].choice, &device, &err), PT_BAD_INPUT);
        CHECK(strstr(err.message, bad[i].words));
        CHECK(!device);
    }
}

/* ---- memory ---- */

TEST(what_goes_up_comes_down)
{
    for (int k = 0; k < N_KINDS; k++) {
        pt_device *device = new_device(kinds[k]);
        char text[] = "some bytes to carry", back[sizeof text] = "";
        pt_tensor a = new_bytes(device, sizeof text), b = new_bytes(device, 64);
        CHECK_OK(fetch(&a, back, sizeof back), err);
        for (size_t i = 0; i < sizeof back; i++) CHECK(back[i] == 0); /* zeros at first */
        CHECK_OK(pt_upload(device, &a, text, sizeof text, &err), err);
        memset(text + 5, '-', 5); /* the source may be reused at once */
        CHECK_OK(fetch(&a, back, sizeof back), err);
        CHECK_STR(back, "some bytes to carry");
        /* a prefix up, a slice down */
        CHECK_OK(pt_upload(device, &a, "SOME", 4, &err), err);
        CHECK_OK(fetch(&a, back, sizeof back), err);
        CHECK_STR(back, "SOME bytes to carry");
        pt_tensor s = pt_slice(&a, 5, 5);
        CHECK_OK(fetch(&s, back, 5), err);
        CHECK(memcmp(back, "bytes", 5) == 0);
        /* copy into the middle of another; fill a part */
        pt_tensor middle = pt_slice(&b, 10, 20);
        CHECK_OK(pt_copy(device, &middle, &s, &err), err);
        s = pt_slice(&a, 0, 5);
        CHECK_OK(pt_fill_zero(device, &s, &err), err);
        CHECK_OK(pt_upload(device, &a, NULL, 0, &err), err); /* nothing is fine */
        char all[64];
        CHECK_OK(fetch(&b, all, 64), err);
        for (int i = 0; i < 64; i++) CHECK_INT(all[i], i >= 10 && i < 15 ? "bytes"[i - 10] : 0);
        CHECK_OK(fetch(&a, back, sizeof back), err);
        CHECK(memcmp(back, "\0\0\0\0\0bytes to carry", sizeof back) == 0);
        pt_buffer_free(a.buffer);
        pt_buffer_free(b.buffer);
        pt_device_free(device);
    }
}

TEST(allocated_bytes_are_counted)
{
    for (int k = 0; k < N_KINDS; k++) {
        pt_device *device = new_device(kinds[k]);
        CHECK_INT(device->allocated_bytes, 0);
        pt_tensor a = new_bytes(device, 1000), b = new_bytes(device, 24);
        CHECK_INT(device->allocated_bytes, 1024);
        CHECK((pt_host(&a) != NULL) == (strcmp(kinds[k], "fake") != 0));
        pt_buffer_free(a.buffer);
        CHECK_INT(device->allocated_bytes, 24);
        pt_buffer_free(b.buffer);
        pt_buffer_free(NULL);
        CHECK_INT(device->allocated_bytes, 0);
        pt_device_free(device);
        pt_device_free(NULL);
    }
}

TEST(a_buffer_beyond_all_memory_is_refused_by_size)
{
    for (int k = 0; k < N_KINDS; k++) {
        pt_device *device = new_device(kinds[k]);
        pt_buffer *buffer = (pt_buffer *)&buffer;
        CHECK_INT(pt_buffer_new(device, INT64_C(1) << 60, &buffer, &err), PT_NO_MEMORY);
        CHECK(!buffer);
        CHECK(strstr(err.message, "1152921504606846976 bytes"));
        CHECK_INT(device->allocated_bytes, 0);
        pt_device_free(device);
    }
}

/* The call itself or, where work is recorded, the poll after it must fail. */
static void check_refused(const char *what, pt_device *device, const pt_tensor *any, pt_status s)
{
    char byte[64];
    pt_tensor first = pt_slice(any, 0, 1);
    if (s == PT_OK) s = fetch(&first, byte, 1);
    if (s != PT_INTERNAL) printf("%s on %s: %s\n", what, device->name, pt_status_name(s));
    CHECK_INT(s, PT_INTERNAL);
    CHECK(err.message[0]);
    memset(&err, 0, sizeof err);
    CHECK_OK(fetch(&first, byte, 1), err); /* and the device goes on */
}

TEST(transfers_stay_inside_their_tensors)
{
    for (int k = 0; k < N_KINDS; k++) {
        pt_device *d = new_device(kinds[k]);
        char bytes[64] = "";
        pt_tensor a = new_bytes(d, 32), b = new_bytes(d, 16), part = pt_slice(&a, 8, 4);
        check_refused("upload", d, &a, pt_upload(d, &a, bytes, 33, &err));
        check_refused("upload to a part", d, &a, pt_upload(d, &part, bytes, 5, &err));
        check_refused("download", d, &a, fetch(&a, bytes, 33));
        check_refused("download of a part", d, &a, fetch(&part, bytes, 5));
        check_refused("copy", d, &a, pt_copy(d, &b, &a, &err));
        pt_buffer_free(a.buffer);
        pt_buffer_free(b.buffer);
        pt_device_free(d);
    }
}

TEST(tensors_stay_inside_their_buffers)
{
    for (int k = 0; k < N_KINDS; k++) {
        pt_device *d = new_device(kinds[k]);
        char bytes[64] = "";
        pt_tensor a = new_bytes(d, 32), b = new_bytes(d, 64);
        pt_tensor bad[4] = {a, a, a, a};
        bad[0].dim[0] = 33;
        bad[1].offset = 1;
        bad[2].offset = -1;
        bad[3].dim[0] = bad[3].dim[1] = INT64_C(1) << 40; /* no size at all */
        for (int i = 0; i < 4; i++) {
            check_refused("fill", d, &a, pt_fill_zero(d, &bad[i], &err));
            check_refused("copy to", d, &a, pt_copy(d, &bad[i], &a, &err));
            check_refused("copy from", d, &a, pt_copy(d, &b, &bad[i], &err));
            if (i == 3) continue;
            check_refused("upload", d, &a, pt_upload(d, &bad[i], bytes, bad[i].dim[0], &err));
            check_refused("download", d, &a, fetch(&bad[i], bytes, bad[i].dim[0]));
        }
        pt_buffer_free(a.buffer);
        pt_buffer_free(b.buffer);
        pt_device_free(d);
    }
}

TEST(every_failing_allocation_is_reported)
{
    for (int k = 0; k < N_KINDS; k++) {
        pt_device *device = new_device(kinds[k]);
        pt_tensor a = new_bytes(device, 8);
        char bytes[8] = "1234567";
        for (int64_t nth = 1; nth <= 6; nth++) {
            pt_buffer *buffer = NULL;
            memset(&err, 0, sizeof err);
            pt_alloc_fail_after(nth);
            pt_status s = pt_buffer_new(device, 8, &buffer, &err);
            pt_alloc_fail_after(0);
            CHECK_INT(s, s ? PT_NO_MEMORY : PT_OK);
            CHECK((buffer != NULL) == (s == PT_OK));
            pt_buffer_free(buffer);
            pt_alloc_fail_after(nth);
            s = pt_upload(device, &a, bytes, 8, &err);
            pt_alloc_fail_after(0);
            CHECK_INT(s, s ? PT_NO_MEMORY : PT_OK);
        }
        pt_buffer_free(a.buffer);
        pt_device_free(device);
    }
    for (int64_t nth = 1; nth <= 2; nth++) {
        pt_device *device = NULL, *inner = new_device("ref");
        memset(&err, 0, sizeof err);
        pt_alloc_fail_after(nth);
        pt_status s = pt_device_fake_new(&device, inner, 0, &err);
        pt_alloc_fail_after(0);
        CHECK_INT(s, nth == 1 ? PT_NO_MEMORY : PT_OK);
        pt_device_free(s ? inner : device);
        pt_alloc_fail_after(nth);
        CHECK_INT(pt_device_cpu_new(&device, NULL, &err), PT_NO_MEMORY);
        pt_alloc_fail_after(0);
    }
}

/* ---- plans ---- */

TEST(a_plan_becomes_a_buffer_per_arena)
{
    for (int k = 0; k < N_KINDS; k++) {
        pt_device *device = new_device(kinds[k]);
        pt_plan plan;
        pt_plan_init(&plan);
        int64_t w = pt_plan_add(&plan, PT_ARENA_MODEL, "w", PT_F32, (int64_t[4]){3, 5, 0, 0});
        int64_t x = pt_plan_add(&plan, PT_ARENA_STEP, "x", PT_F32, (int64_t[4]){9, 0, 0, 0});
        int64_t y = pt_plan_add(&plan, PT_ARENA_STEP, "y", PT_F32, (int64_t[4]){2, 0, 0, 0});
        pt_plan_add_host(&plan, "host", 1 << 20);
        CHECK_OK(pt_device_allocate_plan(device, &plan, &err), err);
        CHECK_INT(device->allocated_bytes, 256 + 512); /* what the host has is not the device's */
        pt_tensor tw = pt_plan_tensor(&plan, w), tx = pt_plan_tensor(&plan, x),
                  ty = pt_plan_tensor(&plan, y);
        CHECK(tx.buffer == ty.buffer && tx.buffer != tw.buffer);
        CHECK(!plan.buffer[PT_ARENA_RUN] && !plan.buffer[PT_ARENA_HOST]);
        CHECK_STR(pt_plan_name_of(&plan, &ty), "y");
        char bytes[64] = "";
        CHECK_OK(fetch(&ty, bytes, 8), err);
        pt_device_release_plan(&plan);
        CHECK_INT(device->allocated_bytes, 0);
        tw = pt_plan_tensor(&plan, w);
        CHECK(!pt_present(&tw));
        pt_device_release_plan(&plan); /* twice is fine */
        pt_plan_deinit(&plan);
        pt_device_free(device);
    }
}

TEST(a_plan_beyond_the_machine_is_refused_with_both_numbers)
{
    int64_t have = pt_platform_memory_bytes();
    if (!have) SKIP("this platform does not say how much memory it has");
    for (int host = 0; host < 2; host++) {
        pt_device *device = new_device("cpu");
        pt_plan plan;
        char number[64];
        pt_plan_init(&plan);
        pt_plan_add(&plan, PT_ARENA_RUN, "x", PT_U8, (int64_t[4]){host ? 64 : have + 64, 0, 0, 0});
        if (host) pt_plan_add_host(&plan, "y", have); /* counts as well */
        CHECK_INT(pt_device_allocate_plan(device, &plan, &err), PT_NO_MEMORY);
        snprintf(number, sizeof number, "needs %.1f GB", (double)pt_plan_total_bytes(&plan) / 1e9);
        CHECK(strstr(err.message, number));
        snprintf(number, sizeof number, "has %.1f GB", (double)have / 1e9);
        CHECK(strstr(err.message, number));
        CHECK_INT(device->allocated_bytes, 0);
        pt_plan_deinit(&plan);
        pt_device_free(device);
    }
}

TEST(a_failed_plan_is_not_allocated)
{
    static const struct {
        pt_status failure;
        const char *word;
    } cases[] = {{PT_BAD_INPUT, "64 bits"}, {PT_NO_MEMORY, "memory plan"}};
    for (int i = 0; i < 2; i++) {
        pt_device *device = new_device("ref");
        pt_plan plan;
        pt_plan_init(&plan);
        pt_plan_add(&plan, PT_ARENA_RUN, "x", PT_U8, (int64_t[4]){64, 0, 0, 0});
        plan.failure = cases[i].failure;
        CHECK_INT(pt_device_allocate_plan(device, &plan, &err), cases[i].failure);
        CHECK(strstr(err.message, cases[i].word));
        CHECK_INT(device->allocated_bytes, 0);
        pt_plan_deinit(&plan);
        pt_device_free(device);
    }
}

TEST(a_plan_is_allocated_whole_or_not_at_all)
{
    pt_device *device = new_device("ref");
    pt_plan plan;
    pt_plan_init(&plan);
    for (int arena = 0; arena < PT_ARENA_HOST; arena++)
        pt_plan_add(&plan, (pt_arena_id)arena, "x", PT_U8, (int64_t[4]){64, 0, 0, 0});
    for (int64_t nth = 1; nth <= 2 * PT_ARENA_HOST; nth++) {
        memset(&err, 0, sizeof err);
        pt_alloc_fail_after(nth);
        CHECK_INT(pt_device_allocate_plan(device, &plan, &err), PT_NO_MEMORY);
        pt_alloc_fail_after(0);
        CHECK_INT(device->allocated_bytes, 0);
        for (int arena = 0; arena < PT_ARENA_COUNT; arena++) CHECK(!plan.buffer[arena]);
        CHECK(!plan.entries[0].tensor.buffer);
    }
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_device_allocate_plan(device, &plan, &err), err);
    pt_device_release_plan(&plan);
    pt_plan_deinit(&plan);
    pt_device_free(device);
}

/* ---- what a device can do ---- */

TEST(instruction_sets)
{
    const char *const *isas = pt_device_cpu_isas();
    CHECK_STR(isas[0], "base");
    pt_device *device = NULL;
    const char *best = NULL;
    for (int i = 0; isas[i]; i++) {
        memset(&err, 0, sizeof err);
        pt_cpu_options options = {.isa = best = isas[i], .threads = 3};
        CHECK_OK(pt_device_cpu_new(&device, &options, &err), err);
        CHECK_STR(device->detail, isas[i]);
        CHECK_STR(device->name, "cpu");
        CHECK_INT(device->compute, PT_F32);
        CHECK(device->overhead_bytes >= 3 * 1024 * 1024);
        CHECK_INT(pt_pool_threads(pt_device_cpu_pool(device)), 3);
        pt_device_free(device);
    }
    CHECK_OK(pt_device_cpu_new(&device, &(pt_cpu_options){.threads = 1}, &err), err);
    CHECK_STR(device->detail, best); /* unasked: the best */
    pt_device_free(device);
}

TEST(an_unknown_instruction_set_is_a_mistake_and_a_missing_one_is_not_supported)
{
    static const char *const unknown[] = {"avx3", "", "AVX2", "bas"};
    static const char *const known[] = {"base", "avx2", "avx512", "neon", "wasm"};
    pt_device *device = (pt_device *)&device;
    for (int i = 0; i < 4; i++) {
        pt_cpu_options options = {.isa = unknown[i]};
        memset(&err, 0, sizeof err);
        CHECK_INT(pt_device_cpu_new(&device, &options, &err), PT_BAD_INPUT);
        CHECK(!device);
        CHECK(strstr(err.message, unknown[i]) && strstr(err.message, "base"));
    }
    int missing = 0;
    for (int i = 0; i < 5; i++) {
        bool here = false;
        for (int k = 0; pt_device_cpu_isas()[k]; k++)
            here |= strcmp(pt_device_cpu_isas()[k], known[i]) == 0;
        if (here) continue;
        pt_cpu_options options = {.isa = known[i]};
        memset(&err, 0, sizeof err);
        CHECK_INT(pt_device_cpu_new(&device, &options, &err), PT_UNSUPPORTED);
        CHECK(strstr(err.message, known[i]));
        missing++;
    }
    CHECK(missing >= 1); /* no machine has them all */
}

TEST(the_reference_computes_in_float_or_double_only)
{
    for (int dtype = 0; dtype < PT_DTYPE_COUNT; dtype++) {
        pt_device *device = NULL;
        if (dtype == PT_F32 || dtype == PT_F64) continue;
        memset(&err, 0, sizeof err);
        CHECK_INT(pt_device_ref_new(&device, (pt_dtype)dtype, &err), PT_UNSUPPORTED);
        CHECK(!device && strstr(err.message, pt_dtype_name((pt_dtype)dtype)));
    }
}

/* A device that has one kernel: the forward of `add`. */
static bool only_add(const pt_device *device, pt_op op, pt_pass pass)
{
    (void)device;
    return op == PT_OP_add && pass == PT_FORWARD;
}

TEST(a_missing_kernel_is_named_with_its_device)
{
    const pt_device_vtable table = {.supports = only_add};
    pt_device poor = {.vtable = &table, .name = "slate"};
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_device_require(&poor, PT_OP_add, PT_FORWARD, &err), err);
    CHECK_INT(pt_device_require(&poor, PT_OP_rope, PT_FORWARD, &err), PT_UNSUPPORTED);
    CHECK_STR(err.message, "device slate has no forward kernel for op rope");
    memset(&err, 0, sizeof err);
    CHECK_INT(pt_device_require(&poor, PT_OP_attention, PT_BACKWARD, &err), PT_UNSUPPORTED);
    CHECK_STR(err.message, "device slate has no backward kernel for op attention");
}

TEST(every_host_device_has_every_kernel_of_the_list)
{
    for (int k = 0; k < N_KINDS; k++) {
        pt_device *device = new_device(kinds[k]);
        for (int op = 0; op < PT_OP_COUNT; op++) {
            bool backward = pt_op_info_of((pt_op)op)->has_backward;
            memset(&err, 0, sizeof err);
            CHECK_OK(pt_device_require(device, (pt_op)op, PT_FORWARD, &err), err);
            CHECK_INT(pt_device_require(device, (pt_op)op, PT_BACKWARD, &err),
                      backward ? PT_OK : PT_UNSUPPORTED);
        }
        /* a launch of what is missing is refused too, not a jump to nowhere */
        char args[PT_OP_MAX_ARGS_BYTES] = "";
        pt_tensor a = new_bytes(device, 8);
        memset(&err, 0, sizeof err);
        pt_status s = pt_device_launch(device, PT_OP_add, PT_BACKWARD, args, sizeof args, &err);
        if (s == PT_OK) s = fetch(&a, args, 8);
        CHECK_INT(s, PT_UNSUPPORTED);
        CHECK(strstr(err.message, "op add"));
        pt_buffer_free(a.buffer);
        pt_device_free(device);
    }
}

/* ---- the fake device ---- */

TEST(fake_answers_late_and_holds_garbage_until_then)
{
    pt_device *device = new_device("fake");
    pt_tensor a = new_bytes(device, 4);
    pt_download first, second;
    char x[4] = "xxx", y[4] = "yyy";
    CHECK_OK(pt_upload(device, &a, "one", 4, &err), err);
    CHECK_OK(pt_download_begin(device, &a, x, 4, &first, &err), err);
    CHECK_OK(pt_upload(device, &a, "two", 4, &err), err);
    CHECK_OK(pt_download_begin(device, &a, y, 4, &second, &err), err);
    CHECK(memcmp(x, "xxx", 4) != 0 && memcmp(x, "one", 4) != 0); /* what was there is gone */
    CHECK_OK(pt_submit(device, &err), err);
    for (int i = 0; i < POLLS; i++) {
        CHECK_INT(pt_download_poll(device, &first, &err), PT_PENDING);
        CHECK(device->waits);
        CHECK(memcmp(x, "one", 4) != 0);
    }
    CHECK_OK(pt_download_poll(device, &first, &err), err);
    CHECK(!device->waits);
    CHECK_STR(x, "one");
    CHECK(memcmp(y, "two", 4) != 0 && memcmp(y, "one", 4) != 0);
    for (int i = 0; i < POLLS; i++) CHECK_INT(pt_download_poll(device, &second, &err), PT_PENDING);
    CHECK_OK(pt_download_poll(device, &second, &err), err);
    CHECK_STR(y, "two");
    CHECK_OK(pt_download_poll(device, &first, &err), err); /* done stays done */
    pt_buffer_free(a.buffer);
    pt_device_free(device);
}

TEST(fake_refuses_to_wait_for_what_was_never_submitted)
{
    pt_device *device = new_device("fake");
    pt_tensor a = new_bytes(device, 4);
    pt_download download;
    char x[4];
    CHECK_OK(pt_upload(device, &a, "one", 4, &err), err);
    CHECK_OK(pt_submit(device, &err), err);
    CHECK_OK(pt_download_begin(device, &a, x, 4, &download, &err), err); /* after the submit */
    for (int i = 0; i < POLLS; i++)
        CHECK_INT(pt_download_poll(device, &download, &err), PT_PENDING);
    CHECK_INT(pt_download_poll(device, &download, &err), PT_INTERNAL);
    CHECK(strstr(err.message, "never submitted"));
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_submit(device, &err), err);
    for (int i = 0; i < POLLS; i++)
        CHECK_INT(pt_download_poll(device, &download, &err), PT_PENDING);
    CHECK_OK(pt_download_poll(device, &download, &err), err);
    CHECK_STR(x, "one");
    pt_buffer_free(a.buffer);
    pt_device_free(device);
}

TEST(fake_leaves_nothing_when_work_is_abandoned)
{
    pt_device *device = new_device("fake");
    pt_tensor a = new_bytes(device, 4);
    pt_download download;
    char x[4];
    CHECK_OK(pt_upload(device, &a, "one", 4, &err), err);
    CHECK_OK(pt_fill_zero(device, &a, &err), err);
    CHECK_OK(pt_submit(device, &err), err);
    CHECK_OK(pt_download_begin(device, &a, x, 4, &download, &err), err);
    pt_buffer_free(a.buffer);
    pt_device_free(device);
}

PT_TEST_MAIN
