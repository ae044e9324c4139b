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
    if (index >= 0 && index < n)
        return index;
    switch (addressing) {
    case PTX_WRAP:
    case PTX_MIRROR:
        turned = (index % period + period) % period;
        return turned < n ? turned : 2 * n - 1 - turned;
    case PTX_CLAMP:
        return index < 0 ? 0 : n - 1;
    default:
        return -1;
    }
}

/* A position along one axis, in elements. */
static double position_of(const struct sampling *sampling, unsigned axis, uint32_t extent)
{
    const double x = reduce(sampling->position[axis], sampling->is_normalized ? 1 : extent,
                            sampling->image->addressing[axis]);
    return sampling->is_normalized ? (double)whole_of(x * NORMALIZED_ONE) / NORMALIZED_ONE * extent : x;
}

static uint32_t layer_of(const struct sampling *sampling, const struct ptx_level *level)
{
    return sampling->layer < level->depth ? sampling->layer : level->depth - 1;
}

/* Rounds the position to a weight's bits first, so that a gather reads the element at a weight of 0. */
static struct neighbours neighbours_of(double x, uint32_t extent, enum ptx_addressing addressing)
{
    x = (double)whole_of((x - 0.5) * ONE + 0.5) / ONE;
    const int64_t first = whole_of(x);
    return (struct neighbours){{inside(first, extent, addressing), inside(first + 1, extent, addressing)},
                               (unsigned)((x - (double)first) * ONE)};
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

void ptx_find_neighbours(const struct sampling *sampling, const struct ptx_level *level,
                         struct neighbours found[3])
{
    const uint32_t extents[3] = {level->width, level->height, level->depth};
    memset(found, 0, 3 * sizeof *found);
    found[2].at[0] = layer_of(sampling, level);
    for (unsigned i = 0; i < sampling->axes; i++)
        found[i] =
            neighbours_of(position_of(sampling, i, extents[i]), extents[i], sampling->image->addressing[i]);
    /* An H200 filters a line as an image of one row at y = 0, half of which is the border if y has one. */
    if (sampling->is_row)
        found[1] = neighbours_of(0, 1, sampling->image->addressing[1]);
}

static double weight_of(const struct neighbours *near, unsigned side)
{
    return (double)(side != 0 ? near->weight : ONE - near->weight) / ONE;
}

/* Sums are made in double and rounded once. The order and width of a GPU's sums are not documented. */
static bool filter_level(struct sampling *sampling, const struct ptx_level *level, uint32_t words[4])
{
    struct neighbours near[3];
    double sums[4] = {0};
    ptx_find_neighbours(sampling, level, near);
    for (unsigned z = 0; z <= (near[2].weight != 0); z++)
        for (unsigned y = 0; y <= (near[1].weight != 0); y++)
            for (unsigned x = 0; x <= (near[0].weight != 0); x++) {
                const int64_t place[3] = {near[0].at[x], near[1].at[y], near[2].at[z]};
                const double weight =
                    weight_of(&near[0], x) * weight_of(&near[1], y) * weight_of(&near[2], z);
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
    const uint32_t extents[3] = {level->width, level->height, level->depth};
    int64_t place[3] = {0, 0, layer_of(sampling, level)};
    for (unsigned i = 0; i < sampling->axes; i++)
        place[i] = inside(whole_of(position_of(sampling, i, extents[i])), extents[i],
                          sampling->image->addressing[i]);
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
    int64_t place[3] = {0, 0, layer_of(sampling, level)};
    memset(words, 0, 4 * sizeof *words);
    for (unsigned i = 0; i < sampling->axes; i++) {
        if ((uint32_t)coordinates[i] >= extents[i])
            return true;
        place[i] = coordinates[i];
    }
    return ptx_read_words(sampling, level, place, words);
}
