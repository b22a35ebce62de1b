/* For tests of the trainer: a run on a device of a kind, the file that it saved last, and the loops that wait. A test that keeps
 * more of a run has a struct that begins with this one.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_TEST_RUN_H
#define PT_TRAIN_TEST_RUN_H

#include "base/test.h"
#include "io/sink.h"
#include "io/tinygpt.h"
#include "train/trainer.h"

typedef struct test_run {
    pt_device *device;
    pt_trainer *trainer;
    pt_strbuf file;            /* the newest; empty: none was saved */
    int64_t saves, saved_step; /* how many were saved whole, and the step of the newest */
} test_run;

/* For the events of a run whose ctx is the test_run. */
static inline pt_status test_run_save_begin(void *ctx, int64_t step, pt_sink *sink, pt_error *err)
{
    test_run *r = ctx;
    (void)err;
    pt_strbuf_clear(&r->file);
    r->saved_step = step;
    *sink = pt_sink_to_strbuf(&r->file);
    return PT_OK;
}

static inline pt_status test_run_save_end(void *ctx, int64_t step, bool failed, pt_error *err)
{
    (void)step, (void)err;
    ((test_run *)ctx)->saves += !failed;
    return PT_OK;
}

/* kind: "ref", "cpu", "fake" (over ref), "webgpu" (an emulated one will do). The caller has zeroed r. The status is that of beginning. */
static inline pt_status test_run_open(test_run *r, const char *kind, const pt_cpu_options *cpu,
                                      const pt_trainer_desc *desc, pt_error *err)
{
    memset(err, 0, sizeof *err);
    pt_webgpu_options gpu = {.software = true};
    if (strcmp(kind, "cpu") == 0) CHECK_OK(pt_device_cpu_new(&r->device, cpu, err), *err);
    else if (strcmp(kind, "webgpu") == 0)
        CHECK_OK(pt_device_webgpu_new(&r->device, &gpu, err), *err);
    else CHECK_OK(pt_device_ref_new(&r->device, PT_F32, err), *err);
    if (strcmp(kind, "fake") == 0)
        CHECK_OK(pt_device_fake_new(&r->device, r->device, 3, err), *err);
    CHECK_OK(pt_trainer_new(&r->trainer, r->device, desc, err), *err);
    return pt_trainer_begin(r->trainer, NULL, err);
}

static inline pt_status test_run_finish(test_run *r, pt_error *err)
{
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_trainer_poll(r->trainer, err);
    return s;
}

static inline void test_run_close(test_run *r)
{
    pt_trainer_free(r->trainer);
    pt_device_free(r->device);
    pt_strbuf_deinit(&r->file);
}

/* The file, open and whole. */
static inline pt_tinygpt *test_run_file(const test_run *r)
{
    pt_tinygpt *file = NULL;
    pt_error err = {0};
    CHECK_OK(pt_tinygpt_open(&file, (const uint8_t *)r->file.data, (int64_t)r->file.len, &err),
             err);
    CHECK_OK(pt_tinygpt_verify(file, &err), err);
    return file;
}

#endif
