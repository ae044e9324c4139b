/* Untrusted bytes of an image. Every access to them goes through here and is bounds-checked. */
#ifndef NEUTRINO_VIEW_H
#define NEUTRINO_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An image larger than this is taken for a misread header. */
#define NB_IMAGE_MAX (UINT64_C(16) << 30)

struct nb_view {
    const unsigned char *start;
    uint64_t bytes;
};

static inline bool nb_view_read(struct nb_view view, uint64_t offset, void *into, size_t bytes)
{
    if (offset > view.bytes || bytes > view.bytes - offset)
        return false;
    memcpy(into, view.start + offset, bytes);
    return true;
}

static inline bool nb_view_narrow(struct nb_view view, uint64_t offset, uint64_t bytes, struct nb_view *part)
{
    if (offset > view.bytes || bytes > view.bytes - offset)
        return false;
    *part = (struct nb_view){view.start + offset, bytes};
    return true;
}

#endif
