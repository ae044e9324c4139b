/* Elements of images: finding them, and converting them from and to words. */
#include "ptx/texel.h"

#include "ptx/number.h"

const struct ptx_image *ptx_find_image(struct warp *warp, const struct instruction *instruction,
                                       uint64_t handle, bool is_surface, enum ptx_status *status)
{
    struct block *block = warp->block;
    const struct ptx_memory *memory = &block->grid->launch->memory;
    for (unsigned i = 0; i < IMAGES_KEPT; i++) {
        const struct kept_image *kept = &block->images[i];
        if (kept->is_valid && kept->handle == handle && kept->is_surface == is_surface)
            return &kept->image;
    }
    struct kept_image *kept = &block->images[block->next_image++ % IMAGES_KEPT];
    kept->is_valid =
        memory->image != NULL && memory->image(memory->context, handle, is_surface, &kept->image);
    kept->handle = handle;
    kept->is_surface = is_surface;
    if (kept->is_valid)
        return &kept->image;
    *status = ptx_fault(warp, instruction, PTX_ILLEGAL_ADDRESS,
                        is_surface ? "not the handle of a surface object that can be used"
                                   : "not the handle of a texture object that can be used",
                        handle);
    return NULL;
}

static float srgb_value(float value)
{
    const double linear =
        value <= 0.04045f ? (double)value / 12.92 : pow(((double)value + 0.055) / 1.055, 2.4);
    int exponent;
    const double fraction = frexp(linear, &exponent);
    return (float)ldexp(rint(fraction * 256) / 256, exponent); /* 8 bits, as an H200 returned them */
}

static uint32_t read_channel(enum ptx_channel channel, const unsigned char *from)
{
    uint16_t half;
    uint32_t word;
    memcpy(&half, from, ptx_channel_bytes(channel) == 2 ? 2 : 1);
    switch (channel) {
    case PTX_CHANNEL_U8:
        return *from;
    case PTX_CHANNEL_S8:
        return (uint32_t)(int8_t)*from;
    case PTX_CHANNEL_UNORM8:
        return (uint32_t)bits_f32((float)*from / 255.0f);
    case PTX_CHANNEL_SNORM8:
        return (uint32_t)bits_f32(fmaxf((float)(int8_t)*from / 127.0f, -1.0f));
    case PTX_CHANNEL_U16:
        return half;
    case PTX_CHANNEL_S16:
        return (uint32_t)(int16_t)half;
    case PTX_CHANNEL_UNORM16:
        return (uint32_t)bits_f32((float)half / 65535.0f);
    case PTX_CHANNEL_SNORM16:
        return (uint32_t)bits_f32(fmaxf((float)(int16_t)half / 32767.0f, -1.0f));
    case PTX_CHANNEL_F16:
        return (uint32_t)bits_f32(ptx_f16_value(half));
    default:
        memcpy(&word, from, sizeof word);
        return word;
    }
}

void ptx_read_element(const struct ptx_image *image, const void *from, uint32_t words[4])
{
    const unsigned bytes = ptx_channel_bytes(image->channel);
    memset(words, 0, 4 * sizeof *words); /* missing channels, alpha too, are 0 on an H200 */
    for (unsigned i = 0; i < image->channels; i++)
        words[i] = read_channel(image->channel, (const unsigned char *)from + i * bytes);
    if (image->is_srgb && image->channel == PTX_CHANNEL_UNORM8)
        for (unsigned i = 0; i < image->channels && i < 3; i++)
            words[i] = (uint32_t)bits_f32(srgb_value(f32_of(words[i])));
}

/* A number from -1 or 0 to 1 as a normalized integer; NaN becomes 0. */
static int32_t normalized(uint32_t word, float least, float scale)
{
    const float value = f32_of(word);
    return value == value ? (int32_t)rintf(fminf(fmaxf(value, least), 1.0f) * scale) : 0;
}

static uint32_t limited(int64_t value, int64_t least, int64_t most)
{
    return (uint32_t)(value < least ? least : value > most ? most : value);
}

void ptx_write_element(const struct ptx_image *image, const uint32_t words[4], void *to)
{
    const unsigned bytes = ptx_channel_bytes(image->channel);
    for (unsigned i = 0; i < image->channels; i++) {
        uint32_t value = words[i];
        switch (image->channel) {
        case PTX_CHANNEL_U8:
        case PTX_CHANNEL_U16:
            value = limited(value, 0, bytes == 1 ? UINT8_MAX : UINT16_MAX);
            break;
        case PTX_CHANNEL_S8:
            value = limited((int32_t)value, INT8_MIN, INT8_MAX);
            break;
        case PTX_CHANNEL_S16:
            value = limited((int32_t)value, INT16_MIN, INT16_MAX);
            break;
        case PTX_CHANNEL_UNORM8:
        case PTX_CHANNEL_UNORM16:
            value = (uint32_t)normalized(value, 0.0f, bytes == 1 ? 255.0f : 65535.0f);
            break;
        case PTX_CHANNEL_SNORM8:
        case PTX_CHANNEL_SNORM16:
            value = (uint32_t)normalized(value, -1.0f, bytes == 1 ? 127.0f : 32767.0f);
            break;
        case PTX_CHANNEL_F16:
            value = ptx_f16_bits((double)f32_of(value), ROUND_NEAREST);
            break;
        default:
            break;
        }
        memcpy((unsigned char *)to + i * bytes, &value, bytes);
    }
}

void ptx_read_border(const struct ptx_image *image, uint32_t words[4])
{
    const unsigned bytes = ptx_channel_bytes(image->channel);
    unsigned char element[16];
    memcpy(words, image->border, 4 * sizeof *words);
    if (ptx_channel_is_integer(image->channel))
        for (unsigned i = 0; i < image->channels; i++)
            memcpy(element + i * bytes, &words[i], bytes);
    else {
        /* An H200 rounds 127.5 of a normalized integer to 127. Halves and floats are as they were. */
        for (unsigned i = 0; i < image->channels && image->channel != PTX_CHANNEL_F32; i++)
            words[i] = (uint32_t)bits_f32(nextafterf(f32_of(words[i]), 0));
        ptx_write_element(image, words, element);
    }
    ptx_read_element(image, element, words);
}

void *ptx_reach_element(struct warp *warp, const struct instruction *instruction,
                        const struct ptx_image *image, const struct ptx_level *level, const uint64_t place[3],
                        unsigned bytes, enum access access, unsigned lane, enum ptx_status *status)
{
    const uint64_t address = level->address + place[2] * level->slice + place[1] * level->pitch + place[0];
    return image->is_linear ? ptx_reach(warp, instruction, SPACE_GLOBAL, address, bytes, access, lane, status)
                            : (void *)(uintptr_t)address;
}
