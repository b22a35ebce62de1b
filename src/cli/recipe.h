/* --depth, and --recipe: the settings of a run with the reason of each.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_RECIPE_H
#define PT_CLI_RECIPE_H

#include "cli/train_options.h"

/* --depth: fills in what was not given (train/recipe.h) and remembers what the recipe says. BAD_INPUT when another
 * option contradicts it. */
pt_status pt_apply_depth(pt_train_arguments *arguments, pt_error *err);
/* Says which settings of --depth were given otherwise. */
void pt_say_overrides(const pt_train_arguments *arguments);
/* --recipe: the table, or with --json an object, on stdout. The arguments are settled. */
pt_status pt_print_recipe(pt_train_arguments *arguments, pt_error *err);

#endif
