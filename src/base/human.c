/* Numbers as people read them. SPDX-License-Identifier: MIT */
#include "base/human.h"

#include "base/format.h"
#include "base/maths.h"

const char *pt_grouped(int64_t value, char out[32])
{
    char digits[24];
    size_t n = pt_format(digits, sizeof digits, "%lld", (long long)value), at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0 && digits[i - 1] != '-') out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = 0;
    return out;
}

const char *pt_megabytes(int64_t bytes, char out[32])
{
    double mb = (double)bytes / 1e6;
    if (bytes != 0 && mb < 0.1 && mb > -0.1) pt_format(out, 32, "%.1f kB", 1000 * mb);
    else if (mb >= 10000) pt_format(out, 32, "%.1f GB", mb / 1000);
    else pt_format(out, 32, mb >= 100 ? "%.0f MB" : "%.1f MB", mb);
    return out;
}

const char *pt_rate(double value, char out[32])
{
    static const char *const units[] = {"", "k", "M", "G"};
    int unit = 0;
    if (!(value >= 0 && value < 1e15)) {
        pt_format(out, 32, "?");
        return out;
    }
    for (; value >= 999.5 && unit < 3; unit++) value /= 1000;
    int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    pt_format(out, 32, "%.*f%s", decimals, value, units[unit]);
    return out;
}

const char *pt_duration(double seconds, char out[32])
{
    if (!(seconds >= 0 && seconds < 1e12)) {
        pt_format(out, 32, "?");
        return out;
    }
    long long s = (long long)(seconds + 0.5);
    if (s < 100) pt_format(out, 32, "%llds", s);
    else if (s < 6000) pt_format(out, 32, "%lldm%02llds", s / 60, s % 60);
    else if (s < 100 * 3600) pt_format(out, 32, "%lldh%02lldm", s / 3600, s / 60 % 60);
    else pt_format(out, 32, "%lldd%02lldh", s / 86400, s / 3600 % 24);
    return out;
}

const char *pt_significant(double value, int decimals, int digits, char out[32])
{
    double size = pt_fabs(value);
    int need = digits - 1;
    if (!pt_is_finite(value)) pt_format(out, 32, "?");
    else if (size == 0) pt_format(out, 32, "0");
    else if (size < 1e-12 || size > 1e12) pt_format(out, 32, "%.*g", digits, value);
    else {
        while (size < 0.9999999) size *= 10, need++;
        pt_format(out, 32, "%.*f", need > decimals ? need : decimals, value);
    }
    return out;
}
