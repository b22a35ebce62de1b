/* The options of posttrain train: their table, --config, presets, and what they come to.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_TRAIN_OPTIONS_H
#define PT_CLI_TRAIN_OPTIONS_H

#include "cli/cli.h"
#include "cli/corpus.h"
#include "train/options.h"
#include "train/recipe.h"

#define PT_TRAIN_MAX_OPTIONS 96

/* What --depth says; see cli/recipe.h. */
typedef struct pt_depth_choice {
    pt_recipe recipe;
    int64_t ctx, batch, steps, warmup;
    double min_lr;
} pt_depth_choice;

/* Everything that can be asked of a training run. The table points into the struct, which therefore must
 * not move after init. Texts are borrowed from argv or from the arena. */
typedef struct pt_train_arguments {
    pt_device_choice device_choice;
    const char *preset, *out, *init, *schedule, *decay_shape, *on_spike, *recompute, *dtype,
        *config_path, *resume;
    const char *regime;
    pt_corpus_choice corpus;
    int64_t depth; /* 0 = not given */
    pt_depth_choice wanted;
    int64_t keep;        /* checkpoints */
    double save_minutes; /* between two savings; 0 = off */
    bool json, dry_run, recipe, force_memory, quiet, no_tensorboard;
    pt_model_config model;
    pt_train_options train;

    pt_option options[PT_TRAIN_MAX_OPTIONS];
    pt_command_line line;
    bool of_run[PT_TRAIN_MAX_OPTIONS]; /* taken from the run that goes on, nobody gave it now */
    const pt_json *previous;           /* run.json of the run that goes on; NULL: it begins */
    pt_arena arena;                    /* of that, and of the config file */
} pt_train_arguments;

/* The defaults and the table, ready for pt_verb_parse(verb, &arguments->line, …). */
void pt_train_arguments_init(pt_train_arguments *arguments);
void pt_train_arguments_deinit(pt_train_arguments *arguments);
/* After parsing: reads --config, fills in from the preset what was not given, and turns words into choices. With --resume,
 * what was not given comes from the folder's run.json (cli/resume.h). BAD_INPUT names the option; also when --corpus or
 * --out is missing, and when a text cannot be recorded. */
pt_status pt_train_arguments_settle(pt_train_arguments *arguments, pt_error *err);
/* What the run was asked for, by option names: for run.json, and for --config. */
pt_status pt_train_arguments_record(pt_train_arguments *arguments, const pt_json **out,
                                    pt_error *err);
/* BAD_INPUT when a record read from `path` holds a name that pt_train_arguments_record leaves out: someone wrote there what
 * is not the run's to say, such as where to write. */
pt_status pt_train_arguments_check_record(const pt_json *record, const char *path, pt_error *err);
/* What the shape is called: "depth", the preset when it is that one's, else "custom". */
const char *pt_train_arguments_shape(const pt_train_arguments *arguments);
/* The presets, their sizes and the memory they take, for the help page. cli/presets.c */
void pt_train_list_presets(pt_strbuf *out);

#endif
