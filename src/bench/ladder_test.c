/* The ladder, on devices that answer at once and late. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/test.h"
#include "bench/ladder.h"

static pt_error err;

static pt_device *cpu(void)
{
    pt_device *device = NULL;
    pt_cpu_options options = {.threads = 2};
    CHECK_OK(pt_device_cpu_new(&device, &options, &err), err);
    return device;
}

/* Answers the third time it is asked. */
static pt_device *late(void)
{
    pt_device *device = NULL;
    CHECK_OK(pt_device_ref_new(&device, PT_F32, &err), err);
    CHECK_OK(pt_device_fake_new(&device, device, 2, &err), err);
    return device;
}

static pt_bench_rung measure(pt_bench_ladder *l, pt_device *device, int64_t n)
{
    pt_bench_rung rung;
    pt_status s;
    CHECK_OK(pt_bench_ladder_begin(l, device, PT_BENCH_LINEAR, n, &err), err);
    do s = pt_bench_ladder_poll(l, &rung, &err);
    while (s == PT_PENDING);
    CHECK_OK(s, err);
    return rung;
}

static void check_rung(pt_device *device)
{
    pt_bench_ladder *l;
    CHECK_OK(pt_bench_ladder_new(&l, &err), err);
    double begun = pt_clock_seconds();
    pt_bench_rung rung = measure(l, device, 16);
    double took = pt_clock_seconds() - begun;
    CHECK_INT(rung.blocks, 5);
    CHECK(rung.calls > 1);
    CHECK(rung.block >= 0.01);
    CHECK(5 * rung.block <= took);
    CHECK(rung.seconds * (double)rung.calls >= rung.block);
    CHECK(rung.seconds * (double)rung.calls < took);
    int64_t held = device->allocated_bytes;
    pt_bench_rung again = measure(l, device, 16);
    CHECK_INT(again.blocks, 5);
    CHECK_INT(device->allocated_bytes, held);
    (void)measure(l, device, 32);
    CHECK(device->allocated_bytes > held);
    pt_bench_ladder_free(l);
    CHECK_INT(device->allocated_bytes, 0);
    pt_device_free(device);
}

TEST(a_rung_is_five_blocks_of_ten_milliseconds) { check_rung(cpu()); }
TEST(a_rung_does_not_wait_for_a_device_that_answers_late) { check_rung(late()); }

TEST(a_rung_that_is_stopped_ends_with_its_block)
{
    pt_device *device = late();
    pt_bench_ladder *l;
    pt_bench_rung rung;
    CHECK_OK(pt_bench_ladder_new(&l, &err), err);
    CHECK_OK(pt_bench_ladder_begin(l, device, PT_BENCH_LINEAR, 8, &err), err);
    CHECK_INT(pt_bench_ladder_poll(l, &rung, &err), PT_PENDING);
    CHECK_INT(pt_bench_ladder_begin(l, device, PT_BENCH_LINEAR, 8, &err), PT_BAD_INPUT);
    pt_bench_ladder_stop(l);
    CHECK_INT(pt_bench_ladder_poll(l, &rung, &err), PT_PENDING);
    CHECK_OK(pt_bench_ladder_poll(l, &rung, &err), err);
    CHECK_INT(rung.blocks, 0);
    CHECK_INT(measure(l, device, 8).blocks, 5);
    pt_bench_ladder_free(l);
    pt_device_free(device);
}

TEST(what_makes_no_sense_is_refused)
{
    pt_device *device = cpu();
    pt_bench_ladder *l;
    CHECK_OK(pt_bench_ladder_new(&l, &err), err);
    CHECK_INT(pt_bench_ladder_begin(l, device, PT_BENCH_LINEAR, 0, &err), PT_BAD_INPUT);
    CHECK_INT(pt_bench_ladder_begin(l, device, PT_BENCH_LINEAR, 1 << 20, &err), PT_BAD_INPUT);
    CHECK_INT(pt_bench_ladder_begin(l, device, 10000, 8, &err), PT_BAD_INPUT);
    pt_bench_ladder_free(l);
    pt_device_free(device);
}

TEST(warming_up_ignores_the_first_call_and_then_finds_the_length_of_a_block)
{
    pt_bench_warmth warmth = {.block = 0.1, .least = 0.05};
    pt_bench_work work = {.calls = 1};
    pt_bench_warm(&warmth, &work, 5); /* it compiled */
    CHECK_INT(work.calls, 1);
    pt_bench_warm(&warmth, &work, 0.001);
    CHECK_INT(work.calls, 2);
    pt_bench_warm(&warmth, &work, 0.03);
    CHECK(!warmth.warm); /* not for long enough */
    pt_bench_warm(&warmth, &work, 0.04);
    CHECK(warmth.warm);
    CHECK_INT(work.calls, 5);
}

PT_TEST_MAIN
