/* Shaders: their texts, what they declare, and the text of one call. See webgpu.h. SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_SHADER_H
#define PT_DEVICE_WEBGPU_SHADER_H

#include "base/strings.h"
#include "device/webgpu/webgpu.h"

/* All shaders in one text: each file behind a line "//! NAME". Native: made by the Makefile from every src/.../x.wgsl; in a browser
 * pt_device_webgpu_shaders hands the same text over. */
const char *pt_shaders_text(int64_t *n);

#define PT_SHADER_MOST_NAMES 24
#define PT_SHADER_NAME 24

typedef struct pt_shader {
    const char *name; /* the caller's */
    const char *text; /* in the shaders' text */
    int64_t n;
    int n_tensors;
    char tensor[PT_SHADER_MOST_NAMES][PT_SHADER_NAME];
    int element_bytes[PT_SHADER_MOST_NAMES];
    char element[PT_SHADER_MOST_NAMES][12]; /* "f32", "vec4<u32>" */
} pt_shader;

/* Finds the file and reads its declarations. NOT_FOUND, CORRUPT (our bug: the test of all shaders finds it). */
pt_status pt_shader_find(const char *name, pt_shader *out, pt_error *err);
/* Index of a tensor's declaration, -1 if there is none. */
int pt_shader_tensor(const pt_shader *shader, const char *name);

/* How a declared tensor is reached in one call. */
typedef struct pt_shader_use {
    int leader; /* index of the declaration whose variable is used; itself, or that of a tensor which shares its binding; -1: absent */
    int binding; /* of a leader: 1 …; else 0 */
    int at;      /* index among the offsets of P, where one is added; -1: none */
} pt_shader_use;

/* The text of a call: the prelude, the constants, and the shader with its declarations made anew. use: one per declared tensor. */
void pt_shader_write(const pt_shader *shader, const pt_shader_use *use, const pt_wg_call *call,
                     pt_strbuf *out);

/* Words of P that the offsets take up, before the first member. The last one is always 0: the prelude needs such a number. */
#define PT_SHADER_OFFSET_WORDS 12

#endif
