/* Characters and white space. SPDX-License-Identifier: MIT */
#include "text/jinja/strings.h"

size_t pt_jinja_char(const char *text, size_t n)
{
    int len = pt_utf8_char(text, n);
    return (size_t)(len < 0 ? -len : len);
}

int64_t pt_jinja_chars(const char *text, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i += pt_jinja_char(text + i, n - i)) count++;
    return count;
}

size_t pt_jinja_char_at(const char *text, size_t n, int64_t index)
{
    size_t i = 0;
    while (index-- > 0 && i < n) i += pt_jinja_char(text + i, n - i);
    return i;
}

bool pt_jinja_is_space(const char *text, size_t len)
{
    const unsigned char *c = (const unsigned char *)text;
    if (len == 1) return (c[0] >= 9 && c[0] <= 13) || (c[0] >= 28 && c[0] <= 32);
    if (len == 2) return c[0] == 0xc2 && (c[1] == 0x85 || c[1] == 0xa0);
    if (len != 3) return false;
    unsigned code = (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u);
    return code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

size_t pt_jinja_lstrip(const char *text, size_t n)
{
    size_t i = 0;
    while (i < n) {
        size_t len = pt_jinja_char(text + i, n - i);
        if (!pt_jinja_is_space(text + i, len)) break;
        i += len;
    }
    return i;
}

size_t pt_jinja_rstrip(const char *text, size_t n)
{
    while (n) {
        size_t start = n - 1;
        while (start && n - start < 4 && ((unsigned char)text[start] & 0xc0) == 0x80) start--;
        if (pt_jinja_char(text + start, n - start) != n - start) break;
        if (!pt_jinja_is_space(text + start, n - start)) break;
        n = start;
    }
    return n;
}

size_t pt_jinja_encode(char out[4], uint32_t code)
{
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 63));
    out[0] = (char)(lead[len] | code);
    return len;
}
