/* run.json as a flat list, for tables and for comparing runs. SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_RUN_CONFIG_H
#define PT_FACTORY_RUN_CONFIG_H

#include "base/json.h"

typedef struct pt_config_entry {
    const char *key; /* "train.lr"; elements of arrays are numbered: "a.0" */
    const char
        *value; /* numbers as in the file, "true", "null"; strings as they are, up to a NUL */
} pt_config_entry;

/* Every value of a parsed object, in its order. Everything lives in the arena. json may be NULL. Errors: NO_MEMORY. */
pt_status pt_config_list(const pt_json *json, pt_arena *arena, pt_config_entry **out, int64_t *n,
                         pt_error *err);
/* NULL when the key is not there. */
const char *pt_config_value(const pt_config_entry *entries, int64_t n, const char *key);

#endif
