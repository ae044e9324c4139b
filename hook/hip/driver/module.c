/* Modules. */
#include "hip/driver/hip.h"

enum { OPTIONS_MAX = 32, OPTIONS_SHARED = CU_JIT_FAST_COMPILE + 1 };

/* Options up to hipJitOptionFastCompile have the same numbers. Newer options are left out: AMD's library
 * ignores all of them. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                            CUjit_option *options, void **optionValues)
{
    hipJitOption kept[OPTIONS_MAX];
    void *values[OPTIONS_MAX];
    unsigned count = 0;
    for (unsigned i = 0; options != NULL && optionValues != NULL && i < numOptions && count < OPTIONS_MAX;
         i++)
        if ((unsigned)options[i] < OPTIONS_SHARED) {
            kept[count] = (hipJitOption)options[i];
            values[count++] = optionValues[i];
        }
    return nb_hip_result(HIP(hipModuleLoadDataEx)((hipModule_t *)module, image, count, kept, values));
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    CUresult result;
    hipDeviceptr_t address = NULL;
    size_t size = 0;
    if (!nb_hip_registered_global(hmod, name, &address, &size, &result))
        result = nb_hip_result(HIP(hipModuleGetGlobal)(&address, &size, (hipModule_t)hmod, name));
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr != NULL)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    if (bytes != NULL)
        *bytes = size;
    return CUDA_SUCCESS;
}
