/* Split, windows and their order. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "train/data.h"

static uint8_t text[1000];

static pt_status split(int64_t n, pt_windows *train, pt_windows *validate, pt_error *err)
{
    pt_windows whole = {.bytes = text, .n = n, .T = 8, .seed = 1};
    return pt_data_split(&whole, train, validate, err);
}

TEST(the_last_tenth_is_held_out)
{
    pt_windows train, validate;
    pt_error err = {0};
    CHECK_OK(split(1000, &train, &validate, &err), err);
    CHECK_INT(train.n, 900);
    CHECK_INT(validate.n, 100);
    CHECK(validate.bytes == text + 900);
    CHECK_OK(split(1001 - 10, &train, &validate, &err), err);
    CHECK_INT(train.n, 991 - 100);
}

TEST(short_texts_hold_nothing_out)
{
    pt_windows train, validate;
    pt_error err = {0};
    CHECK_OK(split(9, &train, &validate, &err), err);
    CHECK_INT(pt_windows_count(&train), 1);
    CHECK_INT(pt_windows_count(&validate), 0);
    CHECK_OK(split(80, &train, &validate, &err), err);
    CHECK_INT(train.n, 80); /* a tenth would be 8 bytes, one too few for a window */
    CHECK_OK(split(90, &train, &validate, &err), err);
    CHECK_INT(validate.n, 9);
    CHECK_INT(split(8, &train, &validate, &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "8 bytes") && strstr(err.message, "at least 9"));
    err = (pt_error){0};
    CHECK_INT(split(0, &train, &validate, &err), PT_BAD_INPUT);
}

TEST(every_window_once_per_epoch)
{
    pt_windows w = {.bytes = text, .n = 107, .T = 8, .seed = 5, .stream = PT_STREAM_BATCH};
    int seen[99] = {0}, same = 0;
    CHECK_INT(pt_windows_count(&w), 99);
    for (int64_t g = 0; g < 99; g++) {
        int64_t start = pt_windows_start(&w, g);
        CHECK(start >= 0 && start < 99);
        seen[start]++;
        same += start == pt_windows_start(&w, g + 99);
    }
    for (int i = 0; i < 99; i++) CHECK_INT(seen[i], 1);
    CHECK(same < 10); /* the next epoch has another order */
    w.stream = PT_STREAM_VALIDATE;
    for (int64_t g = 0; g < 99; g++) seen[pt_windows_start(&w, g)]++;
    for (int i = 0; i < 99; i++) CHECK_INT(seen[i], 2);
}

TEST(targets_follow_by_one)
{
    for (int i = 0; i < 1000; i++) text[i] = (uint8_t)(i % 251);
    int64_t starts[2] = {3, 17};
    pt_windows w = {.bytes = text, .n = 100, .T = 4, .starts = starts, .n_starts = 2};
    int32_t ids[8], targets[8];
    pt_windows_fill(&w, 0, 2, ids, targets);
    for (int b = 0; b < 2; b++)
        for (int t = 0; t < 4; t++) {
            CHECK_INT(ids[b * 4 + t], starts[b] + t);
            CHECK_INT(targets[b * 4 + t], starts[b] + t + 1);
        }
}

PT_TEST_MAIN
