/* Text from a session: a prompt of bytes goes in, pieces of whole characters come out.
 * SPDX-License-Identifier: MIT */
#ifndef PT_INFER_GENERATION_H
#define PT_INFER_GENERATION_H

#include "infer/session.h"
#include "text/utf8_stream.h"

typedef struct pt_generation {
    pt_session *session; /* borrowed */
    pt_utf8_stream characters;
    int64_t made, wanted; /* tokens */
} pt_generation;

typedef struct pt_generation_request {
    const char *prompt; /* n_prompt bytes, borrowed while it begins; none: a newline */
    int64_t n_prompt;
    int64_t max_tokens; /* >= 0 */
    pt_sampler_options sampler;
} pt_generation_request;

pt_status pt_generation_begin(pt_generation *g, pt_session *session,
                              const pt_generation_request *request, pt_error *err);
/* PT_PENDING, PT_OK when all is made, or an error. *n bytes (0 … 8) that are complete now are in out, also with
 * PT_OK: what is left of an incomplete character comes as it is. */
pt_status pt_generation_poll(pt_generation *g, char out[8], size_t *n, pt_error *err);

#endif
