/* The platform on Linux and macOS. SPDX-License-Identifier: MIT */
#if defined(__linux__)
#define _GNU_SOURCE 1 /* sched_getaffinity, syscall */
#endif
#include "base/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__) && !defined(PT_PLATFORM_NO_FUTEX)
#define USE_FUTEX 1
#include <linux/futex.h>
#include <sys/syscall.h>
#else
#define USE_FUTEX 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define USE_PLAIN_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define USE_PLAIN_MALLOC 1
#endif
#endif
#ifndef USE_PLAIN_MALLOC
#define USE_PLAIN_MALLOC 0
#endif

#if !defined(MAP_ANONYMOUS)
#define MAP_ANONYMOUS MAP_ANON
#endif

/* ---- memory ---- */
#define ALIGN 64u

#if USE_PLAIN_MALLOC
/* Under AddressSanitizer each block comes from malloc alone, so that it guards both ends. It ends the
 * program when asked for a TiB or more. */
#define SANITIZER_MAX ((size_t)1 << 39)

void *pt_platform_alloc(size_t bytes)
{
    void *block;
    if (bytes > SANITIZER_MAX || posix_memalign(&block, ALIGN, bytes)) return NULL;
    return memset(block, 0, bytes);
}

void pt_platform_free(void *block) { free(block); }
#else
/* Large blocks are mapped one by one: malloc would clear those it reuses, which costs resident
 * memory that is not needed yet, and would keep freed ones. */
#define MAP_FROM_BYTES 262144u

typedef struct block_header { /* the ALIGN bytes before each block */
    size_t mapped_bytes;      /* of the whole mapping; 0 = from malloc */
} block_header;

void *pt_platform_alloc(size_t bytes)
{
    if (bytes > PTRDIFF_MAX - ALIGN) return NULL;
    size_t whole = bytes + ALIGN;
    void *base;
    if (bytes >= MAP_FROM_BYTES) {
        base = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED) return NULL;
        ((block_header *)base)->mapped_bytes = whole;
    } else {
        if (posix_memalign(&base, ALIGN, whole)) return NULL;
        memset(base, 0, whole);
    }
    return (char *)base + ALIGN;
}

void pt_platform_free(void *block)
{
    if (!block) return;
    void *base = (char *)block - ALIGN;
    size_t mapped_bytes = ((block_header *)base)->mapped_bytes;
    if (mapped_bytes) munmap(base, mapped_bytes);
    else free(base);
}
#endif

#if defined(__linux__)
/* Of this program alone: what getrusage tells of survives an exec, so it may be that of the program that started us. */
static int64_t high_water_bytes(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    long long kb = 0;
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kb = strtoll(line + 6, NULL, 10);
            break;
        }
    fclose(f);
    return kb > 0 && kb < INT64_MAX / 1024 ? (int64_t)kb * 1024 : 0;
}
#endif

int64_t pt_platform_peak_rss_bytes(void)
{
#if defined(__linux__)
    int64_t peak = high_water_bytes();
    if (peak) return peak;
#endif
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage)) return 0;
#if defined(__APPLE__)
    return (int64_t)usage.ru_maxrss;
#else
    return (int64_t)usage.ru_maxrss * 1024;
#endif
}

/* ---- limits of the machine and of the cgroup ---- */
#if defined(__linux__)
static bool read_line(const char *path, char *out, size_t cap)
{
    FILE *f = fopen(path, "re");
    if (!f) return false;
    bool ok = fgets(out, (int)cap, f) != NULL;
    fclose(f);
    return ok;
}

/* Whether the comma-separated list has `name`; the empty list has only the empty name. */
static bool list_has(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (;;) {
        size_t len = strcspn(list, ",");
        if (len == n && memcmp(list, name, n) == 0) return true;
        if (!list[len]) return false;
        list += len + 1;
    }
}

/* This process's cgroup path for a v1 controller, or for v2 when controller is "". */
static bool cgroup_path(const char *controller, char *out, size_t cap)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f) return false;
    char line[1024];
    bool found = false;
    while (!found && fgets(line, sizeof line, f)) { /* number:controller,controller:/path */
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':');
        char *path = names ? strchr(names + 1, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        if (!list_has(names + 1, controller)) continue;
        found = (size_t)snprintf(out, cap, "%s", path) < cap;
    }
    fclose(f);
    return found;
}

/* Calls visit with the limit file's first line of this cgroup and each of its parents, which all
 * count. A container that sees only its own subtree has them at the root, where the walk ends. */
static void visit_cgroup(const char *root, const char *controller, const char *file,
                         void (*visit)(const char *folder, const char *line, int64_t *limit),
                         int64_t *limit)
{
    char path[1024];
    if (!cgroup_path(controller, path, sizeof path)) return;
    for (;;) {
        char folder[1200], name[1300], line[128];
        snprintf(folder, sizeof folder, "%s%s", root, path);
        snprintf(name, sizeof name, "%s/%s", folder, file);
        if (read_line(name, line, sizeof line)) visit(folder, line, limit);
        char *slash = strrchr(path, '/');
        if (!slash) return;
        *slash = '\0';
    }
}

static void keep_smaller(int64_t value, int64_t *limit)
{
    if (value > 0 && (*limit == 0 || value < *limit)) *limit = value;
}

static void visit_memory(const char *folder, const char *line, int64_t *limit)
{
    (void)folder;
    keep_smaller(strtoll(line, NULL, 10), limit); /* "max" reads as 0 */
}

/* v2: "quota period" or "max period", in microseconds. */
static void visit_cpu_v2(const char *folder, const char *line, int64_t *limit)
{
    (void)folder;
    char *rest;
    long long quota = strtoll(line, &rest, 10), period = strtoll(rest, NULL, 10);
    if (quota > 0 && period > 0) keep_smaller((quota + period - 1) / period, limit);
}

static void visit_cpu_v1(const char *folder, const char *line, int64_t *limit)
{
    char name[1300], text[128];
    snprintf(name, sizeof name, "%s/cpu.cfs_period_us", folder);
    if (!read_line(name, text, sizeof text)) return;
    long long quota = strtoll(line, NULL, 10), period = strtoll(text, NULL, 10);
    if (quota > 0 && period > 0) keep_smaller((quota + period - 1) / period, limit);
}

static int64_t affinity_count(void)
{
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) { /* the kernel wants a set large enough */
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set) return 0;
        size_t bytes = CPU_ALLOC_SIZE(cpus);
        int64_t n = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (n) return n;
    }
    return 0;
}
#endif

int pt_platform_cpu_count(void)
{
    int64_t n = 0;
#if defined(__linux__)
    n = affinity_count();
    visit_cgroup("/sys/fs/cgroup", "", "cpu.max", visit_cpu_v2, &n);
    visit_cgroup("/sys/fs/cgroup/cpu", "cpu", "cpu.cfs_quota_us", visit_cpu_v1, &n);
#endif
    if (n < 1) n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (int)n;
}

int64_t pt_platform_memory_bytes(void)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    int64_t bytes = pages > 0 && page > 0 ? pages * page : 0;
#if defined(__linux__)
    visit_cgroup("/sys/fs/cgroup", "", "memory.max", visit_memory, &bytes);
    visit_cgroup("/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes", visit_memory, &bytes);
#endif
    return bytes;
}

#if defined(__linux__)
/* The number of a line "NAME 123 …" or "NAME: 123 kB" of a file; -1 when there is none. */
static int64_t read_field(const char *path, const char *name)
{
    char line[256];
    size_t n = strlen(name);
    int64_t value = -1;
    FILE *f = fopen(path, "re");
    while (f && value < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, name, n) == 0 && (line[n] == ' ' || line[n] == ':'))
            value = strtoll(line + n + 1, NULL, 10);
    if (f) fclose(f);
    return value;
}

/* What a cgroup's limit leaves: pages of files that nobody uses are given back on demand. */
static void keep_what_is_left(const char *folder, const char *limit_line, const char *used_file,
                              const char *unused, int64_t *limit)
{
    char name[1300], text[128];
    int64_t most = strtoll(limit_line, NULL, 10);
    snprintf(name, sizeof name, "%s/%s", folder, used_file);
    if (most <= 0 || !read_line(name, text, sizeof text)) return; /* "max" reads as 0 */
    snprintf(name, sizeof name, "%s/memory.stat", folder);
    int64_t spare = read_field(name, unused), left = most - strtoll(text, NULL, 10);
    if (spare > 0) left += spare;
    keep_smaller(left > 0 ? left : 1, limit);
}

static void visit_left_v2(const char *folder, const char *line, int64_t *limit)
{
    keep_what_is_left(folder, line, "memory.current", "inactive_file", limit);
}

static void visit_left_v1(const char *folder, const char *line, int64_t *limit)
{
    keep_what_is_left(folder, line, "memory.usage_in_bytes", "total_inactive_file", limit);
}

/* Pages of address space that are in use. */
static int64_t pages_in_use(void)
{
    char line[128];
    return read_line("/proc/self/statm", line, sizeof line) ? strtoll(line, NULL, 10) : 0;
}
#else
static int64_t pages_in_use(void) { return 0; }
#endif

int64_t pt_platform_available_bytes(void)
{
    struct rlimit space;
    int64_t bytes = pt_platform_memory_bytes();
#if defined(__linux__)
    int64_t kilobytes = read_field("/proc/meminfo", "MemAvailable");
    if (kilobytes > 0) keep_smaller(kilobytes * 1024, &bytes);
    visit_cgroup("/sys/fs/cgroup", "", "memory.max", visit_left_v2, &bytes);
    visit_cgroup("/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes", visit_left_v1, &bytes);
#endif
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        int64_t left = (int64_t)space.rlim_cur - pages_in_use() * sysconf(_SC_PAGESIZE);
        if (bytes == 0 || left < bytes) bytes = left > 0 ? left : 1;
    }
    return bytes;
}

/* ---- clock, log, environment ---- */
int64_t pt_platform_monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t pt_platform_unix_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* One call, so that lines of several threads or processes do not mix. */
void pt_platform_log_line(const char *line, size_t n)
{
    char newline = '\n';
    struct iovec parts[2] = {{(void *)(uintptr_t)line, n}, {&newline, 1}};
    while (writev(STDERR_FILENO, parts, 2) < 0 && errno == EINTR) {}
}

const char *pt_platform_env(const char *name) { return getenv(name); }

void pt_platform_process_name(char *out, size_t cap)
{
    char host[64] = "";
    if (gethostname(host, sizeof host - 1) != 0 || !host[0]) memcpy(host, "localhost", 10);
    for (char *p = host; *p; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                     (*p >= 'A' && *p <= 'Z') || *p == '_';
        if (!plain) *p = '-';
    }
    snprintf(out, cap, "%s.%ld", host, (long)getpid());
}

pt_platform_function pt_platform_library(const char *library, const char *function)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    union { /* POSIX lets an address be a function's */
        void *address;
        pt_platform_function function;
    } found = {handle ? dlsym(handle, function) : NULL};
    return found.function;
}

const char *pt_platform_library_trouble(void)
{
    const char *said = dlerror();
    return said ? said : "";
}

/* ---- threads ---- */
struct pt_platform_thread {
    pthread_t id;
    void (*fn)(void *arg);
    void *arg;
};

static void *thread_main(void *p)
{
    pt_platform_thread *thread = p;
    thread->fn(thread->arg);
    return NULL;
}

/* Signals stay with the thread that set up their handlers; only faults must reach a worker. */
static void block_signals(sigset_t *old)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, old);
}

pt_platform_thread *pt_platform_thread_start(void (*fn)(void *arg), void *arg)
{
    pt_platform_thread *thread = malloc(sizeof *thread);
    if (!thread) return NULL;
    thread->fn = fn;
    thread->arg = arg;
    sigset_t old;
    block_signals(&old);
    int failed = pthread_create(&thread->id, NULL, thread_main, thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!failed) return thread;
    free(thread);
    return NULL;
}

void pt_platform_thread_join(pt_platform_thread *thread)
{
    if (!thread) return;
    pthread_join(thread->id, NULL);
    free(thread);
}

void pt_platform_yield(void) { sched_yield(); }

void pt_platform_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* `yield` is a no-op on today's cores */
#endif
}

#if USE_FUTEX
_Static_assert(sizeof(atomic_uint) == 4, "a futex is a 32-bit word");

void pt_platform_wait(atomic_uint *word, unsigned expected)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

void pt_platform_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
#else
/* Sleepers on words that share a slot wake each other; that is allowed, only slower. */
#define N_SLOTS 32u

typedef struct wait_slot {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} wait_slot;

static wait_slot slots[N_SLOTS];
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static void init_slots(void)
{
    for (unsigned i = 0; i < N_SLOTS; i++) {
        pthread_mutex_init(&slots[i].mutex, NULL);
        pthread_cond_init(&slots[i].cond, NULL);
    }
}

static wait_slot *slot_of(const atomic_uint *word)
{
    pthread_once(&slots_once, init_slots);
    uint64_t hash = (uint64_t)(uintptr_t)word * 0x9e3779b97f4a7c15u;
    return &slots[hash >> 59];
}

void pt_platform_wait(atomic_uint *word, unsigned expected)
{
    wait_slot *slot = slot_of(word);
    pthread_mutex_lock(&slot->mutex);
    if (atomic_load(word) == expected) pthread_cond_wait(&slot->cond, &slot->mutex);
    pthread_mutex_unlock(&slot->mutex);
}

void pt_platform_wake(atomic_uint *word)
{
    wait_slot *slot = slot_of(word);
    pthread_mutex_lock(&slot->mutex);
    pthread_cond_broadcast(&slot->cond);
    pthread_mutex_unlock(&slot->mutex);
}
#endif

/* ---- AMX ----
 * https://docs.kernel.org/arch/x86/xstate.html */
#if defined(__linux__) && defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>

#define REQUEST_XSTATE 0x1023 /* ARCH_REQ_XCOMP_PERM */
#define XSTATE_TILES 18
#define CPUID_AMX_BF16 (1u << 22) /* leaf 7, edx */
#define CPUID_AMX_TILE (1u << 24)

bool pt_platform_allow_amx(void)
{
    unsigned a, b, c, d, wanted = CPUID_AMX_BF16 | CPUID_AMX_TILE;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & wanted) != wanted) return false;
    return syscall(SYS_arch_prctl, REQUEST_XSTATE, XSTATE_TILES) == 0;
}
#else
bool pt_platform_allow_amx(void) { return false; }
#endif
