/* The report: well-formed whatever the run holds, nothing of the run escapes into markup, nothing is fetched.
 * SPDX-License-Identifier: MIT */
#include "factory/report.h"

#include "base/test_folder.h"
#include "factory/chart.h"
#include "factory/compare.h"
#include "factory/html.h"

/* ---- a small checker of pages ---- */

#define MAX_DEPTH 32

typedef struct checker {
    const char *at, *end;
    char open[MAX_DEPTH][16];
    int depth;
    int svgs, tables, details;
    const char *bad; /* the first thing that is wrong, or NULL */
} checker;

/* What comes after is not looked at. */
static void fail_at(checker *c, const char *why)
{
    if (!c->bad) c->bad = why;
    c->at = c->end;
}

static bool is_void(const char *name)
{
    static const char *const names[] = {"meta", "link", "br", "img", "input", "hr"};
    for (int i = 0; i < 6; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* The only elements a report has. Anything else has slipped in. */
static bool is_known(const char *name)
{
    static const char known[] = " html head meta link title style body header main footer section "
                                "h1 h2 h3 p span small dl div dt dd figure "
                                "figcaption ul ol li svg g desc line text path details summary "
                                "table caption thead tbody tr th td pre b ";
    char word[20];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(known, word) != NULL;
}

static void read_reference(checker *c)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (int i = 0; i < 5; i++) {
        size_t n = strlen(known[i]);
        if ((size_t)(c->end - c->at) >= n && memcmp(c->at, known[i], n) == 0) {
            c->at += n;
            return;
        }
    }
    fail_at(c, "a bare &");
}

/* name="value" with nothing but references and plain characters in it. */
static void read_attribute(checker *c)
{
    const char *name = c->at;
    while ((*c->at >= 'a' && *c->at <= 'z') || (*c->at >= 'A' && *c->at <= 'Z') || *c->at == '-' ||
           (*c->at >= '0' && *c->at <= '9'))
        c->at++;
    if (c->at == name) fail_at(c, "no attribute's name");
    if (strncmp(name, "on", 2) == 0 || strncmp(name, "src", 3) == 0)
        fail_at(c, "a forbidden attribute");
    if (c->at >= c->end || c->at[0] != '=' || c->at[1] != '"') {
        fail_at(c, "a value without quotes");
        return;
    }
    for (c->at += 2; c->at < c->end && *c->at != '"';) {
        if (*c->at == '<' || *c->at == '>' || c->at >= c->end) fail_at(c, "a raw < in a value");
        if (*c->at == '&') read_reference(c);
        else if (c->at < c->end) c->at++;
    }
    c->at += c->at < c->end;
}

static void read_tag(checker *c)
{
    char name[16] = "";
    bool closing = c->at[1] == '/';
    c->at += 1 + closing;
    size_t n = strspn(c->at, "abcdefghijklmnopqrstuvwxyz0123456789");
    if (n == 0 || n >= sizeof name) {
        fail_at(c, "a raw <");
        return;
    }
    memcpy(name, c->at, n);
    c->at += n;
    if (!is_known(name)) fail_at(c, "an element that reports do not have");
    while (*c->at == ' ') {
        c->at++;
        read_attribute(c);
    }
    bool alone = *c->at == '/';
    c->at += alone;
    if (*c->at != '>') fail_at(c, "a tag that does not end");
    else c->at++;
    if (c->bad) return;
    c->svgs += !closing && strcmp(name, "svg") == 0;
    c->tables += !closing && strcmp(name, "table") == 0;
    c->details += !closing && strcmp(name, "details") == 0;
    if (closing) {
        if (c->depth == 0 || strcmp(c->open[c->depth - 1], name) != 0)
            fail_at(c, "a stray end tag");
        else c->depth--;
    } else if (!alone && !is_void(name)) {
        CHECK(c->depth < MAX_DEPTH);
        memcpy(c->open[c->depth++], name, sizeof name);
    }
    if (strcmp(name, "style") == 0 && !closing)
        while (c->at < c->end && *c->at != '<') c->at++;
}

static void read_text(checker *c)
{
    size_t n = (size_t)(c->end - c->at);
    static const char *const fetched[] = {"http:",   "https:",  "url(",
                                          "@import", "<script", "\xe2\x80\xae"};
    if (!pt_utf8_valid(c->at, n)) fail_at(c, "not UTF-8");
    for (const char *p = c->at; p < c->end; p++) {
        unsigned char b = (unsigned char)*p;
        if ((b < 32 && b != '\n' && b != '\t') || b == 127) fail_at(c, "a control character");
    }
    for (int i = 0; i < 6 && !c->bad; i++)
        if (strstr(c->at, fetched[i])) fail_at(c, fetched[i]);
}

static checker read_page(const pt_strbuf *page)
{
    checker c = {.at = page->data, .end = page->data + page->len};
    read_text(&c);
    if (!pt_str_starts(c.at, "<!DOCTYPE html>\n")) fail_at(&c, "no DOCTYPE");
    else c.at += 16;
    while (c.at < c.end) {
        if (*c.at == '<') read_tag(&c);
        else if (*c.at == '&') read_reference(&c);
        else if (*c.at == '>') fail_at(&c, "a raw >");
        else c.at++;
    }
    if (c.depth) fail_at(&c, "an element that does not end");
    return c;
}

static checker check_page(const pt_strbuf *page)
{
    CHECK(!page->failed && strlen(page->data) == page->len);
    checker c = read_page(page);
    CHECK_STR(c.bad ? c.bad : "well-formed", "well-formed");
    return c;
}

TEST(the_checker_finds_what_is_wrong)
{
    static const char *const bad[] = {"<b>",
                                      "</b>",
                                      "<b></p>",
                                      "<x></x>",
                                      "a & b",
                                      "a > b",
                                      "<",
                                      "<b",
                                      "<p class=x></p>",
                                      "<p class=\"x",
                                      "<p onclick=\"1\"></p>",
                                      "\xff",
                                      "\x01",
                                      "<p class=\"<\"></p>",
                                      "<p class=\"&\"></p>",
                                      "url(x)"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pt_strbuf text = {0};
        pt_strbuf_printf(&text, "<!DOCTYPE html>\n%s", bad[i]);
        if (!read_page(&text).bad) printf("taken for good: %s\n", bad[i]);
        CHECK(read_page(&text).bad != NULL);
        pt_strbuf_deinit(&text);
    }
}

/* ---- runs ---- */

static pt_run run;
static pt_strbuf page, log_text;

static const char *write_page(const char *json, const char *name)
{
    pt_error err = {0};
    pt_run_deinit(&run);
    pt_strbuf_clear(&page);
    CHECK_OK(pt_run_read(&run, json, json ? (int64_t)strlen(json) : 0,
                         log_text.data ? log_text.data : "", (int64_t)log_text.len, &err),
             err);
    CHECK_OK(pt_report_write(&page, &run, name, &err), err);
    return page.data;
}

static void add_steps(int from, int to)
{
    for (int i = from; i <= to; i++)
        pt_strbuf_printf(
            &log_text,
            "{\"type\":\"step\",\"step\":%d,\"loss\":%.4f,\"lr\":0.001,\"grad_norm\":%.3f,"
            "\"seconds\":0.01,\"spike\":%s,\"t\":%d}\n",
            i, 2 + 3.0 / i + (i == 77) * 5, 1 + (i % 7) * 0.1, i == 77 ? "true" : "false",
            1700000000 + i);
}

static const char good_json[] =
    "{\"started\":\"2026-01-02T03:04:05.678Z\",\"program\":{\"command\":\"posttrain "
    "train\",\"isa\":\"avx2\","
    "\"threads\":3,\"version\":\"1\"},\"model\":{\"params\":1234567,\"vocab\":256},\"train\":{"
    "\"steps\":200,"
    "\"batch\":2,\"accum\":1,\"ctx\":10,\"seed\":\"42\",\"sample_prompt\":\"The \"},"
    "\"corpus\":{\"path\":\"book.txt\",\"sha256\":\"abc\",\"tokenizer\":\"bytes\"}}";

/* What would be blank, a number where a word is typed, and what is said twice. */
TEST(settings_are_shown_as_they_are_given)
{
    pt_strbuf_clear(&log_text);
    const char *html = write_page(
        "{\"train\":{\"sample_prompt\":\"\\n\\tA\",\"recompute\":0,\"none\":\"\",\"two\":\"  \"},"
        "\"corpus\":{\"path\":\"a.txt\",\"bytes\":70000,\"sha256\":\"abc\",\"sources\":[{\"path\":"
        "\"a.txt\",\"files\":1,\"tokens\":70000,\"sha256\":\"abc\"}]},"
        "\"arguments\":{\"recompute\":\"none\"}}",
        "plain");
    (void)check_page(&page);
    static const char *const rows[] = {
        "sample_prompt</th><td>\\n\\tA<", "recompute</th><td>none<", ">none</th><td>&quot;&quot;<",
        ">two</th><td>&quot;  &quot;<",   ">path</th><td>a.txt<",    ">sources.0.files</th><td>1<"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strstr(html, rows[i])) printf("missing: %s\n", rows[i]);
        CHECK(strstr(html, rows[i]) != NULL);
    }
    CHECK(!strstr(html, "sources.0.path") && !strstr(html, "sources.0.tokens"));
    CHECK(!strstr(html, "sources.0.sha256") && !strstr(html, "td:nth-child(3){white-space:nowrap"));
    CHECK(strstr(html, "width:fit-content"));
}

TEST(a_usual_run)
{
    pt_strbuf_clear(&log_text);
    add_steps(1, 250);
    for (int i = 50; i <= 200; i += 50)
        pt_strbuf_printf(&log_text,
                         "{\"type\":\"val\",\"step\":%d,\"val_loss\":%.3f}\n{\"type\":\"sample\","
                         "\"step\":%d,\"text\":\"sea number %d\"}\n",
                         i, 2.5 + 1.0 / i, i, i);
    pt_strbuf_puts(
        &log_text,
        "{\"type\":\"spike\",\"step\":77,\"loss\":7.039,\"limit\":6.1,\"did\":\"skip\"}\n"
        "{\"type\":\"resumed\",\"step\":250}\n{\"type\":\"end\",\"step\":250,\"how\":"
        "\"finished\",\"peak_rss_bytes\":42000000}\n");
    const char *html = write_page(good_json, "first");
    checker c = check_page(&page);
    CHECK(c.details == 5 && c.tables >= 10 && c.svgs >= 8);
    static const char *const words[] = {
        "<h1>first</h1>",
        "finished",
        "1,234,567 parameters",
        "nats per byte",
        "knowing nothing: ln 256 = 5.545",
        "sea number 50<",
        "sea number 200<",
        "<b>The </b>",
        "avx2",
        "book.txt",
        "42.0 MB",
        "▲",
        "▲ spike: loss 7.0390, above 6.1000; the step was left out<",
        "1 value beyond the scale is marked at its edge: 7.039 at step 77.<",
        "<title>training, each step 7.039 at step 77, beyond the scale<",
        "↻",
        "resumed",
        "one step in",
        "role=\"img\"",
        "prefers-color-scheme",
        "@media print",
        "Learning rate",
        "Gradient norm",
        "tokens per second",
        "lines that could not be read"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strstr(html, words[i])) printf("missing: %s\n", words[i]);
        CHECK(strstr(html, words[i]) != NULL);
    }
}

static int count(const char *what)
{
    int n = 0;
    for (const char *p = page.data; (p = strstr(p, what)) != NULL; p++) n++;
    return n;
}

/* Marks and figures are those of the steps that count; the list of events says what else happened. */
TEST(a_run_that_was_resumed_and_rolled_back)
{
    pt_strbuf_clear(&log_text);
    add_steps(1, 150);
    pt_strbuf_puts(
        &log_text,
        "{\"type\":\"resumed\",\"step\":120}\n"
        "{\"type\":\"refused\",\"step\":120,\"why\":\"its checksum <is> wrong\"}\n"
        "{\"type\":\"spike\",\"step\":121,\"loss\":null,\"limit\":0,\"did\":\"rollback\",\"bad\":"
        "\"block 3 <qkv>\"}\n"
        "{\"type\":\"rollback\",\"step\":121,\"to\":70,\"lr_scale\":0.25}\n");
    add_steps(71, 76);
    pt_strbuf_puts(&log_text,
                   "{\"type\":\"end\",\"step\":76,\"status\":\"DIVERGED\",\"how\":\"step 77: "
                   "a loss of 9 is a spike\"}\n");
    write_page(good_json, "back and forth");
    check_page(&page);
    static const char *const words[] = {
        "step 76 of 200",
        "state diverged",
        "Diverged",
        "✕ checkpoint could not be used: its checksum &lt;is&gt; wrong",
        "▲ infinity or NaN, first in block 3 &lt;qkv&gt;; the run went back",
        "↶ rolled back to step 70, learning rate × 0.25 from there",
        "<title>rolled back at step 70<",
        "<title>diverged at step 76<"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strstr(page.data, words[i])) printf("missing: %s\n", words[i]);
        CHECK(strstr(page.data, words[i]) != NULL);
    }
    CHECK_INT(count("<title>spike"), 0); /* step 77 was told, and taken back */
    CHECK_INT(count("<title>resumed"), 0);
    CHECK_INT(count("Training loss over 76 steps"), 1);
}

TEST(several_texts_and_large_numbers)
{
    pt_strbuf_clear(&log_text);
    pt_strbuf_puts(&log_text, "{\"type\":\"val\",\"step\":12000,\"val_loss\":2}\n");
    const char *html = write_page(
        "{\"train\":{\"steps\":20000,\"seed\":\"123456\",\"batch\":1024},\"corpus\":{\"path\":"
        "\"first.txt\",\"bytes\":1234567,\"sources\":[{\"path\":\"one.txt\"},"
        "{\"path\":\"two.txt\"}]}}",
        "two");
    (void)check_page(&page);
    CHECK(!strstr(html, "first.txt") && strstr(html, "one.txt") && strstr(html, "two.txt"));
    CHECK(strstr(html, "20,000") && strstr(html, "1,234,567") && strstr(html, "step 12,000"));
    CHECK(strstr(html, "123456<") && strstr(html, "1024<"));
}

TEST(an_empty_run)
{
    pt_strbuf_clear(&log_text);
    write_page(NULL, "");
    check_page(&page);
    CHECK(strstr(page.data, "No values yet") != NULL);
    write_page("{}", "x");
    check_page(&page);
    pt_strbuf_puts(&log_text, "{\"type\":\"step\",\"step\":1,\"loss\":2}\n");
    write_page(NULL, "one step");
    check_page(&page);
}

TEST(hostile_text_stays_text)
{
    static const char evil[] =
        "</pre></td><script>alert(1)</script><img src=x onerror=alert(1)>&amp;'\\\"\\u0007"
        "\\u202e\\u0085\\u0000 url(http://x) @import";
    pt_strbuf json = {0};
    pt_strbuf_clear(&log_text);
    add_steps(1, 60);
    pt_strbuf_printf(
        &log_text,
        "{\"type\":\"meta\",\"preset\":\"%s\"}\n{\"type\":\"sample\",\"step\":1,\"text\":\"%s\"}\n"
        "{\"type\":\"sample\",\"step\":2,\"text\":\"\"}\n"
        "{\"type\":\"resumed\",\"step\":5}\n{\"type\":\"end\",\"step\":60,\"how\":\"%s\"}\n",
        evil, evil, evil);
    pt_strbuf_printf(
        &json,
        "{\"started\":\"%s\",\"train\":{\"sample_prompt\":\"%s\",\"%s\":[1,{\"x\":null},[]]},"
        "\"corpus\":{\"path\":\"%s\",\"tokenizer\":\"%s\"},\"program\":{\"command\":\"%s\"},"
        "\"model\":{\"vocab\":9223372036854775807,\"params\":9223372036854775807}}",
        evil, evil, evil, evil, evil, evil);
    char *text = json.data;
    for (char *p = text; (p = strstr(p, "http:")) != NULL;) memcpy(p, "HTTP;", 5);
    for (char *p = log_text.data; (p = strstr(p, "http:")) != NULL;) memcpy(p, "HTTP;", 5);
    for (char *p = text; (p = strstr(p, "url(")) != NULL;) memcpy(p, "URL-", 4);
    for (char *p = log_text.data; (p = strstr(p, "url(")) != NULL;) memcpy(p, "URL-", 4);
    for (char *p = text; (p = strstr(p, "@import")) != NULL;) *p = '-';
    for (char *p = log_text.data; (p = strstr(p, "@import")) != NULL;) *p = '-';
    write_page(text, "<b>&\"' \xff\x01");
    check_page(&page);
    CHECK(strstr(page.data, "&lt;script&gt;alert(1)") != NULL);
    pt_strbuf_deinit(&json);
}

/* Numbers that break scales: none finite, all alike, huge, tiny, far apart. */
TEST(odd_numbers)
{
    static const char *const losses[] = {"null",   "0",    "1e300", "-1e300",
                                         "5e-324", "1e-9", "3",     "1e999"};
    for (int mask = 1; mask < 256; mask++) {
        pt_strbuf_clear(&log_text);
        for (int i = 0; i < 60; i++) {
            int pick = i % 8;
            while (!(mask >> pick & 1)) pick = (pick + 1) % 8;
            pt_strbuf_printf(
                &log_text,
                "{\"type\":\"step\",\"step\":%d,\"loss\":%s,\"lr\":%s,\"grad_norm\":%s,"
                "\"seconds\":%s}\n",
                i + 1, losses[pick], losses[7 - pick], losses[pick], losses[pick]);
        }
        write_page(good_json, "odd");
        check_page(&page);
        CHECK(page.len < 300000);
        CHECK(!strstr(page.data, "nan%") && !strstr(page.data, "inf%"));
    }
    pt_strbuf_clear(&log_text);
    pt_strbuf_puts(&log_text, "{\"type\":\"step\",\"step\":0,\"loss\":1}\n"
                              "{\"type\":\"step\",\"step\":9223372036854775807,\"loss\":2}\n");
    write_page(good_json, "far apart");
    check_page(&page);
}

TEST(a_long_run_makes_no_long_page)
{
    pt_strbuf_clear(&log_text);
    add_steps(1, 30000);
    write_page(good_json, "long");
    check_page(&page);
    CHECK(page.len < 250000);
}

TEST(memory_runs_out)
{
    pt_error err = {0};
    pt_strbuf_clear(&log_text);
    add_steps(1, 30);
    pt_run_deinit(&run);
    CHECK_OK(pt_run_read(&run, good_json, sizeof good_json - 1, log_text.data,
                         (int64_t)log_text.len, &err),
             err);
    for (int nth = 1;; nth++) {
        pt_strbuf out = {0};
        err = (pt_error){0};
        pt_alloc_fail_after(nth);
        pt_status s = pt_report_write(&out, &run, "x", &err);
        pt_alloc_fail_after(0);
        pt_strbuf_deinit(&out);
        if (s == PT_OK) {
            CHECK(nth > 4);
            break;
        }
        CHECK_INT(s, PT_NO_MEMORY);
    }
}

/* ---- files ---- */

TEST(a_report_of_a_folder)
{
    pt_error err = {0};
    fresh_folder();
    CHECK_INT(pt_report_put(in_folder(""), NULL, &err), PT_NOT_FOUND);
    CHECK_OK(pt_fs_make_folder(in_folder("my run"), NULL), err);
    put_text(in_folder("my run/log.jsonl"),
             "{\"type\":\"step\",\"step\":1,\"loss\":2}\n{\"type\":\"st");
    err = (pt_error){0};
    CHECK_OK(pt_report_put(in_folder("my run/"), NULL, &err), err);
    CHECK(strstr(text_of(in_folder("my run/report.html")), "<title>my run · run report</title>") !=
          NULL);
    CHECK_OK(pt_report_put(in_folder("my run"), in_folder("other.html"), &err), err);
    CHECK_OK(pt_report_put(in_folder("my run"), in_folder("other.html"), &err), err); /* replaced */
    CHECK(pt_fs_size(in_folder("other.html")) > 1000);
    pt_fs_fail_after(2);
    CHECK_INT(pt_report_put(in_folder("my run"), in_folder("third.html"), &err), PT_IO);
    pt_fs_fail_after(0);
    CHECK(!pt_fs_exists(in_folder("third.html")));
    pt_report_live live = {0};
    pt_report_refresh(&live, in_folder("nothing here")); /* no reason to stop */
    CHECK(live.due > 0);
}

/* ---- comparing ---- */

TEST(two_runs_side_by_side)
{
    static const char a_json[] =
        "{\"started\":\"x\",\"train\":{\"lr\":0.1,\"steps\":5,\"only_a\":true}}";
    static const char b_json[] =
        "{\"started\":\"y\",\"train\":{\"lr\":0.20,\"steps\":5},\"new\":[1]}";
    static const char a_log[] =
        "{\"type\":\"val\",\"step\":1,\"val_loss\":3}\n{\"type\":\"val\",\"step\":2,"
        "\"val_loss\":2}\n{\"type\":\"val\",\"step\":4,\"val_loss\":1}\n";
    static const char b_log[] =
        "{\"type\":\"val\",\"step\":2,\"val_loss\":1.5}\n{\"type\":\"val\",\"step\":3,"
        "\"val_loss\":2}\n{\"type\":\"val\",\"step\":4,\"val_loss\":1.25}\n";
    pt_error err = {0};
    pt_run a, b;
    pt_comparison c;
    CHECK_OK(pt_run_read(&a, a_json, sizeof a_json - 1, a_log, sizeof a_log - 1, &err), err);
    CHECK_OK(pt_run_read(&b, b_json, sizeof b_json - 1, b_log, sizeof b_log - 1, &err), err);
    CHECK_OK(pt_compare(&c, &a, &b, &err), err);
    CHECK_INT(c.n_differences, 3);
    CHECK_STR(c.differences[0].key, "train.lr");
    CHECK_STR(c.differences[0].b, "0.20");
    CHECK_STR(c.differences[1].key, "train.only_a");
    CHECK_STR(c.differences[1].b, "");
    CHECK_STR(c.differences[2].key, "new.0");
    CHECK_STR(c.differences[2].a, "");
    CHECK_INT(c.n_vals, 2);
    CHECK_INT(c.vals[1].step, 4);
    CHECK_CLOSE(c.vals[0].change, -0.5, 0);
    CHECK_CLOSE(c.vals[1].change, 0.25, 0);
    pt_comparison_deinit(&c);
    pt_run_deinit(&a);
    pt_run_deinit(&b);
    pt_run_deinit(&run);
    pt_strbuf_deinit(&page);
    pt_strbuf_deinit(&log_text);
}

PT_TEST_MAIN
