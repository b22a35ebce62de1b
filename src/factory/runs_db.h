/* The index of runs: an SQLite file that remembers summaries, by the folder's path and by its files' sizes and times.
 *
 * SQLite is used when its header was there at build time and its library is there at run time (it is loaded when the
 * index is opened, so the program starts as fast without it). Nothing here fails: without the index, runs are read.
 * A file that is damaged, or of another version, is made anew, and a row whose checksum does not hold is not there; what they
 * held is in the folders.
 * SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_RUNS_DB_H
#define PT_FACTORY_RUNS_DB_H

#include "factory/runs.h"

typedef struct pt_runs_db pt_runs_db;

/* The version of SQLite here; NULL: this program was built without it, or it is not installed. */
const char *pt_runs_db_version(void);

/* NULL when there is no SQLite, or no such file can be had. Makes the file's folder. */
pt_runs_db *pt_runs_db_open(const char *path);
/* The summary of the run at this absolute path, if it was made from files with this stamp. Not its path. */
bool pt_runs_db_get(pt_runs_db *db, const char *path, const pt_run_stamp *stamp,
                    pt_run_summary *out);
void pt_runs_db_put(pt_runs_db *db, const char *path, const pt_run_stamp *stamp,
                    const pt_run_summary *summary);
/* Forgets the runs whose files are gone. NULL is fine. */
void pt_runs_db_sweep(pt_runs_db *db);
void pt_runs_db_close(pt_runs_db *db); /* NULL is fine */

#endif
