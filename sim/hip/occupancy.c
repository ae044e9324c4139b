/* Occupancy. */
#include "hip/kernel.h"

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, hipFunction_t f,
                                                                       int blockSize,
                                                                       size_t dynSharedMemPerBlk,
                                                                       unsigned int flags)
{
    CUfunction function;
    HIP_READY();
    const hipError_t error = hip_kernel(f, &function);
    return error == hipSuccess ? hip_result(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                                     numBlocks, function, blockSize, dynSharedMemPerBlk, flags))
                               : error;
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, hipFunction_t f, int blockSize,
                                                              size_t dynSharedMemPerBlk)
{
    return hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, f, blockSize,
                                                                       dynSharedMemPerBlk, 0);
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *f, int blockSize,
                                                                 size_t dynSharedMemPerBlk,
                                                                 unsigned int flags)
{
    return hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (hipFunction_t)(uintptr_t)f,
                                                                       blockSize, dynSharedMemPerBlk, flags);
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *f, int blockSize,
                                                        size_t dynSharedMemPerBlk)
{
    return hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, f, blockSize, dynSharedMemPerBlk,
                                                                 0);
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize, int *blockSize, hipFunction_t f,
                                                            size_t dynSharedMemPerBlk, int blockSizeLimit,
                                                            unsigned int flags)
{
    CUfunction function;
    HIP_READY();
    const hipError_t error = hip_kernel(f, &function);
    return error == hipSuccess
               ? hip_result(cuOccupancyMaxPotentialBlockSizeWithFlags(
                     gridSize, blockSize, function, NULL, dynSharedMemPerBlk, blockSizeLimit, flags))
               : error;
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, hipFunction_t f,
                                                   size_t dynSharedMemPerBlk, int blockSizeLimit)
{
    return hipModuleOccupancyMaxPotentialBlockSizeWithFlags(gridSize, blockSize, f, dynSharedMemPerBlk,
                                                            blockSizeLimit, 0);
}

hipError_t hipOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, const void *f,
                                             size_t dynSharedMemPerBlk, int blockSizeLimit)
{
    return hipModuleOccupancyMaxPotentialBlockSizeWithFlags(gridSize, blockSize, (hipFunction_t)(uintptr_t)f,
                                                            dynSharedMemPerBlk, blockSizeLimit, 0);
}
