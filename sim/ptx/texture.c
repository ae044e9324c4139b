/* tex and tld4: where each lane reads. */
#include "ptx/number.h"
#include "ptx/sample.h"

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
    sampling->is_row = access->geometry == GEOMETRY_1D;
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

static void write_results(struct warp *warp, const struct instruction *instruction, const uint32_t words[4],
                          unsigned lane)
{
    for (unsigned i = 0; i < 4; i++)
        result_values(warp, instruction->to[i])[lane] = words[i];
}

/* Arrays without gaps are always resident. */
static enum ptx_status finish(struct warp *warp, const struct image_access *access, uint32_t mask)
{
    if (access->resident.kind == OPERAND_PREDICATE)
        set_predicate(warp, access->resident, mask, ALL_LANES);
    return PTX_OK;
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
        if (whole ? !ptx_fetch(&sampling, coordinates, words) : !ptx_sample(&sampling, level, words))
            return sampling.status;
        write_results(warp, instruction, words, lane);
    });
    return finish(warp, access, mask);
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
        ptx_find_neighbours(&sampling, &sampling.image->levels[0], near);
        for (unsigned i = 0; i < 4; i++) {
            const int64_t at[3] = {near[0].at[columns[i]], near[1].at[rows[i]], near[2].at[0]};
            uint32_t words[4];
            if (!ptx_read_words(&sampling, &sampling.image->levels[0], at, words))
                return sampling.status;
            result[i] = words[instruction->variant];
        }
        write_results(warp, instruction, result, lane);
    });
    return finish(warp, access, mask);
}
