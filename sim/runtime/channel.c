#include "runtime/channel.h"

static const struct {
    enum cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
    unsigned channels; /* 0: 1, 2 or 4 */
} rows[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8, 0},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16, 0},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32, 0},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8, 0},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16, 0},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32, 0},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF, 0},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT, 0},
    {cudaChannelFormatKindUnsignedNormalized8X1, 8, CU_AD_FORMAT_UNORM_INT8X1, 1},
    {cudaChannelFormatKindUnsignedNormalized8X2, 8, CU_AD_FORMAT_UNORM_INT8X2, 2},
    {cudaChannelFormatKindUnsignedNormalized8X4, 8, CU_AD_FORMAT_UNORM_INT8X4, 4},
    {cudaChannelFormatKindUnsignedNormalized16X1, 16, CU_AD_FORMAT_UNORM_INT16X1, 1},
    {cudaChannelFormatKindUnsignedNormalized16X2, 16, CU_AD_FORMAT_UNORM_INT16X2, 2},
    {cudaChannelFormatKindUnsignedNormalized16X4, 16, CU_AD_FORMAT_UNORM_INT16X4, 4},
    {cudaChannelFormatKindSignedNormalized8X1, 8, CU_AD_FORMAT_SNORM_INT8X1, 1},
    {cudaChannelFormatKindSignedNormalized8X2, 8, CU_AD_FORMAT_SNORM_INT8X2, 2},
    {cudaChannelFormatKindSignedNormalized8X4, 8, CU_AD_FORMAT_SNORM_INT8X4, 4},
    {cudaChannelFormatKindSignedNormalized16X1, 16, CU_AD_FORMAT_SNORM_INT16X1, 1},
    {cudaChannelFormatKindSignedNormalized16X2, 16, CU_AD_FORMAT_SNORM_INT16X2, 2},
    {cudaChannelFormatKindSignedNormalized16X4, 16, CU_AD_FORMAT_SNORM_INT16X4, 4},
};

enum { ROWS = sizeof rows / sizeof *rows };

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){.x = x, .y = y, .z = z, .w = w, .f = f};
}

bool channel_to_format(const struct cudaChannelFormatDesc *channel, CUarray_format *format,
                       unsigned *channels)
{
    const int bits[] = {channel->x, channel->y, channel->z, channel->w};
    unsigned count = 0;
    while (count < 4 && bits[count] != 0 && bits[count] == bits[0])
        count++;
    for (unsigned i = count; i < 4; i++)
        if (bits[i] != 0)
            return false;
    if (count == 0 || count == 3)
        return false;
    for (unsigned i = 0; i < ROWS; i++)
        if (rows[i].kind == channel->f && rows[i].bits == bits[0] &&
            (rows[i].channels == 0 || rows[i].channels == count)) {
            *format = rows[i].format;
            *channels = count;
            return true;
        }
    return false;
}

struct cudaChannelFormatDesc channel_of_format(CUarray_format format, unsigned channels)
{
    struct cudaChannelFormatDesc channel = {.f = cudaChannelFormatKindNone};
    int *const bits[] = {&channel.x, &channel.y, &channel.z, &channel.w};
    for (unsigned i = 0; i < ROWS; i++)
        if (rows[i].format == format) {
            channel.f = rows[i].kind;
            for (unsigned j = 0; j < channels && j < 4; j++)
                *bits[j] = rows[i].bits;
        }
    return channel;
}

size_t channel_element_bytes(CUarray_format format, unsigned channels)
{
    const struct cudaChannelFormatDesc channel = channel_of_format(format, channels);
    return (size_t)(channel.x + channel.y + channel.z + channel.w) / 8;
}
