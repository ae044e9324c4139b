/* Images: the memory that texture and surface instructions access by position, and how a texture reads it. */
#ifndef NEUTRINO_SIM_PTX_IMAGE_H
#define NEUTRINO_SIM_PTX_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

enum { PTX_IMAGE_LEVELS = 16 };

/* The type of a channel. Normalized integers are read as numbers from 0 or -1 to 1. */
enum ptx_channel {
    PTX_CHANNEL_U8,
    PTX_CHANNEL_S8,
    PTX_CHANNEL_U16,
    PTX_CHANNEL_S16,
    PTX_CHANNEL_U32,
    PTX_CHANNEL_S32,
    PTX_CHANNEL_F16,
    PTX_CHANNEL_F32,
    PTX_CHANNEL_UNORM8,
    PTX_CHANNEL_SNORM8,
    PTX_CHANNEL_UNORM16,
    PTX_CHANNEL_SNORM16
};

static inline unsigned ptx_channel_bytes(enum ptx_channel channel)
{
    static const unsigned char bytes[] = {1, 1, 2, 2, 4, 4, 2, 4, 1, 1, 2, 2};
    return bytes[channel];
}

static inline bool ptx_channel_is_integer(enum ptx_channel channel)
{
    return channel <= PTX_CHANNEL_S32;
}

/* Positions outside the image. The values are those of CUaddress_mode. */
enum ptx_addressing { PTX_WRAP, PTX_CLAMP, PTX_MIRROR, PTX_BORDER };

struct ptx_level {
    uint64_t address;
    uint64_t pitch, slice;         /* bytes between rows, and between slices or layers */
    uint32_t width, height, depth; /* in elements, at least 1; the depth counts slices, layers or faces */
};

struct ptx_image {
    enum ptx_channel channel;
    uint32_t channels; /* 1, 2 or 4 */
    bool has_layers, is_cube;
    bool is_linear; /* pointer and size, or pitch: every access asks ptx_memory.find */
    uint32_t level_count;
    struct ptx_level levels[PTX_IMAGE_LEVELS];
    /* The members below are those of a texture. */
    bool has_normalized_coordinates;
    bool filters;        /* linear filtering; otherwise the nearest element */
    bool filters_levels; /* between mipmap levels; otherwise the nearest level */
    bool is_srgb;
    enum ptx_addressing addressing[3];
    float bias, lowest_level, highest_level;
    float border[4]; /* bits of integers for an integer channel */
};

#endif
