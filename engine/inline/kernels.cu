/* The kernels of a sample; make.sh compiles them to the PTX that the library carries. */
#include <cooperative_groups.h>

#include "inline/compare.cuh"
#include "inline/keystream.cuh"

namespace
{

__device__ __forceinline__ void load_and_xor(uint64_t from, uint64_t block, uint32_t words[16])
{
    const uint4 *source = (const uint4 *)(from + block * NB_BLOCK_BYTES);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint4 four = source[i];
        words[4 * i] ^= four.x;
        words[4 * i + 1] ^= four.y;
        words[4 * i + 2] ^= four.z;
        words[4 * i + 3] ^= four.w;
    }
}

/* The part of a block that is within `bytes`. */
__device__ void store(uint64_t to, uint64_t bytes, uint64_t block, const uint32_t words[16])
{
    const uint64_t offset = block * NB_BLOCK_BYTES;
    if (offset + NB_BLOCK_BYTES <= bytes) {
        uint4 *target = (uint4 *)(to + offset);
#pragma unroll
        for (int i = 0; i < 4; i++)
            target[i] = make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
        return;
    }
    uint32_t tail[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
        tail[i] = words[i];
#pragma unroll 1
    for (uint64_t i = 0; offset + i < bytes; i++)
        ((uint8_t *)to)[offset + i] = ((const uint8_t *)tail)[i];
}

__device__ __forceinline__ uint64_t lines_of(uint64_t bytes)
{
    return (bytes + NB_LINE_BYTES - 1) / NB_LINE_BYTES;
}

/* Which line of a group is the canary. The last group may be short. */
__device__ __forceinline__ uint64_t canary_of(uint64_t seed, uint64_t stream, uint64_t group, uint64_t lines)
{
    const uint64_t left = lines - group * NB_GROUP_LINES;
    const uint64_t within = left < NB_GROUP_LINES ? left : (uint64_t)NB_GROUP_LINES;
    return group * NB_GROUP_LINES + nb_token(seed ^ nb_mix(stream), group) % within;
}

__device__ __forceinline__ uint64_t thread_number()
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ unsigned long long now()
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
    return time;
}

__device__ __forceinline__ void add(uint64_t place, unsigned long long value)
{
    atomicAdd((unsigned long long *)place, value);
}

/* The place of block `index`: a permutation of [0, blocks), by four rounds of a Feistel network repeated
 * until the result is in the range (Black and Rogaway, CT-RSA 2002). */
__device__ uint64_t shuffled(uint64_t index, uint64_t blocks, uint64_t secret)
{
    int half = 1;
    while (((uint64_t)1 << (2 * half)) < blocks)
        half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = index >> half, right = index & mask;
        for (uint64_t round = 0; round < 4; round++) {
            const uint64_t next = left ^ (nb_token(secret + round, right) & mask);
            left = right;
            right = next;
        }
        index = left << half | right;
    } while (index >= blocks);
    return index;
}

} // namespace

/* A secret's plain text, but for the canaries: they hold keystream that is used for nothing else. */
extern "C" __global__ void nb_give(const __grid_constant__ nb_move move)
{
    const uint64_t block = thread_number();
    if (block * NB_BLOCK_BYTES >= move.bytes)
        return;
    const uint64_t line = block * NB_BLOCK_BYTES / NB_LINE_BYTES;
    const bool canary = move.canaries != 0 && line == canary_of(move.canaries, move.stream,
                                                                line / NB_GROUP_LINES, lines_of(move.bytes));
    uint32_t words[16];
    keystream(move.key, canary ? ~move.stream : move.stream, block, words);
    if (!canary)
        load_and_xor(move.from, block, words);
    store(move.to, move.bytes, block, words);
}

extern "C" __global__ void nb_noise(const __grid_constant__ nb_move move)
{
    const uint64_t block = thread_number();
    if (block * NB_BLOCK_BYTES >= move.bytes)
        return;
    uint32_t words[16];
    keystream(move.key, move.stream, block, words);
    store(move.to, move.bytes, block, words);
}

/* Cooperative, a block an SM with all of its shared memory: nothing else runs until all blocks are done. */
extern "C" __global__ void nb_restore_canaries(const __grid_constant__ nb_restore restore)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint32_t i = 0; i < restore.count; i++) {
        const nb_restored &buffer = restore.buffers[i];
        const uint64_t lines = lines_of(buffer.bytes);
        const uint64_t groups = (lines + NB_GROUP_LINES - 1) / NB_GROUP_LINES;
        for (uint64_t half = thread_number(); half < 2 * groups; half += threads) {
            const uint64_t line = canary_of(restore.canaries, buffer.stream, half / 2, lines);
            const uint64_t block = 2 * line + half % 2;
            if (block * NB_BLOCK_BYTES >= buffer.bytes)
                continue;
            uint32_t words[16];
            keystream(restore.key, buffer.stream, block, words);
            load_and_xor(buffer.from, block, words);
            store(buffer.to, buffer.bytes, block, words);
        }
    }
    cooperative_groups::this_grid().sync();
    if (thread_number() == 0)
        add(restore.stamp, now());
}

/* Holds the stream until the host writes *release, or for `limit` nanoseconds; then *gave_up becomes 1. */
extern "C" __global__ void nb_hold(const volatile uint32_t *release, volatile uint32_t *gave_up,
                                   uint64_t limit)
{
    const unsigned long long end = now() + limit;
    while (*release == 0)
        if (now() >= end) {
            *gave_up = 1;
            return;
        }
}

/* Drives everything else out of the L2 cache. */
extern "C" __global__ void nb_sweep(uint64_t scratch, uint64_t units, uint32_t value)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t unit = thread_number(); unit < units; unit += threads)
        ((uint4 *)scratch)[unit] = make_uint4(value, (uint32_t)unit, value, value);
}

/* Drops the swept lines without writing them back. A thread a line: PTX demands an address that is a multiple
 * of 128. */
extern "C" __global__ void nb_discard(uint64_t scratch, uint64_t lines)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t line = thread_number(); line < lines; line += threads)
        asm volatile("discard.global.L2 [%0], 128;" ::"l"(scratch + line * NB_LINE_BYTES) : "memory");
}

/* Compares every element with its expected value. A block with wrong elements adds nothing to the tally, so
 * that changing the count of wrong elements, or restoring an earlier tally, does not make them right. */
extern "C" __global__ void nb_check_output(const __grid_constant__ nb_check check)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    __shared__ unsigned wrong;
    const uint64_t share = shuffled(blockIdx.x, check.blocks, check.order);
    if (threadIdx.x == 0) {
        wrong = 0;
        if (check.stamp != 0 && blockIdx.x == 0)
            add(check.stamp, now());
    }
    __syncthreads();
    const unsigned size = bytes_of(check.expected_dtype), each = NB_BLOCK_BYTES / size;
    const uint64_t block = share * NB_CHECK_THREADS + threadIdx.x;
    const uint64_t first = block * each;
    if (first < check.slots) {
        alignas(8) uint32_t words[16];
        keystream(check.key, check.stream, block, words);
        load_and_xor(check.expected, block, words);
        const form form = form_of(check.dtype);
        const uint64_t left = check.slots - first;
        unsigned mine = 0;
        for (unsigned i = 0; i < each && i < left; i++)
            mine += is_right(check, form, first + i, (const char *)words + i * size) ? 0 : 1;
        if (mine != 0)
            atomicAdd(&wrong, mine);
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (wrong == 0)
        add(check.tally, nb_token(check.token, share));
    else
        add(check.wrong, wrong);
}
