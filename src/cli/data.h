/* The verbs under `posttrain data`; each is in its own file. SPDX-License-Identifier: MIT */
#ifndef PT_CLI_DATA_H
#define PT_CLI_DATA_H

#include "cli/cli.h"

extern const pt_verb pt_verb_data_shard, pt_verb_data_verify, pt_verb_data_preview,
    pt_verb_data_get;

#endif
