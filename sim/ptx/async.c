/* cp.async and cp.async.bulk, executed synchronously, and mbarrier, a barrier in shared memory. The ISA
 * leaves the 64 bits of an mbarrier object opaque. Here they hold: 20 bits of pending arrivals, 20 bits of
 * expected arrivals, 23 bits of pending bytes, 1 bit of phase. Plain accesses are enough: the threads of a
 * block share one host thread. */
#include "ptx/engine.h"

enum { COUNT_BITS = 20, BYTES_BITS = 23 };
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define BYTES_MASK ((UINT64_C(1) << BYTES_BITS) - 1)

struct mbarrier_state {
    uint64_t pending, expected, bytes, phase;
};

static struct mbarrier_state unpack_barrier(uint64_t word)
{
    return (struct mbarrier_state){word & COUNT_MASK, word >> COUNT_BITS & COUNT_MASK,
                                   word >> (2 * COUNT_BITS) & BYTES_MASK, word >> 63};
}

static uint64_t pack_barrier(struct mbarrier_state state)
{
    return (state.pending & COUNT_MASK) | (state.expected & COUNT_MASK) << COUNT_BITS |
           (state.bytes & BYTES_MASK) << (2 * COUNT_BITS) | state.phase << 63;
}

/* Starts the next phase once no arrival and no byte is pending. A copy may come before the bytes are
 * expected: the count is then below 0, modulo its width. */
static void complete(struct mbarrier_state *state)
{
    if (state->pending != 0 || (state->bytes & BYTES_MASK) != 0)
        return;
    state->pending = state->expected;
    state->phase ^= 1;
}

/* Runs the operation for one lane and returns its result. */
static uint64_t operate(uint8_t variant, uint64_t *word, uint64_t value, bool given)
{
    struct mbarrier_state state = unpack_barrier(*word);
    const uint64_t before = *word, count = given ? value : 1;
    switch (variant) {
    case MBARRIER_INIT:
        state = (struct mbarrier_state){.pending = value, .expected = value};
        break;
    case MBARRIER_INVALIDATE:
        state = (struct mbarrier_state){0};
        break;
    case MBARRIER_EXPECT:
        state.bytes += value;
        break;
    case MBARRIER_COMPLETE:
        state.bytes -= value;
        complete(&state);
        break;
    case MBARRIER_ARRIVE_EXPECT:
        state.bytes += value;
        state.pending--;
        complete(&state);
        break;
    case MBARRIER_ARRIVE_DROP:
        state.expected -= count;
        state.pending -= count;
        complete(&state);
        break;
    case MBARRIER_ARRIVE:
        state.pending -= count;
        complete(&state);
        break;
    case MBARRIER_TEST:
        return state.phase != value >> 63;
    default: /* tests whether the phase of that parity has completed */
        return state.phase != (value & 1);
    }
    *word = pack_barrier(state);
    return before;
}

enum ptx_status ptx_run_mbarrier(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *values = operand_values(warp, instruction->from[1]);
    const bool given = instruction->from[1].kind != OPERAND_NONE;
    uint64_t addresses[LANES], results[LANES];
    enum ptx_status status = PTX_OK;
    uint32_t truth = 0;
    memcpy(addresses, operand_values(warp, instruction->from[0]), sizeof addresses);
    EACH_LANE(mask, lane, {
        if (instruction->variant == MBARRIER_PENDING) {
            results[lane] = unpack_barrier(values[lane]).pending;
            continue;
        }
        uint64_t *word =
            ptx_reach(warp, instruction, (enum space)instruction->space,
                      addresses[lane] + (uint64_t)instruction->offset, 8, ACCESS_WRITE, lane, &status);
        if (word == NULL)
            return status;
        results[lane] = operate(instruction->variant, word, values[lane], given);
        truth |= (uint32_t)(results[lane] & 1) << lane;
    });
    if (instruction->to[0].kind == OPERAND_PREDICATE) {
        set_predicate(warp, instruction->to[0], mask, truth);
    } else if (instruction->to[0].kind == OPERAND_REGISTER) {
        uint64_t *d = result_values(warp, instruction->to[0]);
        EACH_LANE(mask, lane, d[lane] = results[lane]);
    }
    const bool tests = instruction->variant == MBARRIER_TEST || instruction->variant == MBARRIER_TEST_PARITY;
    return tests && truth != mask ? PTX_WAITS : PTX_OK;
}

/* Copies 4, 8 or 16 bytes for each lane, if all lanes' addresses are valid. */
static bool copy_all(struct warp *warp, const struct instruction *instruction, uint32_t mask, unsigned bytes)
{
    const uint64_t *to = operand_values(warp, instruction->to[0]),
                   *from = operand_values(warp, instruction->from[0]);
    const uint64_t to_offset = (uint64_t)(int64_t)(int32_t)instruction->list;
    const uint64_t from_offset = (uint64_t)instruction->offset;
    struct view target, source;
    if (!ptx_all_in_space(warp, SPACE_SHARED, to, to_offset, mask, bytes, ACCESS_WRITE, &target) ||
        !ptx_all_in_space(warp, SPACE_GLOBAL, from, from_offset, mask, bytes, ACCESS_READ, &source))
        return false;
    EACH_LANE(mask, lane, {
        void *into = (void *)(target.base + ((to[lane] + to_offset) & target.mask));
        const void *out_of = (const void *)(source.base + ((from[lane] + from_offset) & source.mask));
        if (bytes == 16)
            memcpy(into, out_of, 16);
        else if (bytes == 8)
            memcpy(into, out_of, 8);
        else
            memcpy(into, out_of, 4);
    });
    return true;
}

/* Copies from global to shared memory; fills bytes beyond the source size with zeros. */
enum ptx_status ptx_run_copy_async(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *to = operand_values(warp, instruction->to[0]),
                   *from = operand_values(warp, instruction->from[0]);
    const uint64_t *sizes = operand_values(warp, instruction->from[1]);
    const bool sized = instruction->from[1].kind != OPERAND_NONE;
    const unsigned bytes = instruction->vector;
    const uint64_t to_offset = (uint64_t)(int64_t)(int32_t)instruction->list;
    enum ptx_status status = PTX_OK;
    if (!sized && copy_all(warp, instruction, mask, bytes))
        return PTX_OK;
    EACH_LANE(mask, lane, {
        const uint32_t given = sized ? (uint32_t)sizes[lane] : bytes;
        const unsigned copied = given < bytes ? given : bytes;
        unsigned char *target = ptx_reach(warp, instruction, SPACE_SHARED, to[lane] + to_offset, bytes,
                                          ACCESS_WRITE, lane, &status);
        if (target == NULL)
            return status;
        memset(target, 0, bytes);
        if (copied == 0)
            continue;
        const void *source =
            ptx_reach(warp, instruction, SPACE_GLOBAL, from[lane] + (uint64_t)instruction->offset, bytes,
                      ACCESS_READ, lane, &status);
        if (source == NULL)
            return status;
        memcpy(target, source, copied);
    });
    return PTX_OK;
}

/* The ISA requires addresses and size to be multiples of 16 bytes. */
enum ptx_status ptx_run_copy_bulk(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    enum { UNIT = 16 };
    const uint64_t *to = operand_values(warp, instruction->to[0]),
                   *from = operand_values(warp, instruction->from[0]);
    const uint64_t *sizes = operand_values(warp, instruction->from[1]);
    const uint64_t to_offset = (uint64_t)(int64_t)(int32_t)instruction->list;
    enum ptx_status status = PTX_OK;
    EACH_LANE(mask, lane, {
        const uint32_t bytes = (uint32_t)sizes[lane];
        const uint64_t target = to[lane] + to_offset;
        const uint64_t source = from[lane] + (uint64_t)instruction->offset;
        if (bytes % UNIT != 0)
            return ptx_fault_access(warp, instruction, PTX_MISALIGNED, "size is not a multiple of 16 bytes",
                                    source, bytes, (enum space)instruction->source, lane);
        for (uint32_t done = 0; done < bytes; done += UNIT) {
            const void *read = ptx_reach(warp, instruction, (enum space)instruction->source, source + done,
                                         UNIT, ACCESS_READ, lane, &status);
            void *written = read == NULL ? NULL
                                         : ptx_reach(warp, instruction, (enum space)instruction->space,
                                                     target + done, UNIT, ACCESS_WRITE, lane, &status);
            if (written == NULL)
                return status;
            memmove(written, read, UNIT);
        }
    });
    return PTX_OK;
}
