/* Loads and stores. Every address is checked first. */
#include "ptx/engine.h"
#include "ptx/number.h"

static bool in_range(const struct range *range, uint64_t address, unsigned bytes)
{
    return address >= range->begin && address < range->end && bytes <= range->end - address;
}

static bool may_touch(struct warp *warp, uint64_t address, unsigned bytes, enum access access)
{
    for (unsigned i = 0; i < RANGES; i++)
        if (in_range(&warp->ranges[i], address, bytes))
            return access == ACCESS_READ || warp->ranges[i].writable;
    const struct grid *grid = warp->block->grid;
    const struct ptx_memory *memory = &grid->launch->memory;
    const uint64_t parameters = (uint64_t)(uintptr_t)grid->parameters;
    const uint64_t workspace = (uint64_t)(uintptr_t)grid->workspace;
    struct range found = {parameters, parameters + grid->launch->kernel->parameter_bytes, true};
    if (grid->launch->cooperative && address >= workspace && address < workspace + sizeof grid->workspace)
        found = (struct range){workspace, workspace + sizeof grid->workspace, true};
    if (!in_range(&found, address, bytes) &&
        (!memory->find(memory->context, address, &found.begin, &found.end, &found.writable) ||
         !in_range(&found, address, bytes)))
        return false;
    warp->ranges[warp->next_range++ % RANGES] = found;
    return access == ACCESS_READ || found.writable;
}

void *ptx_reach(struct warp *warp, const struct instruction *instruction, enum space space, uint64_t address,
                unsigned bytes, enum access access, unsigned lane, enum ptx_status *status)
{
    if (space == SPACE_GENERIC && (address & WINDOW_MASK) == SHARED_WINDOW)
        space = SPACE_SHARED, address &= ~WINDOW_MASK;
    else if (space == SPACE_GENERIC && (address & WINDOW_MASK) == LOCAL_WINDOW)
        space = SPACE_LOCAL, address &= ~WINDOW_MASK;
    if ((address & (bytes - 1)) != 0) {
        *status = ptx_fault_access(warp, instruction, PTX_MISALIGNED, "misaligned address", address, bytes,
                                   space, lane);
        return NULL;
    }
    if (space == SPACE_SHARED || space == SPACE_LOCAL) {
        const uint64_t room = space == SPACE_SHARED ? warp->block->shared_bytes : warp->local_room;
        address = space == SPACE_SHARED ? (uint32_t)address : address;
        if (address < room && bytes <= room - address)
            return space == SPACE_SHARED ? warp->block->shared + address
                                         : warp->locals + (size_t)lane * warp->local_room + address;
    } else if (may_touch(warp, address, bytes, access)) {
        return (void *)(uintptr_t)address;
    }
    *status = ptx_fault_access(warp, instruction, PTX_ILLEGAL_ADDRESS,
                               space == SPACE_SHARED  ? "address outside shared memory"
                               : space == SPACE_LOCAL ? "address outside local memory"
                                                      : "address outside every allocation",
                               address, bytes, space, lane);
    return NULL;
}

static uint64_t load(const void *from, enum type type)
{
    uint64_t bits = 0;
    switch (ptx_type_bytes(type)) {
    case 1:
        bits = *(const uint8_t *)from;
        return type == T_S8 ? (uint64_t)(int64_t)(int8_t)bits : bits;
    case 2:
        memcpy(&bits, from, 2);
        return type == T_S16 ? (uint64_t)(int64_t)(int16_t)bits : bits;
    case 4:
        /* One access each, so that a flag another block sets is seen whole (and by ThreadSanitizer as such).
         */
        bits = __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED);
        return type == T_S32 ? (uint64_t)(int64_t)(int32_t)bits : bits;
    default:
        return __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED);
    }
}

static void store(void *to, uint64_t bits, unsigned bytes)
{
    switch (bytes) {
    case 4:
        __atomic_store_n((uint32_t *)to, (uint32_t)bits, __ATOMIC_RELAXED);
        break;
    case 8:
        __atomic_store_n((uint64_t *)to, bits, __ATOMIC_RELAXED);
        break;
    default:
        memcpy(to, &bits, bytes);
        break;
    }
}

/* Whether the addresses of all lanes are valid and lie in shared memory or in the most recently used
 * allocation. `base` is then the host address of address 0. Otherwise the caller checks each lane. */
static bool all_in_reach(struct warp *warp, const struct instruction *instruction, const uint64_t *addresses,
                         uint32_t mask, unsigned bytes, enum access access, uintptr_t *base)
{
    const uint64_t offset = (uint64_t)instruction->offset;
    const bool shared = instruction->space == SPACE_SHARED;
    const struct range nowhere = {0}, *range = &nowhere;
    if (!shared && instruction->space != SPACE_GLOBAL && instruction->space != SPACE_GENERIC)
        return false;
    const uint64_t first = addresses[__builtin_ctz(mask)] + offset;
    for (unsigned i = 0; !shared && i < RANGES; i++)
        if (in_range(&warp->ranges[i], first, bytes))
            range = &warp->ranges[i];
    if (!shared && access == ACCESS_WRITE && !range->writable)
        return false;
    const uint64_t begin = shared ? 0 : range->begin;
    const uint64_t room = shared ? warp->block->shared_bytes : range->end - range->begin;
    if (room < bytes)
        return false;
    uint64_t places[LANES];
    if (shared) { /* shared addresses have 32 bits */
        EACH_LANE(mask, lane, places[lane] = (uint32_t)(addresses[lane] + offset));
        addresses = places;
    }
    *base = shared ? (uintptr_t)warp->block->shared : 0;
    return ptx_all_inside(addresses, mask, shared ? 0 : offset, begin, room - bytes, bytes - 1);
}

#define LOAD_LANES(T)                                                                                        \
    EACH_LANE(mask, lane, {                                                                                  \
        const uint64_t at = addresses[lane] + offset;                                                        \
        d[lane] =                                                                                            \
            (uint64_t)__atomic_load_n((const T *)(base + (narrow ? (uint32_t)at : at)), __ATOMIC_RELAXED);   \
    })

static void load_lanes(enum type type, uint32_t mask, const uint64_t *addresses, uint64_t offset,
                       uintptr_t base, bool narrow, uint64_t *d)
{
    switch (type) {
    case T_S8:
        LOAD_LANES(int8_t);
        break;
    case T_S16:
        LOAD_LANES(int16_t);
        break;
    case T_S32:
        LOAD_LANES(int32_t);
        break;
    default:
        switch (ptx_type_bytes(type)) {
        case 1:
            LOAD_LANES(uint8_t);
            break;
        case 2:
            LOAD_LANES(uint16_t);
            break;
        case 4:
            LOAD_LANES(uint32_t);
            break;
        default:
            LOAD_LANES(uint64_t);
            break;
        }
    }
}

enum ptx_status ptx_run_load(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const enum type type = (enum type)instruction->type;
    const unsigned bytes = ptx_type_bytes(type), count = instruction->vector;
    const uint64_t offset = (uint64_t)instruction->offset;
    enum ptx_status status = PTX_OK;
    uint64_t addresses[LANES];
    uintptr_t base;
    memcpy(addresses, operand_values(warp, instruction->from[0]), sizeof addresses);
    if (all_in_reach(warp, instruction, addresses, mask, bytes * count, ACCESS_READ, &base)) {
        for (unsigned i = 0; i < count; i++)
            load_lanes(type, mask, addresses, offset + i * bytes, base, instruction->space == SPACE_SHARED,
                       result_values(warp, instruction->to[i]));
        return PTX_OK;
    }
    EACH_LANE(mask, lane, {
        const char *from = ptx_reach(warp, instruction, (enum space)instruction->space,
                                     addresses[lane] + offset, bytes * count, ACCESS_READ, lane, &status);
        if (from == NULL)
            return status;
        for (unsigned i = 0; i < count; i++)
            result_values(warp, instruction->to[i])[lane] = load(from + i * bytes, type);
    });
    return PTX_OK;
}

#define STORE_LANES(T)                                                                                       \
    EACH_LANE(mask, lane, {                                                                                  \
        const uint64_t at = addresses[lane] + offset;                                                        \
        __atomic_store_n((T *)(base + (narrow ? (uint32_t)at : at)), (T)values[lane], __ATOMIC_RELAXED);     \
    })

static void store_lanes(unsigned bytes, uint32_t mask, const uint64_t *addresses, uint64_t offset,
                        uintptr_t base, bool narrow, const uint64_t *values)
{
    switch (bytes) {
    case 1:
        STORE_LANES(uint8_t);
        break;
    case 2:
        STORE_LANES(uint16_t);
        break;
    case 4:
        STORE_LANES(uint32_t);
        break;
    default:
        STORE_LANES(uint64_t);
        break;
    }
}

enum ptx_status ptx_run_store(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const unsigned bytes = ptx_type_bytes((enum type)instruction->type), count = instruction->vector;
    const uint64_t offset = (uint64_t)instruction->offset;
    const uint64_t *addresses = operand_values(warp, instruction->to[0]);
    enum ptx_status status = PTX_OK;
    uintptr_t base;
    if (all_in_reach(warp, instruction, addresses, mask, bytes * count, ACCESS_WRITE, &base)) {
        for (unsigned i = 0; i < count; i++)
            store_lanes(bytes, mask, addresses, offset + i * bytes, base, instruction->space == SPACE_SHARED,
                        operand_values(warp, instruction->from[i]));
        return PTX_OK;
    }
    EACH_LANE(mask, lane, {
        char *to = ptx_reach(warp, instruction, (enum space)instruction->space, addresses[lane] + offset,
                             bytes * count, ACCESS_WRITE, lane, &status);
        if (to == NULL)
            return status;
        for (unsigned i = 0; i < count; i++)
            store(to + i * bytes, operand_values(warp, instruction->from[i])[lane], bytes);
    });
    return PTX_OK;
}

static unsigned char *frame_of(const struct warp *warp, unsigned lane)
{
    return warp->frames + (size_t)lane * warp->frame_room + warp->now->frame;
}

/* .param variables: the parser has checked their offsets. */
enum ptx_status ptx_run_frame(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const enum type type = (enum type)instruction->type;
    const unsigned bytes = ptx_type_bytes(type);
    for (unsigned i = 0; i < instruction->vector; i++) {
        const size_t at = (size_t)instruction->offset + i * bytes;
        if (instruction->operation == OP_ST_FRAME) {
            const uint64_t *values = operand_values(warp, instruction->from[i]);
            EACH_LANE(mask, lane, memcpy(frame_of(warp, lane) + at, &values[lane], bytes));
            continue;
        }
        uint64_t *values = result_values(warp, instruction->to[i]);
        EACH_LANE(mask, lane, {
            const unsigned char *from =
                instruction->operation == OP_LD_PARAM ? warp->block->grid->parameters : frame_of(warp, lane);
            uint64_t bits = 0;
            memcpy(&bits, from + at, bytes);
            values[lane] = ptx_type_is_signed(type)
                               ? (uint64_t)((int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes))
                               : bits;
        });
    }
    return PTX_OK;
}
