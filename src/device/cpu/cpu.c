/* The cpu device: vectorised kernels over a thread pool, chosen by instruction set when it is made.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/cpu.h"

#include "base/platform.h"
#include "base/strings.h"
#include "device/cpu/isa_table.h"
#include "device/host_memory.h"
#include "device/peak.h"

typedef struct cpu_device {
    pt_device base;
    pt_pool *pool;
    pt_kernel_table table, table_bf16;
    pt_cpu_probes probes;
    double (*fma_bf16)(pt_pool *pool, int64_t blocks);
} cpu_device;

extern const pt_kernel_table pt_ref_table_f32; /* device/ref/ref.c: where every table starts */

typedef struct isa_entry {
    const char *name;
    void (*fill)(pt_kernel_table *table);
    void (*probes)(pt_cpu_probes *probes);
    void (*fill_bf16)(pt_kernel_table *table); /* NULL: no activations in bf16 */
    double (*fma_bf16)(pt_pool *pool, int64_t blocks);
} isa_entry;

/* Worst first; the strict ones are only taken by name. */
static const isa_entry isa_entries[] = {
#if defined(PT_HAVE_ISA_wasm_relaxed)
    {"wasm-relaxed", pt_isa_table_cpu_wasm_relaxed, pt_probes_cpu_wasm_relaxed, NULL, NULL},
#elif defined(__wasm__)
    {"wasm", pt_isa_table_cpu_wasm, pt_probes_cpu_wasm, NULL, NULL},
#else
    {"base", pt_isa_table_cpu_base, pt_probes_cpu_base, pt_isa_table_bf16_cpu_base,
     pt_fma_bf16_cpu_base},
#endif
#ifdef PT_HAVE_ISA_neon_strict
    {"neon-strict", pt_isa_table_cpu_neon_strict, pt_probes_cpu_neon_strict, NULL, NULL},
#endif
#ifdef PT_HAVE_ISA_avx2_strict
    {"avx2-strict", pt_isa_table_cpu_avx2_strict, pt_probes_cpu_avx2_strict, NULL, NULL},
#endif
#ifdef PT_HAVE_ISA_avx512_strict
    {"avx512-strict", pt_isa_table_cpu_avx512_strict, pt_probes_cpu_avx512_strict, NULL, NULL},
#endif
#ifdef PT_HAVE_ISA_avx2
    {"avx2", pt_isa_table_cpu_avx2, pt_probes_cpu_avx2, pt_isa_table_bf16_cpu_avx2,
     pt_fma_bf16_cpu_avx2},
#endif
#ifdef PT_HAVE_ISA_avx512
    {"avx512", pt_isa_table_cpu_avx512, pt_probes_cpu_avx512, pt_isa_table_bf16_cpu_avx512,
     pt_fma_bf16_cpu_avx512},
#endif
#ifdef PT_HAVE_ISA_amx /* avx512, and tiles for what is stored in bf16 */
    {"amx", pt_isa_table_cpu_avx512, pt_probes_cpu_avx512, pt_isa_table_bf16_cpu_amx,
     pt_fma_bf16_cpu_amx},
#endif
#ifdef PT_HAVE_ISA_neon
    {"neon", pt_isa_table_cpu_neon, pt_probes_cpu_neon, pt_isa_table_bf16_cpu_neon,
     pt_fma_bf16_cpu_neon},
#endif
};
#define N_ISAS ((int)(sizeof isa_entries / sizeof isa_entries[0]))

static bool machine_has(const char *isa)
{
#if defined(__x86_64__)
    if (strcmp(isa, "amx") == 0) return machine_has("avx512") && pt_platform_allow_amx();
    if (pt_str_starts(isa, "avx2"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (pt_str_starts(isa, "avx512"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("fma");
#endif
    (void)isa;
    return true;
}

const char *const *pt_device_cpu_isas(void)
{
    static const char *names[N_ISAS + 1];
    int n = 0;
    for (int i = 0; i < N_ISAS; i++)
        if (machine_has(isa_entries[i].name)) names[n++] = isa_entries[i].name;
    names[n] = NULL;
    return names;
}

const char *const *pt_device_cpu_built(void)
{
    static const char *names[N_ISAS + 1];
    for (int i = 0; i < N_ISAS; i++) names[i] = isa_entries[i].name;
    return names;
}

/* One that this program knows, in whichever build. */
static bool is_isa(const char *name)
{
    static const char *const known[] = {"base",          "avx2",        "avx512", "neon",
                                        "avx2-strict",   "neon-strict", "wasm",   "wasm-relaxed",
                                        "avx512-strict", "amx"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i]) == 0) return true;
    return false;
}

static pt_status pick_isa(const char *wanted, const isa_entry **out, pt_error *err)
{
    for (int i = N_ISAS - 1; i >= 0; i--) {
        const isa_entry *entry = &isa_entries[i];
        if (wanted ? strcmp(wanted, entry->name) != 0 : pt_str_ends(entry->name, "-strict"))
            continue;
        *out = entry;
        if (machine_has(entry->name)) return PT_OK;
        if (wanted) return pt_fail(err, PT_UNSUPPORTED, "this machine has no %s", entry->name);
    }
    char known[96] = "";
    for (int i = 0, n = 0; i < N_ISAS; i++)
        n += (int)pt_format(known + n, sizeof known - (size_t)n, " %s", isa_entries[i].name);
    return pt_fail(err, wanted && !is_isa(wanted) ? PT_BAD_INPUT : PT_UNSUPPORTED,
                   "this build has no instruction set '%s'; it has%s", wanted ? wanted : "?",
                   known);
}

static bool cpu_supports(const pt_device *device, pt_op op, pt_pass pass)
{
    return ((const cpu_device *)device)->table.kernel[op][pass] != NULL;
}

/* Ops with kernels for both are checked: all that they store is of one dtype. */
static bool stores_bf16(pt_op op, const void *args)
{
    const pt_tensor *t = args;
    const pt_op_info *info = pt_op_info_of(op);
    for (int i = 0; i < info->n_tensors && info->has_cpu_bf16; i++)
        if (pt_present(&t[i]) && t[i].dtype == PT_BF16) return true;
    return false;
}

static pt_status cpu_launch(pt_device *device, pt_op op, pt_pass pass, const void *args,
                            size_t args_bytes, pt_error *err)
{
    (void)args_bytes;
    cpu_device *cpu = (cpu_device *)device;
    const pt_kernel_table *table = stores_bf16(op, args) ? &cpu->table_bf16 : &cpu->table;
    pt_kernel kernel = table->kernel[op][pass];
    if (!kernel) return pt_device_require(device, op, pass, err);
    kernel(args, cpu->pool);
    return PT_OK;
}

static void cpu_free(pt_device *device)
{
    pt_pool_free(((cpu_device *)device)->pool);
    pt_free(device);
}

static const pt_device_vtable cpu_vtable = {
    .buffer_new = pt_host_buffer_new,
    .buffer_free = pt_host_buffer_free,
    .upload = pt_host_upload,
    .download_begin = pt_host_download_begin,
    .download_poll = pt_host_download_poll,
    .fill_zero = pt_host_fill_zero,
    .copy = pt_host_copy,
    .supports = cpu_supports,
    .launch = cpu_launch,
    .submit = pt_host_submit,
    .free = cpu_free,
};

pt_status pt_device_cpu_new(pt_device **out, const pt_cpu_options *options, pt_error *err)
{
    *out = NULL;
    const isa_entry *isa = NULL;
    pt_status s = pick_isa(options ? options->isa : NULL, &isa, err);
    if (s) return s;
    cpu_device *cpu = pt_alloc(sizeof *cpu);
    if (!cpu) return pt_fail(err, PT_NO_MEMORY, "no memory for device cpu");
    s = pt_pool_new(&cpu->pool, options ? options->threads : 0, PT_CPU_SCRATCH_BYTES, err);
    if (s) {
        pt_free(cpu);
        return s;
    }
    cpu->base.vtable = &cpu_vtable;
    cpu->base.name = "cpu";
    cpu->base.detail = isa->name;
    cpu->base.compute = PT_F32;
    cpu->base.overhead_bytes = (int64_t)pt_pool_threads(cpu->pool) * PT_CPU_SCRATCH_BYTES;
    cpu->table = pt_ref_table_f32;
    isa->fill(&cpu->table);
    isa->probes(&cpu->probes);
    cpu->fma_bf16 = isa->fma_bf16;
    cpu->base.bf16 = isa->fill_bf16 != NULL;
    if (isa->fill_bf16) isa->fill_bf16(&cpu->table_bf16);
    *out = &cpu->base;
    return PT_OK;
}

pt_pool *pt_device_cpu_pool(pt_device *device) { return ((cpu_device *)device)->pool; }

double pt_device_cpu_fma(pt_device *device, bool alone, int64_t blocks)
{
    cpu_device *cpu = (cpu_device *)device;
    return cpu->probes.fma(alone ? NULL : cpu->pool, blocks);
}

double pt_device_cpu_fma_bf16(pt_device *device, bool alone, int64_t blocks)
{
    cpu_device *cpu = (cpu_device *)device;
    return cpu->fma_bf16(alone ? NULL : cpu->pool, blocks);
}

double pt_device_cpu_triad(pt_device *device, bool alone, const pt_tensor *a, const pt_tensor *b,
                           const pt_tensor *c)
{
    cpu_device *cpu = (cpu_device *)device;
    return cpu->probes.triad(alone ? NULL : cpu->pool, a, b, c);
}
