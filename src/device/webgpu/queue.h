/* Work on its way to the GPU: recorded at once, encoded when its pipelines are compiled, submitted in pieces that take a
 * fraction of a second at most, so that no watchdog of a driver fires. SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_QUEUE_H
#define PT_DEVICE_WEBGPU_QUEUE_H

#include <stdbool.h>

#include "base/status.h"
#include "device/webgpu/host.h"

#define PT_WG_UNIFORM_WORDS 64 /* of one dispatch: 256 bytes, the alignment that every GPU has */

typedef enum pt_wg_record_kind {
    PT_WG_DISPATCH,
    PT_WG_WRITE, /* of bytes that the record owns */
    PT_WG_COPY,
    PT_WG_CLEAR,
    PT_WG_READ
} pt_wg_record_kind;

typedef struct pt_wg_record {
    pt_wg_record_kind kind;
    uint32_t pipeline, group, groups[3]; /* DISPATCH */
    uint32_t word[PT_WG_UNIFORM_WORDS];
    double work;
    uint32_t to, from; /* buffers: written, read */
    int64_t to_offset, from_offset, bytes;
    void *data;      /* WRITE: owned */
    uint64_t ticket; /* READ */
} pt_wg_record;

typedef struct pt_wg_reading {
    uint64_t ticket; /* 0: free */
    uint32_t read;   /* of the host; 0: not encoded yet */
    void *dst;
    int64_t bytes; /* wanted; a multiple of 4 of them is fetched */
} pt_wg_reading;

#define PT_WG_MOST_READINGS 64
#define PT_WG_MOST_FLYING 64

typedef struct pt_wg_queue {
    uint32_t gpu, uniform;
    pt_wg_record *record; /* a ring */
    int64_t capacity, first, n;
    int64_t handed; /* of n, how many may be encoded */
    pt_wg_reading reading[PT_WG_MOST_READINGS];
    uint64_t tickets;
    uint32_t *words;    /* of the piece under way */
    int64_t dispatches; /* in it */
    double work, budget;
    bool unsubmitted;
    double submitted;
    int64_t sent_ns[PT_WG_MOST_FLYING]; /* by submission, modulo */
    double sent_work[PT_WG_MOST_FLYING];
    double seen_done;
    int64_t seen_ns;
} pt_wg_queue;

pt_status pt_wg_queue_init(pt_wg_queue *q, uint32_t gpu, bool software, pt_error *err);
void pt_wg_queue_deinit(pt_wg_queue *q);
/* A fresh record at the end, zeroed; NULL: no memory. Valid until the next. */
pt_wg_record *pt_wg_queue_add(pt_wg_queue *q);
/* What was recorded so far may go. */
void pt_wg_queue_hand_over(pt_wg_queue *q);
/* Encodes and submits what can be. Does nothing while enough is under way. */
void pt_wg_queue_pump(pt_wg_queue *q);
/* A record that reads `bytes` to dst; its ticket, 0: too many at once, or no memory. */
uint64_t pt_wg_queue_read(pt_wg_queue *q, uint32_t buffer, int64_t offset, int64_t bytes,
                          void *dst);
/* Of a reading: PT_GPU_READY once. */
pt_gpu_state pt_wg_queue_poll(pt_wg_queue *q, uint64_t ticket);

#endif
