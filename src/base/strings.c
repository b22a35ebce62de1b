/* Text. SPDX-License-Identifier: MIT */
#include "base/strings.h"

#define STRBUF_MIN 64

/* Room for `more` bytes and a NUL behind what is there. */
static bool reserve(pt_strbuf *buf, size_t more)
{
    if (buf->failed) return false;
    if (more > SIZE_MAX / 2 - buf->len - 1) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->len + more + 1;
    if (need <= buf->cap) return true;
    size_t cap = buf->cap ? buf->cap : STRBUF_MIN;
    while (cap < need) cap *= 2; /* need is below SIZE_MAX / 2: no overflow */
    char *data = buf->data ? pt_realloc(buf->data, buf->cap, cap) : pt_alloc(cap);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->cap = cap;
    return true;
}

void pt_strbuf_append(pt_strbuf *buf, const char *bytes, size_t n)
{
    if (!reserve(buf, n)) return;
    if (n) memcpy(buf->data + buf->len, bytes, n);
    buf->len += n;
    buf->data[buf->len] = '\0';
}

void pt_strbuf_puts(pt_strbuf *buf, const char *text) { pt_strbuf_append(buf, text, strlen(text)); }

void pt_strbuf_putc(pt_strbuf *buf, char c) { pt_strbuf_append(buf, &c, 1); }

void pt_strbuf_printf(pt_strbuf *buf, const char *fmt, ...)
{
    if (!reserve(buf, 0)) return;
    va_list args;
    va_start(args, fmt);
    size_t n = pt_vformat(buf->data + buf->len, buf->cap - buf->len, fmt, args);
    va_end(args);
    if (n >= buf->cap - buf->len) { /* cut off: once more with enough room */
        buf->data[buf->len] = '\0'; /* what was there stays intact if that fails */
        if (!reserve(buf, n)) return;
        va_start(args, fmt);
        pt_vformat(buf->data + buf->len, buf->cap - buf->len, fmt, args);
        va_end(args);
    }
    buf->len += n;
}

void pt_strbuf_clear(pt_strbuf *buf)
{
    buf->len = 0;
    if (buf->data) buf->data[0] = '\0';
}

void pt_strbuf_deinit(pt_strbuf *buf)
{
    if (!buf) return;
    pt_free(buf->data);
    *buf = (pt_strbuf){0};
}

bool pt_str_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool pt_str_ends(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && memcmp(text + n - m, suffix, m) == 0;
}

#define DISTANCE_MAX 63

static int min_int(int a, int b) { return a < b ? a : b; }

/* Row by row, "optimal string alignment": row i holds the distances from the first i bytes of a to
 * every prefix of b. A swap looks two rows back. */
int pt_str_distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > DISTANCE_MAX) n = DISTANCE_MAX;
    if (m > DISTANCE_MAX) m = DISTANCE_MAX;
    int rows[3][DISTANCE_MAX + 1];
    for (int j = 0; j <= m; j++) rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = up[j - 1] + (a[i - 1] != b[j - 1]);
            best = min_int(best, min_int(up[j], row[j - 1]) + 1);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            row[j] = swapped ? min_int(best, up2[j - 2] + 1) : best;
        }
    }
    return rows[n % 3][m];
}

/* ---- UTF-8 (Unicode 15, section 3.9, table 3-7) ---- */

/* Bytes of a character that begins with this byte; 0 when none does. */
static int utf8_need(unsigned char lead)
{
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead <= 0xdf) return 2;
    if (lead >= 0xe0 && lead <= 0xef) return 3;
    if (lead >= 0xf0 && lead <= 0xf4) return 4;
    return 0;
}

/* The second byte of some characters is restricted: no overlong forms, no surrogates, nothing above
 * U+10FFFF. */
static bool utf8_second_ok(unsigned char lead, unsigned char second)
{
    unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

int pt_utf8_char(const char *bytes, size_t n)
{
    unsigned char lead = (unsigned char)bytes[0];
    int need = utf8_need(lead);
    if (need == 0) return -1;
    for (int i = 1; i < need; i++) {
        if ((size_t)i >= n) return -i;
        unsigned char c = (unsigned char)bytes[i];
        bool ok = i == 1 ? utf8_second_ok(lead, c) : (c & 0xc0) == 0x80;
        if (!ok) return -i;
    }
    return need;
}

size_t pt_utf8_complete(const char *bytes, size_t n)
{
    for (int i = 1; i <= 3 && (size_t)i <= n; i++) {
        const char *at = bytes + n - i;
        unsigned char c = (unsigned char)*at;
        if ((c & 0xc0) == 0x80) continue;
        bool incomplete = utf8_need(c) > i && pt_utf8_char(at, (size_t)i) == -i;
        return incomplete ? n - (size_t)i : n;
    }
    return n;
}

bool pt_utf8_valid(const char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint64_t eight;
        if (n - i >= sizeof eight) { /* most text is ASCII: eight bytes at a time */
            memcpy(&eight, bytes + i, sizeof eight);
            if ((eight & 0x8080808080808080u) == 0) {
                i += sizeof eight;
                continue;
            }
        }
        int len = pt_utf8_char(bytes + i, n - i);
        if (len < 0) return false;
        i += (size_t)len;
    }
    return true;
}
