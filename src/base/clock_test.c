/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <time.h>

#include "base/test.h"

static const char *iso(int64_t ms)
{
    static char out[32];
    memset(out, '#', sizeof out);
    pt_clock_iso(ms, out);
    return out;
}

TEST(known_dates)
{
    CHECK_STR(iso(0), "1970-01-01T00:00:00.000Z");
    CHECK_STR(iso(1796007940123), "2026-11-30T03:05:40.123Z");
    CHECK_STR(iso(951782400000), "2000-02-29T00:00:00.000Z");
    CHECK_STR(iso(951868799999), "2000-02-29T23:59:59.999Z");
    CHECK_STR(iso(951868800000), "2000-03-01T00:00:00.000Z");
    CHECK_STR(iso(4107542400000), "2100-03-01T00:00:00.000Z"); /* no leap day in 2100 */
    CHECK_STR(iso(4107542399999), "2100-02-28T23:59:59.999Z");
    CHECK_STR(iso(-1), "1969-12-31T23:59:59.999Z");
    CHECK_STR(iso(-62135596800000), "0001-01-01T00:00:00.000Z");
}

TEST(years_beyond_four_digits)
{
    CHECK_STR(iso(253402300799999), "9999-12-31T23:59:59.999Z");
    CHECK_STR(iso(253402300800000), "+010000-01-01T00:00:00.000Z");
    CHECK_STR(iso(-62167219200000), "0000-01-01T00:00:00.000Z");
    CHECK_STR(iso(-62167219200001), "-000001-12-31T23:59:59.999Z");
    CHECK_STR(iso(8640000000000000),
              "+275760-09-13T00:00:00.000Z"); /* the last Date of ECMAScript */
    CHECK_STR(iso(INT64_MAX), "+292278994-08-17T07:12:55.807Z");
    CHECK_STR(iso(INT64_MIN), "-292275055-05-16T16:47:04.192Z");
}

TEST(every_day_of_the_calendar_against_libc)
{
    for (int64_t day = -719528; day < 2932897; day++) { /* 0000-01-01 … 9999-12-31 */
        time_t t = (time_t)(day * 86400 + (day & 0xffff));
        struct tm tm;
        char want[80];
        CHECK(gmtime_r(&t, &tm) != NULL);
        snprintf(want, sizeof want, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(day & 511));
        CHECK_STR(iso((int64_t)t * 1000 + (day & 511)), want);
    }
}

TEST(clocks_run)
{
    double a = pt_clock_seconds(), b = pt_clock_seconds();
    CHECK(b >= a);
    int64_t ms = pt_clock_unix_ms(), libc = (int64_t)time(NULL) * 1000;
    CHECK(ms > libc - 10000 && ms < libc + 10000);
    while (pt_clock_seconds() < a + 0.005) continue;
    CHECK(pt_clock_seconds() > a);
}

PT_TEST_MAIN
