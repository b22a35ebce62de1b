/* Tensors: sizes, overflow, names, views. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "tensor/tensor.h"

static pt_tensor shaped(pt_dtype dtype, int64_t d0, int64_t d1, int64_t d2, int64_t d3)
{
    pt_tensor t = {.dtype = dtype};
    return pt_view(&t, d0, d1, d2, d3);
}

TEST(sizes_of_every_dtype)
{
    static const struct {
        pt_dtype dtype;
        const char *name;
        int64_t of_1, of_32, of_33, of_256, of_257;
    } want[] = {{PT_F32, "f32", 4, 128, 132, 1024, 1028},
                {PT_F64, "f64", 8, 256, 264, 2048, 2056},
                {PT_BF16, "bf16", 2, 64, 66, 512, 514},
                {PT_F16, "f16", 2, 64, 66, 512, 514},
                {PT_I32, "i32", 4, 128, 132, 1024, 1028},
                {PT_U8, "u8", 1, 32, 33, 256, 257},
                {PT_Q8_0, "q8_0", 34, 34, 68, 272, 306},
                {PT_Q4_0, "q4_0", 18, 18, 36, 144, 162},
                {PT_Q4_1, "q4_1", 20, 20, 40, 160, 180},
                {PT_Q5_0, "q5_0", 22, 22, 44, 176, 198},
                {PT_Q5_1, "q5_1", 24, 24, 48, 192, 216},
                {PT_Q4_K, "q4_k", 144, 144, 144, 144, 288},
                {PT_Q5_K, "q5_k", 176, 176, 176, 176, 352},
                {PT_Q6_K, "q6_k", 210, 210, 210, 210, 420},
                {PT_ROWS_F16, "f16 rows", 16, 64, 80, 512, 528},
                {PT_ROWS_INT8, "int8 rows", 32, 48, 64, 272, 304}};
    CHECK_INT(sizeof want / sizeof want[0], PT_DTYPE_COUNT);
    for (int i = 0; i < PT_DTYPE_COUNT; i++) {
        pt_dtype dtype = want[i].dtype, found = PT_DTYPE_COUNT;
        CHECK_INT(pt_dtype_bytes(dtype, 0), 0);
        CHECK_INT(pt_dtype_bytes(dtype, 1), want[i].of_1);
        CHECK_INT(pt_dtype_bytes(dtype, 32), want[i].of_32);
        CHECK_INT(pt_dtype_bytes(dtype, 33), want[i].of_33);
        CHECK_INT(pt_dtype_bytes(dtype, 256), want[i].of_256);
        CHECK_INT(pt_dtype_bytes(dtype, 257), want[i].of_257);
        CHECK_STR(pt_dtype_name(dtype), want[i].name);
        CHECK(pt_dtype_from_name(want[i].name, &found));
        CHECK_INT(found, dtype);
    }
}

TEST(names_that_are_none)
{
    static const char *const none[] = {"", "F32", "f3", "f322", "q4", "?"};
    for (int i = 0; i < 6; i++) {
        pt_dtype found = PT_U8;
        CHECK(!pt_dtype_from_name(none[i], &found));
        CHECK_INT(found, PT_U8);
    }
    CHECK_STR(pt_dtype_name(PT_DTYPE_COUNT), "?");
    CHECK_STR(pt_dtype_name((pt_dtype)-1), "?");
}

TEST(sizes_that_do_not_fit)
{
    CHECK_INT(pt_dtype_bytes(PT_F32, -1), -1);
    CHECK_INT(pt_dtype_bytes(PT_F32, INT64_MIN), -1);
    CHECK_INT(pt_dtype_bytes(PT_F32, INT64_MAX / 4), INT64_MAX / 4 * 4);
    CHECK_INT(pt_dtype_bytes(PT_F32, INT64_MAX / 4 + 1), -1);
    CHECK_INT(pt_dtype_bytes(PT_U8, INT64_MAX - 1), INT64_MAX - 1);
    for (int i = 0; i < PT_DTYPE_COUNT; i++) {
        int64_t bytes = pt_dtype_bytes((pt_dtype)i, INT64_MAX);
        CHECK(bytes == -1 || bytes > INT64_MAX / 2); /* never a small or wrapped number */
    }
    pt_tensor t = shaped(PT_U8, INT64_C(1) << 31, INT64_C(1) << 31, 2, 0);
    CHECK_INT(pt_tensor_bytes(&t), -1);
    t = shaped(PT_F32, INT64_C(1) << 31, INT64_C(1) << 30, 0, 0);
    CHECK_INT(pt_tensor_bytes(&t), -1);
    t.dtype = PT_Q4_0;
    CHECK_INT(pt_tensor_bytes(&t), (INT64_C(1) << 56) * 18);
    t = shaped(PT_F32, 3, 4, 0, 0);
    t.dim[1] = -4;
    CHECK_INT(pt_tensor_bytes(&t), -1);
}

TEST(shapes)
{
    pt_tensor t = shaped(PT_F32, 2, 3, 5, 0);
    CHECK_INT(t.rank, 3);
    CHECK_INT(t.dim[3], 1);
    CHECK_INT(pt_numel(&t), 30);
    CHECK_INT(pt_rows(&t), 6);
    CHECK_INT(pt_last_dim(&t), 5);
    CHECK_INT(pt_tensor_bytes(&t), 120);
    t = shaped(PT_F64, 7, 0, 0, 0);
    CHECK_INT(t.rank, 1);
    CHECK_INT(pt_rows(&t), 1);
    CHECK_INT(pt_last_dim(&t), 7);
    t = shaped(PT_F64, 7, 1, 1, 1);
    CHECK_INT(t.rank, 4);
    CHECK_INT(pt_rows(&t), 7);
    /* no dimension at all is one element of rank 1, not rank 0 */
    t = shaped(PT_F32, 0, 0, 0, 0);
    CHECK_INT(t.rank, 1);
    CHECK_INT(pt_last_dim(&t), 1);
}

TEST(views_and_slices_stay_in_place)
{
    struct pt_buffer *buffer = (struct pt_buffer *)&buffer; /* never followed */
    pt_tensor t = {.buffer = buffer, .offset = 640, .dtype = PT_F32};
    t = pt_view(&t, 6, 4, 5, 0);
    pt_tensor v = pt_view(&t, 24, 5, 0, 0);
    CHECK(v.buffer == buffer && v.offset == 640 && v.dtype == PT_F32);
    CHECK_INT(v.rank, 2);
    CHECK_INT(pt_numel(&v), pt_numel(&t));
    pt_tensor s = pt_slice(&t, 2, 3);
    CHECK(s.buffer == buffer);
    CHECK_INT(s.offset, 640 + 2 * 20 * 4);
    CHECK_INT(s.dim[0], 3);
    CHECK_INT(s.rank, 3);
    CHECK_INT(pt_tensor_bytes(&s), 240);
    s = pt_slice(&s, 1, 1); /* a slice of a slice */
    CHECK_INT(s.offset, 640 + 3 * 20 * 4);
    /* rows of quantised blocks */
    pt_tensor q = {.buffer = buffer, .offset = 64, .dtype = PT_Q8_0};
    q = pt_view(&q, 10, 64, 0, 0);
    q = pt_slice(&q, 3, 2);
    CHECK_INT(q.offset, 64 + 3 * 2 * 34);
    CHECK_INT(pt_tensor_bytes(&q), 2 * 2 * 34);
    /* each row begins at a multiple of 16 bytes */
    q = (pt_tensor){.buffer = buffer, .offset = 64, .dtype = PT_ROWS_F16};
    q = pt_view(&q, 10, 9, 0, 0);
    CHECK_INT(pt_tensor_bytes(&q), 10 * 32);
    q = pt_slice(&q, 3, 2);
    CHECK_INT(q.offset, 64 + 3 * 32);
    CHECK_INT(pt_tensor_bytes(&q), 2 * 32);
    q.dtype = PT_ROWS_INT8;
    CHECK_INT(pt_tensor_bytes(&q), 2 * (16 + 16));
    CHECK(pt_present(&q));
    CHECK(!pt_present(&(pt_tensor){0}));
}

TEST(same_shape_looks_at_rank_and_dims_only)
{
    pt_tensor a = shaped(PT_F32, 2, 3, 0, 0), b = shaped(PT_U8, 2, 3, 0, 0);
    b.offset = 9;
    CHECK(pt_same_shape(&a, &b));
    b = shaped(PT_F32, 3, 2, 0, 0);
    CHECK(!pt_same_shape(&a, &b));
    b = shaped(PT_F32, 2, 3, 1, 0);
    CHECK(!pt_same_shape(&a, &b));
}

TEST(descriptions)
{
    char text[64];
    pt_tensor t = shaped(PT_F32, 2, 3, 4, 0);
    pt_tensor_describe(&t, text, sizeof text);
    CHECK_STR(text, "[2,3,4] f32");
    t = shaped(PT_Q4_K, 256, 0, 0, 0);
    pt_tensor_describe(&t, text, sizeof text);
    CHECK_STR(text, "[256] q4_k");
    t = shaped(PT_BF16, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX);
    for (size_t cap = 1; cap < 40; cap++) { /* cut, ended, and nothing written beyond */
        memset(text, '#', sizeof text);
        pt_tensor_describe(&t, text, cap);
        CHECK(memchr(text, '\0', cap) != NULL);
        CHECK(text[cap] == '#');
        CHECK(strncmp(text, "[9223372036854775807,9223372036854775807", strlen(text)) == 0);
    }
}

PT_TEST_MAIN
