/* cuMemcpy and the other calls that copy one row of bytes. */
#include "driver/context/context.h"
#include "driver/copy/copy.h"

static CUresult copy_row(uint64_t to, CUmemorytype to_type, uint64_t from, CUmemorytype from_type,
                         size_t bytes, CUstream stream, bool per_thread, enum sim_copy_return when)
{
    struct sim_context *context;
    struct sim_copy copy;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_copy_linear(to, to_type, from, from_type, bytes, &copy);
    return result == CUDA_SUCCESS ? sim_copy_submit(&copy, stream, per_thread, when) : result;
}

/* Defines the four forms of a call. `done` tells when the synchronous forms return. */
#define COPY_CALLS(synchronous, asynchronous, to_c, to_type, from_c, from_type, done)                        \
    CUresult synchronous(to_c to, from_c from, size_t bytes)                                                 \
    {                                                                                                        \
        return copy_row((uint64_t)to, to_type, (uint64_t)from, from_type, bytes, NULL, false, done);         \
    }                                                                                                        \
    CUresult synchronous##_ptds(to_c to, from_c from, size_t bytes)                                          \
    {                                                                                                        \
        return copy_row((uint64_t)to, to_type, (uint64_t)from, from_type, bytes, NULL, true, done);          \
    }                                                                                                        \
    CUresult asynchronous(to_c to, from_c from, size_t bytes, CUstream stream)                               \
    {                                                                                                        \
        return copy_row((uint64_t)to, to_type, (uint64_t)from, from_type, bytes, stream, false,              \
                        SIM_COPY_QUEUED);                                                                    \
    }                                                                                                        \
    CUresult asynchronous##_ptsz(to_c to, from_c from, size_t bytes, CUstream stream)                        \
    {                                                                                                        \
        return copy_row((uint64_t)to, to_type, (uint64_t)from, from_type, bytes, stream, true,               \
                        SIM_COPY_QUEUED);                                                                    \
    }

COPY_CALLS(cuMemcpy, cuMemcpyAsync, CUdeviceptr, CU_MEMORYTYPE_UNIFIED, CUdeviceptr, CU_MEMORYTYPE_UNIFIED,
           SIM_COPY_DONE)
COPY_CALLS(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, CUdeviceptr, CU_MEMORYTYPE_DEVICE, const void *,
           CU_MEMORYTYPE_HOST, SIM_COPY_DONE)
COPY_CALLS(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, void *, CU_MEMORYTYPE_HOST, CUdeviceptr,
           CU_MEMORYTYPE_DEVICE, SIM_COPY_DONE)
COPY_CALLS(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, CUdeviceptr, CU_MEMORYTYPE_DEVICE, CUdeviceptr,
           CU_MEMORYTYPE_DEVICE, SIM_COPY_QUEUED)
