/* posttrain --version: what was built, how, and what it can use here. SPDX-License-Identifier: MIT */
#include "base/version.h"
#include "cli/build.h"
#include "cli/cli.h"
#include "factory/runs_db.h"
#include "io/fetch.h"

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
static const char *libc_version(void) { return gnu_get_libc_version(); }
#else
static const char *libc_version(void) { return ""; }
#endif

/* Libraries that this program uses where they are: its version; "" = there, of unknown version; NULL = not there. */
static const struct {
    const char *name;
    const char *(*version)(void);
} libraries[] = {
    {"libc", libc_version},
    {"libcurl", pt_fetch_version},
    {"SQLite", pt_runs_db_version},
};
#define N_LIBRARIES (sizeof libraries / sizeof libraries[0])

/* The one that is taken when none is asked for. */
static const char *isa_in_use(void)
{
    const char *best = "";
    for (const char *const *isa = pt_device_cpu_isas(); *isa; isa++) best = *isa;
    return best;
}

static void put_json_words(pt_json_writer *w, const char *key, const char *const *words)
{
    pt_json_begin_array(w, key);
    for (; *words; words++) pt_json_string(w, NULL, *words);
    pt_json_end_array(w);
}

/* The names of a list "cpu|ref". */
static void put_json_names(pt_json_writer *w, const char *key, const char *names)
{
    pt_json_begin_array(w, key);
    while (*names) {
        size_t n = strcspn(names, "|");
        pt_json_string_n(w, NULL, names, n);
        names += n + (names[n] == '|');
    }
    pt_json_end_array(w);
}

static void write_json(pt_strbuf *text)
{
    pt_json_writer w = pt_json_writer_begin(text, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "version", PT_VERSION);
    pt_json_string(&w, "revision", pt_build_info.revision);
    pt_json_string(&w, "date", pt_build_info.date);
    pt_json_string(&w, "compiler", pt_build_info.compiler);
    pt_json_string(&w, "flags", pt_build_info.flags);
    put_json_words(&w, "isas_built", pt_device_cpu_built());
    pt_json_string(&w, "isa", isa_in_use());
    put_json_names(&w, "devices", PT_DEVICE_NAMES);
    pt_json_begin_object(&w, "libraries");
    for (size_t i = 0; i < N_LIBRARIES; i++) {
        const char *version = libraries[i].version();
        if (version) pt_json_string(&w, libraries[i].name, version);
        else pt_json_null(&w, libraries[i].name);
    }
    pt_json_end_object(&w);
    pt_json_end_object(&w);
    pt_strbuf_putc(text, '\n');
}

static void write_text(pt_strbuf *text)
{
    pt_strbuf_printf(text, "posttrain %s\nsource            %s%s%s\ncompiler          %s\n",
                     PT_VERSION, pt_build_info.revision, *pt_build_info.date ? ", " : "",
                     pt_build_info.date, pt_build_info.compiler);
    pt_strbuf_puts(text, "flags             ");
    pt_put_wrapped(text, 18, pt_build_info.flags);
    pt_strbuf_puts(text, "\ninstruction sets  built in:");
    for (const char *const *isa = pt_device_cpu_built(); *isa; isa++)
        pt_strbuf_printf(text, " %s", *isa);
    pt_strbuf_printf(text, "\n                  used here: %s\ndevices           ", isa_in_use());
    for (const char *p = PT_DEVICE_NAMES; *p; p++) pt_strbuf_putc(text, *p == '|' ? ' ' : *p);
    pt_strbuf_puts(text, "\nlibraries         ");
    for (size_t i = 0; i < N_LIBRARIES; i++) {
        const char *version = libraries[i].version();
        pt_strbuf_printf(text, "%s%s %s", i ? ", " : "", libraries[i].name,
                         version ? version : "not found");
    }
    pt_strbuf_putc(text, '\n');
}

pt_status pt_print_version(bool json, pt_error *err)
{
    pt_strbuf text = {0};
    if (json) write_json(&text);
    else write_text(&text);
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}
