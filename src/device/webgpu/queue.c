/* Work on its way to the GPU. SPDX-License-Identifier: MIT */
#include "device/webgpu/queue.h"

#include "base/mem.h"
#include "base/platform.h"

#define FIRST_RECORDS 256
#define MOST_DISPATCHES 1024 /* of a submission */
#define MOST_UNDER_WAY 4     /* submissions */
#define SLOT_BYTES (PT_WG_UNIFORM_WORDS * 4)

/* Of a submission: it starts at what a slow GPU does in a moment, and follows what this one does. */
#define FIRST_WORK 2e9
#define FIRST_WORK_EMULATED 2e6
#define LEAST_WORK 1e5
#define SHORT_NS 20000000
#define LONG_NS 80000000

pt_status pt_wg_queue_init(pt_wg_queue *q, uint32_t gpu, bool software, pt_error *err)
{
    memset(q, 0, sizeof *q);
    q->gpu = gpu;
    q->budget = software ? FIRST_WORK_EMULATED : FIRST_WORK;
    q->uniform = pt_gpu_buffer_new(gpu, PT_GPU_UNIFORM, MOST_DISPATCHES * SLOT_BYTES);
    q->words = pt_alloc(MOST_DISPATCHES * SLOT_BYTES);
    q->record = pt_alloc(FIRST_RECORDS * sizeof *q->record);
    q->capacity = FIRST_RECORDS;
    if (q->uniform && q->words && q->record) return PT_OK;
    return pt_fail(err, PT_NO_MEMORY, "no memory for the GPU's queue");
}

void pt_wg_queue_deinit(pt_wg_queue *q)
{
    for (int64_t i = 0; i < q->n; i++) pt_free(q->record[(q->first + i) % q->capacity].data);
    pt_free(q->record);
    pt_free(q->words);
}

static bool grow(pt_wg_queue *q)
{
    pt_wg_record *more = pt_alloc((size_t)q->capacity * 2 * sizeof *more);
    if (!more) return false;
    for (int64_t i = 0; i < q->n; i++) more[i] = q->record[(q->first + i) % q->capacity];
    pt_free(q->record);
    q->record = more;
    q->first = 0;
    q->capacity *= 2;
    return true;
}

pt_wg_record *pt_wg_queue_add(pt_wg_queue *q)
{
    if (q->n == q->capacity && !grow(q)) return NULL;
    pt_wg_record *r = &q->record[(q->first + q->n++) % q->capacity];
    memset(r, 0, sizeof *r);
    return r;
}

void pt_wg_queue_hand_over(pt_wg_queue *q) { q->handed = q->n; }

uint64_t pt_wg_queue_read(pt_wg_queue *q, uint32_t buffer, int64_t offset, int64_t bytes, void *dst)
{
    int slot = 0;
    while (slot < PT_WG_MOST_READINGS && q->reading[slot].ticket) slot++;
    pt_wg_record *r = slot < PT_WG_MOST_READINGS ? pt_wg_queue_add(q) : NULL;
    if (!r) return 0;
    r->kind = PT_WG_READ;
    r->from = buffer;
    r->from_offset = offset;
    r->bytes = pt_round_up(bytes, 4);
    r->ticket = ++q->tickets;
    q->reading[slot] = (pt_wg_reading){.ticket = r->ticket, .dst = dst, .bytes = bytes};
    return r->ticket;
}

static pt_wg_reading *reading_of(pt_wg_queue *q, uint64_t ticket)
{
    for (int i = 0; i < PT_WG_MOST_READINGS; i++)
        if (q->reading[i].ticket == ticket) return &q->reading[i];
    return NULL;
}

/* ---- encoding ---- */

static void submit(pt_wg_queue *q)
{
    if (q->dispatches)
        pt_gpu_write(q->gpu, q->uniform, 0, q->words, (double)q->dispatches * SLOT_BYTES);
    if (!q->unsubmitted) return;
    pt_gpu_submit(q->gpu);
    int at = (int)((int64_t)++q->submitted % PT_WG_MOST_FLYING);
    q->sent_ns[at] = pt_platform_monotonic_ns();
    q->sent_work[at] = q->work;
    q->dispatches = 0;
    q->work = 0;
    q->unsubmitted = false;
}

static void encode_dispatch(pt_wg_queue *q, const pt_wg_record *r)
{
    if (q->dispatches == MOST_DISPATCHES || (q->dispatches && q->work + r->work > q->budget))
        submit(q);
    memcpy(q->words + q->dispatches * PT_WG_UNIFORM_WORDS, r->word, SLOT_BYTES);
    pt_gpu_dispatch(q->gpu, r->pipeline, r->group, (uint32_t)(q->dispatches * SLOT_BYTES),
                    r->groups);
    q->dispatches++;
    q->work += r->work;
}

static void encode(pt_wg_queue *q, pt_wg_record *r)
{
    pt_wg_reading *reading;
    switch (r->kind) {
    case PT_WG_DISPATCH: encode_dispatch(q, r); break;
    case PT_WG_WRITE: /* it happens before what is encoded and not submitted */
        submit(q);
        pt_gpu_write(q->gpu, r->to, (double)r->to_offset, r->data, (double)r->bytes);
        pt_free(r->data);
        r->data = NULL;
        return;
    case PT_WG_COPY:
        pt_gpu_copy(q->gpu, r->to, (double)r->to_offset, r->from, (double)r->from_offset,
                    (double)r->bytes);
        break;
    case PT_WG_CLEAR: pt_gpu_clear(q->gpu, r->to, (double)r->to_offset, (double)r->bytes); break;
    case PT_WG_READ:
        reading = reading_of(q, r->ticket);
        reading->read =
            pt_gpu_read_begin(q->gpu, r->from, (double)r->from_offset, (double)r->bytes);
        break;
    }
    q->unsubmitted = true;
}

/* How long the submissions took that were finished since the last look: the next are cut by it. */
static void watch(pt_wg_queue *q)
{
    double done = pt_gpu_done(q->gpu);
    if (done <= q->seen_done) return;
    int64_t now = pt_platform_monotonic_ns();
    int at = (int)((int64_t)done % PT_WG_MOST_FLYING);
    int64_t begun = pt_max_i64(q->sent_ns[at], q->seen_ns);
    int64_t took = (now - begun) / (int64_t)(done - q->seen_done);
    bool whole = q->sent_work[at] > q->budget / 2;
    if (whole && took < SHORT_NS) q->budget *= 2;
    if (whole && took > LONG_NS && q->budget > LEAST_WORK) q->budget /= 2;
    q->seen_done = done;
    q->seen_ns = now;
}

void pt_wg_queue_pump(pt_wg_queue *q)
{
    watch(q);
    while (q->handed && q->submitted - q->seen_done < MOST_UNDER_WAY) {
        pt_wg_record *r = &q->record[q->first];
        if (r->kind == PT_WG_DISPATCH &&
            pt_gpu_pipeline_state(q->gpu, r->pipeline) == PT_GPU_WAITING)
            break;
        encode(q, r);
        q->first = (q->first + 1) % q->capacity;
        q->n--;
        q->handed--;
    }
    submit(q);
}

pt_gpu_state pt_wg_queue_poll(pt_wg_queue *q, uint64_t ticket)
{
    pt_wg_queue_pump(q);
    pt_wg_reading *r = reading_of(q, ticket);
    if (!r) return PT_GPU_READY; /* it was polled to its end before */
    if (!r->read) return PT_GPU_WAITING;
    uint32_t tail = 0;
    int64_t whole = pt_round_up(r->bytes, 4);
    void *dst = whole == r->bytes ? r->dst : whole == 4 ? &tail : pt_alloc((size_t)whole);
    if (!dst) return PT_GPU_FAILED;
    pt_gpu_state state = (pt_gpu_state)pt_gpu_read_poll(q->gpu, r->read, dst);
    if (state == PT_GPU_READY && dst != r->dst) memcpy(r->dst, dst, (size_t)r->bytes);
    if (dst != r->dst && dst != &tail) pt_free(dst);
    if (state != PT_GPU_WAITING) r->ticket = 0;
    return state;
}
