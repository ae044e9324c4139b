/* Loads, stores and atomics of 128 bits. Each is one access: PTX makes them atomic as a whole if they are
 * strong. */
#include "ptx/engine.h"

typedef unsigned __int128 wide;

#if defined(__x86_64__)
/* Every processor with AVX loads and stores 16 aligned bytes at once (Intel SDM volume 3, 9.1.1). */
typedef long long halves __attribute__((vector_size(16), may_alias));
#define COMPARE_AND_SWAP __attribute__((target("cx16")))
#else
typedef wide halves __attribute__((may_alias));
#define COMPARE_AND_SWAP
#endif

/* Returns the old value, which is `expected` if the memory was changed. */
COMPARE_AND_SWAP static wide compare_and_swap(void *at, wide expected, wide value)
{
    return __sync_val_compare_and_swap((wide *)at, expected, value);
}

static wide load(const void *at)
{
    const halves value = *(const volatile halves *)at;
    wide bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void store(void *at, wide bits)
{
    halves value;
    memcpy(&value, &bits, sizeof value);
    *(volatile halves *)at = value;
}

static wide exchange(void *at, wide value)
{
    wide old = load(at);
    for (;;) {
        const wide found = compare_and_swap(at, old, value);
        if (found == old)
            return old;
        old = found;
    }
}

/* The value of a pair of registers. */
static wide read_pair(const struct warp *warp, struct operand low, unsigned lane)
{
    const uint64_t *values = operand_values(warp, low);
    return (wide)values[LANES + lane] << 64 | values[lane];
}

static wide update(const struct warp *warp, const struct instruction *instruction, void *at, unsigned lane)
{
    const wide value = read_pair(warp, instruction->from[1], lane);
    if (instruction->variant == ATOM_EXCH)
        return exchange(at, value);
    return compare_and_swap(at, value, read_pair(warp, instruction->from[2], lane));
}

enum ptx_status ptx_run_wide(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const bool stores = instruction->operation == OP_ST_WIDE, loads = instruction->operation == OP_LD_WIDE;
    const uint64_t *addresses = operand_values(warp, stores ? instruction->to[0] : instruction->from[0]);
    enum ptx_status status = PTX_OK;
    EACH_LANE(mask, lane, {
        void *at = ptx_reach(warp, instruction, (enum space)instruction->space,
                             addresses[lane] + (uint64_t)instruction->offset, sizeof(wide),
                             loads ? ACCESS_READ : ACCESS_WRITE, lane, &status);
        if (at == NULL)
            return status;
        if (stores) {
            store(at, (wide)operand_values(warp, instruction->from[1])[lane] << 64 |
                          operand_values(warp, instruction->from[0])[lane]);
        } else {
            const wide old = loads ? load(at) : update(warp, instruction, at, lane);
            result_values(warp, instruction->to[0])[lane] = (uint64_t)old;
            result_values(warp, instruction->to[1])[lane] = (uint64_t)(old >> 64);
        }
    });
    return PTX_OK;
}
