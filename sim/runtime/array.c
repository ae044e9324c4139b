/* Arrays and mipmapped arrays. */
#include "runtime/channel.h"

_Static_assert(cudaArrayLayered == CUDA_ARRAY3D_LAYERED &&
                   cudaArraySurfaceLoadStore == CUDA_ARRAY3D_SURFACE_LDST &&
                   cudaArrayCubemap == CUDA_ARRAY3D_CUBEMAP &&
                   cudaArrayTextureGather == CUDA_ARRAY3D_TEXTURE_GATHER &&
                   cudaArraySparse == CUDA_ARRAY3D_SPARSE &&
                   cudaArrayDeferredMapping == CUDA_ARRAY3D_DEFERRED_MAPPING,
               "flags are passed on unchanged");

static cudaError_t describe(const struct cudaChannelFormatDesc *channel, struct cudaExtent extent,
                            unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    *descriptor = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    if (channel == NULL)
        return runtime_error(cudaErrorInvalidValue);
    return channel_to_format(channel, &descriptor->Format, &descriptor->NumChannels)
               ? cudaSuccess
               : runtime_error(cudaErrorInvalidChannelDescriptor);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    READY();
    const cudaError_t error = describe(desc, extent, flags, &descriptor);
    return error == cudaSuccess
               ? runtime_result(DRIVER(cuArray3DCreate)((CUarray *)(void *)array, &descriptor))
               : error;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                            size_t height, unsigned int flags)
{
    return cudaMalloc3DArray(array, desc, (struct cudaExtent){.width = width, .height = height}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    READY();
    return array == NULL ? cudaSuccess : runtime_result(DRIVER(cuArrayDestroy)((CUarray)array));
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
                                     const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                                     unsigned int numLevels, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    READY();
    const cudaError_t error = describe(desc, extent, flags, &descriptor);
    return error == cudaSuccess ? runtime_result(DRIVER(cuMipmappedArrayCreate)(
                                      (CUmipmappedArray *)(void *)mipmappedArray, &descriptor, numLevels))
                                : error;
}

FORWARD(cudaGetMipmappedArrayLevel,
        (cudaArray_t * levelArray, cudaMipmappedArray_const_t mipmappedArray, unsigned int level),
        cuMipmappedArrayGetLevel, (CUarray *)(void *)levelArray, (CUmipmappedArray)mipmappedArray, level)

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
    READY();
    return mipmappedArray == NULL
               ? cudaSuccess
               : runtime_result(DRIVER(cuMipmappedArrayDestroy)((CUmipmappedArray)mipmappedArray));
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned int *flags, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    READY();
    const CUresult result = DRIVER(cuArray3DGetDescriptor)(&descriptor, (CUarray)array);
    if (result != CUDA_SUCCESS)
        return runtime_result(result);
    if (desc != NULL)
        *desc = channel_of_format(descriptor.Format, descriptor.NumChannels);
    if (extent != NULL)
        *extent = (struct cudaExtent){descriptor.Width, descriptor.Height, descriptor.Depth};
    if (flags != NULL)
        *flags = descriptor.Flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    if (desc == NULL)
        return runtime_error(cudaErrorInvalidValue);
    return cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)(uintptr_t)array);
}

_Static_assert(sizeof(struct cudaArrayMemoryRequirements) == sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS),
               "passed on unchanged");

FORWARD(cudaArrayGetMemoryRequirements,
        (struct cudaArrayMemoryRequirements * memoryRequirements, cudaArray_t array, int device),
        cuArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS *)(void *)memoryRequirements,
        (CUarray)array, device)
FORWARD(cudaMipmappedArrayGetMemoryRequirements,
        (struct cudaArrayMemoryRequirements * memoryRequirements, cudaMipmappedArray_t mipmap, int device),
        cuMipmappedArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS *)(void *)memoryRequirements,
        (CUmipmappedArray)mipmap, device)
