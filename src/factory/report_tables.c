/* What a run wrote, what happened, how it was made. SPDX-License-Identifier: MIT */
#include "factory/report_internal.h"

#include "base/clock.h"
#include "base/human.h"
#include "base/maths.h"
#include "factory/html.h"

#define SAMPLES_SHOWN 12
#define EVENTS_SHOWN 200

void pt_report_samples(pt_report_page *page)
{
    const pt_run *run = page->run;
    pt_strbuf *out = page->out;
    int64_t n = run->n_samples, shown = pt_min_i64(n, SAMPLES_SHOWN);
    const char *prompt = pt_config_value(page->config, page->n_config, "train.sample_prompt");
    if (!n) return;
    pt_strbuf_puts(out, "<section aria-labelledby=\"samples\"><h2 id=\"samples\">What it "
                        "wrote</h2>\n<p class=\"quiet\">");
    if (shown < n) pt_strbuf_printf(out, "%lld of %lld samples. ", (long long)shown, (long long)n);
    pt_strbuf_puts(out, "The prompt is in bold; a byte that cannot be shown is · or "
                        "\xef\xbf\xbd.</p>\n<ol class=\"samples\">\n");
    for (int64_t i = 0; i < shown; i++) {
        const pt_run_sample *s = &run->samples[shown > 1 ? i * (n - 1) / (shown - 1) : 0];
        char step[32];
        pt_strbuf_printf(out, "<li><h3>step %s</h3><pre dir=\"auto\">", pt_grouped(s->step, step));
        if (prompt && *prompt && strcmp(prompt, "\n") != 0) {
            pt_strbuf_puts(out, "<b>");
            pt_html_text(out, prompt);
            pt_strbuf_puts(out, "</b>");
        }
        pt_html_bytes(out, s->bytes, (size_t)s->n);
        pt_strbuf_puts(out, "</pre></li>\n");
    }
    pt_strbuf_puts(out, "</ol></section>\n");
}

/* ---- what happened ---- */

static void say_spike(pt_strbuf *out, const pt_run_event *e)
{
    static const struct {
        const char *did, *says;
    } words[] = {{"warn", "noted"},
                 {"skip", "the step was left out"},
                 {"stop", "the run stopped before it"},
                 {"rollback", "the run went back"}};
    const char *says = e->text;
    char loss[32], limit[32];
    for (int i = 0; i < 4; i++)
        if (strcmp(e->text, words[i].did) == 0) says = words[i].says;
    if (*e->bad) pt_strbuf_printf(out, "infinity or NaN, first in %s; ", e->bad);
    else if (!pt_is_finite(e->loss)) pt_strbuf_puts(out, "infinite loss; ");
    else
        pt_strbuf_printf(out, "spike: loss %s, above %s; ", pt_significant(e->loss, 4, 4, loss),
                         pt_significant(e->limit, 4, 4, limit));
    pt_strbuf_puts(out, says);
}

static void say(pt_strbuf *out, const pt_run_event *e)
{
    static const char *const signs[] = {
        [PT_RUN_SAVED] = "saved",       [PT_RUN_REFUSED] = "✕ checkpoint could not be used: ",
        [PT_RUN_RESUMED] = "↻ resumed", [PT_RUN_ROLLED_BACK] = "↶ rolled back to step ",
        [PT_RUN_SPIKED] = "▲ ",         [PT_RUN_ENDED] = "ended: "};
    char step[32];
    pt_strbuf_puts(out, signs[e->kind]);
    switch (e->kind) {
    case PT_RUN_SPIKED: say_spike(out, e); break;
    case PT_RUN_RESUMED: pt_strbuf_puts(out, e->to ? "" : " from the start"); break;
    case PT_RUN_ROLLED_BACK:
        pt_strbuf_puts(out, pt_grouped(e->to, step));
        if (e->lr_scale > 0)
            pt_strbuf_printf(out, ", learning rate × %.4g from there", e->lr_scale);
        break;
    default: pt_strbuf_puts(out, e->text);
    }
}

static void put_event(pt_strbuf *out, const pt_run_event *e)
{
    char when[32] = "", step[32];
    pt_strbuf what = {0};
    if (e->t > 0 && e->t < 1e11) pt_clock_iso((int64_t)(e->t * 1000), when);
    if (when[0]) when[10] = ' ', when[19] = '\0'; /* to the second; the column says UTC */
    say(&what, e);
    pt_strbuf_printf(out, "<tr><th scope=\"row\">%s</th><td>", pt_grouped(e->step, step));
    pt_html_text(out, what.failed ? "" : what.data);
    pt_strbuf_printf(out, "</td><td>%s</td></tr>\n", when);
    out->failed |= what.failed;
    pt_strbuf_deinit(&what);
}

void pt_report_events(pt_report_page *page)
{
    const pt_run *run = page->run;
    pt_strbuf *out = page->out;
    if (!run->n_events) return;
    pt_strbuf_puts(
        out,
        "<section aria-labelledby=\"events\"><h2 id=\"events\">What happened</h2>\n"
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"events\">\n"
        "<table class=\"events\"><thead><tr><th scope=\"col\">step</th><th scope=\"col\">event</th>"
        "<th scope=\"col\">when (UTC)</th></tr></thead>\n<tbody>\n");
    char earlier[32];
    int64_t from = pt_max_i64(0, run->n_events - EVENTS_SHOWN);
    if (from)
        pt_strbuf_printf(out, "<tr><td colspan=\"3\">%s earlier events</td></tr>\n",
                         pt_grouped(from, earlier));
    for (int64_t i = from; i < run->n_events; i++) put_event(out, &run->events[i]);
    pt_strbuf_puts(out, "</tbody></table></div></section>\n");
}

/* ---- how it was made ---- */

/* A count of five digits and more with separators; a seed, and anything else, as it stands. */
static const char *shown(const char *key, const char *value, char out[32])
{
    const char *name = strrchr(key, '.');
    size_t n = 0;
    while (value[n] >= '0' && value[n] <= '9') n++;
    if (value[n] || n < 5 || n > 18 || (name && strcmp(name, ".seed") == 0)) return value;
    int64_t number = 0;
    for (const char *p = value; *p; p++) number = 10 * number + (*p - '0');
    return pt_grouped(number, out);
}

static const char *value_of(const pt_report_page *page, const char *key)
{
    return pt_config_value(page->config, page->n_config, key);
}

/* Shown elsewhere: the command above; of several texts each by itself; of a single one what the whole is said to be. */
static bool is_elsewhere(const pt_report_page *page, const pt_config_entry *e)
{
    static const char only[] = "corpus.sources.0.";
    bool several = value_of(page, "corpus.sources.1.path") != NULL;
    if (strcmp(e->key, "program.command") == 0) return true;
    if (several) return strcmp(e->key, "corpus.path") == 0;
    if (!pt_str_starts(e->key, only)) return false;
    char whole[128];
    const char *name = e->key + sizeof only - 1;
    pt_format(whole, sizeof whole, "corpus.%s", strcmp(name, "tokens") == 0 ? "bytes" : name);
    const char *same = value_of(page, whole);
    return same && strcmp(same, e->value) == 0;
}

/* A line break or a tab as it is typed in \n, and what would be blank in quotes. */
static void put_plainly(pt_strbuf *out, const char *value)
{
    bool blank = true;
    for (const char *p = value; *p; p++) blank = blank && *p == ' ';
    if (blank) pt_strbuf_putc(out, '"');
    for (const char *p = value; *p; p++) {
        if (*p == '\n') pt_strbuf_puts(out, "\\n");
        else if (*p == '\t') pt_strbuf_puts(out, "\\t");
        else pt_strbuf_putc(out, *p);
    }
    if (blank) pt_strbuf_putc(out, '"');
}

static void put_setting(pt_report_page *page, const pt_config_entry *e, const char *name)
{
    char grouped[32];
    pt_strbuf text = {0};
    const char *word = value_of(page, "arguments.recompute");
    if (strcmp(e->key, "train.recompute") == 0 && word) put_plainly(&text, word);
    else put_plainly(&text, shown(e->key, e->value, grouped));
    pt_html_row(page->out, name, text.failed ? "" : text.data);
    page->out->failed |= text.failed;
    pt_strbuf_deinit(&text);
}

/* The rows whose key begins with `prefix`, without it. */
static void put_group(pt_report_page *page, const char *title, const char *prefix)
{
    bool any = false;
    size_t n = strlen(prefix);
    for (int64_t i = 0; i < page->n_config; i++) {
        if (!pt_str_starts(page->config[i].key, prefix)) continue;
        if (is_elsewhere(page, &page->config[i])) continue;
        if (!any)
            pt_strbuf_printf(page->out, "<table class=\"facts\"><caption>%s</caption><tbody>\n",
                             title);
        any = true;
        put_setting(page, &page->config[i], page->config[i].key + n);
    }
    if (any) pt_strbuf_puts(page->out, "</tbody></table>\n");
}

static void put_log_facts(pt_report_page *page)
{
    const pt_run *run = page->run;
    char text[96];
    pt_strbuf_puts(page->out, "<table class=\"facts\"><caption>Log</caption><tbody>\n");
    if (*run->started) pt_html_row(page->out, "started", run->started);
    pt_format(text, sizeof text, "%lld", (long long)run->lines);
    pt_html_row(page->out, "lines", text);
    pt_format(text, sizeof text, "%lld%s", (long long)run->bad_lines,
              run->torn ? ", and the last line is torn" : "");
    pt_html_row(page->out, "lines that could not be read", text);
    if (!run->json) pt_html_row(page->out, "run.json", "missing or damaged");
    pt_strbuf_puts(page->out, "</tbody></table>\n");
}

void pt_report_config(pt_report_page *page)
{
    pt_strbuf_puts(page->out,
                   "<section aria-labelledby=\"made\"><h2 id=\"made\">How it was made</h2>\n");
    const char *command = pt_config_value(page->config, page->n_config, "program.command");
    if (command) {
        pt_strbuf_puts(page->out, "<p class=\"quiet\">The command:</p>\n<pre class=\"command\">");
        pt_html_text(page->out, command);
        pt_strbuf_puts(page->out, "</pre>\n");
    }
    pt_strbuf_puts(page->out, "<div class=\"groups\">\n");
    put_group(page, "Model", "model.");
    put_group(page, "Training", "train.");
    put_group(page, "Text", "corpus.");
    put_group(page, "Program", "program.");
    put_log_facts(page);
    pt_strbuf_puts(page->out, "</div></section>\n");
}
