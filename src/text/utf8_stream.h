/* Bytes to whole characters: holds back an incomplete UTF-8 tail until the rest of it arrives, so
 * that streamed text never shows half a character.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TEXT_UTF8_STREAM_H
#define PT_TEXT_UTF8_STREAM_H

#include "base/mem.h"

/* Zero-initialised is valid and empty. */
typedef struct pt_utf8_stream {
    char held[8];
    size_t n;
} pt_utf8_stream;

/* Adds one byte; puts what is complete now into out (up to 8 bytes) and returns its length. */
size_t pt_utf8_stream_push(pt_utf8_stream *stream, char byte, char out[8]);
/* What is still held back, as it is. */
size_t pt_utf8_stream_flush(pt_utf8_stream *stream, char out[8]);

#endif
