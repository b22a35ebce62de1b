/* The reference device: plain kernels, run inside the launch, storage in float or in double.
 * SPDX-License-Identifier: MIT */
#include "device/host_memory.h"

typedef struct ref_device {
    pt_device base;
    const pt_kernel_table *table;
} ref_device;

/* The kernels, from ops.def; one table per storage type. */
#define PT_OP(name, tensors, backward, cpu, formula)               \
    void pt_##name##_fwd_ref_f32(const void *args, pt_pool *pool); \
    void pt_##name##_fwd_ref_f64(const void *args, pt_pool *pool); \
    void pt_##name##_bwd_ref_f32(const void *args, pt_pool *pool); \
    void pt_##name##_bwd_ref_f64(const void *args, pt_pool *pool);
#include "tensor/ops.def"
#undef PT_OP

#define BACKWARD_0(name, suffix) NULL
#define BACKWARD_1(name, suffix) pt_##name##_bwd_ref_##suffix
/* What the cpu device replaces is left out where only that device is built: WebAssembly modules travel. */
#define KERNELS_0(name, backward) {pt_##name##_fwd_ref_f32, BACKWARD_##backward(name, f32)},
#if defined(PT_CPU_DEVICE_ONLY)
#define KERNELS_1(name, backward) {NULL, NULL},
#else
#define KERNELS_1(name, backward) KERNELS_0(name, backward)
#endif
#define KERNELS_2(name, backward) KERNELS_1(name, backward)
#define KERNELS_3(name, backward) KERNELS_0(name, backward)
#define PT_OP(name, tensors, backward, cpu, formula) KERNELS_##cpu(name, backward)
const pt_kernel_table pt_ref_table_f32 = {{
#include "tensor/ops.def"
}};
#undef PT_OP
#define PT_OP(name, tensors, backward, cpu, formula) \
    {pt_##name##_fwd_ref_f64, BACKWARD_##backward(name, f64)},
static const pt_kernel_table table_f64 = {{
#include "tensor/ops.def"
}};
#undef PT_OP

static bool ref_supports(const pt_device *device, pt_op op, pt_pass pass)
{
    return ((const ref_device *)device)->table->kernel[op][pass] != NULL;
}

static pt_status ref_launch(pt_device *device, pt_op op, pt_pass pass, const void *args,
                            size_t args_bytes, pt_error *err)
{
    (void)args_bytes;
    pt_kernel kernel = ((ref_device *)device)->table->kernel[op][pass];
    if (!kernel) return pt_device_require(device, op, pass, err);
    kernel(args, NULL);
    return PT_OK;
}

static void ref_free(pt_device *device) { pt_free(device); }

static const pt_device_vtable ref_vtable = {
    .buffer_new = pt_host_buffer_new,
    .buffer_free = pt_host_buffer_free,
    .upload = pt_host_upload,
    .download_begin = pt_host_download_begin,
    .download_poll = pt_host_download_poll,
    .fill_zero = pt_host_fill_zero,
    .copy = pt_host_copy,
    .supports = ref_supports,
    .launch = ref_launch,
    .submit = pt_host_submit,
    .free = ref_free,
};

pt_status pt_device_ref_new(pt_device **out, pt_dtype dtype, pt_error *err)
{
    *out = NULL;
    if (dtype != PT_F32 && dtype != PT_F64)
        return pt_fail(err, PT_UNSUPPORTED, "device ref computes in f32 or f64, not in %s",
                       pt_dtype_name(dtype));
    ref_device *device = pt_alloc(sizeof *device);
    if (!device) return pt_fail(err, PT_NO_MEMORY, "no memory for device ref");
    device->base.vtable = &ref_vtable;
    device->base.name = "ref";
    device->base.detail = dtype == PT_F64 ? "plain C, double" : "plain C";
    device->base.compute = dtype;
    device->base.packed = true;
    device->table = dtype == PT_F64 ? &table_f64 : &pt_ref_table_f32;
    *out = &device->base;
    return PT_OK;
}
