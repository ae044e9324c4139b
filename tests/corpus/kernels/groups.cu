// Cooperative groups: blocks, tiles, coalesced lanes, and the whole grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void group_ranks(int *out)
{
    const cg::grid_group grid = cg::this_grid();
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int *mine = out + 6 * (block.group_index().x * block.size() + block.thread_rank());
    mine[0] = block.thread_rank();
    mine[1] = tile.thread_rank();
    mine[2] = tile.meta_group_rank();
    mine[3] = tile.meta_group_size();
    mine[4] = (int)grid.thread_rank();
    mine[5] = (int)grid.size();
}

extern "C" __global__ void tile_collectives(const int *in, int *out)
{
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    const int i = blockIdx.x * blockDim.x + threadIdx.x, value = in[i];
    out[8 * i] = tile.shfl(value, 3);
    out[8 * i + 1] = tile.shfl_up(value, 2);
    out[8 * i + 2] = tile.shfl_down(value, 2);
    out[8 * i + 3] = tile.shfl_xor(value, 5);
    out[8 * i + 4] = tile.ballot(value % 2);
    out[8 * i + 5] = tile.any(value > 90) + 2 * tile.all(value > 3);
    out[8 * i + 6] = tile.match_any(value % 3);
    tile.sync();
    out[8 * i + 7] = tile.num_threads();
}

extern "C" __global__ void tile_reduce(const int *in, int *out)
{
    const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x, value = in[i];
    out[4 * i] = cg::reduce(tile, value, cg::plus<int>());
    out[4 * i + 1] = cg::reduce(tile, value, cg::greater<int>());
    out[4 * i + 2] = cg::inclusive_scan(tile, value);
    out[4 * i + 3] = cg::exclusive_scan(tile, value, cg::plus<int>());
}

extern "C" __global__ void coalesced(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = -1;
    if (in[i] % 3 == 0) {
        const cg::coalesced_group active = cg::coalesced_threads();
        out[i] = active.thread_rank() + 100 * active.size() + 10000 * active.shfl(in[i], 0);
    }
}

extern "C" __global__ void labeled(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const cg::coalesced_group all = cg::coalesced_threads();
    const cg::coalesced_group alike = cg::labeled_partition(all, in[i] % 4);
    out[i] = alike.thread_rank() + 100 * alike.size() + 10000 * (int)alike.any(in[i] > 90);
}

extern "C" __global__ void warp_aggregated(const int *in, int *counter)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 2) {
        const cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0)
            atomicAdd(counter, active.size());
    }
}

// Launched cooperatively: everything before the barrier is seen by every block after it.
extern "C" __global__ void grid_barrier(const int *in, int *middle, int *out, int rounds)
{
    const cg::grid_group grid = cg::this_grid();
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    middle[i] = in[i];
    for (int round = 0; round < rounds; round++) {
        grid.sync();
        const int next = middle[(i + 37) % n] + middle[n - 1 - i];
        grid.sync();
        middle[i] = next;
    }
    out[i] = middle[i] + (int)grid.is_valid();
}
