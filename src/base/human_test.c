/* Numbers as people read them. SPDX-License-Identifier: MIT */
#include "base/human.h"

#include "base/maths.h"
#include "base/test.h"

TEST(grouped)
{
    char out[32];
    CHECK_STR(pt_grouped(0, out), "0");
    CHECK_STR(pt_grouped(999, out), "999");
    CHECK_STR(pt_grouped(1204997, out), "1,204,997");
    CHECK_STR(pt_grouped(-123456, out), "-123,456");
    CHECK_STR(pt_grouped(INT64_MIN, out), "-9,223,372,036,854,775,808");
}

TEST(memory)
{
    char out[32];
    CHECK_STR(pt_megabytes(0, out), "0.0 MB");
    CHECK_STR(pt_megabytes(4096, out), "4.1 kB");
    CHECK_STR(pt_megabytes(100000, out), "0.1 MB");
    CHECK_STR(pt_megabytes(12300000, out), "12.3 MB");
    CHECK_STR(pt_megabytes(812000000, out), "812 MB");
    CHECK_STR(pt_megabytes(12340000000, out), "12.3 GB");
}

TEST(rates)
{
    static const struct {
        double value;
        const char *want;
    } cases[] = {{0, "0"},         {812.4, "812"},   {999.4, "999"},    {999.6, "1.00k"},
                 {81234, "81.2k"}, {999499, "999k"}, {1.28e6, "1.28M"}, {PT_NAN, "?"},
                 {-1, "?"},        {PT_INF, "?"},    {5e12, "5000G"}};
    char out[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(pt_rate(cases[i].value, out), cases[i].want);
}

TEST(durations)
{
    static const struct {
        double value;
        const char *want;
    } cases[] = {{0, "0s"},        {0.6, "1s"},     {99.4, "99s"},     {100, "1m40s"},
                 {5999, "99m59s"}, {6000, "1h40m"}, {360000, "4d04h"}, {-1, "?"},
                 {PT_NAN, "?"},    {PT_INF, "?"}};
    char out[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(pt_duration(cases[i].value, out), cases[i].want);
}

TEST(decimals_that_show_something)
{
    char out[32];
    CHECK_STR(pt_significant(2, 4, 4, out), "2.0000");
    CHECK_STR(pt_significant(12.34567, 4, 4, out), "12.3457");
    CHECK_STR(pt_significant(-0.00123456, 4, 4, out), "-0.001235");
    CHECK_STR(pt_significant(0.000031, 4, 2, out), "0.000031");
    CHECK_STR(pt_significant(0.1, 3, 3, out), "0.100");
    CHECK_STR(pt_significant(0, 4, 4, out), "0");
    CHECK_STR(pt_significant(3.21e-200, 4, 2, out), "3.2e-200");
    CHECK_STR(pt_significant(PT_NAN, 4, 2, out), "?");
    CHECK_STR(pt_significant(1e300, 4, 2, out), "1e+300");
}

PT_TEST_MAIN
