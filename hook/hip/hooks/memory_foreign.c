/* Calls that return memory outside of captures (hook/cuda/memory/foreign.h). */
#include "cuda/memory/foreign.h"

#include "core/process/call.h"
#include "core/region/region.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

void nb_post_hip_external_buffer(const struct nb_call *call, hipError_t result, void **devPtr,
                                 hipExternalMemory_t extMem, const hipExternalMemoryBufferDesc *bufferDesc)
{
    if (result != hipSuccess || bufferDesc == NULL)
        return;
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC same = {.offset = bufferDesc->offset, .size = bufferDesc->size};
    nb_post_external_buffer(call, CUDA_SUCCESS, (CUdeviceptr *)devPtr, (CUexternalMemory)extMem, &same);
}
