/* The JSON reader: recursive descent, at most PT_JSON_MAX_DEPTH deep.
 *
 * The arena gets one copy of the whole input. Decoded strings and the texts of numbers are
 * written into that copy in place, each at its source position: none is longer than its source,
 * and the byte after it (the closing quote, or what follows the number) has already been read
 * from the original, so there is room for the NUL.
 * SPDX-License-Identifier: MIT */
#include "base/decimal.h"
#include "base/json.h"
#include "base/maths.h"
#include "base/safe_text.h"

typedef struct reader {
    const char *text; /* the caller's bytes: read from */
    size_t n;
    size_t at;
    char *copy; /* n + 1 bytes: written to */
    pt_arena *arena;
    int depth;
    pt_error *err;
} reader;

/* ---- errors ---- */

/* Line and column (both from 1, the column in characters) of byte `at`, for an editor. */
static void find_line(const reader *r, size_t at, long long *line, long long *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at; i++) {
        unsigned char c = (unsigned char)r->text[i];
        if (c == '\n') {
            ++*line;
            *column = 1;
        } else if ((c & 0xc0) != 0x80) ++*column;
    }
}

static pt_status refuse(reader *r, size_t at, const char *problem)
{
    long long line, column;
    find_line(r, at, &line, &column);
    return pt_fail_offset(r->err, PT_BAD_INPUT, (int64_t)at, "line %lld, column %lld: %s", line,
                          column, problem);
}

/* "expected X, found Y" */
static pt_status expected(reader *r, size_t at, const char *wanted)
{
    char problem[160];
    unsigned char c = at < r->n ? (unsigned char)r->text[at] : 0;
    if (at >= r->n) pt_format(problem, sizeof problem, "expected %s, found the end", wanted);
    else if (c > 0x20 && c < 0x7f)
        pt_format(problem, sizeof problem, "expected %s, found '%c'", wanted, c);
    else pt_format(problem, sizeof problem, "expected %s, found byte 0x%02x", wanted, c);
    return refuse(r, at, problem);
}

static pt_status no_memory(reader *r)
{
    return pt_fail(r->err, PT_NO_MEMORY, "no memory for a JSON text of %lld bytes",
                   (long long)r->n);
}

/* ---- scalars ---- */

static int peek(const reader *r) { return r->at < r->n ? (unsigned char)r->text[r->at] : -1; }

static void skip_space(reader *r)
{
    while (r->at < r->n) {
        char c = r->text[r->at];
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') break;
        r->at++;
    }
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static bool skip_digits(reader *r)
{
    size_t start = r->at;
    while (is_digit(peek(r))) r->at++;
    return r->at > start;
}

static pt_status read_word(reader *r, const char *word)
{
    size_t len = strlen(word);
    if (r->n - r->at < len || memcmp(r->text + r->at, word, len) != 0)
        return expected(r, r->at, "a value (true, false and null are the only bare words)");
    r->at += len;
    return PT_OK;
}

static pt_status read_number(reader *r, pt_json *value)
{
    size_t start = r->at;
    if (peek(r) == '-') r->at++;
    bool zero = peek(r) == '0';
    size_t integer = r->at;
    if (!skip_digits(r)) return expected(r, r->at, "a digit");
    if (zero && r->at > integer + 1)
        return refuse(r, integer, "a number may not begin with a 0 before other digits");
    if (peek(r) == '.') {
        r->at++;
        if (!skip_digits(r)) return expected(r, r->at, "a digit after the point");
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        r->at++;
        if (peek(r) == '+' || peek(r) == '-') r->at++;
        if (!skip_digits(r)) return expected(r, r->at, "a digit in the exponent");
    }
    size_t len = r->at - start;
    value->type = PT_JSON_NUMBER;
    if (pt_decimal_to_double(r->text + start, len, &value->number) != len)
        return pt_fail(r->err, PT_INTERNAL, "cannot convert a number of %lld bytes",
                       (long long)len);
    memcpy(r->copy + start, r->text + start, len);
    r->copy[start + len] = '\0';
    value->text = r->copy + start;
    value->text_len = len;
    return PT_OK;
}

/* ---- strings ---- */

static int hex_value(int c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* The four digits after \u, at r->at. */
static pt_status read_hex4(reader *r, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        int digit = hex_value(peek(r));
        if (digit < 0) return expected(r, r->at, "four hexadecimal digits after \\u");
        *out = *out << 4 | (uint32_t)digit;
    }
    return PT_OK;
}

static size_t put_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = len; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[len] | code);
    return len;
}

/* \uXXXX, or a pair of them where the first is a high surrogate; r->at is after the u. */
static pt_status read_unicode_escape(reader *r, char *out, size_t *out_len)
{
    size_t start = r->at - 2;
    uint32_t code, low;
    pt_status s = read_hex4(r, &code);
    if (s) return s;
    if (code >= 0xdc00 && code <= 0xdfff)
        return refuse(r, start, "a low surrogate without a high one before it");
    if (code >= 0xd800 && code <= 0xdbff) {
        if (r->n - r->at < 2 || r->text[r->at] != '\\' || r->text[r->at + 1] != 'u')
            return refuse(r, start, "a high surrogate without a low one after it");
        r->at += 2;
        s = read_hex4(r, &low);
        if (s) return s;
        if (low < 0xdc00 || low > 0xdfff)
            return refuse(r, start, "a high surrogate without a low one after it");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    *out_len += put_utf8(out + *out_len, code);
    return PT_OK;
}

static pt_status read_escape(reader *r, char *out, size_t *out_len)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    int c = r->at + 1 < r->n ? (unsigned char)r->text[r->at + 1] : -1;
    if (c == 'u') {
        r->at += 2;
        return read_unicode_escape(r, out, out_len);
    }
    const char *name = c > 0 ? strchr(names, c) : NULL;
    if (!name) return expected(r, r->at + 1, "one of \" \\ / b f n r t u after a backslash");
    out[(*out_len)++] = bytes[name - names];
    r->at += 2;
    return PT_OK;
}

/* Bytes from r->at on that stand for themselves. */
static pt_status skip_plain(reader *r)
{
    while (r->at < r->n) {
        unsigned char c = (unsigned char)r->text[r->at];
        if (c == '"' || c == '\\') return PT_OK;
        if (c < 0x20)
            return refuse(r, r->at, "a control character in a string must be written as \\u00XX");
        int len = c < 0x80 ? 1 : pt_utf8_char(r->text + r->at, r->n - r->at);
        if (len < 0) return refuse(r, r->at, "not valid UTF-8");
        r->at += (size_t)len;
    }
    return PT_OK;
}

/* The string whose opening quote is at r->at. */
static pt_status read_string(reader *r, const char **text, size_t *text_len)
{
    size_t open = r->at++;
    char *out = r->copy + open + 1;
    size_t len = 0;
    for (;;) {
        size_t start = r->at;
        pt_status s = skip_plain(r);
        if (s) return s;
        memcpy(out + len, r->text + start, r->at - start);
        len += r->at - start;
        if (peek(r) != '\\') break;
        s = read_escape(r, out, &len);
        if (s) return s;
    }
    if (peek(r) != '"') return expected(r, r->at, "a '\"' that ends the string");
    r->at++;
    out[len] = '\0';
    *text = out;
    *text_len = len;
    return PT_OK;
}

/* ---- duplicate keys ---- */

/* Up to here every pair of keys is compared; a longer object sorts its keys instead, so the time
 * stays n log n whatever keys someone invents. */
#define FEW_MEMBERS 16

typedef struct key_entry {
    uint64_t hash; /* orders most pairs without looking at the keys */
    const pt_json *member;
} key_entry;

static uint64_t hash_key(const pt_json *member) /* FNV-1a */
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < member->key_len; i++)
        h = (h ^ (unsigned char)member->key[i]) * 0x100000001b3u;
    return h;
}

static bool same_key(const pt_json *a, const pt_json *b)
{
    return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

static int compare_entries(const key_entry *a, const key_entry *b)
{
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    if (a->member->key_len != b->member->key_len)
        return a->member->key_len < b->member->key_len ? -1 : 1;
    return memcmp(a->member->key, b->member->key, a->member->key_len);
}

/* Merge sort, bottom up, stable; `spare` has room for n too. Returns the one of the two arrays
 * that holds the result. */
static key_entry *sort_entries(key_entry *from, key_entry *spare, int64_t n)
{
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t low = 0; low < n; low += 2 * width) {
            int64_t i = low, mid = pt_min_i64(low + width, n);
            int64_t j = mid, high = pt_min_i64(low + 2 * width, n);
            for (int64_t k = low; k < high; k++) {
                bool left = i < mid && (j >= high || compare_entries(&from[i], &from[j]) <= 0);
                spare[k] = left ? from[i++] : from[j++];
            }
        }
        key_entry *swap = from;
        from = spare;
        spare = swap;
    }
    return from;
}

/* The first member whose key an earlier one has, or NULL. */
static const pt_json *find_duplicate_of_few(const pt_json *object)
{
    for (const pt_json *b = object->child; b; b = b->next)
        for (const pt_json *a = object->child; a != b; a = a->next)
            if (same_key(a, b)) return b;
    return NULL;
}

static pt_status find_duplicate_of_many(reader *r, const pt_json *object, const pt_json **out)
{
    int64_t n = object->n_children, i = 0;
    key_entry *entries = pt_alloc((size_t)n * 2 * sizeof *entries);
    if (!entries) return no_memory(r);
    for (const pt_json *member = object->child; member; member = member->next, i++)
        entries[i] = (key_entry){hash_key(member), member};
    const key_entry *sorted = sort_entries(entries, entries + n, n);
    for (i = 1; i < n; i++) {
        if (!same_key(sorted[i - 1].member, sorted[i].member)) continue;
        if (!*out || sorted[i].member->key < (*out)->key) *out = sorted[i].member;
    }
    pt_free(entries);
    return PT_OK;
}

static pt_status refuse_duplicate_keys(reader *r, const pt_json *object)
{
    const pt_json *twice = NULL;
    if (object->n_children <= FEW_MEMBERS) {
        twice = find_duplicate_of_few(object);
    } else {
        pt_status s = find_duplicate_of_many(r, object, &twice);
        if (s) return s;
    }
    if (!twice) return PT_OK;
    char problem[112];
    pt_format(problem, sizeof problem, "the key \"%s\" is in this object already",
              pt_show(twice->key, twice->key_len).text);
    return refuse(r, (size_t)(twice->key - r->copy) - 1, problem);
}

/* ---- values ---- */

static pt_status read_value(reader *r, pt_json *value);

static pt_status new_value(reader *r, pt_json **out)
{
    *out = pt_arena_alloc(r->arena, sizeof **out);
    return *out ? PT_OK : no_memory(r);
}

static pt_status read_member(reader *r, pt_json *value)
{
    if (peek(r) != '"') return expected(r, r->at, "a '\"' that begins a key");
    pt_status s = read_string(r, &value->key, &value->key_len);
    if (s) return s;
    skip_space(r);
    if (peek(r) != ':') return expected(r, r->at, "':' after a key");
    r->at++;
    skip_space(r);
    return read_value(r, value);
}

/* Everything after the opening bracket, up to and with the closing one. */
static pt_status read_children(reader *r, pt_json *parent)
{
    bool object = parent->type == PT_JSON_OBJECT;
    char close = object ? '}' : ']';
    const pt_json **tail = &parent->child;
    skip_space(r);
    if (peek(r) == close) {
        r->at++;
        return PT_OK;
    }
    for (;;) {
        pt_json *value;
        pt_status s = new_value(r, &value);
        if (!s) s = object ? read_member(r, value) : read_value(r, value);
        if (s) return s;
        *tail = value;
        tail = &value->next;
        parent->n_children++;
        skip_space(r);
        int c = peek(r);
        if (c != ',' && c != close)
            return expected(r, r->at,
                            object ? "',' or '}' after a member" : "',' or ']' after a value");
        r->at++;
        if (c == close) return object ? refuse_duplicate_keys(r, parent) : PT_OK;
        skip_space(r);
        if (peek(r) == close)
            return refuse(r, r->at, "a ',' before the closing bracket is not JSON");
    }
}

static pt_status read_container(reader *r, pt_json *value)
{
    if (r->depth == PT_JSON_MAX_DEPTH) return refuse(r, r->at, "nested more than 64 levels deep");
    value->type = r->text[r->at++] == '{' ? PT_JSON_OBJECT : PT_JSON_ARRAY;
    r->depth++;
    pt_status s = read_children(r, value);
    r->depth--;
    return s;
}

static pt_status read_value(reader *r, pt_json *value)
{
    int c = peek(r);
    if (c == '-' || is_digit(c)) return read_number(r, value);
    switch (c) {
    case '{':
    case '[': return read_container(r, value);
    case '"': value->type = PT_JSON_STRING; return read_string(r, &value->text, &value->text_len);
    case 't':
        value->type = PT_JSON_BOOL;
        value->boolean = true;
        return read_word(r, "true");
    case 'f': value->type = PT_JSON_BOOL; return read_word(r, "false");
    case 'n': value->type = PT_JSON_NULL; return read_word(r, "null");
    default: return expected(r, r->at, "a value");
    }
}

pt_status pt_json_parse(const char *text, size_t n, pt_arena *arena, const pt_json **out,
                        pt_error *err)
{
    *out = NULL;
    reader r = {.text = text, .n = n, .arena = arena, .err = err};
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return refuse(&r, 0, "begins with a byte order mark: save it as UTF-8 without one");
    r.copy = pt_arena_alloc(arena, n + 1);
    if (!r.copy) return no_memory(&r);
    pt_json *root;
    pt_status s = new_value(&r, &root);
    if (s) return s;
    skip_space(&r);
    s = read_value(&r, root);
    if (s) return s;
    skip_space(&r);
    if (r.at < n) return expected(&r, r.at, "nothing after the value");
    *out = root;
    return PT_OK;
}

/* ---- look-ups ---- */

const pt_json *pt_json_get(const pt_json *object, const char *key)
{
    if (!object || object->type != PT_JSON_OBJECT) return NULL;
    size_t len = strlen(key);
    for (const pt_json *member = object->child; member; member = member->next)
        if (member->key_len == len && memcmp(member->key, key, len) == 0) return member;
    return NULL;
}

/* The exponent of a number's text (after the e), held at a value beyond the length of any text. */
static int64_t read_exponent(const char *p, const char *end)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    int64_t exponent = 0;
    for (; p < end; p++)
        if (exponent < INT64_MAX / 100) exponent = exponent * 10 + (*p - '0');
    return negative ? -exponent : exponent;
}

/* value = value * 10^zeros + digit; false beyond `limit`. */
static bool push_digit(uint64_t *value, int64_t zeros, int digit, uint64_t limit)
{
    for (; zeros > 0; zeros--) {
        if (*value > limit / 10) return false;
        *value *= 10;
    }
    if ((uint64_t)digit > limit - *value) return false;
    *value += (uint64_t)digit;
    return true;
}

/* From the text, so that nothing passes through a double: the digits without leading and
 * trailing zeros, then the power of ten that remains, which must not be negative. */
bool pt_json_to_i64(const pt_json *value, int64_t *out)
{
    if (!value || value->type != PT_JSON_NUMBER) return false;
    const char *p = value->text, *end = p + value->text_len;
    bool negative = *p == '-', after_point = false;
    uint64_t limit = (uint64_t)INT64_MAX + negative, sum = 0;
    int64_t zeros = 0, decimals = 0; /* zeros: seen since the last digit in sum */
    for (p += negative; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            after_point = true;
            continue;
        }
        decimals += after_point;
        if (*p == '0') {
            zeros += sum > 0;
            continue;
        }
        if (!push_digit(&sum, sum ? zeros + 1 : 0, *p - '0', limit)) return false;
        zeros = 0;
    }
    int64_t power = zeros - decimals + (p < end ? read_exponent(p + 1, end) : 0);
    if (sum && (power < 0 || !push_digit(&sum, power, 0, limit))) return false;
    *out = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

bool pt_json_get_i64(const pt_json *object, const char *key, int64_t *out)
{
    return pt_json_to_i64(pt_json_get(object, key), out);
}

bool pt_json_get_double(const pt_json *object, const char *key, double *out)
{
    const pt_json *value = pt_json_get(object, key);
    if (!value || value->type != PT_JSON_NUMBER || !pt_is_finite(value->number)) return false;
    *out = value->number;
    return true;
}

bool pt_json_get_bool(const pt_json *object, const char *key, bool *out)
{
    const pt_json *value = pt_json_get(object, key);
    if (!value || value->type != PT_JSON_BOOL) return false;
    *out = value->boolean;
    return true;
}

const char *pt_json_get_string(const pt_json *object, const char *key)
{
    const pt_json *value = pt_json_get(object, key);
    return value && value->type == PT_JSON_STRING ? value->text : NULL;
}
