/* Modules that a program loads. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/process/call.h"
#include "real.h"
#include "special.h"
#include "surface.h"

void nb_after_hip_module_load(const struct nb_call *call, hipError_t result, hipModule_t *module,
                              const void *image)
{
    nb_after_module_load(call, (CUresult)result, (CUmodule *)module, image);
}

/* What the compiler is asked for has CUDA's numbers as far as HIP goes (hipJitOptionFastCompile). */
void nb_after_hip_module_load_ex(const struct nb_call *call, hipError_t result, hipModule_t *module,
                                 const void *image, unsigned int numOptions, hipJitOption *options,
                                 void **optionValues)
{
    nb_after_module_load_ex(call, (CUresult)result, (CUmodule *)module, image, numOptions,
                            (CUjit_option *)options, optionValues);
}

void nb_after_hip_module_load_file(const struct nb_call *call, hipError_t result, hipModule_t *module,
                                   const char *fname)
{
    nb_after_module_load_file(call, (CUresult)result, (CUmodule *)module, fname);
}

void nb_after_hip_module_unload(const struct nb_call *call, hipError_t result, hipModule_t module)
{
    nb_after_module_unload(call, (CUresult)result, (CUmodule)module);
}

void nb_after_hip_get_function(const struct nb_call *call, hipError_t result, hipFunction_t *function,
                               hipModule_t module, const char *kname)
{
    nb_after_get_function(call, (CUresult)result, (CUfunction *)function, (CUmodule)module, kname);
}

void nb_after_hip_get_global(const struct nb_call *call, hipError_t result, hipDeviceptr_t *dptr,
                             size_t *bytes, hipModule_t hmod, const char *name)
{
    nb_after_get_global(call, (CUresult)result, (CUdeviceptr *)dptr, bytes, (CUmodule)hmod, name);
}
