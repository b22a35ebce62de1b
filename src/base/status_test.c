/* SPDX-License-Identifier: MIT */
#include "base/status.h"
#include "base/test.h"

TEST(every_status_is_described)
{
    CHECK_INT(PT_OK, 0);
    for (int i = 0; i < PT_STATUS_COUNT; i++) {
        CHECK(strlen(pt_status_name((pt_status)i)) > 0);
        CHECK(strlen(pt_status_words((pt_status)i)) > 0);
        int code = pt_status_exit_code((pt_status)i), http = pt_status_http((pt_status)i);
        CHECK(code >= 0 && code <= 255 && (code == 0) == (i == PT_OK));
        CHECK(http >= 200 && http < 600 && (http < 300) == (i == PT_OK || i == PT_PENDING));
        for (int j = 0; j < i; j++) {
            CHECK(strcmp(pt_status_name((pt_status)i), pt_status_name((pt_status)j)) != 0);
            CHECK(code != pt_status_exit_code((pt_status)j));
        }
    }
}

TEST(exit_codes_that_scripts_rely_on)
{
    CHECK_STR(pt_status_name(PT_BAD_INPUT), "BAD_INPUT");
    CHECK_STR(pt_status_words(PT_BAD_INPUT), "invalid input");
    CHECK_INT(pt_status_exit_code(PT_GATE), 1);
    CHECK_INT(pt_status_exit_code(PT_BAD_INPUT), 2);
    CHECK_INT(pt_status_exit_code(PT_INTERRUPTED), 130);
    CHECK_INT(pt_status_http(PT_NOT_FOUND), 404);
}

TEST(a_status_out_of_range_is_internal)
{
    CHECK_STR(pt_status_name((pt_status)PT_STATUS_COUNT), "INTERNAL");
    CHECK_STR(pt_status_name((pt_status)-1), "INTERNAL");
    CHECK_INT(pt_status_exit_code((pt_status)1000), 70);
}

TEST(fail_fills_the_error)
{
    pt_error err = {0};
    int line = __LINE__ + 1;
    CHECK(pt_fail(&err, PT_CORRUPT, "%s: %d bytes, want %d", "x.bin", 3, 4) == PT_CORRUPT);
    CHECK_INT(err.status, PT_CORRUPT);
    CHECK_STR(err.message, "x.bin: 3 bytes, want 4");
    CHECK_INT(err.line, line);
    CHECK(strstr(err.file, "status_test.c") != NULL);
    CHECK_INT(err.offset, -1);
}

TEST(fail_with_an_offset)
{
    pt_error err = {0};
    CHECK(pt_fail_offset(&err, PT_BAD_INPUT, 17, "here") == PT_BAD_INPUT);
    CHECK_INT(err.offset, 17);
    CHECK(pt_fail(NULL, PT_IO, "nobody listens") == PT_IO);
}

TEST(first_failure_wins)
{
    pt_error err = {0};
    (void)pt_fail_offset(&err, PT_IO, 5, "first");
    CHECK(pt_fail(&err, PT_NO_MEMORY, "second") == PT_NO_MEMORY);
    CHECK_INT(err.status, PT_IO);
    CHECK_STR(err.message, "first");
    CHECK_INT(err.offset, 5);
}

TEST(prefix)
{
    pt_error err = {0};
    pt_error_prefix(&err, "nothing yet");
    CHECK_STR(err.message, "");
    pt_error_prefix(NULL, "no error");
    (void)pt_fail(&err, PT_NOT_FOUND, "no such file");
    pt_error_prefix(&err, "loading %s", "adapter");
    CHECK_STR(err.message, "loading adapter: no such file");
    pt_error_prefix(&err, "serve");
    CHECK_STR(err.message, "serve: loading adapter: no such file");
    CHECK_INT(err.status, PT_NOT_FOUND);
}

TEST(long_messages_are_cut)
{
    char text[600];
    memset(text, 'm', sizeof text - 1);
    text[sizeof text - 1] = 0;
    pt_error err = {0};
    (void)pt_fail(&err, PT_IO, "%s", text);
    CHECK_INT(strlen(err.message), sizeof err.message - 1);
    pt_error_prefix(&err, "context");
    CHECK_INT(strlen(err.message), sizeof err.message - 1);
    CHECK(strncmp(err.message, "context: mmm", 12) == 0);
    memset(text, 'p', sizeof text - 1);
    pt_error_prefix(&err, "%s", text);
    CHECK_INT(strlen(err.message), sizeof err.message - 1);
    CHECK(err.message[0] == 'p' && err.message[sizeof err.message - 2] == 'p');
}

PT_TEST_MAIN
