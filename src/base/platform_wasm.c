/* The platform inside WebAssembly: no libc, and a handful of functions of the host page.
 *
 * Imports, all in module "env" (pointers and sizes are as wide as the memory's addresses):
 *   pt_host_monotonic_ms() -> f64   never goes back; the same origin in every thread
 *   pt_host_unix_ms() -> f64
 *   pt_host_log(text, bytes)        one line, UTF-8, without newline
 * and with -matomics (shared memory) also
 *   pt_host_cpu_count() -> i32
 *   pt_host_thread_start(thread, stack_top, tls) -> i32, 0 = refused. The host instantiates the
 *     module in a new worker with the same memory, sets the global __stack_pointer to stack_top,
 *     calls __wasm_init_tls(tls), then the export pt_platform_thread_main(thread). When that has
 *     returned it stores 1 in the 32-bit word at `thread` and notifies it (Atomics.store, .notify):
 *     the last act is the host's, because the stack may be freed from then on.
 * Such a module is linked with --export=__stack_pointer and --export=__wasm_init_tls.
 * Waiting is forbidden on a page's main thread, so the module must live in a worker.
 * SPDX-License-Identifier: MIT */
#include "base/platform.h"

#include "base/format.h"
#include "base/heap.h"
#include "base/mem.h"

#define PAGE_BYTES 65536u
#define GROW_BYTES \
    1048576u /* growing is slow and detaches the page's views: not 64 KiB at a time */
#define IMPORT(name) __attribute__((import_module("env"), import_name(name)))

IMPORT("pt_host_monotonic_ms") double host_monotonic_ms(void);
IMPORT("pt_host_unix_ms") double host_unix_ms(void);
IMPORT("pt_host_log") void host_log(const char *text, size_t bytes);

/* ---- memory ---- */
extern unsigned char __heap_base; /* set by the linker: the end of data and stack */

static pt_heap heap;
static atomic_uint heap_lock;

static uint64_t memory_bytes(void) { return (uint64_t)__builtin_wasm_memory_size(0) * PAGE_BYTES; }

static uint64_t grow(void *ctx, uint64_t min_bytes, uint64_t *bytes)
{
    (void)ctx;
    uint64_t sizes[2] = {min_bytes < GROW_BYTES ? GROW_BYTES : min_bytes, min_bytes};
    for (int i = 0; i < 2; i++) {
        uint64_t pages = (sizes[i] + PAGE_BYTES - 1) / PAGE_BYTES;
        if (pages > SIZE_MAX / PAGE_BYTES) continue;
        size_t old = __builtin_wasm_memory_grow(0, (size_t)pages);
        if (old == SIZE_MAX) continue;
        *bytes = pages * PAGE_BYTES;
        return (uint64_t)old * PAGE_BYTES;
    }
    return 0;
}

static void lock_heap(void)
{
    while (atomic_exchange_explicit(&heap_lock, 1, memory_order_acquire)) pt_platform_pause();
    if (!heap.grow) pt_heap_init(&heap, (uintptr_t)&__heap_base, memory_bytes(), grow, NULL);
}

static void unlock_heap(void) { atomic_store_explicit(&heap_lock, 0, memory_order_release); }

void *pt_platform_alloc(size_t bytes)
{
    lock_heap();
    void *block = pt_heap_alloc(&heap, bytes);
    unlock_heap();
    return block;
}

void pt_platform_free(void *block)
{
    if (!block) return;
    lock_heap();
    pt_heap_free(&heap, block);
    unlock_heap();
}

int64_t pt_platform_memory_bytes(void) { return 0; }
int64_t pt_platform_available_bytes(void) { return 0; }
int64_t pt_platform_peak_rss_bytes(void) { return (int64_t)memory_bytes(); /* it never shrinks */ }

/* ---- clock, log, environment ---- */
int64_t pt_platform_monotonic_ns(void) { return (int64_t)(host_monotonic_ms() * 1e6); }
int64_t pt_platform_unix_ms(void) { return (int64_t)host_unix_ms(); }
void pt_platform_log_line(const char *line, size_t n) { host_log(line, n); }

const char *pt_platform_env(const char *name)
{
    (void)name;
    return NULL;
}

void pt_platform_process_name(char *out, size_t cap) { pt_format(out, cap, "localhost.1"); }

pt_platform_function pt_platform_library(const char *library, const char *function)
{
    (void)library, (void)function;
    return NULL;
}

/* ---- threads ---- */
void pt_platform_yield(void) {}
/* WebAssembly has no such instruction: some 20 ns of nothing, so that spinning lasts as long as elsewhere. */
void pt_platform_pause(void)
{
    for (volatile int i = 0; i < 8; i++) {}
}

#if defined(__wasm_atomics__)

#define STACK_BYTES 1048576u

IMPORT("pt_host_cpu_count") int host_cpu_count(void);
IMPORT("pt_host_thread_start")
int host_thread_start(pt_platform_thread *thread, void *stack_top, void *tls);

struct pt_platform_thread {
    atomic_uint done; /* first: the host sets it, see above */
    void (*fn)(void *arg);
    void *arg;
    unsigned char *stack;
    void *tls;
};

void pt_platform_thread_main(pt_platform_thread *thread);
__attribute__((export_name("pt_platform_thread_main"))) void
pt_platform_thread_main(pt_platform_thread *thread)
{
    thread->fn(thread->arg);
}

static void free_thread(pt_platform_thread *thread)
{
    pt_platform_free(thread->stack);
    pt_platform_free(thread->tls);
    pt_platform_free(thread);
}

pt_platform_thread *pt_platform_thread_start(void (*fn)(void *arg), void *arg)
{
    pt_platform_thread *thread = pt_platform_alloc(sizeof *thread);
    if (!thread) return NULL;
    thread->fn = fn;
    thread->arg = arg;
    thread->stack = pt_platform_alloc(STACK_BYTES);
    thread->tls = pt_platform_alloc(__builtin_wasm_tls_size());
    if (thread->stack && thread->tls &&
        host_thread_start(thread, thread->stack + STACK_BYTES, thread->tls))
        return thread;
    free_thread(thread);
    return NULL;
}

void pt_platform_thread_join(pt_platform_thread *thread)
{
    while (!atomic_load_explicit(&thread->done, memory_order_acquire))
        pt_platform_wait(&thread->done, 0);
    free_thread(thread);
}

int pt_platform_cpu_count(void)
{
    int n = host_cpu_count();
    return n < 1 ? 1 : n;
}

/* Not inlined: inside the loop of pt_platform_thread_join, code of V8's baseline compiler (Node 20)
 * slept on for ever after it had been notified. */
__attribute__((noinline)) void pt_platform_wait(atomic_uint *word, unsigned expected)
{
    __builtin_wasm_memory_atomic_wait32((int *)word, (int)expected, -1);
}

void pt_platform_wake(atomic_uint *word)
{
    __builtin_wasm_memory_atomic_notify((int *)word, UINT32_MAX);
}

#else /* one thread: nobody to wait for */

pt_platform_thread *pt_platform_thread_start(void (*fn)(void *arg), void *arg)
{
    (void)fn, (void)arg;
    return NULL;
}

void pt_platform_thread_join(pt_platform_thread *thread) { (void)thread; }
int pt_platform_cpu_count(void) { return 1; }
void pt_platform_wait(atomic_uint *word, unsigned expected) { (void)word, (void)expected; }
void pt_platform_wake(atomic_uint *word) { (void)word; }

#endif

bool pt_platform_allow_amx(void) { return false; }
