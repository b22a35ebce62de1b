/* What the engine imports from its host, beside the platform's (base/platform_wasm.c).
 * SPDX-License-Identifier: MIT */
#ifndef PT_WASM_HOST_H
#define PT_WASM_HOST_H

#include <stddef.h>

/* n bytes of the file that is being written, a checkpoint or an export, from byte `position` on: further bytes at its end, or, last of all, a
 * correction inside it. Called from within pt_wasm_train_poll or pt_wasm_file_safetensors; the bytes are only valid during the call. */
__attribute__((import_module("env"), import_name("pt_host_write"))) void
pt_host_write(double position, const void *bytes, size_t n);

#endif
