/* Accesses of more than 64 bits: loads, stores and atomics of 128 bits, which PTX makes atomic as a whole if
 * they are strong, and strong vectors. */
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

void ptx_load_whole(void *to, const void *from, unsigned bytes)
{
    const uint64_t small = bytes == 2   ? __atomic_load_n((const uint16_t *)from, __ATOMIC_RELAXED)
                           : bytes == 4 ? __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED)
                           : bytes == 8 ? __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED)
                                        : 0;
    if (bytes <= sizeof small)
        memcpy(to, &small, bytes);
    else
        for (unsigned at = 0; at < bytes; at += sizeof(wide)) {
            const wide bits = load((const char *)from + at);
            memcpy((char *)to + at, &bits, sizeof bits);
        }
}

void ptx_store_whole(void *to, const void *from, unsigned bytes)
{
    uint64_t small = 0;
    memcpy(&small, from, bytes < sizeof small ? bytes : sizeof small);
    switch (bytes) {
    case 2:
        __atomic_store_n((uint16_t *)to, (uint16_t)small, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n((uint32_t *)to, (uint32_t)small, __ATOMIC_RELAXED);
        break;
    case 8:
        __atomic_store_n((uint64_t *)to, small, __ATOMIC_RELAXED);
        break;
    default:
        for (unsigned at = 0; at < bytes; at += sizeof(wide)) {
            wide bits;
            memcpy(&bits, (const char *)from + at, sizeof bits);
            store((char *)to + at, bits);
        }
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
