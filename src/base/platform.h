/* The platform: everything the program needs from an operating system, except files (base/fs.h).
 *
 * One implementation per host: platform_posix.c, platform_wasm.c. Nothing else outside base/fs*.c
 * includes a system header beyond the freestanding C headers (stdint, stddef, stdbool, stdarg,
 * stdatomic, float, limits).
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_PLATFORM_H
#define PT_BASE_PLATFORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raw memory, zeroed, aligned to 64. NULL on failure. */
void *pt_platform_alloc(size_t bytes);
void pt_platform_free(void *block);

int64_t pt_platform_monotonic_ns(void); /* never goes back */
int64_t pt_platform_unix_ms(void);      /* wall clock */

/* One already formatted line (without newline) for the log, to stderr or the console. */
void pt_platform_log_line(const char *line, size_t n);

int pt_platform_cpu_count(void);          /* usable by this process, at least 1 */
int64_t pt_platform_memory_bytes(void);   /* memory this process may hope for; 0 = unknown */
int64_t pt_platform_peak_rss_bytes(void); /* 0 = unknown */
/* What this process can still take now without swapping: the least of what the system has free or can free, what the
 * cgroups leave, and the limit on address space. 0 = unknown, at least 1 otherwise. */
int64_t pt_platform_available_bytes(void);

/* Threads. A thread runs fn(arg) and ends. Start returns NULL when the platform has no threads or
 * refuses one; join frees the handle. */
typedef struct pt_platform_thread pt_platform_thread;
pt_platform_thread *pt_platform_thread_start(void (*fn)(void *arg), void *arg);
void pt_platform_thread_join(pt_platform_thread *thread);
void pt_platform_yield(void); /* give the processor away */
void pt_platform_pause(void); /* a short spin hint */

/* Blocks while *word == expected (may return early); wake lets every waiter on word look again.
 * The classic lost-wake-up rule holds: change *word first, then wake. */
void pt_platform_wait(atomic_uint *word, unsigned expected);
void pt_platform_wake(atomic_uint *word);

/* True when this process may use the processor's AMX tiles for bf16, which Linux grants on request (x86-64). */
bool pt_platform_allow_amx(void);

/* "host.pid": tells this process from others that write beside it. The host's name with anything that does
 * not belong in a file's name as '-'; "localhost" when it is unknown. */
void pt_platform_process_name(char *out, size_t cap);

/* A function of a shared library that may or may not be on this machine; NULL if not. The library stays loaded. */
typedef void (*pt_platform_function)(void);
/* Why pt_platform_library just found nothing, with the library's name, in the system's words; holds until the next call. */
const char *pt_platform_library_trouble(void);
pt_platform_function pt_platform_library(const char *library, const char *function);

/* A cheap environment look-up; NULL when unset or where there is no environment. */
const char *pt_platform_env(const char *name);

#endif
