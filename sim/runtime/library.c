/* Libraries that the program loads itself. A cudaKernel_t is the driver's kernel, and may stand wherever a
 * kernel's host address may. */
#include "runtime/registry.h"

#include <stdint.h>

_Static_assert((int)cudaJitErrorLogBufferSizeBytes == (int)CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES &&
                   (int)cudaJitOptimizationLevel == (int)CU_JIT_OPTIMIZATION_LEVEL &&
                   (int)cudaJitMinCtaPerSm == (int)CU_JIT_MIN_CTA_PER_SM &&
                   (int)cudaLibraryBinaryIsPreserved == (int)CU_LIBRARY_BINARY_IS_PRESERVED,
               "options are passed on unchanged");

#define LOAD_PARAMETERS                                                                                      \
    enum cudaJitOption *jitOptions, void **jitOptionsValues, unsigned int numJitOptions,                     \
        enum cudaLibraryOption *libraryOptions, void **libraryOptionValues, unsigned int numLibraryOptions
#define LOAD_ARGUMENTS                                                                                       \
    (CUjit_option *)(void *)jitOptions, jitOptionsValues, numJitOptions,                                     \
        (CUlibraryOption *)(void *)libraryOptions, libraryOptionValues, numLibraryOptions

static cudaError_t loaded(cudaLibrary_t *library, CUresult result)
{
    const cudaError_t error =
        result == CUDA_SUCCESS ? runtime_library_add((CUlibrary)*library) : runtime_result(result);
    if (error != cudaSuccess && library != NULL)
        *library = NULL;
    return error;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, LOAD_PARAMETERS)
{
    READY();
    return loaded(library, DRIVER(cuLibraryLoadData)((CUlibrary *)library, code, LOAD_ARGUMENTS));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName, LOAD_PARAMETERS)
{
    READY();
    return loaded(library, DRIVER(cuLibraryLoadFromFile)((CUlibrary *)library, fileName, LOAD_ARGUMENTS));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    READY();
    return runtime_library_remove((CUlibrary)library);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name)
{
    READY();
    const CUresult result = DRIVER(cuLibraryGetKernel)((CUkernel *)pKernel, (CUlibrary)library, name);
    if (result != CUDA_SUCCESS)
        return runtime_result(result);
    return runtime_library_kernel_add((CUlibrary)library, (CUkernel)*pKernel);
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels, cudaLibrary_t lib)
{
    unsigned int count = 0;
    READY();
    CUresult result = DRIVER(cuLibraryEnumerateKernels)((CUkernel *)kernels, numKernels, (CUlibrary)lib);
    if (result == CUDA_SUCCESS)
        result = DRIVER(cuLibraryGetKernelCount)(&count, (CUlibrary)lib);
    cudaError_t error = runtime_result(result);
    for (unsigned int i = 0; error == cudaSuccess && i < count && i < numKernels; i++)
        error = runtime_library_kernel_add((CUlibrary)lib, (CUkernel)kernels[i]);
    return error;
}

FORWARD(cudaLibraryGetKernelCount, (unsigned int *count, cudaLibrary_t lib), cuLibraryGetKernelCount, count,
        (CUlibrary)lib)
FORWARD(cudaLibraryGetGlobal, (void **dptr, size_t *bytes, cudaLibrary_t library, const char *name),
        cuLibraryGetGlobal, (CUdeviceptr *)(void *)dptr, bytes, (CUlibrary)library, name)
FORWARD(cudaLibraryGetManaged, (void **dptr, size_t *bytes, cudaLibrary_t library, const char *name),
        cuLibraryGetManaged, (CUdeviceptr *)(void *)dptr, bytes, (CUlibrary)library, name)
FORWARD(cudaLibraryGetUnifiedFunction, (void **fptr, cudaLibrary_t library, const char *symbol),
        cuLibraryGetUnifiedFunction, fptr, (CUlibrary)library, symbol)
FORWARD(cudaKernelSetAttributeForDevice,
        (cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device), cuKernelSetAttribute,
        (CUfunction_attribute)attr, value, (CUkernel)kernel, device)
