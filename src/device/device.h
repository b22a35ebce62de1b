/* What a device provides: memory, a queue of work, and the op table.
 *
 * Nothing here waits. Launches, uploads, fills and copies are recorded in order; submit hands them to
 * the device; a download is begun and then polled. On ref and cpu the work happens inside the call
 * and a poll answers at once; the fake device (device/fake) lets tests take that away.
 * A device belongs to one thread.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_DEVICE_H
#define PT_DEVICE_DEVICE_H

#include "base/threads.h"
#include "tensor/op.h"
#include "tensor/packed.h"
#include "tensor/plan.h"
#include "tensor/tensor.h"

typedef struct pt_device pt_device;

typedef struct pt_buffer {
    pt_device *device;
    int64_t bytes;
    void *data;      /* host address on ref and cpu, else NULL */
    uint64_t handle; /* of the device's API, else 0 */
} pt_buffer;

/* A download under way; owned by the caller, valid until it has been polled to its end. */
typedef struct pt_download {
    uint64_t ticket;
} pt_download;

/* A kernel of a host device. The arguments were checked by the op's check; it cannot fail. */
typedef void (*pt_kernel)(const void *args, pt_pool *pool);
typedef struct pt_kernel_table {
    pt_kernel kernel[PT_OP_COUNT][PT_PASS_COUNT]; /* NULL = missing */
} pt_kernel_table;

typedef struct pt_device_vtable {
    pt_status (*buffer_new)(pt_device *, int64_t bytes, pt_buffer *out, pt_error *);
    void (*buffer_free)(pt_device *, pt_buffer *);
    pt_status (*upload)(pt_device *, const pt_tensor *dst, const void *src, int64_t bytes,
                        pt_error *);
    pt_status (*download_begin)(pt_device *, const pt_tensor *src, void *dst, int64_t bytes,
                                pt_download *, pt_error *);
    pt_status (*download_poll)(pt_device *, pt_download *, pt_error *);
    pt_status (*fill_zero)(pt_device *, const pt_tensor *, pt_error *);
    pt_status (*copy)(pt_device *, const pt_tensor *dst, const pt_tensor *src, pt_error *);
    bool (*supports)(const pt_device *, pt_op, pt_pass);
    pt_status (*launch)(pt_device *, pt_op, pt_pass, const void *args, size_t args_bytes,
                        pt_error *);
    pt_status (*submit)(pt_device *, pt_error *);
    pt_status (*ready)(pt_device *, pt_error *); /* NULL: it always is */
    void (*free)(pt_device *);
} pt_device_vtable;

/* Called after every launch through ops/ops.h, when set: used to find the first bad tensor. */
typedef pt_status (*pt_launch_hook)(void *ctx, pt_op op, pt_pass pass, const void *args,
                                    pt_error *err);

struct pt_device {
    const pt_device_vtable *vtable;
    const char *name;   /* "ref", "cpu", … */
    const char *detail; /* instruction set or adapter, for people */
    pt_dtype compute;   /* dtype of weights and activations: f32, or f64 on ref */
    bool bf16;          /* matrix weights and activations may also be stored in bf16 */
    bool packed; /* matrix weights may also be packed (tensor/packed.h), where nothing is trained */
    int read_every; /* training steps between two reads of their losses, where waiting is dear; 0 = 1 */
    bool waits;     /* the last poll found its work under way: another at once finds the same */
    int readied, to_ready;  /* pt_device_ready: how far it is */
    const char *remark;     /* for people: what it found to be wrong; NULL: nothing */
    bool compiles;          /* the first op of a kind waits until its kernel is compiled */
    bool own_memory;        /* its buffers lie in memory of its own, not in the machine's */
    int64_t largest_buffer; /* bytes; 0 = as large as memory is */
    int64_t
        largest_tensor; /* bytes of an activation that its ops can take; 0 = any. Weights may be larger */
    int64_t allocated_bytes;
    int64_t overhead_bytes; /* host memory the device itself takes: thread scratch */
    pt_launch_hook hook;
    void *hook_ctx;
};

/* Buffers hold zeros at first. Errors: NO_MEMORY naming the size. */
pt_status pt_buffer_new(pt_device *device, int64_t bytes, pt_buffer **out, pt_error *err);
void pt_buffer_free(pt_buffer *buffer); /* NULL is fine */

/* Allocates one buffer per arena of the plan (not HOST) and lets its tensors point there. On failure nothing
 * stays allocated. Refuses a plan that recorded a failure. */
pt_status pt_device_allocate_plan(pt_device *device, pt_plan *plan, pt_error *err);
void pt_device_release_plan(pt_plan *plan);

/* How many of `most` bytes the device gives now, in a 32nd of them: found by taking and letting go. One that was short of memory
 * may have failed with it: ask a fresh one, and let it go. */
int64_t pt_device_room(pt_device *device, int64_t most);

/* Copies `bytes` (whole tensor or a prefix) from src, which may be reused at once. */
pt_status pt_upload(pt_device *device, const pt_tensor *dst, const void *src, int64_t bytes,
                    pt_error *err);
/* n floats into a tensor of the device's compute dtype: widened where that is f64. */
pt_status pt_upload_floats(pt_device *device, const pt_tensor *dst, const float *values, int64_t n,
                           pt_error *err);
/* dst must stay valid until the poll has answered PT_OK or an error. */
pt_status pt_download_begin(pt_device *device, const pt_tensor *src, void *dst, int64_t bytes,
                            pt_download *download, pt_error *err);
/* PT_PENDING, PT_OK (dst is filled), or an error. */
pt_status pt_download_poll(pt_device *device, pt_download *download, pt_error *err);
pt_status pt_fill_zero(pt_device *device, const pt_tensor *t, pt_error *err);
pt_status pt_copy(pt_device *device, const pt_tensor *dst, const pt_tensor *src, pt_error *err);
/* Hands everything recorded so far to the device. */
pt_status pt_submit(pt_device *device, pt_error *err);

/* UNSUPPORTED, naming op and device, when a kernel is missing. Called when a model is planned. */
pt_status pt_device_require(const pt_device *device, pt_op op, pt_pass pass, pt_error *err);
/* Gets the device ready for its first op, a piece of work at a time: PT_PENDING, PT_OK, or an error. A GPU puts its kernels for
 * products on trial, and times them or remembers how they fared; until then it multiplies with the simplest. The others are ready. */
pt_status pt_device_ready(pt_device *device, pt_error *err);
/* UNSUPPORTED, naming the devices that can, when this one has no kernels for weights packed so. */
pt_status pt_device_require_packed(const pt_device *device, pt_dtype weights, pt_error *err);
/* The bare launch; model code goes through the checked, typed calls of ops/ops.h. */
pt_status pt_device_launch(pt_device *device, pt_op op, pt_pass pass, const void *args,
                           size_t args_bytes, pt_error *err);

void pt_device_free(pt_device *device); /* NULL is fine; its buffers must be gone */

/* Host address of a tensor's first element; only for kernels of host devices and tests. */
static inline void *pt_host(const pt_tensor *t)
{
    return t->buffer ? (void *)((char *)t->buffer->data + t->offset) : NULL;
}

/* ---- the devices ---- */

/* Plain loops in double, storage in `dtype` (f32 or f64): the definition of every op. */
pt_status pt_device_ref_new(pt_device **out, pt_dtype dtype, pt_error *err);

typedef struct pt_cpu_options {
    int threads; /* 0 = every processor */
    /* NULL = the best this machine has; else "base", "avx2", "avx512", "neon", or one of the last three
     * with "-strict": without fused multiply-adds, which gives the bits of base; or "amx": avx512, with tile
     * registers for what is stored in bf16. */
    const char *isa;
} pt_cpu_options;
/* BAD_INPUT for an unknown isa, UNSUPPORTED for one this machine or build lacks. */
pt_status pt_device_cpu_new(pt_device **out, const pt_cpu_options *options, pt_error *err);
pt_pool *pt_device_cpu_pool(pt_device *device);
/* The instruction sets of this build that this machine can run, best last; ends with NULL. */
const char *const *pt_device_cpu_isas(void);
/* All of this build, whatever the machine. */
const char *const *pt_device_cpu_built(void);

typedef struct pt_webgpu_options {
    bool software; /* an emulated GPU will do */
    /* For tests: a real GPU's kernels on an emulated one as well. pt_device_ready tries them, and times none. */
    bool tuned;
    /* As if the GPU allowed no more; 0 = what it allows. */
    int64_t binding_bytes; /* bound at once */
    int64_t buffer_bytes;  /* of one buffer */
    int64_t memory_bytes;  /* of all buffers together */
    int64_t groups;        /* workgroups along one dimension */
    /* Beside the simplest kernel, only these are tried, "64x64 4x4,64x64 8x4"; a literal; NULL = all. */
    const char *kernels;
    unsigned trials;    /* and only with these of their products, by bit; 0 = all */
    int64_t compile_ms; /* how long one may take to compile; 0 = 10 s */
    int timed_scale;    /* with `tuned`: kernels are timed after all, on sizes divided by this */
} pt_webgpu_options;
/* A GPU through WebGPU (device/webgpu). UNSUPPORTED, in words, where there is none. */
pt_status pt_device_webgpu_new(pt_device **out, const pt_webgpu_options *options, pt_error *err);

/* What it holds of the host's buffers, its own included: for tests of leaks. */
void pt_device_webgpu_census(const pt_device *device, int64_t *buffers, int64_t *bytes);

/* The text of all shaders (device/webgpu/shader.h), before a GPU is used, where the program holds none: WebAssembly. The
 * memory stays its giver's. */
void pt_device_webgpu_shaders(const char *text, int64_t n);

/* Its kernels for products of matrices, to compare them (bench/): the name of one, NULL behind the last; what this GPU lacks of
 * what it needs, NULL: nothing; and C (M,N) = A (M,K) B (K,N) with it, UNSUPPORTED where something lacks. */
const char *pt_device_webgpu_kernel(int kernel);
const char *pt_device_webgpu_kernel_lacks(const pt_device *device, int kernel);
pt_status pt_device_webgpu_product(pt_device *device, int kernel, const pt_tensor *a,
                                   const pt_tensor *b, const pt_tensor *c, pt_error *err);
/* Multiply-adds on registers, the most that it can do; c (M,N) is overwritten. *flop: how many operations that was. */
pt_status pt_device_webgpu_fma(pt_device *device, const pt_tensor *c, double *flop, pt_error *err);

/* A device as a user names it. */
typedef struct pt_device_choice {
    const char *device; /* one of PT_DEVICE_NAMES */
    const char *isa;    /* NULL = the best */
    int64_t threads;    /* 0 = every processor */
} pt_device_choice;
#define PT_DEVICE_NAMES "cpu|webgpu|webgpu-software|ref"
/* BAD_INPUT for another name or number of threads, as for the cpu's isa; messages name the options --device, … */
pt_status pt_device_choose(const pt_device_choice *choice, pt_device **out, pt_error *err);
/* Its thread pool; NULL where it has none (ref). */
pt_pool *pt_device_pool(pt_device *device);

/* Measures of the processor, to judge speeds by (bench/). Only for a cpu device, in its instruction set, on all its
 * threads, or alone: on the calling one.
 * Fused multiply-adds on registers, `blocks` of some 20 microseconds. Returns how many operations that was, two to a
 * multiply-add (which the strict instruction sets and base do as two instructions). */
double pt_device_cpu_fma(pt_device *device, bool alone, int64_t blocks);
/* a = b + s c over f32 arrays of one length. Returns the bytes read and written, three arrays. */
double pt_device_cpu_triad(pt_device *device, bool alone, const pt_tensor *a, const pt_tensor *b,
                           const pt_tensor *c);

/* Records instead of running: work happens when it has been submitted and a download is polled, and
 * a download answers PT_PENDING `polls` times first. Wraps (and owns) a host device. For tests. */
pt_status pt_device_fake_new(pt_device **out, pt_device *inner, int polls, pt_error *err);

#endif
