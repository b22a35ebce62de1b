/* The quick measure. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/test.h"
#include "bench/probe.h"

static pt_error err;

TEST(a_rate_is_measured_in_about_the_time_given)
{
    pt_device *device = NULL;
    const pt_cpu_options options = {.threads = 2};
    double rate = 0, start = pt_clock_seconds();
    CHECK_OK(pt_device_cpu_new(&device, &options, &err), err);
    CHECK_OK(pt_bench_probe(device, 64, 0.05, &rate, &err), err);
    CHECK(pt_clock_seconds() - start >= 0.05);
    CHECK(rate > 1e6 && rate < 1e14);
    CHECK_INT(pt_bench_probe(device, 0, 0.05, &rate, NULL), PT_BAD_INPUT);
    CHECK(rate == 0);
    pt_device_free(device);
}

TEST(a_device_that_answers_late_is_waited_for)
{
    pt_device *device = NULL;
    double rate = 0;
    CHECK_OK(pt_device_ref_new(&device, PT_F32, &err), err);
    CHECK_OK(pt_device_fake_new(&device, device, 2, &err), err);
    CHECK_OK(pt_bench_probe(device, 8, 0, &rate, &err), err);
    CHECK(rate > 0);
    pt_device_free(device);
}

PT_TEST_MAIN
