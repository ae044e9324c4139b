/* HIP has libraries of kernels (hipLibraryLoadData) since 7.2 only. Here a library is a module, and a kernel
 * is a function. */
#include "hip/driver/hip.h"

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                           void **jitOptionsValues, unsigned int numJitOptions,
                           CUlibraryOption *libraryOptions, void **libraryOptionValues,
                           unsigned int numLibraryOptions)
{
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    return cuModuleLoadDataEx((CUmodule *)library, code, numJitOptions, jitOptions, jitOptionsValues);
}

CUresult cuLibraryUnload(CUlibrary library)
{
    return cuModuleUnload((CUmodule)library);
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    return cuModuleGetFunction((CUfunction *)pKernel, (CUmodule)library, name);
}

CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    *pMod = (CUmodule)library;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    return cuModuleGetGlobal_v2(dptr, bytes, (CUmodule)library, name);
}

CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    *pFunc = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

/* ---- registered code: the bridge has none -------------------------------------------------------------- */

bool nb_hip_is_stub(CUfunction function)
{
    (void)function;
    return false;
}

/* The bridge does not observe stream destruction, so it cannot number streams. */
unsigned long long nb_hip_stream_number(hipStream_t stream)
{
    (void)stream;
    return 0;
}

CUresult nb_hip_stub_attribute(int *value, CUfunction_attribute attribute, CUfunction stub)
{
    (void)value, (void)attribute, (void)stub;
    return CUDA_ERROR_INVALID_HANDLE;
}

bool nb_hip_registered_global(CUmodule module, const char *name, hipDeviceptr_t *address, size_t *bytes,
                              CUresult *result)
{
    (void)module, (void)name, (void)address, (void)bytes, (void)result;
    return false;
}
