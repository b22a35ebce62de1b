/* What was built, from which state of the source, and how. cli/build.c is compiled again whenever one of these changes.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_BUILD_H
#define PT_CLI_BUILD_H

typedef struct pt_build {
    const char *revision; /* as tools/revision says: git describe, or "a tarball of COMMIT" */
    const char *date;     /* of that commit, "2026-05-31"; "" if unknown */
    const char *compiler, *flags;
} pt_build;

extern const pt_build pt_build_info;

#endif
