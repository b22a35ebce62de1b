/* Bytes to whole characters. SPDX-License-Identifier: MIT */
#include "text/utf8_stream.h"

#include "base/strings.h"

size_t pt_utf8_stream_push(pt_utf8_stream *stream, char byte, char out[8])
{
    stream->held[stream->n++] = byte;
    size_t complete = pt_utf8_complete(stream->held, stream->n);
    memcpy(out, stream->held, complete);
    stream->n -= complete;
    memmove(stream->held, stream->held + complete, stream->n);
    return complete;
}

size_t pt_utf8_stream_flush(pt_utf8_stream *stream, char out[8])
{
    size_t n = stream->n;
    memcpy(out, stream->held, n);
    stream->n = 0;
    return n;
}
