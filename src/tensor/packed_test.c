/* Packed rows: layout, rounding, what does not fit. SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "base/rng.h"
#include "base/test.h"
#include "tensor/packed.h"

#define MOST 700 /* elements of a row */

static unsigned char row[2 * MOST + 64];

static void check_rest_is_zero(int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) CHECK_INT(row[i], 0);
}

static void random_row(float *x, int64_t n, float size)
{
    for (int64_t i = 0; i < n; i += 4) {
        double z[4];
        pt_rng_normal4(3, PT_STREAM_TEST, (uint32_t)n, (uint64_t)i, z);
        for (int64_t k = 0; k < 4 && i + k < n; k++) x[i + k] = (float)z[k] * size;
    }
}

TEST(f16_is_rounded_to_even_and_filled_up)
{
    static const float x[] = {1, -2, 1 + 0x1p-11f, 1 + 0x3p-11f, 65504, 0x1p-24f, 0, -0.1f, 3};
    static const float want[] = {1, -2, 1, 1 + 0x1p-9f, 65504, 0x1p-24f, 0, -0x1.998p-4f, 3};
    memset(row, 0xff, sizeof row);
    CHECK(pt_pack_row(PT_ROWS_F16, x, 9, row));
    for (int i = 0; i < 9; i++) {
        CHECK_CLOSE(pt_packed_at(PT_ROWS_F16, row, 9, i), want[i], 0);
        CHECK_INT(row[2 * i] | row[2 * i + 1] << 8, pt_half_from_float(x[i]));
    }
    check_rest_is_zero(18, 32);
    CHECK_INT(row[32], 0xff);
}

TEST(int8_worked_by_hand)
{
    float x[33] = {127, -127, 1.5f, 2.5f, -0.5f, 0.49f};
    x[32] = -0.25f;
    memset(row, 0xff, sizeof row);
    CHECK(pt_pack_row(PT_ROWS_INT8, x, 33, row));
    const int8_t *q = (const int8_t *)row;
    static const int want[] = {127, -127, 2, 2, 0, 0, 0}; /* scale 1; ties to even */
    for (int i = 0; i < 7; i++) CHECK_INT(q[i], want[i]);
    CHECK_INT(row[48] | row[49] << 8, 0x3f80); /* the scale 1 as a bf16 */
    /* 0.25 / 127 = 0x1.02p-9 and some: the next bf16 is 0x1.04p-9, and 0.25 / 0x1.04p-9 = 126.03 */
    CHECK_INT(row[50] | row[51] << 8, pt_bf16_from_float(0x1.04p-9f));
    CHECK_INT(q[32], -126);
    CHECK_CLOSE(pt_packed_at(PT_ROWS_INT8, row, 33, 32), -126 * 0x1.04p-9, 0);
    check_rest_is_zero(33, 48);
    check_rest_is_zero(52, 64);
    CHECK_INT(row[64], 0xff);
}

/* |w - q scale| is half a scale at most, and a scale a 127th of its group's largest, rounded up to a bf16. */
TEST(int8_is_near)
{
    static const int64_t lengths[] = {1, 15, 16, 31, 32, 33, 64, 100, 255, 256, 257, 700};
    static const float sizes[] = {1e-37f, 1e-8f, 0.02f, 1, 1e30f};
    float x[MOST];
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            int64_t n = lengths[l];
            random_row(x, n, sizes[s]);
            CHECK(pt_pack_row(PT_ROWS_INT8, x, n, row));
            for (int64_t i = 0; i < n; i++) {
                double largest = 0;
                for (int64_t k = i / 32 * 32; k < i / 32 * 32 + 32 && k < n; k++)
                    largest = pt_fabs((double)x[k]) > largest ? pt_fabs((double)x[k]) : largest;
                double off = pt_fabs((double)x[i] - (double)pt_packed_at(PT_ROWS_INT8, row, n, i));
                /* a scale below 2^-126 has fewer digits */
                CHECK(off <= (largest / 127 * (1 + 0x1p-7) + 0x1p-133) / 2);
            }
        }
}

TEST(zeros_stay_zeros)
{
    float x[40] = {0};
    CHECK(pt_pack_row(PT_ROWS_INT8, x, 40, row));
    check_rest_is_zero(0, pt_dtype_bytes(PT_ROWS_INT8, 40));
    for (int i = 0; i < 40; i++) CHECK_CLOSE(pt_packed_at(PT_ROWS_INT8, row, 40, i), 0, 0);
}

TEST(what_does_not_fit)
{
    static const double bad[] = {65520, -1e9, PT_INF, -PT_INF, PT_NAN};
    for (int i = 0; i < 5; i++) {
        float x[40] = {0};
        x[i * 8] = (float)bad[i];
        CHECK(!pt_pack_row(PT_ROWS_F16, x, 40, row));
        CHECK(pt_pack_row(PT_ROWS_INT8, x, 40, row) == (i < 2));
    }
    float x = 3.4028235e38f;
    CHECK(pt_pack_row(PT_ROWS_INT8, &x, 1, row));
    CHECK(pt_fabs((double)pt_packed_at(PT_ROWS_INT8, row, 1, 0) / (double)x - 1) < 0.004);
}

TEST(names)
{
    pt_dtype dtype = PT_I32;
    CHECK(!pt_weights_from_name("f8", &dtype));
    CHECK_INT(dtype, PT_I32);
    CHECK(pt_weights_from_name("f32", &dtype) && dtype == PT_F32);
    CHECK(pt_weights_from_name("f16", &dtype) && dtype == PT_ROWS_F16);
    CHECK(pt_weights_from_name("int8", &dtype) && dtype == PT_ROWS_INT8);
}

PT_TEST_MAIN
