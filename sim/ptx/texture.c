/* tex and tld4: read and filter elements of textures (CUDA C++ Programming Guide, "Texture Fetching"). */
#include "ptx/number.h"
#include "ptx/texel.h"

/* A weight has 8 fraction bits, and 1.0 is exact (Programming Guide, "Linear Filtering"). */
#define ONE 256u

/* One lane's access. */
struct sampling {
    struct warp *warp;
    const struct instruction *instruction;
    const struct ptx_image *image;
    unsigned lane;
    unsigned axes;      /* dimensions that have a position */
    double position[3]; /* in elements, or from 0 to 1 over each dimension if `is_normalized` */
    bool is_normalized;
    uint32_t layer; /* the slice, if z has no position */
    enum ptx_status status;
};

/* The elements on both sides of a position, and the weight of the second in 1/ONE. -1: the border. */
struct neighbours {
    int64_t at[2];
    unsigned weight;
};

/* Reduces a position so that it fits an integer; NaN becomes 0. Positions far outside give the same element.
 */
static double reduce(double x, uint32_t extent, enum ptx_addressing addressing)
{
    if (addressing == PTX_WRAP || addressing == PTX_MIRROR)
        x = fmod(x, addressing == PTX_WRAP ? extent : 2.0 * extent);
    return x == x ? fmin(fmax(x, -2.0 * extent - 4), 2.0 * extent + 4) : 0;
}

static int64_t inside(int64_t index, uint32_t extent, enum ptx_addressing addressing)
{
    const int64_t n = extent, period = addressing == PTX_MIRROR ? 2 * n : n;
    const int64_t turned = (index % period + period) % period;
    switch (addressing) {
    case PTX_WRAP:
        return turned;
    case PTX_MIRROR:
        return turned < n ? turned : 2 * n - 1 - turned;
    case PTX_CLAMP:
        return index < 0 ? 0 : index < n ? index : n - 1;
    default:
        return index < 0 || index >= n ? -1 : index;
    }
}

static struct neighbours neighbours_of(double x, uint32_t extent, enum ptx_addressing addressing,
                                       bool filters)
{
    x = reduce(x, extent, addressing) - (filters ? 0.5 : 0);
    const double whole = floor(x);
    const int64_t first = (int64_t)whole;
    return (struct neighbours){{inside(first, extent, addressing), inside(first + 1, extent, addressing)},
                               filters ? (unsigned)floor((x - whole) * ONE + 0.5) : 0};
}

static bool read_words(struct sampling *sampling, const struct ptx_level *level, const int64_t place[3],
                       uint32_t words[4])
{
    const struct ptx_image *image = sampling->image;
    const unsigned bytes = ptx_channel_bytes(image->channel) * image->channels;
    if (place[0] < 0 || place[1] < 0 || place[2] < 0) {
        words[1] = words[2] = 0;
        words[3] = ptx_channel_is_integer(image->channel) ? 1 : (uint32_t)bits_f32(1.0f);
        memcpy(words, image->border, image->channels * sizeof *words);
        return true;
    }
    const uint64_t at[3] = {(uint64_t)place[0] * bytes, (uint64_t)place[1], (uint64_t)place[2]};
    const void *from = ptx_reach_element(sampling->warp, sampling->instruction, image, level, at, bytes,
                                         ACCESS_READ, sampling->lane, &sampling->status);
    if (from != NULL)
        ptx_read_element(image, from, words);
    return from != NULL;
}

static void find_neighbours(const struct sampling *sampling, const struct ptx_level *level, bool filters,
                            struct neighbours found[3])
{
    const uint32_t extents[3] = {level->width, level->height, level->depth};
    memset(found, 0, 3 * sizeof *found);
    found[2].at[0] = sampling->layer < level->depth ? sampling->layer : level->depth - 1;
    for (unsigned i = 0; i < sampling->axes; i++) {
        const double x = sampling->position[i] * (sampling->is_normalized ? extents[i] : 1.0);
        found[i] = neighbours_of(x, extents[i], sampling->image->addressing[i], filters);
    }
}

/* Sums are made in double and rounded once. The order and width of a GPU's sums are not documented. */
static bool filter_level(struct sampling *sampling, const struct ptx_level *level, uint32_t words[4])
{
    struct neighbours near[3];
    double sums[4] = {0};
    find_neighbours(sampling, level, true, near);
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
        if (!read_words(sampling, level, place, words))
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
    find_neighbours(sampling, level, false, near);
    const int64_t place[3] = {near[0].at[0], near[1].at[0], near[2].at[0]};
    return read_words(sampling, level, place, words);
}

static bool sample(struct sampling *sampling, double lod, uint32_t words[4])
{
    const struct ptx_image *image = sampling->image;
    const double most = fmin((double)image->highest_level, image->level_count - 1.0);
    lod = fmax(fmin(lod, most), fmax((double)image->lowest_level, 0)); /* NaN: the lowest level */
    lod = fmin(lod, image->level_count - 1.0);
    if (!image->filters_levels || ptx_channel_is_integer(image->channel))
        return sample_level(sampling, (unsigned)floor(lod + 0.5), words);
    const unsigned level = (unsigned)lod, weight = (unsigned)floor((lod - level) * ONE + 0.5);
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

/* Integer coordinates select one element. Outside the image all channels are 0. */
static bool fetch(struct sampling *sampling, const int32_t coordinates[3], uint32_t words[4])
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
    return read_words(sampling, level, place, words);
}

/* The level of a gradient: one element of it covers one step of the longer derivative. */
static double level_of(const struct sampling *sampling, double gradients[2][3])
{
    const struct ptx_level *level = &sampling->image->levels[0];
    const uint32_t extents[3] = {level->width, level->height, level->depth};
    double longest = 0;
    for (unsigned d = 0; d < 2; d++) {
        double square = 0;
        for (unsigned i = 0; i < sampling->axes; i++) {
            const double step = gradients[d][i] * (sampling->is_normalized ? extents[i] : 1.0);
            square += step * step;
        }
        longest = fmax(longest, square);
    }
    return longest > 0 ? log2(longest) / 2 : -INFINITY;
}

/* Sets where a lane reads; returns the level. */
static double place(struct sampling *sampling, const struct image_access *access)
{
    struct warp *warp = sampling->warp;
    const unsigned lane = sampling->lane;
    const bool cube = access->geometry == GEOMETRY_CUBE || access->geometry == GEOMETRY_LAYERS_CUBE;
    double gradients[2][3] = {{0}};
    sampling->axes = dimensions_of(access->geometry);
    sampling->is_normalized = sampling->image->has_normalized_coordinates;
    if (access->layer.kind != OPERAND_NONE)
        sampling->layer = (uint32_t)operand_values(warp, access->layer)[lane];
    for (unsigned i = 0; i < sampling->axes; i++) {
        sampling->position[i] = (double)f32_of(operand_values(warp, access->coordinates[i])[lane]);
        for (unsigned d = 0; access->level_mode == LEVEL_GRADIENT && d < 2; d++)
            gradients[d][i] = (double)f32_of(operand_values(warp, access->gradients[d][i])[lane]);
    }
    if (cube) {
        struct cube_place on;
        ptx_place_on_cube(sampling->position, (const double (*)[3])gradients, &on);
        const uint32_t cubes = sampling->image->levels[0].depth / 6;
        const uint32_t number = sampling->layer < cubes ? sampling->layer : cubes != 0 ? cubes - 1 : 0;
        sampling->axes = 2;
        sampling->is_normalized = true;
        sampling->layer = number * 6 + on.face;
        sampling->position[0] = on.s;
        sampling->position[1] = on.t;
        for (unsigned d = 0; d < 2; d++)
            memcpy(gradients[d], on.gradients[d], sizeof on.gradients[d]);
    }
    if (access->level_mode == LEVEL_BASE)
        return 0;
    const double given = access->level_mode == LEVEL_GIVEN
                             ? (double)f32_of(operand_values(warp, access->level)[lane])
                             : level_of(sampling, gradients);
    return given + (double)sampling->image->bias;
}

/* Finds the texture of a lane; false after a fault. */
static bool begin(struct sampling *sampling, struct warp *warp, const struct instruction *instruction,
                  const struct image_access *access, unsigned lane)
{
    *sampling = (struct sampling){.warp = warp, .instruction = instruction, .lane = lane};
    sampling->image = ptx_find_image(warp, instruction, operand_values(warp, access->image)[lane], false,
                                     &sampling->status);
    return sampling->image != NULL;
}

static void finish(struct warp *warp, const struct instruction *instruction,
                   const struct image_access *access, const uint32_t words[4], unsigned lane)
{
    for (unsigned i = 0; i < 4; i++)
        result_values(warp, instruction->to[i])[lane] = words[i];
    if (access->resident.kind == OPERAND_PREDICATE) /* arrays without gaps are always resident */
        set_predicate(warp, access->resident, 1u << lane, ALL_LANES);
}

enum ptx_status ptx_run_texture(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const struct image_access *access = &warp->block->grid->module->accesses[instruction->list];
    const bool whole = instruction->source == T_S32;
    EACH_LANE(mask, lane, {
        struct sampling sampling;
        uint32_t words[4];
        if (!begin(&sampling, warp, instruction, access, lane))
            return sampling.status;
        const double level = place(&sampling, access);
        int32_t coordinates[3] = {0};
        for (unsigned i = 0; whole && i < sampling.axes; i++)
            coordinates[i] = (int32_t)operand_values(warp, access->coordinates[i])[lane];
        if (whole ? !fetch(&sampling, coordinates, words) : !sample(&sampling, level, words))
            return sampling.status;
        finish(warp, instruction, access, words, lane);
    });
    return PTX_OK;
}

/* tld4: one channel of the four elements that bilinear filtering reads, counter-clockwise from the lower
 * left. */
enum ptx_status ptx_run_gather(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    static const unsigned char columns[] = {0, 1, 1, 0}, rows[] = {1, 1, 0, 0};
    const struct image_access *access = &warp->block->grid->module->accesses[instruction->list];
    EACH_LANE(mask, lane, {
        struct sampling sampling;
        struct neighbours near[3];
        uint32_t result[4];
        if (!begin(&sampling, warp, instruction, access, lane))
            return sampling.status;
        (void)place(&sampling, access);
        find_neighbours(&sampling, &sampling.image->levels[0], true, near);
        for (unsigned i = 0; i < 4; i++) {
            const int64_t at[3] = {near[0].at[columns[i]], near[1].at[rows[i]], near[2].at[0]};
            uint32_t words[4];
            if (!read_words(&sampling, &sampling.image->levels[0], at, words))
                return sampling.status;
            result[i] = words[instruction->variant];
        }
        finish(warp, instruction, access, result, lane);
    });
    return PTX_OK;
}
