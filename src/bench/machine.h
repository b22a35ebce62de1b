/* What machine this is. SPDX-License-Identifier: MIT */
#ifndef PT_BENCH_MACHINE_H
#define PT_BENCH_MACHINE_H

#include <stdint.h>

typedef struct pt_machine {
    char processor[96]; /* "Intel(R) Xeon(R) …"; "unknown" where the system doesn't say */
    int cores;          /* usable by this process */
    int64_t memory_bytes;
    double load; /* processes that wanted to run, mean of the last minute; -1 unknown */
} pt_machine;

pt_machine pt_machine_read(void);

#endif
