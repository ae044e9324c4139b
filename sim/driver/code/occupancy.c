/* The formulas of the toolkit's cuda_occupancy.h. Results agree with an H200 (driver 580.159;
 * tests/data/h200.json). */
#include "driver/code/occupancy.h"

#include "driver/code/launch_request.h"
#include "driver/code/module.h"
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/device/model.h"

#define REGISTERS_MAX  255u
#define REGISTER_UNIT  256u /* registers of a warp are allocated in multiples of this */
#define PARTITIONS     4u   /* of a multiprocessor; each has its own registers and warps */
#define PART_REGISTERS (SIM_SM_REGISTERS / PARTITIONS)

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static size_t shared_unit(void)
{
    return sim_model()->major < 8 ? 256 : 128;
}

unsigned sim_occupancy_registers(const struct ptx_kernel_attributes *known)
{
    const size_t warps = round_up(known->max_threads, SIM_WARP) / SIM_WARP;
    const size_t part_warps = (warps + PARTITIONS - 1) / PARTITIONS;
    const size_t fit = PART_REGISTERS / part_warps / REGISTER_UNIT * REGISTER_UNIT / SIM_WARP;
    return (unsigned)least(least(known->registers, REGISTERS_MAX), fit);
}

int sim_occupancy(const struct sim_function *function, unsigned block_threads, size_t dynamic_bytes)
{
    const struct sim_model *model = sim_model();
    struct ptx_kernel_attributes known;
    ptx_kernel_attributes(function->ptx, &known);
    if (block_threads == 0 || block_threads > SIM_BLOCK_THREADS ||
        dynamic_bytes > (size_t)atomic_load(&function->settings->max_dynamic_shared))
        return 0;
    const size_t warps = (block_threads + SIM_WARP - 1) / SIM_WARP;
    const size_t registers = round_up(sim_occupancy_registers(&known) * SIM_WARP, REGISTER_UNIT);
    const size_t shared =
        round_up(known.shared_bytes + dynamic_bytes + (size_t)model->block_shared_reserved, shared_unit());
    size_t blocks = least((size_t)model->sm_blocks, (size_t)model->sm_threads / SIM_WARP / warps);
    if (registers != 0)
        blocks = least(blocks, PART_REGISTERS / registers * PARTITIONS / warps);
    if (shared != 0)
        blocks = least(blocks, (size_t)model->sm_shared / shared);
    return (int)blocks;
}

static CUresult resolve(CUfunction func, const void *out, struct sim_function **function)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return out == NULL ? CUDA_ERROR_INVALID_VALUE : sim_function_resolve(context, func, function);
}

static bool are_flags(unsigned flags)
{
    return (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) == 0;
}

static CUresult active_blocks(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize,
                              unsigned flags)
{
    struct sim_function *function;
    const CUresult result = resolve(func, numBlocks, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (blockSize <= 0 || !are_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    *numBlocks = sim_occupancy(function, (unsigned)blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize)
{
    return active_blocks(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize, unsigned int flags)
{
    return active_blocks(numBlocks, func, blockSize, dynamicSMemSize, flags);
}

/* An equal share of the multiprocessor's shared memory. The share that the driver reserves in each block is
 * not subtracted, so a kernel that uses the whole result may run with one block less. An H200's driver does
 * the same. */
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks,
                                                 int blockSize)
{
    struct sim_function *function;
    const CUresult result = resolve(func, dynamicSmemSize, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (numBlocks <= 0 || blockSize <= 0 || sim_occupancy(function, (unsigned)blockSize, 0) < numBlocks)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_model *model = sim_model();
    struct ptx_kernel_attributes known;
    ptx_kernel_attributes(function->ptx, &known);
    const size_t share = (size_t)model->sm_shared / (size_t)numBlocks / shared_unit() * shared_unit();
    *dynamicSmemSize = least(share, (size_t)model->block_shared_optin) - known.shared_bytes;
    return CUDA_SUCCESS;
}

/* Find the largest block size with the most resident threads. If no block fits, the results are 0, without
 * an error. */
static CUresult best_block(int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize bytes_for,
                           size_t dynamic_bytes, int limit, unsigned flags)
{
    struct sim_function *function;
    const CUresult result = resolve(func, minGridSize, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (blockSize == NULL || limit < 0 || !are_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    struct ptx_kernel_attributes known;
    ptx_kernel_attributes(function->ptx, &known);
    const int possible = known.required[0] != 0 ? SIM_BLOCK_THREADS : (int)known.max_threads;
    int most = 0;
    *minGridSize = *blockSize = 0;
    for (int size = limit == 0 || limit > possible ? possible : limit; size > 0;
         size = (size - 1) / SIM_WARP * SIM_WARP) {
        const size_t dynamic = bytes_for == NULL ? dynamic_bytes : bytes_for(size);
        const int blocks = sim_occupancy(function, (unsigned)size, dynamic);
        if (blocks * size > most) {
            most = blocks * size;
            *blockSize = size;
            *minGridSize = blocks * sim_model()->multiprocessors;
        }
    }
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          size_t dynamicSMemSize, int blockSizeLimit)
{
    return best_block(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                      blockSizeLimit, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int flags)
{
    return best_block(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                      blockSizeLimit, flags);
}
