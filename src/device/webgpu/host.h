/* The GPU as its host gives it: the seam between the C that decides and the API that obeys. Implemented over webgpu.h
 * (host_native.c, loaded when it is first used) and by the page or Node (web/engine, imports of the module "gpu").
 *
 * Commands are encoded in order and run when submitted. Nothing here waits, except opening natively. Handles are numbers, 0 is
 * none. A call on a lost or failed GPU does nothing: pt_gpu_failure tells, and stays.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_HOST_H
#define PT_DEVICE_WEBGPU_HOST_H

#include <stdint.h>

/* What is asked of pt_gpu_number. */
typedef enum pt_gpu_number_of {
    PT_GPU_BINDING_BYTES,     /* largest storage binding */
    PT_GPU_BUFFER_BYTES,      /* largest buffer */
    PT_GPU_BINDINGS,          /* storage buffers of a shader */
    PT_GPU_WORKGROUP_BYTES,   /* var<workgroup> of a shader */
    PT_GPU_INVOCATIONS,       /* of a workgroup */
    PT_GPU_STORAGE_ALIGNMENT, /* of a binding's offset, bytes */
    PT_GPU_UNIFORM_ALIGNMENT,
    PT_GPU_SOFTWARE,        /* 1: an emulation on the processor */
    PT_GPU_F16,             /* 1: shader-f16 was granted */
    PT_GPU_SUBGROUPS,       /* 1: subgroups were granted */
    PT_GPU_SUBGROUP_MATRIX, /* 1: chromium_experimental_subgroup_matrix was granted */
    PT_GPU_LIVE_BUFFERS,    /* a census, for tests of leaks */
    PT_GPU_LIVE_BYTES
} pt_gpu_number_of;

typedef enum pt_gpu_failure_kind {
    PT_GPU_FINE,
    PT_GPU_LOST,          /* the GPU is gone: another may be opened */
    PT_GPU_OUT_OF_MEMORY, /* an allocation failed */
    PT_GPU_BROKEN         /* the host refused a command: our bug, or the driver's */
} pt_gpu_failure_kind;

typedef enum pt_gpu_state { PT_GPU_WAITING, PT_GPU_READY, PT_GPU_FAILED } pt_gpu_state;

/* What is asked of pt_gpu_words. */
typedef enum pt_gpu_words_of {
    PT_GPU_ADAPTER, /* "NVIDIA H200, Vulkan, driver 580.159.04" */
    PT_GPU_FAILURE  /* what the host said */
} pt_gpu_words_of;

typedef enum pt_gpu_buffer_kind { PT_GPU_STORAGE, PT_GPU_UNIFORM } pt_gpu_buffer_kind;

typedef struct pt_gpu_range {
    uint32_t buffer, padding;
    int64_t offset, bytes;
} pt_gpu_range;

#ifdef __wasm__
#define PT_GPU_HOST(name) __attribute__((import_module("gpu"), import_name(name)))
#else
#define PT_GPU_HOST(name)
#endif

/* Opens a GPU: the browser's has been opened beforehand. `software`: an emulated one will do. Its number, or 0 with words in
 * why[cap]. Close returns everything it holds. */
PT_GPU_HOST("open") uint32_t pt_gpu_open(int32_t software, char *why, int32_t cap);
PT_GPU_HOST("close") void pt_gpu_close(uint32_t gpu);
PT_GPU_HOST("number") double pt_gpu_number(uint32_t gpu, int32_t which);
PT_GPU_HOST("words") void pt_gpu_words(uint32_t gpu, int32_t which, char *out, int32_t cap);
/* Of everything so far, as far as the host has told. */
PT_GPU_HOST("failure") int32_t pt_gpu_failure(uint32_t gpu);

/* Zeros at first. */
PT_GPU_HOST("buffer_new") uint32_t pt_gpu_buffer_new(uint32_t gpu, int32_t kind, double bytes);
PT_GPU_HOST("buffer_free") void pt_gpu_buffer_free(uint32_t gpu, uint32_t buffer);
/* Happens between the submissions before and after; encoded commands not yet submitted see it. Offset and bytes: multiples of 4.
 * src may be reused at once. */
PT_GPU_HOST("write")
void pt_gpu_write(uint32_t gpu, uint32_t buffer, double offset, const void *src, double bytes);

/* WGSL of n bytes, its entry point, and how many storage buffers it binds: 1 … bindings, in group 0, behind the uniform buffer
 * at 0. Compiled meanwhile. On trial: where it does not compile, its state alone tells, and the GPU is fine. */
PT_GPU_HOST("pipeline_new")
uint32_t pt_gpu_pipeline_new(uint32_t gpu, const char *wgsl, int32_t n, const char *entry,
                             int32_t bindings, int32_t trial);
PT_GPU_HOST("pipeline_state") int32_t pt_gpu_pipeline_state(uint32_t gpu, uint32_t pipeline);
PT_GPU_HOST("pipeline_free") void pt_gpu_pipeline_free(uint32_t gpu, uint32_t pipeline);
/* 256 bytes of the uniform buffer, from an offset that each dispatch names, and n storage buffers. */
PT_GPU_HOST("group_new")
uint32_t pt_gpu_group_new(uint32_t gpu, uint32_t uniform, const pt_gpu_range *range, int32_t n);
PT_GPU_HOST("group_free") void pt_gpu_group_free(uint32_t gpu, uint32_t group);

/* Encoded. groups: workgroups along x, y and z. Offsets and bytes: multiples of 4. */
PT_GPU_HOST("dispatch")
void pt_gpu_dispatch(uint32_t gpu, uint32_t pipeline, uint32_t group, uint32_t uniform_offset,
                     const uint32_t *groups);
PT_GPU_HOST("copy")
void pt_gpu_copy(uint32_t gpu, uint32_t to, double to_offset, uint32_t from, double from_offset,
                 double bytes);
PT_GPU_HOST("clear")
void pt_gpu_clear(uint32_t gpu, uint32_t buffer, double offset, double bytes);
/* Its number, for read_poll: PT_GPU_READY once after the submission that holds it is done, with the bytes in dst. */
PT_GPU_HOST("read_begin")
uint32_t pt_gpu_read_begin(uint32_t gpu, uint32_t buffer, double offset, double bytes);
PT_GPU_HOST("read_poll") int32_t pt_gpu_read_poll(uint32_t gpu, uint32_t read, void *dst);

/* Runs what was encoded. Submissions are counted from 1; done: how many are finished. */
PT_GPU_HOST("submit") void pt_gpu_submit(uint32_t gpu);
PT_GPU_HOST("done") double pt_gpu_done(uint32_t gpu);

/* What pt_gpu_remember got on an earlier day, here or elsewhere on this machine, NUL-terminated; empty when there is nothing, or
 * more than fits. It may have been damaged meanwhile. */
PT_GPU_HOST("remembered") void pt_gpu_remembered(uint32_t gpu, char *out, int32_t cap);
/* Keeps n bytes of text where the user's caches are, if that can be had. */
PT_GPU_HOST("remember") void pt_gpu_remember(uint32_t gpu, const char *text, int32_t n);

#endif
