/* Queries of textures and surfaces. */
#include "ptx/texel.h"

/* PTX defines channel types and orders only for OpenCL; these are the numbers of CL/cl.h. */
static uint32_t channel_type(enum ptx_channel channel)
{
    static const uint16_t types[] = {0x10da, 0x10d7, 0x10db, 0x10d8, 0x10dc, 0x10d9,
                                     0x10dd, 0x10de, 0x10d2, 0x10d0, 0x10d3, 0x10d1};
    return types[channel];
}

static uint32_t channel_order(unsigned channels)
{
    return channels == 1 ? 0x10b0 : channels == 2 ? 0x10b2 : 0x10b5;
}

static uint32_t answer(const struct ptx_image *image, enum image_query query, uint32_t number)
{
    const struct ptx_level *level =
        &image->levels[number < image->level_count ? number : image->level_count - 1];
    const bool layers = image->has_layers || image->is_cube;
    switch (query) {
    case QUERY_WIDTH:
        return level->width;
    case QUERY_HEIGHT:
        return level->height;
    case QUERY_DEPTH:
        return layers ? 1 : level->depth;
    case QUERY_CHANNEL_TYPE:
        return channel_type(image->channel);
    case QUERY_CHANNEL_ORDER:
        return channel_order(image->channels);
    case QUERY_ARRAY_SIZE:
        return !image->has_layers ? 0 : image->is_cube ? level->depth / 6 : level->depth;
    case QUERY_LEVELS:
        return image->level_count;
    case QUERY_NORMALIZED:
        return image->has_normalized_coordinates;
    default:
        return 1; /* samples per element */
    }
}

enum ptx_status ptx_run_image_query(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const struct grid *grid = warp->block->grid;
    const struct ptx_memory *memory = &grid->launch->memory;
    const struct image_access *access = &grid->module->accesses[instruction->list];
    const bool is_surface = instruction->logic == 1;
    enum ptx_status status = PTX_OK;
    uint32_t yes = 0;
    EACH_LANE(mask, lane, {
        const uint64_t handle = operand_values(warp, access->image)[lane];
        if (instruction->operation == OP_IMAGE_TEST) {
            struct ptx_image image;
            yes |= (uint32_t)(instruction->logic < 2 && memory->image != NULL &&
                              memory->image(memory->context, handle, is_surface, &image))
                   << lane;
            continue;
        }
        const struct ptx_image *image = ptx_find_image(warp, instruction, handle, is_surface, &status);
        if (image == NULL)
            return status;
        const uint32_t level =
            access->level_mode == LEVEL_GIVEN ? (uint32_t)operand_values(warp, access->level)[lane] : 0;
        result_values(warp, instruction->to[0])[lane] =
            answer(image, (enum image_query)instruction->variant, level);
    });
    if (instruction->operation == OP_IMAGE_TEST)
        set_predicate(warp, instruction->to[0], mask, yes);
    return PTX_OK;
}
