/* Text from a session. SPDX-License-Identifier: MIT */
#include "infer/generation.h"

#include "text/bytes.h"

pt_status pt_generation_begin(pt_generation *g, pt_session *session,
                              const pt_generation_request *request, pt_error *err)
{
    *g = (pt_generation){.session = session, .wanted = request->max_tokens};
    const char *prompt = request->n_prompt ? request->prompt : "\n";
    int64_t n = pt_max_i64(request->n_prompt, 1);
    pt_sampler_options bytes = request->sampler;
    if (g->wanted < 0)
        return pt_fail(err, PT_BAD_INPUT, "max-tokens is %lld, it must be at least 0",
                       (long long)g->wanted);
    bytes.n_ids = PT_BYTES_VOCAB;
    int32_t *ids = pt_alloc((size_t)n * sizeof *ids);
    if (!ids) return pt_fail(err, PT_NO_MEMORY, "no memory for a prompt of %lld", (long long)n);
    pt_bytes_encode((const uint8_t *)prompt, n, ids);
    pt_status s = pt_session_start(session, ids, n, &bytes, err);
    pt_free(ids);
    return s;
}

pt_status pt_generation_poll(pt_generation *g, char out[8], size_t *n, pt_error *err)
{
    *n = 0;
    if (g->made == g->wanted) {
        *n = pt_utf8_stream_flush(&g->characters, out);
        return PT_OK;
    }
    int32_t id = 0;
    pt_status s = pt_session_poll(g->session, &id, err);
    if (s) return s;
    g->made++;
    *n = pt_utf8_stream_push(&g->characters, (char)pt_bytes_decode(id), out);
    return PT_PENDING;
}
