/* What the verbs share. SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/platform.h"
#include "cli/manual.h"

/* ---- verbs ---- */

const pt_verb *pt_verb_at(int i)
{
    for (const pt_verb *const *v = pt_verbs; *v; v++) {
        if (i-- == 0) return *v;
        for (const pt_verb *const *sub = (*v)->subs; sub && *sub; sub++)
            if (i-- == 0) return *sub;
    }
    return NULL;
}

const char *pt_verb_page(const char *name, char out[64])
{
    pt_format(out, 64, "%s", name);
    for (char *p = out; *p; p++)
        if (*p == ' ') *p = '-';
    return out;
}

/* ---- output ---- */

pt_status pt_print(const char *bytes, size_t n, pt_error *err)
{
    if (fwrite(bytes, 1, n, stdout) == n && fflush(stdout) == 0) return PT_OK;
    return pt_fail(err, PT_IO, "cannot write to standard output: %s", strerror(errno));
}

pt_status pt_print_strbuf(const pt_strbuf *text, pt_error *err)
{
    if (text->failed) return pt_fail(err, PT_NO_MEMORY, "no memory for the output");
    return pt_print(text->data ? text->data : "", text->len, err);
}

void pt_say(const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    size_t n = pt_vformat(line, sizeof line, fmt, args);
    va_end(args);
    if (n >= sizeof line) n = sizeof line - 1;
    fwrite(line, 1, n, stderr);
}

void pt_say_strbuf(const pt_strbuf *text)
{
    if (!text->failed && text->len) fwrite(text->data, 1, text->len, stderr);
}

bool pt_stderr_is_terminal(void)
{
    const char *term = pt_platform_env("TERM");
    return isatty(STDERR_FILENO) != 0 && !(term && strcmp(term, "dumb") == 0);
}

static int columns_of(int fd)
{
    struct winsize size = {0};
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int pt_stderr_columns(void) { return columns_of(STDERR_FILENO); }

bool pt_stdin_is_terminal(void) { return isatty(STDIN_FILENO) != 0; }

bool pt_stdout_is_terminal(void) { return isatty(STDOUT_FILENO) != 0; }

int pt_stdout_columns(void) { return pt_stdout_is_terminal() ? columns_of(STDOUT_FILENO) : 0; }

static void put_help(const pt_verb *verb, const pt_command_line *line, pt_strbuf *text)
{
    pt_strbuf_printf(text, "%s\n\nusage: %s\n", verb->summary, verb->usage);
    pt_options_help(line, text);
    if (verb->list) verb->list(text);
    if (!verb->details) return;
    pt_strbuf_putc(text, '\n');
    pt_put_prose(text, verb->details);
}

static pt_status print_help(const pt_verb *verb, const pt_command_line *line, pt_error *err)
{
    pt_strbuf text = {0};
    if (line->help == PT_HELP_MAN) pt_manual_of_verb(verb, line, &text);
    else if (line->help >= PT_HELP_BASH) pt_completion_of_verb(line, &text);
    else put_help(verb, line, &text);
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

pt_status pt_verb_parse(const pt_verb *verb, pt_command_line *line, int argc, char **argv,
                        bool *done, pt_error *err)
{
    *done = false;
    line->verb = verb->name;
    pt_status s = pt_options_parse(line, argc, argv, err);
    if (s) return s;
    *done = line->help != PT_HELP_NONE;
    if (*done) return print_help(verb, line, err);
    if (line->missing && line->n_positional < 1)
        return pt_fail(err, PT_BAD_INPUT, "%s", line->missing);
    return PT_OK;
}

/* ---- models from files ---- */

/* A run, or a checkpoint, was named where its model is wanted: `s` with a sentence that names that. */
static pt_status name_model_in(const char *folder, pt_status s, pt_error *err)
{
    char model[PT_FS_PATH_MAX];
    if (!pt_fs_is_folder(folder) || !pt_fs_join(model, sizeof model, folder, "model.tinygpt") ||
        !pt_fs_exists(model))
        return s;
    *err = (pt_error){0}; /* the first failure would be kept */
    return pt_fail(err, s, "'%s' is a folder: its model is '%s'", folder, model);
}

pt_status pt_model_file_open(pt_model_file *out, const char *path, pt_error *err)
{
    *out = (pt_model_file){0};
    pt_status s = pt_file_view_read(&out->view, path, err);
    if (s) return name_model_in(path, s, err);
    s = pt_tinygpt_open(&out->file, out->view.data, out->view.size, err);
    if (s == PT_OK) s = pt_tinygpt_verify(out->file, err);
    if (s) {
        pt_error_prefix(err, "%s", path);
        pt_model_file_close(out);
        return s;
    }
    out->info = pt_tinygpt_get(out->file);
    return PT_OK;
}

void pt_model_file_close(pt_model_file *file)
{
    pt_tinygpt_close(file->file);
    pt_file_view_close(&file->view);
    *file = (pt_model_file){0};
}

pt_status pt_check_output(const char *path, bool force, pt_error *err)
{
    if (!pt_fs_exists(path)) return PT_OK;
    if (force && pt_is_file_of_run(path))
        return pt_fail(err, PT_BAD_INPUT,
                       "%s is a run's own file, which --force does not replace: give another name",
                       path);
    if (force) return PT_OK;
    return pt_fail(err, PT_EXISTS, "%s exists already: give --force to replace it", path);
}

pt_status pt_open_output(struct pt_atomic_file **out, const char *path, bool force, pt_error *err)
{
    pt_status s = pt_check_output(path, force, err);
    return s ? s : pt_atomic_file_open(out, path, force, err);
}

pt_status pt_need_model(const pt_command_line *line, pt_error *err)
{
    if (line->n_positional >= 1) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "which model? give a .tinygpt file: posttrain %s MODEL …",
                   line->verb);
}

int64_t pt_peak_rss(void) { return pt_platform_peak_rss_bytes(); }
