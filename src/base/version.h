/* The program's version: semantic versioning, written into files and printed by --version.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_VERSION_H
#define PT_BASE_VERSION_H

#define PT_VERSION "0.2.0-dev"

#endif
