/* Loads and stores. Every address is checked first. */
#include "ptx/device_launch.h"
#include "ptx/engine.h"
#include "ptx/number.h"

static bool in_range(const struct range *range, uint64_t address, uint64_t bytes)
{
    return address >= range->begin && address < range->end && bytes <= range->end - address;
}

/* Asks the driver for the memory that contains the bytes, and keeps it with the warp. Not inlined: nearly all
 * accesses find their memory there. */
__attribute__((noinline)) static const struct range *look_up(struct warp *warp, uint64_t address,
                                                             uint64_t bytes)
{
    const struct grid *grid = warp->block->grid;
    const struct ptx_memory *memory = &grid->launch->memory;
    const uint64_t parameters = (uint64_t)(uintptr_t)grid->parameters;
    const uint64_t workspace = (uint64_t)(uintptr_t)grid->workspace;
    struct range found = {parameters, parameters + grid->launch->kernel->parameter_bytes, true};
    if (grid->launch->cooperative && address >= workspace && address < workspace + sizeof grid->workspace)
        found = (struct range){workspace, workspace + sizeof grid->workspace, true};
    if (!in_range(&found, address, bytes) &&
        (!memory->find(memory->context, address, &found.begin, &found.end, &found.writable) ||
         !in_range(&found, address, bytes)) &&
        (!ptx_find_runtime_memory(grid, address, &found) || !in_range(&found, address, bytes)))
        return NULL;
    struct range *kept = &warp->ranges[warp->next_range++ % RANGES];
    *kept = found;
    return kept;
}

/* The allocation, or other memory of the grid, that contains the bytes; NULL if they are in none. */
static const struct range *find_range(struct warp *warp, uint64_t address, uint64_t bytes)
{
    for (unsigned i = 0; i < RANGES; i++)
        if (in_range(&warp->ranges[i], address, bytes))
            return &warp->ranges[i];
    return look_up(warp, address, bytes);
}

static inline bool may_touch(const struct range *range, enum access access)
{
    return range != NULL && (access == ACCESS_READ || range->writable);
}

/* Replaces a generic address in a window by the address in that space. */
static void leave_window(enum space *space, uint64_t *address)
{
    if (*space == SPACE_GENERIC && (*address & WINDOW_MASK) == SHARED_WINDOW)
        *space = SPACE_SHARED, *address &= ~WINDOW_MASK;
    else if (*space == SPACE_GENERIC && (*address & WINDOW_MASK) == LOCAL_WINDOW)
        *space = SPACE_LOCAL, *address &= ~WINDOW_MASK;
}

/* `alignment`: a power of two. */
static inline void *find(struct warp *warp, enum space space, uint64_t address, uint64_t bytes,
                         unsigned alignment, enum access access, unsigned lane)
{
    if ((address & (alignment - 1)) != 0)
        return NULL;
    if (space == SPACE_SHARED || space == SPACE_LOCAL) {
        const uint64_t room = space == SPACE_SHARED ? warp->block->shared_bytes : warp->local_room;
        address = space == SPACE_SHARED ? (uint32_t)address : address;
        if (address >= room || bytes > room - address)
            return NULL;
        return space == SPACE_SHARED ? warp->block->shared + address
                                     : warp->locals + (size_t)lane * warp->local_room + address;
    }
    return may_touch(find_range(warp, address, bytes), access) ? (void *)(uintptr_t)address : NULL;
}

void *ptx_find_host_address(struct warp *warp, enum space space, uint64_t address, unsigned bytes,
                            enum access access, unsigned lane)
{
    leave_window(&space, &address);
    return find(warp, space, address, bytes, bytes, access, lane);
}

void *ptx_reach(struct warp *warp, const struct instruction *instruction, enum space space, uint64_t address,
                unsigned bytes, enum access access, unsigned lane, enum ptx_status *status)
{
    leave_window(&space, &address);
    void *found = find(warp, space, address, bytes, bytes, access, lane);
    if (found != NULL)
        return found;
    if ((address & (bytes - 1)) != 0)
        *status = ptx_fault_access(warp, instruction, PTX_MISALIGNED, "misaligned address", address, bytes,
                                   space, lane);
    else
        *status = ptx_fault_access(warp, instruction, PTX_ILLEGAL_ADDRESS,
                                   space == SPACE_SHARED  ? "address outside shared memory"
                                   : space == SPACE_LOCAL ? "address outside local memory"
                                                          : "address outside every allocation",
                                   space == SPACE_SHARED ? (uint32_t)address : address, bytes, space, lane);
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

static inline bool all_in_space(struct warp *warp, enum space space, const uint64_t *addresses,
                                uint64_t offset, uint32_t mask, unsigned bytes, enum access access,
                                struct view *view)
{
    const uint64_t first = addresses[__builtin_ctz(mask)] + offset;
    const bool generic = space == SPACE_GENERIC, shared = space == SPACE_SHARED;
    uint64_t begin = 0, room = warp->block->shared_bytes;
    *view = (struct view){(uintptr_t)warp->block->shared, UINT32_MAX}; /* shared addresses have 32 bits */
    if (generic && (first & WINDOW_MASK) == SHARED_WINDOW) {
        begin = SHARED_WINDOW;
        view->mask = UINT64_MAX;
        view->base -= (uintptr_t)SHARED_WINDOW;
    } else if (!shared) {
        if (!generic && space != SPACE_GLOBAL)
            return false;
        const struct range *range = find_range(warp, first, bytes);
        if (!may_touch(range, access))
            return false;
        *view = (struct view){0, UINT64_MAX};
        begin = range->begin;
        room = range->end - begin;
    }
    return room >= bytes &&
           ptx_all_inside(addresses, mask, offset, view->mask, begin, room - bytes, bytes - 1);
}

bool ptx_all_in_space(struct warp *warp, enum space space, const uint64_t *addresses, uint64_t offset,
                      uint32_t mask, unsigned bytes, enum access access, struct view *view)
{
    return all_in_space(warp, space, addresses, offset, mask, bytes, access, view);
}

bool ptx_all_in_reach(struct warp *warp, const struct instruction *instruction, const uint64_t *addresses,
                      uint32_t mask, unsigned bytes, enum access access, struct view *view)
{
    return all_in_space(warp, (enum space)instruction->space, addresses, (uint64_t)instruction->offset, mask,
                        bytes, access, view);
}

/* The host address of the element of lane 0, if the elements of all lanes are one behind the other, or
 * (`uniform`) all lanes access one element. NULL: none of this, or not accessible. */
static unsigned char *find_line(struct warp *warp, const struct instruction *instruction,
                                const uint64_t *addresses, unsigned bytes, enum access access, bool *uniform)
{
#if defined(__SANITIZE_THREAD__) /* a line is not loaded by one atomic access for each element */
    return NULL;
#endif
    uint64_t address = addresses[0] + (uint64_t)instruction->offset;
    enum space space = (enum space)instruction->space;
    if ((instruction->flags & FLAG_STRONG) != 0 || !ptx_is_line(addresses, bytes, uniform) ||
        (*uniform && access == ACCESS_WRITE))
        return NULL;
    leave_window(&space, &address);
    return space == SPACE_LOCAL
               ? NULL
               : find(warp, space, address, *uniform ? bytes : bytes * LANES, bytes, access, 0);
}

/* Loads the elements of a whole warp if they are a line, or one element, in each half. False: they are not,
 * or not accessible. */
__attribute__((noinline)) static bool load_two_lines(struct warp *warp, const struct instruction *instruction,
                                                     const uint64_t *addresses, unsigned bytes)
{
#if defined(__SANITIZE_THREAD__)
    return false;
#endif
    const enum type type = (enum type)instruction->type;
    const unsigned count = instruction->vector, whole = bytes * count;
    const unsigned char *from[2];
    bool uniform;
    if ((instruction->flags & FLAG_STRONG) != 0 || !ptx_has_two_lines(addresses, whole, &uniform))
        return false;
    for (unsigned half = 0; half < 2; half++) {
        uint64_t address = addresses[half * HALF] + (uint64_t)instruction->offset;
        enum space space = (enum space)instruction->space;
        leave_window(&space, &address);
        from[half] = space == SPACE_LOCAL
                         ? NULL
                         : find(warp, space, address, uniform ? whole : whole * HALF, whole, ACCESS_READ, 0);
        if (from[half] == NULL)
            return false;
    }
    for (unsigned i = 0; i < count; i++)
        for (unsigned half = 0; half < 2; half++)
            ptx_load_half(type, from[half] + i * bytes, uniform ? 0 : count,
                          result_values(warp, instruction->to[i]) + half * HALF);
    return true;
}

#define LOAD_LANES(T)                                                                                        \
    EACH_LANE(mask, lane, {                                                                                  \
        const uint64_t at = (addresses[lane] + offset) & view->mask;                                         \
        d[lane] = (uint64_t)__atomic_load_n((const T *)(view->base + at), __ATOMIC_RELAXED);                 \
    })

static void load_lanes(enum type type, uint32_t mask, const uint64_t *addresses, uint64_t offset,
                       const struct view *view, uint64_t *d)
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

/* A GPU accesses an aligned vector at once. PTX promises that for its elements only, but programs rely on it
 * where other threads access the vector: cub's look-back keeps a flag beside a value. No other thread of the
 * host runs this block, so in its shared memory each vector is whole. */
static bool is_whole(const struct instruction *instruction)
{
    return instruction->vector > 1 && (instruction->flags & FLAG_STRONG) != 0 &&
           instruction->space != SPACE_SHARED;
}

/* Not inlined: its vector would give every load a larger stack frame. */
__attribute__((noinline)) static enum ptx_status
load_whole(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const enum type type = (enum type)instruction->type;
    const unsigned bytes = ptx_type_bytes(type), count = instruction->vector;
    uint64_t addresses[LANES];
    enum ptx_status status = PTX_OK;
    memcpy(addresses, operand_values(warp, instruction->from[0]),
           sizeof addresses); /* an element may overwrite them */
    EACH_LANE(mask, lane, {
        _Alignas(16) char vector[32];
        const char *from = ptx_reach(warp, instruction, (enum space)instruction->space,
                                     addresses[lane] + (uint64_t)instruction->offset, bytes * count,
                                     ACCESS_READ, lane, &status);
        if (from == NULL)
            return status;
        ptx_load_whole(vector, from, bytes * count);
        for (unsigned i = 0; i < count; i++)
            result_values(warp, instruction->to[i])[lane] = load(vector + i * bytes, type);
    });
    return PTX_OK;
}

__attribute__((noinline)) static enum ptx_status
store_whole(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const unsigned bytes = ptx_type_bytes((enum type)instruction->type), count = instruction->vector;
    const uint64_t *addresses = operand_values(warp, instruction->to[0]);
    enum ptx_status status = PTX_OK;
    EACH_LANE(mask, lane, {
        _Alignas(16) char vector[32];
        char *to = ptx_reach(warp, instruction, (enum space)instruction->space,
                             addresses[lane] + (uint64_t)instruction->offset, bytes * count, ACCESS_WRITE,
                             lane, &status);
        if (to == NULL)
            return status;
        for (unsigned i = 0; i < count; i++)
            store(vector + i * bytes, operand_values(warp, instruction->from[i])[lane], bytes);
        ptx_store_whole(to, vector, bytes * count);
    });
    return PTX_OK;
}

enum ptx_status ptx_run_load(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const enum type type = (enum type)instruction->type;
    const unsigned bytes = ptx_type_bytes(type), count = instruction->vector;
    const uint64_t offset = (uint64_t)instruction->offset;
    const uint64_t *addresses = operand_values(warp, instruction->from[0]);
    enum ptx_status status = PTX_OK;
    uint64_t copy[LANES];
    bool uniform;
    struct view view;
    if (is_whole(instruction))
        return load_whole(warp, instruction, mask);
    const unsigned char *line =
        mask == ALL_LANES ? find_line(warp, instruction, addresses, bytes * count, ACCESS_READ, &uniform)
                          : NULL;
    if (line != NULL) {
        for (unsigned i = 0; i < count; i++)
            ptx_load_line(type, line + i * bytes, uniform ? 0 : count,
                          result_values(warp, instruction->to[i]));
        return PTX_OK;
    }
    if (mask == ALL_LANES && load_two_lines(warp, instruction, addresses, bytes))
        return PTX_OK;
    if (count > 1) /* an element may overwrite the addresses */
        addresses = memcpy(copy, addresses, sizeof copy);
    if (ptx_all_in_reach(warp, instruction, addresses, mask, bytes * count, ACCESS_READ, &view)) {
        for (unsigned i = 0; i < count; i++)
            load_lanes(type, mask, addresses, offset + i * bytes, &view,
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
        const uint64_t at = (addresses[lane] + offset) & view->mask;                                         \
        __atomic_store_n((T *)(view->base + at), (T)values[lane], __ATOMIC_RELAXED);                         \
    })

static void store_lanes(unsigned bytes, uint32_t mask, const uint64_t *addresses, uint64_t offset,
                        const struct view *view, const uint64_t *values)
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
    bool uniform;
    struct view view;
    if (is_whole(instruction))
        return store_whole(warp, instruction, mask);
    unsigned char *line = mask == ALL_LANES
                              ? find_line(warp, instruction, addresses, bytes * count, ACCESS_WRITE, &uniform)
                              : NULL;
    if (line != NULL) {
        for (unsigned i = 0; i < count; i++)
            ptx_store_line(bytes, operand_values(warp, instruction->from[i]), line + i * bytes, count);
        return PTX_OK;
    }
    if (ptx_all_in_reach(warp, instruction, addresses, mask, bytes * count, ACCESS_WRITE, &view)) {
        for (unsigned i = 0; i < count; i++)
            store_lanes(bytes, mask, addresses, offset + i * bytes, &view,
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

static uint64_t load_variable(const unsigned char *from, enum type type)
{
    const unsigned bytes = ptx_type_bytes(type), unused = 64 - 8 * bytes;
    uint64_t bits = 0;
    memcpy(&bits, from, bytes);
    return ptx_type_is_signed(type) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
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
        if (instruction->operation == OP_LD_PARAM) {
            const uint64_t bits = load_variable(warp->block->grid->parameters + at, type);
            EACH_LANE(mask, lane, values[lane] = bits);
        } else {
            EACH_LANE(mask, lane, values[lane] = load_variable(frame_of(warp, lane) + at, type));
        }
    }
    return PTX_OK;
}
