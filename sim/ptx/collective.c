/* Exchange between the lanes of a warp: shfl, vote, match, redux, elect, activemask. */
#include "ptx/engine.h"

static uint32_t members_of(const struct warp *warp, struct operand operand, uint32_t mask)
{
    if (operand.kind == OPERAND_NONE)
        return mask;
    const uint32_t members = (uint32_t)operand_values(warp, operand)[__builtin_ctz(mask)] & mask;
    return members != 0 ? members
                        : mask; /* undefined behaviour on a GPU, too: the lane is missing from its own mask */
}

/* PTX ISA, shfl: c holds the clamp in its low five bits and the segment mask in bits 8 to 12. */
enum ptx_status ptx_run_shuffle(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *b = operand_values(warp, instruction->from[1]),
                   *c = operand_values(warp, instruction->from[2]);
    uint64_t values[LANES], *d = result_values(warp, instruction->to[0]);
    uint32_t in_range = 0;
    memcpy(values, operand_values(warp, instruction->from[0]), sizeof values);
    EACH_LANE(mask, lane, {
        const uint32_t by = (uint32_t)b[lane] & 31, clamp = (uint32_t)c[lane] & 31;
        const uint32_t segment = (uint32_t)(c[lane] >> 8) & 31;
        const uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment;
        int from = (int)lane;
        bool good = true;
        switch (instruction->variant) {
        case SHFL_UP:
            from = (int)lane - (int)by;
            good = from >= (int)most;
            break;
        case SHFL_DOWN:
            from = (int)(lane + by);
            good = from <= (int)most;
            break;
        case SHFL_BFLY:
            from = (int)(lane ^ by);
            good = from <= (int)most;
            break;
        default:
            from = (int)(least | (by & ~segment));
            good = from <= (int)most;
            break;
        }
        if (!good)
            from = (int)lane;
        in_range |= (uint32_t)good << lane;
        d[lane] = (uint32_t)values[from];
    });
    if (instruction->to[1].kind == OPERAND_PREDICATE)
        set_predicate(warp, instruction->to[1], mask, in_range);
    return PTX_OK;
}

static void run_vote(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint32_t members = members_of(warp, instruction->from[1], mask);
    const uint32_t yes = predicate_mask(warp, instruction->from[0]) & members;
    bool result = false;
    switch (instruction->variant) {
    case VOTE_ALL:
        result = yes == members;
        break;
    case VOTE_ANY:
        result = yes != 0;
        break;
    case VOTE_UNI:
        result = yes == 0 || yes == members;
        break;
    default: {
        uint64_t *d = result_values(warp, instruction->to[0]);
        EACH_LANE(mask, lane, d[lane] = yes);
        return;
    }
    }
    set_predicate(warp, instruction->to[0], mask, result ? ALL_LANES : 0);
}

static void run_match(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint32_t members = members_of(warp, instruction->from[1], mask);
    const uint64_t keep = instruction->type == T_B64 ? UINT64_MAX : UINT32_MAX;
    uint64_t values[LANES], *d = result_values(warp, instruction->to[0]);
    memcpy(values, operand_values(warp, instruction->from[0]), sizeof values);
    uint32_t all_alike = ALL_LANES;
    EACH_LANE(mask, lane, {
        uint32_t alike = 0;
        for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
            const unsigned other = (unsigned)__builtin_ctz(rest);
            alike |= (uint32_t)((values[other] & keep) == (values[lane] & keep)) << other;
        }
        d[lane] = alike;
        if (alike != members)
            all_alike = 0;
    });
    if (instruction->variant == VOTE_ALL) {
        EACH_LANE(mask, lane, d[lane] = all_alike & members);
        if (instruction->to[1].kind == OPERAND_PREDICATE)
            set_predicate(warp, instruction->to[1], mask, all_alike);
    }
}

/* The variants are add, min, max, and, or, xor, in the order of ptx_decode_collective. */
static uint32_t reduce(const struct instruction *instruction, uint32_t x, uint32_t y)
{
    const bool is_signed = instruction->type == T_S32;
    const bool less = is_signed ? (int32_t)x < (int32_t)y : x < y;
    switch (instruction->variant) {
    case 0:
        return x + y;
    case 1:
        return less ? x : y;
    case 2:
        return less ? y : x;
    case 3:
        return x & y;
    case 4:
        return x | y;
    default:
        return x ^ y;
    }
}

static void run_redux(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint32_t members = members_of(warp, instruction->from[1], mask);
    const uint64_t *a = operand_values(warp, instruction->from[0]);
    uint64_t *d = result_values(warp, instruction->to[0]);
    uint32_t result = 0;
    bool first = true;
    for (uint32_t rest = members; rest != 0; rest &= rest - 1, first = false) {
        const uint32_t value = (uint32_t)a[__builtin_ctz(rest)];
        result = first ? value : reduce(instruction, result, value);
    }
    EACH_LANE(mask, lane, d[lane] = result);
}

static void run_elect(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const unsigned leader = (unsigned)__builtin_ctz(members_of(warp, instruction->from[1], mask));
    uint64_t *d = result_values(warp, instruction->to[0]);
    EACH_LANE(mask, lane, d[lane] = leader);
    set_predicate(warp, instruction->to[1], mask, UINT32_C(1) << leader);
}

static void run_among(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    switch (instruction->operation) {
    case OP_VOTE:
        run_vote(warp, instruction, mask);
        break;
    case OP_MATCH:
        run_match(warp, instruction, mask);
        break;
    case OP_REDUX:
        run_redux(warp, instruction, mask);
        break;
    default:
        run_elect(warp, instruction, mask);
        break;
    }
}

/* Runs lanes with different member masks as separate collectives. Tiles of cooperative groups need this:
 * several tiles execute one instruction together. */
enum ptx_status ptx_run_collective(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const struct operand operand = instruction->from[1];
    uint64_t members[LANES];
    if (operand.kind != OPERAND_REGISTER) {
        run_among(warp, instruction, mask);
        return PTX_OK;
    }
    memcpy(members, operand_values(warp, operand),
           sizeof members); /* the result may overwrite this register */
    while (mask != 0) {
        const uint32_t wanted = (uint32_t)members[__builtin_ctz(mask)];
        uint32_t together = 0;
        EACH_LANE(mask, lane, together |= (uint32_t)((uint32_t)members[lane] == wanted) << lane);
        run_among(warp, instruction, together);
        mask &= ~together;
    }
    return PTX_OK;
}

enum ptx_status ptx_run_activemask(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    uint64_t *d = result_values(warp, instruction->to[0]);
    EACH_LANE(mask, lane, d[lane] = mask);
    return PTX_OK;
}
