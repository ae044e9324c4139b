/* A growing byte buffer. If memory runs out it stays empty, so callers check once, at the end. */
#ifndef NEUTRINO_SIM_HIP_BYTE_BUFFER_H
#define NEUTRINO_SIM_HIP_BYTE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct byte_buffer {
    unsigned char *data; /* to be freed */
    size_t size, room;
    bool failed;
};

static inline void byte_buffer_add(struct byte_buffer *buffer, const void *data, size_t bytes)
{
    if (bytes > buffer->room - buffer->size) {
        const size_t room = 2 * (buffer->size + bytes) + 256;
        unsigned char *const grown = realloc(buffer->data, room);
        if (grown == NULL) {
            buffer->failed = true;
            return;
        }
        buffer->data = grown;
        buffer->room = room;
    }
    if (data != NULL)
        memcpy(buffer->data + buffer->size, data, bytes);
    else
        memset(buffer->data + buffer->size, 0, bytes);
    buffer->size += bytes;
}

static inline void byte_buffer_align(struct byte_buffer *buffer, size_t to)
{
    byte_buffer_add(buffer, NULL, (to - buffer->size % to) % to);
}

static inline void byte_buffer_text(struct byte_buffer *buffer, const char *text)
{
    byte_buffer_add(buffer, text, strlen(text) + 1);
}

#endif
