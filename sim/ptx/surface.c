/* suld, sust and sured: access elements of surfaces by position. */
#include "ptx/number.h"
#include "ptx/texel.h"

/* One lane's access. */
struct touch {
    struct warp *warp;
    const struct instruction *instruction;
    const struct image_access *access;
    const struct ptx_image *image;
    unsigned lane, bytes;
    enum ptx_status status;
};

/* The host address of the lane's element. NULL: `status` is a fault, or PTX_OK outside the surface with
 * .zero. */
static void *locate(struct touch *touch)
{
    const struct image_access *access = touch->access;
    const struct ptx_level *level = &touch->image->levels[0];
    const uint64_t element = (uint64_t)ptx_channel_bytes(touch->image->channel) * touch->image->channels;
    const uint64_t row = level->width * element;
    const uint64_t scale = access->is_formatted ? element : 1;
    const int64_t extents[3] = {row < touch->bytes ? 0 : (int64_t)((row - touch->bytes) / scale) + 1,
                                level->height, level->depth};
    uint64_t place[3] = {0};
    for (unsigned i = 0; i < 3; i++) {
        const bool layer = i == 2 && access->layer.kind != OPERAND_NONE;
        const struct operand operand = layer ? access->layer : access->coordinates[i];
        if (operand.kind == OPERAND_NONE)
            continue;
        const uint64_t bits = operand_values(touch->warp, operand)[touch->lane];
        int64_t at = layer ? (int64_t)(uint32_t)bits : (int64_t)(int32_t)bits;
        if (at < 0 || at >= extents[i]) {
            if (access->boundary == BOUNDARY_ZERO || extents[i] == 0)
                return NULL;
            if (access->boundary == BOUNDARY_TRAP) {
                touch->status = ptx_fault(touch->warp, touch->instruction, PTX_ILLEGAL_ADDRESS,
                                          "coordinates outside the surface", bits);
                return NULL;
            }
            at = at < 0 ? 0 : extents[i] - 1;
            at -= i == 0 && !access->is_formatted ? at % (int64_t)touch->bytes : 0;
        }
        place[i] = (uint64_t)at * (i == 0 ? scale : 1);
    }
    if (place[0] % (access->is_formatted ? element : touch->bytes) == 0)
        return ptx_reach_element(touch->warp, touch->instruction, touch->image, level, place, touch->bytes,
                                 ACCESS_WRITE, touch->lane, &touch->status);
    touch->status = ptx_fault(touch->warp, touch->instruction, PTX_MISALIGNED,
                              "the byte offset in a surface is not a multiple of the access size", place[0]);
    return NULL;
}

static void load(const struct touch *touch, const unsigned char *from)
{
    const unsigned part = ptx_type_bytes((enum type)touch->instruction->type);
    for (unsigned i = 0; i < touch->instruction->vector; i++) {
        uint64_t bits = 0;
        if (from != NULL)
            memcpy(&bits, from + i * part, part);
        result_values(touch->warp, touch->instruction->to[i])[touch->lane] = bits;
    }
}

static void store(const struct touch *touch, unsigned char *to)
{
    const unsigned part = ptx_type_bytes((enum type)touch->instruction->type);
    uint32_t words[4] = {0};
    for (unsigned i = 0; i < touch->instruction->vector; i++) {
        const uint64_t bits = operand_values(touch->warp, touch->instruction->from[i])[touch->lane];
        words[i] = (uint32_t)bits;
        if (!touch->access->is_formatted)
            memcpy(to + i * part, &bits, part);
    }
    if (touch->access->is_formatted)
        ptx_write_element(touch->image, words, to);
}

static void reduce(const struct touch *touch, void *at)
{
    struct instruction instruction = *touch->instruction;
    if (touch->access->is_formatted)
        instruction.type = touch->image->channel == PTX_CHANNEL_S32 ? T_S32 : T_U32;
    (void)ptx_update_atomically(&instruction, at,
                                operand_values(touch->warp, instruction.from[0])[touch->lane], 0);
}

/* Bytes that a lane accesses; 0: the surface's format does not support it. */
static unsigned access_bytes(const struct instruction *instruction, const struct image_access *access,
                             const struct ptx_image *image)
{
    if (!access->is_formatted)
        return ptx_type_bytes((enum type)instruction->type) * instruction->vector;
    if (instruction->operation == OP_SURFACE_REDUCE)
        return image->channels == 1 &&
                       (image->channel == PTX_CHANNEL_U32 || image->channel == PTX_CHANNEL_S32)
                   ? 4
                   : 0;
    return ptx_channel_bytes(image->channel) * image->channels;
}

enum ptx_status ptx_run_surface(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const struct image_access *access = &warp->block->grid->module->accesses[instruction->list];
    EACH_LANE(mask, lane, {
        struct touch touch = {.warp = warp, .instruction = instruction, .access = access, .lane = lane};
        const uint64_t handle = operand_values(warp, access->image)[lane];
        touch.image = ptx_find_image(warp, instruction, handle, true, &touch.status);
        if (touch.image == NULL)
            return touch.status;
        touch.bytes = access_bytes(instruction, access, touch.image);
        if (touch.bytes == 0)
            return ptx_fault(warp, instruction, PTX_ILLEGAL_INSTRUCTION,
                             "sured.p needs a surface of one 32-bit integer channel", handle);
        void *at = locate(&touch);
        if (touch.status != PTX_OK)
            return touch.status;
        if (instruction->operation == OP_SURFACE_LOAD)
            load(&touch, at);
        else if (at != NULL && instruction->operation == OP_SURFACE_STORE)
            store(&touch, at);
        else if (at != NULL && (uintptr_t)at % touch.bytes != 0) /* larger than the elements */
            return ptx_fault(warp, instruction, PTX_MISALIGNED, "misaligned address", (uintptr_t)at);
        else if (at != NULL)
            reduce(&touch, at);
    });
    return PTX_OK;
}
