/* Filtering and addressing (CUDA C++ Programming Guide, "Texture Fetching"). */
#include "ptx/sample.h"

#include "ptx/number.h"

/* A weight has 8 fraction bits, and 1.0 is exact (Programming Guide, "Linear Filtering"). */
#define ONE 256u

/* A normalized position has 21 fraction bits: with this number all 1,892 point reads of
 * tests/device/textures.py at such positions had the elements that an H200 read. */
#define NORMALIZED_ONE 2097152.0

/* floor() for numbers that fit, without a call of the C library. */
static int64_t whole_of(double x)
{
    const int64_t whole = (int64_t)x;
    return whole - (x < (double)whole);
}

/* Reduces a position so that it fits an integer; NaN becomes 0. Positions far outside give the same element.
 */
static double reduce(double x, uint32_t extent, enum ptx_addressing addressing)
{
    const double far = 2.0 * extent + 4;
    if ((addressing == PTX_WRAP || addressing == PTX_MIRROR) && !(x > -far && x < far))
        x = fmod(x, addressing == PTX_WRAP ? extent : 2.0 * extent);
    return x < -far ? -far : x > far ? far : x == x ? x : 0;
}

static int64_t inside(int64_t index, uint32_t extent, enum ptx_addressing addressing)
{
    const int64_t n = extent, period = addressing == PTX_MIRROR ? 2 * n : n;
    int64_t turned;
    switch (addressing) {
    case PTX_WRAP:
    case PTX_MIRROR:
        turned = (index % period + period) % period;
        return turned < n ? turned : 2 * n - 1 - turned;
    case PTX_CLAMP:
        return index < 0 ? 0 : index < n ? index : n - 1;
    default:
        return index < 0 || index >= n ? -1 : index;
    }
}

/* A filter rounds the position to a weight's bits first, so that a gather reads the element at a weight of 0.
 */
static struct neighbours neighbours_of(double x, uint32_t extent, enum ptx_addressing addressing,
                                       bool filters)
{
    x = reduce(x, extent, addressing);
    if (filters)
        x = (double)whole_of((x - 0.5) * ONE + 0.5) / ONE;
    const int64_t first = whole_of(x);
    return (struct neighbours){{inside(first, extent, addressing), inside(first + 1, extent, addressing)},
                               filters ? (unsigned)((x - (double)first) * ONE) : 0};
}

bool ptx_read_words(struct sampling *sampling, const struct ptx_level *level, const int64_t place[3],
                    uint32_t words[4])
{
    const struct ptx_image *image = sampling->image;
    const unsigned bytes = ptx_channel_bytes(image->channel) * image->channels;
    if (place[0] < 0 || place[1] < 0 || place[2] < 0) {
        ptx_read_border(image, words);
        return true;
    }
    const uint64_t at[3] = {(uint64_t)place[0] * bytes, (uint64_t)place[1], (uint64_t)place[2]};
    const void *from = ptx_reach_element(sampling->warp, sampling->instruction, image, level, at, bytes,
                                         ACCESS_READ, sampling->lane, &sampling->status);
    if (from != NULL)
        ptx_read_element(image, from, words);
    return from != NULL;
}

void ptx_find_neighbours(const struct sampling *sampling, const struct ptx_level *level, bool filters,
                         struct neighbours found[3])
{
    const uint32_t extents[3] = {level->width, level->height, level->depth};
    memset(found, 0, 3 * sizeof *found);
    found[2].at[0] = sampling->layer < level->depth ? sampling->layer : level->depth - 1;
    for (unsigned i = 0; i < sampling->axes; i++) {
        double x = reduce(sampling->position[i], sampling->is_normalized ? 1 : extents[i],
                          sampling->image->addressing[i]);
        if (sampling->is_normalized)
            x = (double)whole_of(x * NORMALIZED_ONE) / NORMALIZED_ONE * extents[i];
        found[i] = neighbours_of(x, extents[i], sampling->image->addressing[i], filters);
    }
    /* An H200 filters a line as an image of one row at y = 0, half of which is the border if y has one. */
    if (sampling->is_row && filters)
        found[1] = neighbours_of(0, 1, sampling->image->addressing[1], true);
}

/* Sums are made in double and rounded once. The order and width of a GPU's sums are not documented. */
static bool filter_level(struct sampling *sampling, const struct ptx_level *level, uint32_t words[4])
{
    struct neighbours near[3];
    double sums[4] = {0};
    ptx_find_neighbours(sampling, level, true, near);
    for (unsigned corner = 0; corner < 8; corner++) {
        int64_t place[3];
        double weight = 1;
        for (unsigned i = 0; i < 3; i++) {
            const unsigned side = corner >> i & 1;
            place[i] = near[i].at[side];
            weight *= (double)(side != 0 ? near[i].weight : ONE - near[i].weight) / ONE;
        }
        if (weight == 0)
            continue;
        if (!ptx_read_words(sampling, level, place, words))
            return false;
        for (unsigned i = 0; i < 4; i++)
            sums[i] += weight * (double)f32_of(words[i]);
    }
    for (unsigned i = 0; i < 4; i++)
        words[i] = (uint32_t)bits_f32((float)sums[i]);
    return true;
}

static bool sample_level(struct sampling *sampling, unsigned number, uint32_t words[4])
{
    const struct ptx_level *level = &sampling->image->levels[number];
    if (sampling->image->filters && !ptx_channel_is_integer(sampling->image->channel))
        return filter_level(sampling, level, words);
    struct neighbours near[3];
    ptx_find_neighbours(sampling, level, false, near);
    const int64_t place[3] = {near[0].at[0], near[1].at[0], near[2].at[0]};
    return ptx_read_words(sampling, level, place, words);
}

bool ptx_sample(struct sampling *sampling, double lod, uint32_t words[4])
{
    const struct ptx_image *image = sampling->image;
    if (image->level_count == 1)
        return sample_level(sampling, 0, words);
    const double most = fmin((double)image->highest_level, image->level_count - 1.0);
    lod = fmax(fmin(lod, most), fmax((double)image->lowest_level, 0)); /* NaN: the lowest level */
    lod = fmin(lod, image->level_count - 1.0);
    if (!image->filters_levels || ptx_channel_is_integer(image->channel))
        return sample_level(sampling, (unsigned)(lod + 0.5), words);
    const unsigned level = (unsigned)lod, weight = (unsigned)((lod - level) * ONE + 0.5);
    uint32_t next[4];
    if (!sample_level(sampling, level, words))
        return false;
    if (weight == 0)
        return true;
    if (!sample_level(sampling, level + 1, next))
        return false;
    for (unsigned i = 0; i < 4; i++)
        words[i] = (uint32_t)bits_f32(
            (float)(((double)f32_of(words[i]) * (ONE - weight) + (double)f32_of(next[i]) * weight) / ONE));
    return true;
}

bool ptx_fetch(struct sampling *sampling, const int32_t coordinates[3], uint32_t words[4])
{
    const struct ptx_level *level = &sampling->image->levels[0];
    const uint32_t extents[3] = {level->width, level->height, level->depth};
    int64_t place[3] = {0, 0, sampling->layer < level->depth ? sampling->layer : level->depth - 1};
    memset(words, 0, 4 * sizeof *words);
    for (unsigned i = 0; i < sampling->axes; i++) {
        if ((uint32_t)coordinates[i] >= extents[i])
            return true;
        place[i] = coordinates[i];
    }
    return ptx_read_words(sampling, level, place, words);
}
