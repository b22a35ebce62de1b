/* Kernels for products on trial: a wrong one is found and not used, those that are right race, and what was chosen is remembered.
 * What needs a GPU, an emulated one too, is skipped without a library that offers webgpu.h. SPDX-License-Identifier: MIT */
#include "device/webgpu/choice.h"

#include "base/test_folder.h"
#include "device/webgpu/remembered.h"
#include "device/webgpu/shader.h"
#include "device/webgpu/timing.h"

/* What compiles fastest on an emulated GPU. */
#define TWO "32x32 4x4,64x64 4x4"
#define NT_ALONE 2u /* the trial by fours that writes single components of both tiles */

static pt_error err;

static bool no_gpu(void)
{
    const char *library = getenv("POSTTRAIN_WEBGPU");
    return !library || !*library;
}

static bool thorough(void)
{
    const char *wanted = getenv("POSTTRAIN_TEST_GPU");
    return wanted && strcmp(wanted, "all") == 0;
}

static int kernel(const char *name)
{
    for (int i = 0; i < pt_wg_tile_count(); i++)
        if (strcmp(pt_wg_tiles[i].name, name) == 0) return i;
    CHECK(false);
    return 0;
}

static pt_wg_verdict verdict(pt_device *device, const char *name)
{
    return pt_wg_choice_of(device)->verdict[kernel(name)];
}

/* Its kernels may take long to compile, unless the options say how long: other processes may be at work as well. */
static pt_device *open_gpu(const pt_webgpu_options *options)
{
    pt_device *device = NULL;
    pt_webgpu_options patient = *options;
    if (!patient.compile_ms) patient.compile_ms = 600000;
    setenv("XDG_CACHE_HOME", in_folder("cache"), 1);
    CHECK_OK(pt_device_webgpu_new(&device, &patient, &err), err);
    return device;
}

static void make_ready(pt_device *device)
{
    pt_status s = PT_PENDING;
    int last = 0;
    while (s == PT_PENDING) {
        s = pt_device_ready(device, &err);
        CHECK(device->readied <= device->to_ready);
        last = device->readied;
    }
    CHECK_OK(s, err);
    CHECK_INT(last, device->to_ready);
}

/* ---- shaders made wrong on purpose ---- */

static char *altered;

/* The shaders, but for one place. */
static void alter(const char *from, const char *to)
{
    int64_t n;
    const char *text = pt_shaders_text(&n);
    pt_strbuf out = {0};
    const char *at = NULL;
    for (int64_t i = 0; i + (int64_t)strlen(from) <= n && !at; i++)
        if (memcmp(text + i, from, strlen(from)) == 0) at = text + i;
    CHECK(at != NULL);
    pt_strbuf_append(&out, text, (size_t)(at - text));
    pt_strbuf_puts(&out, to);
    pt_strbuf_append(&out, at + strlen(from), (size_t)(text + n - at) - strlen(from));
    CHECK(!out.failed);
    pt_device_webgpu_shaders(out.data, (int64_t)out.len);
    pt_free(altered);
    altered = out.data;
}

static void restore_shaders(void)
{
    pt_device_webgpu_shaders(NULL, 0);
    pt_free(altered);
    altered = NULL;
}

/* A product of every size and layout is right: whatever was chosen. */
static void check_products(pt_device *device)
{
    enum { M = 70, N = 36, K = 52 };
    static float a[M * K], b[N * K], c[M * N];
    pt_buffer *buffer[3];
    pt_tensor t[3];
    const int64_t n[3] = {M * K, N * K, M * N};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(pt_buffer_new(device, n[i] * 4, &buffer[i], &err), err);
        t[i] = pt_view(&(pt_tensor){.buffer = buffer[i], .dtype = PT_F32}, n[i], 0, 0, 0);
    }
    for (int i = 0; i < M * K; i++) a[i] = (float)(i * 7 % 23 - 11);
    for (int i = 0; i < N * K; i++) b[i] = (float)(i * 5 % 19 - 9);
    CHECK_OK(pt_upload(device, &t[0], a, sizeof a, &err), err);
    CHECK_OK(pt_upload(device, &t[1], b, sizeof b, &err), err);
    pt_wg_product p = {
        {&t[0], 0, K, false}, {&t[1], 0, K, true}, {&t[2], 0, N, false}, .m = M, .n = N, .k = K};
    pt_download download;
    CHECK_OK(pt_wg_matmul(device, &p, &err), err);
    CHECK_OK(pt_download_begin(device, &t[2], c, sizeof c, &download, &err), err);
    CHECK_OK(pt_submit(device, &err), err);
    while (pt_download_poll(device, &download, &err) == PT_PENDING) {}
    for (int i = 0; i < M * N; i++) {
        double sum = 0;
        for (int k = 0; k < K; k++) sum += (double)a[i / N * K + k] * (double)b[i % N * K + k];
        CHECK(pt_fabs(sum - (double)c[i]) < 1e-9); /* whole numbers: exact */
    }
    for (int i = 0; i < 3; i++) pt_buffer_free(buffer[i]);
}

/* No kernel of the choice but these. */
static void check_chosen(pt_device *device, const char *one, const char *other)
{
    const pt_wg_choice *choice = pt_wg_choice_of(device);
    for (int i = 0; i < PT_WG_CHOICES; i++) {
        const char *name = choice->tile[i / PT_WG_LAYOUTS][i % PT_WG_LAYOUTS]->name;
        CHECK(strcmp(name, one) == 0 || strcmp(name, other) == 0);
    }
}

TEST(a_kernel_made_wrong_on_purpose_is_caught_and_not_used)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    fresh_folder();
    /* two threads of the smallest tile mix up their rows; another kernel leaves something behind that it reads next time */
    alter("acc[1] = fma(vec4<f32>(a0.y), b0, acc[1]);",
          "acc[1] = fma(vec4<f32>(select(a0.y, a0.x, BM == 32u)), b0, acc[1]);");
    alter("let row_a = k * M4 + tm;",
          "if (BM == 64u && VA == 0u && k0 + k == 0u) { bias[0] *= 1.0000003; }\n"
          "let row_a = k * M4 + tm;");
    pt_device *d = open_gpu(&(pt_webgpu_options){
        .software = true, .tuned = true, .kernels = TWO ",64x64 4x4 scalar", .trials = NT_ALONE});
    make_ready(d);
    CHECK_INT(verdict(d, "naive"), PT_WG_RIGHT);
    CHECK_INT(verdict(d, "32x32 4x4"), PT_WG_WRONG);
    CHECK_INT(verdict(d, "64x64 4x4"), PT_WG_RIGHT);
    CHECK_INT(verdict(d, "64x64 4x4 scalar"), PT_WG_UNSTEADY);
    CHECK_INT(verdict(d, "128x128 8x8"), PT_WG_UNTRIED);
    CHECK_STR(d->remark, "2 of 4 kernels for products failed their trial and are not used: "
                         "32x32 4x4 (wrong results), 64x64 4x4 scalar (varying results)");
    check_chosen(d, "naive", "64x64 4x4");
    CHECK_STR(pt_wg_choice_of(d)->tile[PT_WG_LARGE][PT_WG_NN]->name, "64x64 4x4");
    check_products(d);
    pt_device_free(d);
    restore_shaders();
}

TEST(a_kernel_that_does_not_compile_is_not_used)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    fresh_folder();
    alter("const THREADS: u32 =", "const_assert BM != 32u;\nconst THREADS: u32 =");
    pt_device *d =
        open_gpu(&(pt_webgpu_options){.software = true, .tuned = true, .kernels = "32x32 4x4"});
    make_ready(d);
    CHECK_INT(verdict(d, "naive"), PT_WG_RIGHT);
    CHECK_INT(verdict(d, "32x32 4x4"), PT_WG_NOT_COMPILED);
    CHECK_STR(d->remark, "1 of 2 kernels for products failed their trial and is not used: "
                         "32x32 4x4 (does not compile)");
    check_chosen(d, "naive", "naive");
    check_products(d);
    pt_device_free(d);
    restore_shaders();
}

TEST(a_kernel_whose_compiler_does_not_end_is_not_used)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    fresh_folder();
    pt_device *d = open_gpu(&(pt_webgpu_options){.software = true,
                                                 .tuned = true,
                                                 .kernels = "32x32 4x4",
                                                 .trials = NT_ALONE,
                                                 .compile_ms = 1});
    make_ready(d);
    CHECK_INT(verdict(d, "naive"), PT_WG_RIGHT);
    CHECK_INT(verdict(d, "32x32 4x4"), PT_WG_TOO_SLOW);
    check_chosen(d, "naive", "naive");
    check_products(d);
    pt_device_free(d);
}

TEST(a_gpu_that_multiplies_wrong_is_refused)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    fresh_folder();
    alter("sum += slice_sum;", "sum -= slice_sum;");
    pt_device *d = open_gpu(&(pt_webgpu_options){.software = true, .tuned = true, .kernels = ""});
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_device_ready(d, &err);
    CHECK_INT(s, PT_UNSUPPORTED);
    CHECK(strstr(err.message, "simplest product: wrong results"));
    pt_device_free(d);
    restore_shaders();
}

/* An emulated GPU's kernel is the simplest, without a trial. */
TEST(an_emulated_gpu_is_ready_at_once)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    pt_device *d = open_gpu(&(pt_webgpu_options){.software = true});
    if (pt_wg_limits_of(d)->software) {
        CHECK_OK(pt_device_ready(d, &err), err);
        CHECK_INT(d->to_ready, 0);
        check_chosen(d, "naive", "naive");
    }
    pt_device_free(d);
}

/* ---- the order of sums ---- */

/* Those of f32 have the simplest one's bits; those on matrix units f32's tolerance; f16 rounds A and B to 11 bits. */
static void check_sums(const pt_wg_tile *tile, const float *got, const float *want, int n)
{
    double largest = 0, off = 0;
    for (int i = 0; i < n; i++) {
        if (pt_fabs((double)want[i]) > largest) largest = pt_fabs((double)want[i]);
        double difference = pt_fabs((double)got[i] - (double)want[i]);
        if (!(difference <= off)) off = difference;
    }
    double tolerance = pt_wg_tile_approximate(tile) ? 1e-3 : tile->kind == PT_WG_MATRIX ? 2e-5 : 0;
    if (!(off <= tolerance * largest)) printf("%s: off by %g of %g\n", tile->name, off, largest);
    CHECK(off <= tolerance * largest);
    CHECK(tolerance < 1e-3 || off > 0);
}

TEST(every_kernel_sums_as_the_simplest_does)
{
    enum { M = 68, N = 72, K = 260, FLOATS = 80 * 280 }; /* four slices of 65, rounded up */
    static float values[2][FLOATS], want[FLOATS], got[FLOATS];
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    pt_device *d = open_gpu(&(pt_webgpu_options){.software = true, .tuned = true});
    pt_wg_operands o = {0};
    pt_tensor *t[4] = {&o.a, &o.b, &o.c, &o.bias};
    pt_buffer *buffer[4];
    for (int i = 0; i < 2 * FLOATS; i++)
        values[i / FLOATS][i % FLOATS] = (float)((i * 40503u & 0xffff) / 65536.0 - 0.4);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(pt_buffer_new(d, sizeof got, &buffer[i], &err), err);
        *t[i] = pt_view(&(pt_tensor){.buffer = buffer[i], .dtype = PT_F32}, FLOATS, 0, 0, 0);
        CHECK_OK(pt_upload(d, t[i], values[i & 1], sizeof got, &err), err);
    }
    int trials =
        2 * PT_WG_LAYOUTS; /* with a row and a column less than rows have room for, or all */
    for (int trial = thorough() ? 0 : 2 * PT_WG_NT;
         trial < (thorough() ? trials : 2 * PT_WG_NT + 1); trial++) {
        for (int i = 0; i < pt_wg_tile_count(); i++) {
            const pt_wg_tile *tile = &pt_wg_tiles[i];
            pt_download download;
            if (tile->kind == PT_WG_TILED && i > 1 && !thorough()) continue;
            if (pt_wg_tile_lacks(d, tile)) continue;
            pt_wg_product p = pt_wg_trial_product(trial / 2, &o, M, N, K);
            p.accumulate = false;
            p.m -= trial % 2 == 0;
            p.n -= trial % 2 == 0;
            CHECK_OK(pt_wg_matmul_with(d, &p, tile, 0, &err), err);
            CHECK_OK(pt_download_begin(d, &o.c, i ? got : want, sizeof got, &download, &err), err);
            CHECK_OK(pt_submit(d, &err), err);
            while (pt_download_poll(d, &download, &err) == PT_PENDING) {}
            if (i) check_sums(tile, got, want, FLOATS);
        }
    }
    for (int i = 0; i < 4; i++) pt_buffer_free(buffer[i]);
    pt_device_free(d);
}

/* ---- races ---- */

TEST(the_usual_kernel_gives_way_to_one_that_is_clearly_faster)
{
    int64_t times[4][PT_WG_ROUNDS] = {{104, 140, 99}, {98, 97, 98}, {180, 500, 94}, {360, 0, 0}};
    CHECK_INT(pt_wg_timing_winner(times, 2, 0), 0); /* 97 against 99: by chance */
    CHECK_INT(pt_wg_timing_winner(times, 3, 0), 2); /* 94: slow rounds do not count */
    CHECK_INT(pt_wg_timing_winner(times, 4, 3), 2);
    CHECK_INT(pt_wg_timing_winner(times, 2, 1), 1);
}

static const char *memory(void) { return in_folder("cache/posttrain/webgpu.json"); }

static char *remembered(void)
{
    char *text = NULL;
    int64_t n;
    CHECK_OK(pt_fs_read(memory(), 1 << 16, &text, &n, &err), err);
    return text;
}

static void remember(const char *text)
{
    FILE *f = fopen(memory(), "wb");
    CHECK(f != NULL);
    fputs(text, f);
    fclose(f);
}

TEST(kernels_race_once_and_what_is_remembered_is_used)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    fresh_folder();
    pt_webgpu_options options = {
        .software = true, .tuned = true, .kernels = TWO, .trials = NT_ALONE, .timed_scale = 16};
    pt_device *d = open_gpu(&options);
    make_ready(d);
    CHECK_INT(d->to_ready, 3);
    CHECK(d->remark == NULL);
    check_chosen(d, "32x32 4x4", "64x64 4x4");
    pt_strbuf text = {0};
    pt_wg_choice choice = *pt_wg_choice_of(d);
    pt_wg_choice_write(&choice, d->detail, &text);
    char *kept = remembered();
    CHECK_STR(kept, text.data);
    pt_free(kept);

    /* as if the smallest had won everything: it alone is tried again */
    for (int i = 0; i < PT_WG_CHOICES; i++)
        choice.tile[i / PT_WG_LAYOUTS][i % PT_WG_LAYOUTS] = &pt_wg_tiles[kernel("32x32 4x4")];
    pt_strbuf_clear(&text);
    pt_wg_choice_write(&choice, d->detail, &text);
    remember(text.data);
    pt_device_free(d);
    d = open_gpu(&options);
    make_ready(d);
    CHECK_INT(d->to_ready, 1);
    check_chosen(d, "32x32 4x4", "32x32 4x4");
    pt_device_free(d);
    pt_strbuf_deinit(&text);
}

TEST(a_remembered_kernel_that_fails_now_is_not_used)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    fresh_folder();
    CHECK_OK(pt_fs_make_folder(in_folder("cache/posttrain"), &err), err);
    alter("const THREADS: u32 =", "const_assert BM != 32u;\nconst THREADS: u32 =");
    pt_device *d = open_gpu(&(pt_webgpu_options){.software = true,
                                                 .tuned = true,
                                                 .kernels = "32x32 4x4",
                                                 .trials = NT_ALONE,
                                                 .timed_scale = 16});
    pt_wg_choice choice = {0};
    pt_strbuf text = {0};
    pt_wg_choice_init(&choice, false);
    choice.verdict[0] = choice.verdict[kernel("32x32 4x4")] = PT_WG_RIGHT;
    choice.tile[PT_WG_LARGE][PT_WG_NN] = &pt_wg_tiles[kernel("32x32 4x4")];
    pt_wg_choice_write(&choice, d->detail, &text);
    remember(text.data);
    make_ready(d);
    CHECK_INT(verdict(d, "32x32 4x4"), PT_WG_NOT_COMPILED);
    check_chosen(d, "naive", "naive");
    char *kept = remembered();
    CHECK(strstr(kept, "does not compile") != NULL);
    pt_free(kept);
    pt_device_free(d);
    pt_strbuf_deinit(&text);
    restore_shaders();
}

/* With the simplest kernel alone, which takes no time to compile. */
TEST(what_is_remembered_of_another_gpu_or_damaged_is_made_anew)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    static const char *const bad[] = {"", "{", "[]", "{\"adapter\": \"another\"}", NULL};
    pt_webgpu_options options = {.software = true, .tuned = true, .kernels = "", .timed_scale = 16};
    fresh_folder();
    pt_device *d = open_gpu(&options);
    make_ready(d);
    pt_device_free(d);
    char *good = remembered();
    for (int i = 0; bad[i]; i++) {
        remember(bad[i]);
        d = open_gpu(&options);
        make_ready(d);
        pt_device_free(d);
        char *text = remembered();
        CHECK_STR(text, good);
        pt_free(text);
    }
    pt_free(good);
}

TEST(no_folder_for_caches_is_no_trouble)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    fresh_folder();
    FILE *f = fopen(in_folder("cache"), "wb"); /* a file in its place */
    CHECK(f != NULL);
    fclose(f);
    pt_device *d = open_gpu(
        &(pt_webgpu_options){.software = true, .tuned = true, .kernels = "", .timed_scale = 16});
    make_ready(d);
    pt_device_free(d);
}

/* ---- as text ---- */

TEST(a_choice_is_read_back_for_its_own_gpu_alone)
{
    pt_wg_choice choice = {0}, read = {0}, none = {0};
    pt_strbuf text = {0};
    pt_wg_choice_init(&choice, true);
    for (int i = 0; i < pt_wg_tile_count(); i++) choice.verdict[i] = PT_WG_RIGHT;
    choice.verdict[kernel("128x128 8x8")] = PT_WG_NOT_COMPILED;
    pt_wg_choice_write(&choice, "a GPU, driver 1", &text);
    CHECK(pt_wg_choice_read(&read, "a GPU, driver 1", text.data));
    CHECK(memcmp(&read, &choice, sizeof read) == 0);
    memset(&read, 0, sizeof read);
    CHECK(!pt_wg_choice_read(&read, "a GPU, driver 2", text.data));
    CHECK(memcmp(&read, &none, sizeof read) == 0);
    /* other shaders: other kernels under the same names */
    alter("let row_a = k * M4 + tm;", "let row_a = k * M4  + tm;");
    CHECK(!pt_wg_choice_read(&read, "a GPU, driver 1", text.data));
    restore_shaders();
    /* a kernel that was not right is never chosen */
    choice.verdict[pt_wg_usual_tile(PT_WG_SMALL) - pt_wg_tiles] = PT_WG_WRONG;
    pt_strbuf_clear(&text);
    pt_wg_choice_write(&choice, "a GPU, driver 1", &text);
    CHECK(!pt_wg_choice_read(&read, "a GPU, driver 1", text.data));
    CHECK(memcmp(&read, &none, sizeof read) == 0);
    pt_strbuf_deinit(&text);
}

PT_TEST_MAIN
