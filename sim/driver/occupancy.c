#include "occupancy.h"

#include "context.h"
#include "device.h"
#include "module.h"

#define REGISTERS_MAX 255u
#define REGISTER_UNIT 256u /* of a warp's registers */
#define SHARED_UNIT   128u

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

int sim_occupancy(const struct sim_function *function, unsigned block_threads, size_t dynamic_bytes)
{
    struct ptx_kernel_attributes known;
    ptx_kernel_attributes(function->ptx, &known);
    if (block_threads == 0 || block_threads > known.max_threads || block_threads > SIM_BLOCK_THREADS)
        return 0;
    const size_t warps = (block_threads + SIM_WARP - 1) / SIM_WARP;
    const size_t registers =
        warps * round_up(least(known.registers, REGISTERS_MAX) * SIM_WARP, REGISTER_UNIT);
    const size_t shared =
        round_up(known.shared_bytes + dynamic_bytes + SIM_BLOCK_SHARED_RESERVED, SHARED_UNIT);
    size_t blocks = least(SIM_SM_BLOCKS, SIM_SM_THREADS / (warps * SIM_WARP));
    /* A compiler would keep to the registers that one block of the largest size may have. */
    if (registers != 0)
        blocks = least(blocks, registers > SIM_SM_REGISTERS ? 1 : SIM_SM_REGISTERS / registers);
    return (int)least(blocks, SIM_SM_SHARED / shared);
}

static CUresult resolve(CUfunction func, const void *out, struct sim_function **function)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return out == NULL ? CUDA_ERROR_INVALID_VALUE : sim_function_resolve(context, func, function);
}

static CUresult active_blocks(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize)
{
    struct sim_function *function;
    const CUresult result = resolve(func, numBlocks, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (blockSize <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    *numBlocks = sim_occupancy(function, (unsigned)blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize)
{
    return active_blocks(numBlocks, func, blockSize, dynamicSMemSize);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize, unsigned int flags)
{
    if ((flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return active_blocks(numBlocks, func, blockSize, dynamicSMemSize);
}

/* The inverse of sim_occupancy: an equal share of the multiprocessor's shared memory, less what the block
 * has without asking. */
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks,
                                                 int blockSize)
{
    struct sim_function *function;
    const CUresult result = resolve(func, dynamicSmemSize, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (numBlocks <= 0 || blockSize <= 0 || sim_occupancy(function, (unsigned)blockSize, 0) < numBlocks)
        return CUDA_ERROR_INVALID_VALUE;
    struct ptx_kernel_attributes known;
    ptx_kernel_attributes(function->ptx, &known);
    const size_t share = SIM_SM_SHARED / (size_t)numBlocks / SHARED_UNIT * SHARED_UNIT;
    const size_t fixed = known.shared_bytes + SIM_BLOCK_SHARED_RESERVED;
    *dynamicSmemSize = least(share - fixed, SIM_BLOCK_SHARED_OPTIN - known.shared_bytes);
    return CUDA_SUCCESS;
}

static CUresult best_block(int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize bytes_for,
                           size_t dynamic_bytes, int limit)
{
    struct sim_function *function;
    const CUresult result = resolve(func, minGridSize, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (blockSize == NULL || limit < 0)
        return CUDA_ERROR_INVALID_VALUE;
    int most = 0;
    const int largest = limit == 0 || limit > SIM_BLOCK_THREADS ? SIM_BLOCK_THREADS : limit;
    for (int size = largest; size > 0;
         size = size % SIM_WARP == 0 ? size - SIM_WARP : size / SIM_WARP * SIM_WARP) {
        const size_t dynamic = bytes_for == NULL ? dynamic_bytes : bytes_for(size);
        const int blocks = sim_occupancy(function, (unsigned)size, dynamic);
        if (blocks * size > most) {
            most = blocks * size;
            *blockSize = size;
            *minGridSize = blocks * SIM_MULTIPROCESSORS;
        }
    }
    return most == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          size_t dynamicSMemSize, int blockSizeLimit)
{
    return best_block(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                      blockSizeLimit);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int flags)
{
    if ((flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return best_block(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                      blockSizeLimit);
}
