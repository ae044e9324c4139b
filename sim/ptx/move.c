/* mov, special registers, packing of vectors, and conversion of addresses between spaces. */
#include "ptx/engine.h"

/* The value of a special register that is the same for all lanes. */
static uint64_t shared_value(const struct warp *warp, uint8_t special)
{
    const struct block *block = warp->block;
    const struct ptx_launch *launch = block->grid->launch;
    switch (special) {
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z:
        return launch->block[special - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z:
        return block->index[special - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z:
        return launch->grid[special - SPECIAL_NCTAID_X];
    case SPECIAL_WARPID:
        return warp->number;
    case SPECIAL_NWARPID:
        return block->warp_count;
    case SPECIAL_NSMID:
        return 1;
    case SPECIAL_CLOCK:
        return (uint32_t)ptx_now_ns();
    case SPECIAL_CLOCK64:
    case SPECIAL_GLOBALTIMER:
        return ptx_now_ns();
    case SPECIAL_GLOBALTIMER_HI:
        return ptx_now_ns() >> 32;
    case SPECIAL_DYNAMIC_SHARED:
        return launch->shared_bytes;
    case SPECIAL_TOTAL_SHARED:
        return block->shared_bytes;
    case SPECIAL_WORKSPACE_HIGH:
        return launch->cooperative ? (uint64_t)(uintptr_t)block->grid->workspace >> 32 : 0;
    case SPECIAL_WORKSPACE_LOW:
        return launch->cooperative ? (uint32_t)(uintptr_t)block->grid->workspace : 0;
    case SPECIAL_RESERVED_BEGIN:
        return block->shared_bytes - RESERVED_SHARED;
    case SPECIAL_RESERVED_END:
        return block->shared_bytes;
    case SPECIAL_ONE:
        return 1;
    default: /* smid, gridid: one multiprocessor runs one grid */
        return 0;
    }
}

static uint64_t lane_value(uint8_t special, unsigned lane)
{
    switch (special) {
    case SPECIAL_LANEID:
        return lane;
    case SPECIAL_LANEMASK_EQ:
        return UINT32_C(1) << lane;
    case SPECIAL_LANEMASK_LT:
        return (UINT32_C(1) << lane) - 1;
    case SPECIAL_LANEMASK_LE:
        return (UINT64_C(2) << lane) - 1;
    case SPECIAL_LANEMASK_GT:
        return (uint32_t)~((UINT64_C(2) << lane) - 1);
    default: /* SPECIAL_LANEMASK_GE */
        return (uint32_t)~((UINT32_C(1) << lane) - 1);
    }
}

static void read_special(const struct warp *warp, uint8_t special, uint32_t mask, uint64_t *d)
{
    if (special <= SPECIAL_TID_Z) {
        const uint64_t *index = warp->thread_index[special - SPECIAL_TID_X];
        EACH_LANE(mask, lane, d[lane] = index[lane]);
    } else if (special == SPECIAL_LANEID ||
               (special >= SPECIAL_LANEMASK_EQ && special <= SPECIAL_LANEMASK_GT)) {
        EACH_LANE(mask, lane, d[lane] = lane_value(special, lane));
    } else {
        const uint64_t value = shared_value(warp, special);
        EACH_LANE(mask, lane, d[lane] = value);
    }
}

static uint64_t window_of(enum space space)
{
    return space == SPACE_SHARED ? SHARED_WINDOW : space == SPACE_LOCAL ? LOCAL_WINDOW : 0;
}

static enum space space_of(uint64_t address)
{
    const uint64_t window = address & WINDOW_MASK;
    return window == SHARED_WINDOW ? SPACE_SHARED : window == LOCAL_WINDOW ? SPACE_LOCAL : SPACE_GLOBAL;
}

static uint64_t truncate_to(enum type type, uint64_t bits)
{
    switch (ptx_type_bytes(type)) {
    case 1:
        return (uint8_t)bits;
    case 2:
        return (uint16_t)bits;
    case 4:
        return (uint32_t)bits;
    default:
        return bits;
    }
}

enum ptx_status ptx_run_pack(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const unsigned bits = 8 * ptx_type_bytes((enum type)instruction->type);
    if (instruction->operation == OP_UNPACK) {
        const uint64_t *a = operand_values(warp, instruction->from[0]);
        uint64_t copy[LANES]; /* a result may overwrite the source */
        memcpy(copy, a, sizeof copy);
        for (unsigned i = 0; i < instruction->vector; i++) {
            uint64_t *d = result_values(warp, instruction->to[i]);
            EACH_LANE(mask, lane,
                      d[lane] = truncate_to((enum type)instruction->type, copy[lane] >> (bits * i)));
        }
        return PTX_OK;
    }
    uint64_t packed[LANES] = {0};
    for (unsigned i = 0; i < instruction->vector; i++) {
        const uint64_t *a = operand_values(warp, instruction->from[i]);
        EACH_LANE(mask, lane,
                  packed[lane] |= truncate_to((enum type)instruction->type, a[lane]) << (bits * i));
    }
    uint64_t *d = result_values(warp, instruction->to[0]);
    EACH_LANE(mask, lane, d[lane] = packed[lane]);
    return PTX_OK;
}

enum ptx_status ptx_run_move(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *a = operand_values(warp, instruction->from[0]);
    const enum space space = (enum space)instruction->space;
    uint64_t *d = result_values(warp, instruction->to[0]);
    switch (instruction->operation) {
    case OP_MOV:
        EACH_LANE(mask, lane, d[lane] = a[lane]);
        break;
    case OP_MOV_SPECIAL:
        read_special(warp, instruction->variant, mask, d);
        break;
    case OP_ADDRESS_LOCAL:
        if (instruction->variant == SPACE_PARAM)
            EACH_LANE(mask, lane,
                      d[lane] =
                          (uint64_t)(uintptr_t)warp->block->grid->parameters + (uint64_t)instruction->offset);
        else
            EACH_LANE(mask, lane, d[lane] = warp->now->local + (uint64_t)instruction->offset);
        break;
    case OP_ADDRESS_DYNAMIC:
        EACH_LANE(mask, lane, d[lane] = warp->block->dynamic_offset + (uint64_t)instruction->offset);
        break;
    case OP_CVTA:
        EACH_LANE(mask, lane, d[lane] = a[lane] | window_of(space));
        break;
    case OP_CVTA_TO:
        EACH_LANE(mask, lane, d[lane] = window_of(space) != 0 ? a[lane] & ~WINDOW_MASK : a[lane]);
        break;
    case OP_ISSPACEP: {
        const enum space wanted = space == SPACE_CONST || space == SPACE_PARAM ? SPACE_GLOBAL : space;
        uint32_t result = 0;
        EACH_LANE(mask, lane, result |= (uint32_t)(space_of(a[lane]) == wanted) << lane);
        set_predicate(warp, instruction->to[0], mask, result);
        break;
    }
    default:
        break;
    }
    return PTX_OK;
}
