/* Going on with a run: its options, its corpus, its device. SPDX-License-Identifier: MIT */
#include "cli/resume.h"

#include "cli/job_line.h"
#include "io/note.h"
#include "train/run_folder.h"

#define AGAIN "pipe it in again, or give it with --corpus FILE"

/* What may change without a change of the curve: how it is computed, looked at and kept; and the path of the
 * corpus, whose bytes are compared instead. And what to do about a spike, which is how a run goes on that ended at one. */
static const char *const may_change[] = {
    "corpus",        "threads", "isa",  "recompute", "eval-every", "sample-every", "save-every",
    "sample-tokens", "prompt",  "keep", "steps",     "on-spike",   "save-minutes", NULL};

static bool may(const char *name)
{
    for (const char *const *p = may_change; *p; p++)
        if (strcmp(*p, name) == 0) return true;
    return false;
}

/* A file may hold anything: what is no scalar is shown as its JSON, for which *text is room. What is not there is the
 * option's default. */
static const char *shown(const pt_option *o, const pt_json *value, pt_strbuf *text)
{
    if (!value) return o->kind == PT_OPTION_TEXT && o->fallback ? o->fallback : "not set";
    if (value->type == PT_JSON_BOOL) return value->boolean ? "on" : "off";
    if (value->type == PT_JSON_NUMBER || value->type == PT_JSON_STRING) return value->text;
    pt_json_writer w = pt_json_writer_begin(text, 0);
    pt_json_value(&w, NULL, value);
    return text->failed ? "?" : text->data;
}

static pt_status compare_option(const char *name, const char *given, const char *was, pt_error *err)
{
    if (strcmp(given, was) == 0) return PT_OK;
    if (strcmp(name, "mix") == 0 && pt_mix_is_same(given, was)) return PT_OK;
    if (strcmp(name, "separator") == 0 && pt_separator_is_same(given, was)) return PT_OK;
    if (may(name)) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "--%s is '%s', the run's is '%s': start a new run", name,
                   given, was);
}

/* `now` holds what was given, and defaults for the rest. */
static pt_status compare(const pt_train_arguments *a, const pt_json *now, const pt_json *run,
                         pt_error *err)
{
    pt_status s = PT_OK;
    for (int i = 0; i < a->line.n_options && s == PT_OK; i++) {
        const pt_option *o = &a->line.options[i];
        const pt_json *given = pt_option_recorded(now, o->name);
        const pt_json *was = pt_option_recorded(run, o->name);
        if (o->kind == PT_OPTION_HEADING || !o->set || !given) continue;
        if (o->kind == PT_OPTION_LIST) continue; /* paths, whose bytes are compared */
        pt_strbuf text[2] = {{0}, {0}};
        s = compare_option(o->name, shown(o, given, &text[0]), shown(o, was, &text[1]), err);
        for (int k = 0; k < 2; k++) pt_strbuf_deinit(&text[k]);
    }
    return s;
}

static pt_status read_run(pt_train_arguments *a, const char *path, pt_error *err)
{
    const pt_note_kind kind = {PT_RUN_FORMAT, PT_RUN_VERSION, NULL};
    pt_status s = pt_note_read(path, &kind, &a->arena, &a->previous, err);
    if (s) return s;
    if (!pt_json_get(a->previous, "arguments"))
        return pt_fail(err, PT_UNSUPPORTED,
                       "%s: made by posttrain 0.1, which did not record all options; it cannot be "
                       "resumed",
                       path);
    return pt_train_arguments_check_record(pt_json_get(a->previous, "arguments"), path, err);
}

/* What chooses the shape of a new run. The depth of a run that has one is compared as any option. */
static pt_status refuse_choices(const pt_train_arguments *a, pt_error *err)
{
    bool of_depth = pt_option_recorded(pt_json_get(a->previous, "arguments"), "depth") != NULL;
    const struct {
        const char *name;
        bool compared;
    } choices[] = {{"depth", of_depth}, {"regime", of_depth && a->depth}, {"preset", !of_depth}};
    for (int i = 0; i < 3; i++)
        if (pt_option_is_set(&a->line, choices[i].name) && !choices[i].compared)
            return pt_fail(err, PT_BAD_INPUT,
                           "--%s is for a new run, and %s is one to go on with: leave it out",
                           choices[i].name, a->resume);
    return PT_OK;
}

static pt_status check_folder(const pt_train_arguments *a, pt_error *err)
{
    if (!*a->resume)
        return pt_fail(err, PT_BAD_INPUT, "--resume is empty: give the folder of the run");
    if (pt_fs_exists(a->resume) && !pt_fs_is_folder(a->resume))
        return pt_fail(err, PT_BAD_INPUT, "%s is a file: give --resume the folder of the run",
                       a->resume);
    if (!a->out || strcmp(a->out, a->resume) == 0) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "--out is '%s', --resume is '%s': give one of them", a->out,
                   a->resume);
}

pt_status pt_resume_arguments(pt_train_arguments *a, pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    const pt_json *now = NULL;
    pt_status s = check_folder(a, err);
    if (s) return s;
    a->out = a->resume;
    s = pt_fs_path(path, a->resume, "run.json", err);
    if (s) return s;
    if (!pt_fs_exists(path) && a->corpus.paths.n) return PT_OK;
    if (!pt_fs_exists(path))
        return pt_fail(err, PT_NOT_FOUND,
                       "%s holds no run to go on with: begin one with --corpus FILE", a->resume);
    s = read_run(a, path, err);
    if (s == PT_OK) s = refuse_choices(a, err);
    if (s == PT_OK) s = pt_train_arguments_record(a, &now, err);
    if (s == PT_OK) s = compare(a, now, pt_json_get(a->previous, "arguments"), err);
    for (int i = 0; i < a->line.n_options; i++) a->of_run[i] = !a->line.options[i].set;
    return s ? s : pt_options_config(&a->line, a->previous, path, &a->arena, err);
}

static const char *in_files(int64_t n, char out[32])
{
    pt_format(out, 32, " in %lld files", (long long)n);
    return n == 1 ? "" : out;
}

/* One source, against what run.json says of it. */
static pt_status check_source(const pt_corpus_source *have, const pt_json *was, pt_error *err)
{
    char in[2][32];
    int64_t tokens = -1, files = have->files;
    const char *sha256 = pt_json_get_string(was, "sha256");
    pt_json_get_i64(was, "files", &files);
    if (pt_json_get_i64(was, "tokens", &tokens) && tokens != have->tokens)
        return pt_fail(err, PT_BAD_INPUT, "%s has %lld bytes%s, the run's text has %lld%s",
                       have->path, (long long)have->tokens, in_files(have->files, in[0]),
                       (long long)tokens, in_files(files, in[1]));
    if (!sha256 || strcmp(sha256, have->sha256) == 0) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "%s is not the run's text: its sha256 is %s, the run's is %s",
                   have->path, have->sha256, sha256);
}

/* A stream's sha256 is what the last shard says it is. That is believed of the very shards that the run had; others, be it
 * that the same stream was cut anew, are read. */
static pt_status check_shards(const pt_train_arguments *a, int i, const pt_corpus_source *have,
                              const pt_json *was, pt_error *err)
{
    const char *cut = pt_json_get_string(pt_json_get(was, "shards"), "sha256");
    if (!have->n_shards || (cut && strcmp(cut, have->cut_sha256) == 0)) return PT_OK;
    pt_job_line progress = pt_job_line_begin("verifying", have->bytes, a->quiet);
    pt_job job = {pt_job_line_show, &progress};
    pt_status s = pt_corpus_verify(a->corpus.corpus, i, &job, err);
    pt_job_line_end(&progress);
    if (s == PT_CORRUPT)
        pt_error_prefix(err, "%s is not the run's text (posttrain data verify tells as much)",
                        have->path);
    return s;
}

/* Names the source that is another one, where the run had as many. */
static pt_status check_sources(const pt_train_arguments *a, const pt_json *was, pt_error *err)
{
    int n = 0;
    const pt_corpus_source *source = pt_corpus_sources(a->corpus.corpus, &n);
    if (!was || was->type != PT_JSON_ARRAY) return PT_OK;
    if (was->n_children != n)
        return pt_fail(err, PT_BAD_INPUT, "the run learns from %lld sources of text, not from %d",
                       (long long)was->n_children, n);
    pt_status s = PT_OK;
    const pt_json *one = was->child;
    for (int i = 0; i < n && s == PT_OK; i++, one = one->next) {
        s = check_source(&source[i], one, err);
        if (s == PT_OK) s = check_shards(a, i, &source[i], one, err);
    }
    return s;
}

/* A path that the run recorded means what it meant only where the run began, and standard input cannot be read again. */
pt_status pt_resume_check_paths(const pt_train_arguments *a, pt_error *err)
{
    const pt_word_list *paths = &a->corpus.paths;
    const pt_json *recorded = pt_option_recorded(pt_json_get(a->previous, "arguments"), "corpus");
    const pt_json *was = recorded ? recorded->child : NULL;
    for (int i = 0; i < paths->n && was; i++, was = was->next) {
        const char *path = paths->word[i];
        if (was->type != PT_JSON_STRING || strcmp(was->text, path) != 0) continue;
        if (strcmp(path, "-") == 0 && pt_stdin_is_terminal())
            return pt_fail(err, PT_BAD_INPUT, "the run read its text from standard input: " AGAIN);
        if (strcmp(path, "-") == 0 || pt_fs_exists(path)) continue;
        const char *from = pt_json_get_string(pt_json_get(a->previous, "corpus"), "folder");
        return pt_fail(err, PT_NOT_FOUND,
                       "the run's text %s is not here: go on in %s, where it was named, or say "
                       "with --corpus where it is",
                       path, from ? from : "the folder");
    }
    return PT_OK;
}

pt_status pt_resume_check_corpus(const pt_train_arguments *a, pt_error *err)
{
    const pt_json *corpus = pt_json_get(a->previous, "corpus");
    const char *want = pt_json_get_string(corpus, "sha256");
    const char *have = pt_corpus_sha256(a->corpus.corpus);
    int64_t size = -1, n = pt_corpus_tokens(a->corpus.corpus);
    const char *name = a->corpus.name;
    if (n == 0 && strcmp(name, "-") == 0)
        return pt_fail(err, PT_BAD_INPUT,
                       "the run read its text from standard input, which is empty now: " AGAIN);
    pt_status s = check_sources(a, pt_json_get(corpus, "sources"), err);
    if (s) return s;
    if (!pt_json_get_i64(corpus, "bytes", &size) || size != n)
        return pt_fail(err, PT_BAD_INPUT, "%s has %lld bytes, the run's text has %lld", name,
                       (long long)n, (long long)size);
    if (want && strcmp(want, have) == 0) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "%s is not the run's text: its sha256 is %s, the run's is %s",
                   name, have, want ? want : "missing");
}

/* A run may end elsewhere as long as that changes the rate of no step that is done. */
static pt_status check_rates(const pt_train_arguments *a, int64_t was, int64_t done, pt_error *err)
{
    pt_train_options before = a->train;
    before.steps = was;
    pt_schedule old = pt_train_options_schedule(&before);
    pt_schedule now = pt_train_options_schedule(&a->train);
    int64_t same = pt_schedule_same_until(&old, &now);
    if (done <= same) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT,
                   "--steps is %lld, the run's is %lld: under --schedule %s that changes the rate "
                   "of every step after step %lld, and step %lld is done; start a new run",
                   (long long)now.steps, (long long)was, a->schedule, (long long)same,
                   (long long)done);
}

pt_status pt_resume_check_steps(const pt_train_arguments *a, int64_t done, pt_error *err)
{
    const pt_json *arguments = pt_json_get(a->previous, "arguments");
    int64_t was = 0, steps = a->train.steps;
    if (!pt_json_get_i64(arguments, "steps", &was) || steps == was) return PT_OK;
    if (steps > was || steps >= done) return check_rates(a, was, done, err);
    return pt_fail(err, PT_BAD_INPUT,
                   "--steps is %lld, and the run is at step %lld already: give that or more",
                   (long long)steps, (long long)done);
}
