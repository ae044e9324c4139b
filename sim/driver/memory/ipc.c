/* IPC handles of single allocations. The device does not support them, as its attribute tells. Programs can
 * share memory by cuMemExportToShareableHandle and by pools. */
#include "driver/context/context.h"
#include "driver/core/stub.h"
#include "driver/memory/range.h"

CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    struct sim_context *context;
    struct sim_range range;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pHandle == NULL || !sim_range_find(dptr, &range) || range.begin != dptr ||
        range.kind != SIM_MEMORY_DEVICE || range.pool != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_not_supported("cuIpcGetMemHandle");
}

static CUresult open(const CUdeviceptr *pdptr, unsigned flags, const char *name)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pdptr == NULL || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_not_supported(name);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    (void)handle;
    return open(pdptr, Flags, "cuIpcOpenMemHandle");
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    (void)handle;
    return open(pdptr, Flags, "cuIpcOpenMemHandle_v2");
}

/* No memory can be open. */
CUresult cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    (void)dptr;
    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
}
