/* Exports that no C header of HIP declares: entry points of profilers and debuggers, and compiler helpers.
 * Results are those of 5.2.3 where that runs without a GPU. */
#include "hip/hip.h"

#include "hip/kernel.h"
#include "ptx/number.h"

#include <hip/amd_detail/hip_prof_str.h>

EXPORT const char *hipApiName(uint32_t id);
EXPORT const char *hipGetCmdName(unsigned op);
EXPORT int hipGetStreamDeviceId(hipStream_t stream);
EXPORT const char *hipKernelNameRef(hipFunction_t f);
EXPORT const char *hipKernelNameRefByPtr(const void *hostFunction, hipStream_t stream);
EXPORT void hipInitActivityCallback(void *id, void *op, void *argument);
EXPORT bool hipEnableActivityCallback(unsigned op, bool enable);
EXPORT const char *amd_dbgapi_get_build_name(void);
EXPORT const char *amd_dbgapi_get_git_hash(void);
EXPORT size_t amd_dbgapi_get_build_id(void);
EXPORT void __hipGetPCH(const char **pch, unsigned *size);
EXPORT hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f);
EXPORT float __gnu_h2f_ieee(unsigned short half);
EXPORT unsigned short __gnu_f2h_ieee(float value);

const char *hipApiName(uint32_t id)
{
    return hip_api_name(id);
}

const char *hipGetCmdName(unsigned op)
{
    return op == 0 ? "InternalMarker" : "Unknown command type";
}

int hipGetStreamDeviceId(hipStream_t stream)
{
    CUdevice device;
    return runtime_ensure_context() == cudaSuccess &&
                   cuStreamGetDevice((CUstream)stream, &device) == CUDA_SUCCESS
               ? device
               : -1;
}

const char *hipKernelNameRef(hipFunction_t f)
{
    const char *name = NULL;
    return f != NULL && cuFuncGetName(&name, (CUfunction)f) == CUDA_SUCCESS ? name : NULL;
}

const char *hipKernelNameRefByPtr(const void *hostFunction, hipStream_t stream)
{
    CUfunction function;
    (void)stream;
    return hip_kernel(hostFunction, &function) == hipSuccess ? hipKernelNameRef((hipFunction_t)function)
                                                             : NULL;
}

/* Callbacks are not supported, so registering one fails. */
void hipInitActivityCallback(void *id, void *op, void *argument)
{
    (void)id, (void)op, (void)argument;
}

bool hipEnableActivityCallback(unsigned op, bool enable)
{
    (void)op, (void)enable;
    return false;
}

const char *amd_dbgapi_get_build_name(void)
{
    return "";
}

const char *amd_dbgapi_get_git_hash(void)
{
    return "";
}

size_t amd_dbgapi_get_build_id(void)
{
    return 0;
}

/* hiprtc's precompiled headers: this library has none. */
void __hipGetPCH(const char **pch, unsigned *size)
{
    *pch = NULL;
    *size = 0;
}

float __gnu_h2f_ieee(unsigned short half)
{
    return ptx_f16_value(half);
}

unsigned short __gnu_f2h_ieee(float value)
{
    return ptx_f16_bits((double)value, ROUND_NEAREST);
}

hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f)
{
    return (hipChannelFormatDesc){x, y, z, w, f};
}

/* hip_impl::hipLaunchKernelGGLImpl: arguments are a list such as hipModuleLaunchKernel's `extra`. */
void _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv(uintptr_t function_address,
                                                                         const dim3 *numBlocks,
                                                                         const dim3 *dimBlocks,
                                                                         uint32_t sharedMemBytes,
                                                                         hipStream_t stream, void **kernarg)
{
    CUfunction function;
    hipError_t error = hip_kernel((const void *)function_address, &function);
    if (error == hipSuccess)
        error = hipModuleLaunchKernel((hipFunction_t)function, numBlocks->x, numBlocks->y, numBlocks->z,
                                      dimBlocks->x, dimBlocks->y, dimBlocks->z, sharedMemBytes, stream, NULL,
                                      kernarg);
    (void)hip_last(error); /* the function returns void */
}
