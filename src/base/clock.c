/* Time. The calendar is the proleptic Gregorian one, computed here: no libc, no time zones.
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include "base/format.h"
#include "base/platform.h"

#define MS_PER_DAY 86400000
#define DAYS_PER_ERA 146097 /* 400 Gregorian years */

typedef struct civil_date {
    int64_t year;
    int month; /* 1 … 12 */
    int day;   /* 1 … 31 */
} civil_date;

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* The date `days` after 1970-01-01. Years are taken to begin on 1 March, so that the leap day is
 * the last of its year and the months before it have fixed starts: month m (0 = March) begins on
 * day (153 m + 2) / 5, since March … July and August … December each have 153 days in five
 * months. */
static civil_date civil_from_days(int64_t days)
{
    days += 719468; /* from 0000-03-01 */
    int64_t era = floor_div(days, DAYS_PER_ERA);
    int64_t in_era = days - era * DAYS_PER_ERA;
    /* A year has 365 days, but for the leap days that have passed: every 1460 (the day a 4-year
     * group ends), not every 36524 (a century), yes on the era's last day. */
    int64_t year_of_era =
        (in_era - in_era / 1460 + in_era / 36524 - in_era / (DAYS_PER_ERA - 1)) / 365;
    int64_t in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int month = (int)((5 * in_year + 2) / 153);
    civil_date out;
    out.day = (int)(in_year - (153 * month + 2) / 5) + 1;
    out.month = month < 10 ? month + 3 : month - 9;
    out.year = era * 400 + year_of_era + (month >= 10);
    return out;
}

void pt_clock_iso(int64_t unix_ms, char out[32])
{
    int64_t days = floor_div(unix_ms, MS_PER_DAY);
    /* in unsigned arithmetic: days * MS_PER_DAY may lie below INT64_MIN */
    int ms = (int)((uint64_t)unix_ms - (uint64_t)days * (uint64_t)MS_PER_DAY);
    civil_date date = civil_from_days(days);
    char year[16];
    if (date.year >= 0 && date.year <= 9999) {
        pt_format(year, sizeof year, "%04d", (int)date.year);
    } else { /* the expanded form of ISO 8601 and ECMAScript: a sign and at least six digits */
        long long y = date.year < 0 ? -date.year : date.year;
        pt_format(year, sizeof year, "%c%06lld", date.year < 0 ? '-' : '+', y);
    }
    pt_format(out, 32, "%s-%02d-%02dT%02d:%02d:%02d.%03dZ", year, date.month, date.day,
              ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

double pt_clock_seconds(void) { return (double)pt_platform_monotonic_ns() * 1e-9; }

int64_t pt_clock_unix_ms(void) { return pt_platform_unix_ms(); }
