/* TensorBoard's event file of a run: its name, its records, a second sitting, a full disk.
 * SPDX-License-Identifier: MIT */
#include "train/run_events.h"

#include "base/test_folder.h"
#include "io/tfevents.h"

static char file_name[256];

static void note_name(void *ctx, const char *name, bool folder)
{
    (void)ctx, (void)folder;
    snprintf(file_name, sizeof file_name, "%s", name);
}

/* The bytes of the folder's only file must be whole records; their number is returned. */
static int64_t read_events(char **bytes)
{
    pt_error err = {0};
    int64_t n = 0;
    CHECK_INT(n_entries(), 1);
    CHECK_OK(pt_fs_list(in_folder(""), note_name, NULL, &err), err);
    CHECK_OK(pt_fs_read(in_folder(file_name), 1 << 20, bytes, &n, &err), err);
    CHECK_INT(pt_tfevents_whole((const uint8_t *)*bytes, n), n);
    return n;
}

static bool contains(const char *bytes, int64_t n, const char *word)
{
    size_t len = strlen(word);
    for (int64_t i = 0; i + (int64_t)len <= n; i++)
        if (memcmp(bytes + i, word, len) == 0) return true;
    return false;
}

TEST(a_run_is_written_as_it_happens)
{
    fresh_folder();
    pt_error err = {0};
    pt_run_events *e = NULL;
    CHECK_OK(pt_run_events_open(&e, in_folder(""), false, 0, 1024, &err), err);
    pt_step_report report = {.step = 1, .loss = 5.5, .grad_norm = 1, .lr = 1e-3, .seconds = 0.5};
    CHECK_OK(pt_run_events_step(e, &report, &err), err);
    int64_t count = pt_alloc_count();
    report.step = 2;
    CHECK_OK(pt_run_events_step(e, &report, &err), err);
    CHECK_INT(pt_alloc_count(), count);
    CHECK_OK(pt_run_events_evaluated(e, 2, 5.25, &err), err);
    CHECK_OK(pt_run_events_sampled(e, 2, "\xffthe", 4, &err), err);
    char *bytes = NULL;
    int64_t n = read_events(&bytes); /* there while the run goes on */
    static const char *const words[] = {"brain.Event:2",    "loss",     "lr",
                                        "grad_norm",        "val_loss", "\xef\xbf\xbdthe",
                                        "tokens_per_second"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) CHECK(contains(bytes, n, words[i]));
    pt_free(bytes);
    pt_run_events_close(e);
    CHECK(strncmp(file_name, "events.out.tfevents.", 20) == 0);
    CHECK_INT(strspn(file_name + 20, "0123456789"), 10);
    CHECK(strcmp(file_name + strlen(file_name) - 2, ".0") == 0);
}

TEST(a_second_sitting_tells_where_it_begins)
{
    fresh_folder();
    pt_error err = {0};
    pt_run_events *e = NULL;
    char *bytes = NULL;
    CHECK_OK(pt_run_events_open(&e, in_folder(""), true, 100, 1024, &err), err);
    CHECK_OK(pt_run_events_went_back(e, 110, &err), err);
    pt_run_events_close(e);
    int64_t n = read_events(&bytes);
    CHECK(contains(bytes, n, "\x10\x65\x3a\x02\x08\x01")); /* step 101, START */
    CHECK(contains(bytes, n, "\x10\x6f\x3a\x02\x08\x01")); /* step 111, START */
    pt_free(bytes);
}

/* Killed before its first checkpoint, and begun again: TensorBoard showed both curves. */
TEST(a_second_sitting_from_the_start_says_so)
{
    static const char start[] = "\x10\x01\x3a\x02\x08\x01"; /* step 1, START */
    pt_error err = {0};
    for (int resumed = 0; resumed < 2; resumed++) {
        pt_run_events *e = NULL;
        char *bytes = NULL;
        fresh_folder();
        CHECK_OK(pt_run_events_open(&e, in_folder(""), resumed, 0, 1024, &err), err);
        pt_run_events_close(e);
        int64_t n = read_events(&bytes);
        CHECK(contains(bytes, n, start) == resumed);
        pt_free(bytes);
    }
}

/* The clock went back between two sittings: TensorBoard reads files in the order of their names. */
TEST(a_second_sitting_sorts_after_the_first)
{
    fresh_folder();
    pt_error err = {0};
    put_text(in_folder("events.out.tfevents.5000000000.vm.1.0"), "");
    put_text(in_folder("events.out.tfevents.99999999999999999999.vm.1.0"), ""); /* none of ours */
    for (int i = 1; i < 3; i++) {
        pt_run_events *e = NULL;
        char want[64];
        CHECK_OK(pt_run_events_open(&e, in_folder(""), true, 100, 1024, &err), err);
        pt_run_events_close(e);
        (void)pt_fs_remove(in_folder("events.out.tfevents.99999999999999999999.vm.1.0"), NULL);
        CHECK_OK(pt_fs_list(in_folder(""), note_name, NULL, &err), err); /* the last one by name */
        snprintf(want, sizeof want, "events.out.tfevents.500000000%d.", i);
        CHECK(strncmp(file_name, want, strlen(want)) == 0);
    }
}

TEST(without_events_nothing_happens)
{
    pt_error err = {0};
    pt_step_report report = {.step = 1};
    CHECK_OK(pt_run_events_step(NULL, &report, &err), err);
    CHECK_OK(pt_run_events_evaluated(NULL, 1, 2, &err), err);
    CHECK_OK(pt_run_events_sampled(NULL, 1, "", 0, &err), err);
    pt_run_events_close(NULL);
}

TEST(failures_leave_whole_records)
{
    pt_error err = {0};
    pt_run_events *e = NULL;
    fresh_folder();
    CHECK_INT(pt_run_events_open(&e, in_folder("no"), false, 0, 1, &err), PT_NOT_FOUND);
    CHECK(!e);
    err = (pt_error){0};
    CHECK_OK(pt_run_events_open(&e, in_folder(""), false, 0, 1, &err), err);
    pt_fs_fail_after(1);
    CHECK_INT(pt_run_events_evaluated(e, 1, 2, &err), PT_IO);
    pt_fs_fail_after(0);
    CHECK_INT(pt_run_events_evaluated(e, 2, 3, &err), PT_OK);
    pt_run_events_close(e);
    char *bytes = NULL;
    read_events(&bytes);
    pt_free(bytes);
}

PT_TEST_MAIN
