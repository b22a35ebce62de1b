/* Completion scripts of bash, zsh and fish: verbs, options, the words that an option takes, and files. They are
 * made when the program is installed and ask it nothing later.
 * SPDX-License-Identifier: MIT */
#include "cli/manual.h"
#include "model/config.h"

typedef enum value_kind {
    VALUE_NONE,
    VALUE_OTHER,
    VALUE_WORDS,
    VALUE_FILE,
    VALUE_FOLDER
} value_kind;

/* What a shell offers for a value, by its name in the help; words are put into `words`, with spaces between. */
static value_kind kind_of(const char *value, pt_strbuf *words)
{
    pt_strbuf_clear(words);
    if (!value) return VALUE_NONE;
    if (strcmp(value, "FILE") == 0 || strcmp(value, "PATH") == 0) return VALUE_FILE;
    if (strcmp(value, "DIR") == 0) return VALUE_FOLDER;
    if (strcmp(value, "PRESET") == 0)
        for (const pt_preset *p = pt_presets(); p->name; p++)
            pt_strbuf_printf(words, "%s%s", words->len ? " " : "", p->name);
    else if (strcmp(value, "ISA") == 0)
        for (const char *const *isa = pt_device_cpu_built(); *isa; isa++)
            pt_strbuf_printf(words, "%s%s", words->len ? " " : "", *isa);
    else if (strchr(value, '|')) {
        pt_strbuf_puts(words, value);
        for (size_t i = 0; i < words->len; i++)
            if (words->data[i] == '|') words->data[i] = ' ';
    } else return VALUE_OTHER;
    return VALUE_WORDS;
}

static const char *last_word(const char *verb)
{
    const char *space = strrchr(verb, ' ');
    return space ? space + 1 : verb;
}

/* The next verb with verbs below it, from *v on; NULL when there is none. */
static const pt_verb *next_group(const pt_verb *const **v)
{
    while (**v && !(**v)->subs) ++*v;
    return **v ? *(*v)++ : NULL;
}

/* "get preview shard verify" */
static void put_below(const pt_verb *group, pt_strbuf *words)
{
    pt_strbuf_clear(words);
    for (const pt_verb *const *v = group->subs; *v; v++)
        pt_strbuf_printf(words, "%s%s", words->len ? " " : "", last_word((*v)->name));
}

/* ---- bash ---- */

static void bash_case(const char *pattern, value_kind kind, const char *words, pt_strbuf *out)
{
    pt_strbuf_printf(out, "        %s) ", pattern);
    if (kind == VALUE_WORDS) pt_strbuf_printf(out, "words='%s'", words);
    else if (kind == VALUE_FILE) pt_strbuf_puts(out, "kind=file");
    else if (kind == VALUE_FOLDER) pt_strbuf_puts(out, "kind=directory");
    else pt_strbuf_puts(out, "return");
    pt_strbuf_puts(out, " ;;\n");
}

static void bash_verb(const pt_command_line *line, pt_strbuf *out)
{
    char page[64];
    pt_strbuf words = {0};
    pt_strbuf_printf(out, "    %s)\n        options='", pt_verb_page(line->verb, page));
    for (int i = 0; i < line->n_options; i++)
        if (line->options[i].kind != PT_OPTION_HEADING)
            pt_strbuf_printf(out, "--%s ", line->options[i].name);
    pt_strbuf_puts(out, "--help --help-all'\n        case $before in\n");
    for (int i = 0; i < line->n_options; i++) {
        const pt_option *o = &line->options[i];
        char pattern[64];
        if (o->kind == PT_OPTION_HEADING || o->kind == PT_OPTION_SWITCH) continue;
        pt_format(pattern, sizeof pattern, "--%s", o->name);
        value_kind kind = kind_of(o->value, &words);
        bash_case(pattern, kind, words.data, out);
    }
    if (line->first) {
        value_kind kind = kind_of(line->first, &words);
        bash_case(last_word(line->verb), kind, words.data, out);
    } else if (line->folders_or) {
        pt_strbuf_printf(out, "        %s) words=%s kind=directory ;;\n", line->verb,
                         line->folders_or);
        bash_case("*", VALUE_FOLDER, "", out);
    } else if (line->most_positional) {
        bash_case("*", VALUE_FILE, "", out);
    }
    const pt_verb *group;
    for (const pt_verb *const *v = pt_verbs; line->below && (group = next_group(&v));) {
        put_below(group, &words);
        bash_case(group->name, VALUE_WORDS, words.data, out);
    }
    pt_strbuf_puts(out, "        esac ;;\n");
    pt_strbuf_deinit(&words);
}

static void bash_begin(pt_strbuf *out)
{
    pt_strbuf_puts(out,
                   "# bash completion of posttrain; made by posttrain help --completion bash\n"
                   "_posttrain()\n{\n"
                   "    local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                   "    local options='' words='' kind='' IFS=$' \\t\\n'\n"
                   "    COMPREPLY=()\n"
                   "    # --name=value comes as three words\n"
                   "    if [ \"$now\" = '=' ]; then now=''\n"
                   "    elif [ \"$before\" = '=' ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
                   "    local verb=${COMP_WORDS[1]}\n");
    const pt_verb *group;
    for (const pt_verb *const *v = pt_verbs; (group = next_group(&v));)
        pt_strbuf_printf(out,
                         "    if [ \"$verb\" = %s ] && [ \"$COMP_CWORD\" -gt 2 ]; then "
                         "verb=%s-${COMP_WORDS[2]}; fi\n",
                         group->name, group->name);
    pt_strbuf_puts(out, "    case $COMP_CWORD in\n    1)\n        words='");
    for (const pt_verb *const *v = pt_verbs; *v; v++) pt_strbuf_printf(out, "%s ", (*v)->name);
    pt_strbuf_puts(out, "--help --version' ;;\n    *)\n    case $verb in\n");
}

static void bash_end(pt_strbuf *out)
{
    pt_strbuf_puts(out, "    esac ;;\n    esac\n"
                        "    case $now in -*) words=$options kind='' ;; esac\n"
                        "    if [ -n \"$kind\" ]; then\n"
                        "        compopt -o filenames 2>/dev/null\n"
                        "        COMPREPLY=($(compgen -W \"$words\" -- \"$now\"))\n"
                        "        IFS=$'\\n'\n"
                        "        COMPREPLY+=($(compgen -A \"$kind\" -- \"$now\"))\n"
                        "    else\n"
                        "        COMPREPLY=($(compgen -W \"${words:-$options}\" -- \"$now\"))\n"
                        "    fi\n}\n"
                        "complete -F _posttrain posttrain\n");
}

/* ---- zsh ---- */

/* Inside '…' and inside an argument's description, where [ ] : \ have a meaning. */
static void zsh_text(pt_strbuf *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'') pt_strbuf_puts(out, "'\\''");
        else {
            if (strchr("[]:\\", *p)) pt_strbuf_putc(out, '\\');
            pt_strbuf_putc(out, *p);
        }
    }
}

static void zsh_action(pt_strbuf *out, const char *value, value_kind kind, const char *words)
{
    pt_strbuf_putc(out, ':');
    zsh_text(out, strchr(value, '|') ? "one of" : value);
    pt_strbuf_putc(out, ':');
    if (kind == VALUE_WORDS) pt_strbuf_printf(out, "(%s)", words);
    else if (kind == VALUE_FILE) pt_strbuf_puts(out, "_files");
    else if (kind == VALUE_FOLDER) pt_strbuf_puts(out, "_files -/");
    else pt_strbuf_putc(out, ' ');
}

static void zsh_verb(const pt_command_line *line, pt_strbuf *out)
{
    char page[64];
    pt_strbuf words = {0};
    pt_strbuf_printf(out, "    %s) ", pt_verb_page(line->verb, page));
    if (line->folders_or)
        pt_strbuf_printf(out, "(( CURRENT == 2 )) && compadd -- %s\n        ", line->folders_or);
    const pt_verb *group;
    for (const pt_verb *const *v = pt_verbs; line->below && (group = next_group(&v));) {
        put_below(group, &words);
        pt_strbuf_printf(out,
                         "[[ $words[2] == %s ]] && (( CURRENT == 3 )) && compadd -- %s\n        ",
                         group->name, words.data);
    }
    pt_strbuf_puts(out, "_arguments");
    for (int i = 0; i < line->n_options; i++) {
        const pt_option *o = &line->options[i];
        if (o->kind == PT_OPTION_HEADING) continue;
        bool value = o->kind != PT_OPTION_SWITCH;
        pt_strbuf_printf(out, " \\\n        '%s--%s%s[", o->kind == PT_OPTION_LIST ? "*" : "",
                         o->name, value ? "=" : "");
        zsh_text(out, o->help);
        pt_strbuf_putc(out, ']');
        value_kind kind = kind_of(o->value, &words);
        if (value) zsh_action(out, o->value, kind, words.data);
        pt_strbuf_putc(out, '\'');
    }
    pt_strbuf_puts(out, " \\\n        '(- *)--help[tell about the verb]'"
                        " \\\n        '(- *)--help-all[list all options]'");
    if (line->first) {
        value_kind kind = kind_of(line->first, &words);
        pt_strbuf_puts(out, " \\\n        '1");
        zsh_action(out, line->first, kind, words.data);
        pt_strbuf_putc(out, '\'');
    } else if (line->folders_or) pt_strbuf_puts(out, " \\\n        '*:folder:_files -/'");
    else if (line->most_positional) pt_strbuf_puts(out, " \\\n        '*:file:_files'");
    pt_strbuf_puts(out, " ;;\n");
    pt_strbuf_deinit(&words);
}

static void zsh_begin(pt_strbuf *out)
{
    pt_strbuf_puts(out, "#compdef posttrain\n"
                        "# zsh completion of posttrain; made by posttrain help --completion zsh\n"
                        "_posttrain() {\n    local -a verbs\n    verbs=(\n");
    for (const pt_verb *const *v = pt_verbs; *v; v++) {
        pt_strbuf_printf(out, "        '%s:", (*v)->name);
        zsh_text(out, (*v)->summary);
        pt_strbuf_puts(out, "'\n");
    }
    pt_strbuf_puts(out, "    )\n"
                        "    if (( CURRENT == 2 )); then\n"
                        "        _describe verb verbs\n        return\n    fi\n"
                        "    shift words\n    (( CURRENT-- ))\n");
    const pt_verb *group;
    for (const pt_verb *const *v = pt_verbs; (group = next_group(&v));)
        pt_strbuf_printf(out,
                         "    if [[ $words[1] == %s ]] && (( CURRENT > 2 )); then\n"
                         "        words[2]=%s-$words[2]\n        shift words\n"
                         "        (( CURRENT-- ))\n    fi\n",
                         group->name, group->name);
    pt_strbuf_puts(out, "    case $words[1] in\n");
}

static void zsh_end(pt_strbuf *out)
{
    pt_strbuf_puts(out, "    esac\n}\n"
                        "if [[ $funcstack[1] == _posttrain ]]; then _posttrain \"$@\"\n"
                        "else compdef _posttrain posttrain; fi\n");
}

/* ---- fish ---- */

/* Inside '…', where \ and ' have a meaning. */
static void fish_text(pt_strbuf *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'' || *p == '\\') pt_strbuf_putc(out, '\\');
        pt_strbuf_putc(out, *p);
    }
}

static void fish_action(pt_strbuf *out, value_kind kind, const char *words)
{
    if (kind == VALUE_WORDS) pt_strbuf_printf(out, " -x -a '%s'", words);
    else if (kind == VALUE_FILE) pt_strbuf_puts(out, " -r -F");
    else if (kind == VALUE_FOLDER) pt_strbuf_puts(out, " -x -a '(__fish_complete_directories)'");
    else if (kind == VALUE_OTHER) pt_strbuf_puts(out, " -x");
}

static void fish_verb(const pt_command_line *line, pt_strbuf *out)
{
    pt_strbuf words = {0};
    char start[160];
    const char *last = last_word(line->verb);
    int group = last > line->verb ? (int)(last - line->verb) - 1 : 0; /* bytes of its name */
    pt_format(start, sizeof start, "complete -c posttrain -n '__fish_seen_subcommand_from %.*s%s%s",
              group, line->verb, group ? "; and __fish_seen_subcommand_from " : "", last);
    for (int i = 0; i < line->n_options; i++) {
        const pt_option *o = &line->options[i];
        if (o->kind == PT_OPTION_HEADING) continue;
        pt_strbuf_printf(out, "%s' -l %s", start, o->name);
        value_kind kind = kind_of(o->value, &words);
        fish_action(out, kind, words.data);
        pt_strbuf_puts(out, " -d '");
        fish_text(out, o->help);
        pt_strbuf_puts(out, "'\n");
    }
    if (line->first) {
        value_kind kind = kind_of(line->first, &words);
        pt_strbuf_printf(out, "%s; and test (count (commandline -opc)) -eq %d'", start,
                         group ? 3 : 2);
        fish_action(out, kind, words.data);
        pt_strbuf_putc(out, '\n');
    } else if (line->folders_or) {
        pt_strbuf_printf(out, "%s; and test (count (commandline -opc)) -eq 2' -a %s\n", start,
                         line->folders_or);
        pt_strbuf_printf(out, "%s'", start);
        fish_action(out, VALUE_FOLDER, "");
        pt_strbuf_putc(out, '\n');
    } else if (line->most_positional) pt_strbuf_printf(out, "%s' -F\n", start);
    const pt_verb *of;
    for (const pt_verb *const *v = pt_verbs; line->below && (of = next_group(&v));) {
        put_below(of, &words);
        pt_strbuf_printf(out,
                         "%s; and __fish_seen_subcommand_from %s; and test (count (commandline "
                         "-opc)) -eq 3'",
                         start, of->name);
        fish_action(out, VALUE_WORDS, words.data);
        pt_strbuf_putc(out, '\n');
    }
    pt_strbuf_deinit(&words);
}

static void fish_begin(pt_strbuf *out)
{
    pt_strbuf_puts(out, "# fish completion of posttrain; made by posttrain help --completion fish\n"
                        "complete -c posttrain -f\n");
    for (const pt_verb *const *v = pt_verbs; *v; v++) {
        pt_strbuf_printf(out, "complete -c posttrain -n __fish_use_subcommand -a %s -d '",
                         (*v)->name);
        fish_text(out, (*v)->summary);
        pt_strbuf_puts(out, "'\n");
    }
}

/* ---- all ---- */

void pt_completion_of_verb(const pt_command_line *line, pt_strbuf *out)
{
    if (line->help == PT_HELP_BASH) bash_verb(line, out);
    else if (line->help == PT_HELP_ZSH) zsh_verb(line, out);
    else fish_verb(line, out);
}

void pt_completion_begin(pt_help_form shell, pt_strbuf *out)
{
    if (shell == PT_HELP_BASH) bash_begin(out);
    else if (shell == PT_HELP_ZSH) zsh_begin(out);
    else fish_begin(out);
}

void pt_completion_end(pt_help_form shell, pt_strbuf *out)
{
    if (shell == PT_HELP_BASH) bash_end(out);
    else if (shell == PT_HELP_ZSH) zsh_end(out);
}
