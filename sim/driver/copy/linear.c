/* cuMemcpy and the other calls that copy one row of bytes. */
#include "driver/context/context.h"
#include "driver/copy/copy.h"

static CUresult linear(uint64_t destination, CUmemorytype destination_type, uint64_t source,
                       CUmemorytype source_type, size_t bytes, CUstream stream, bool per_thread,
                       enum sim_copy_return when)
{
    struct sim_context *context;
    struct sim_copy copy;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_copy_linear(destination, destination_type, source, source_type, bytes, &copy);
    return result == CUDA_SUCCESS ? sim_copy_submit(&copy, stream, per_thread, when) : result;
}

static CUresult to_device(CUdeviceptr to, const void *from, size_t bytes, CUstream stream, bool per_thread,
                          enum sim_copy_return when)
{
    return linear(to, CU_MEMORYTYPE_DEVICE, (uint64_t)(uintptr_t)from, CU_MEMORYTYPE_HOST, bytes, stream,
                  per_thread, when);
}

static CUresult to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream, bool per_thread,
                        enum sim_copy_return when)
{
    return linear((uint64_t)(uintptr_t)to, CU_MEMORYTYPE_HOST, from, CU_MEMORYTYPE_DEVICE, bytes, stream,
                  per_thread, when);
}

static CUresult is_on_device(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream, bool per_thread)
{
    return linear(to, CU_MEMORYTYPE_DEVICE, from, CU_MEMORYTYPE_DEVICE, bytes, stream, per_thread,
                  SIM_COPY_QUEUED);
}

static CUresult anywhere(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream, bool per_thread,
                         enum sim_copy_return when)
{
    return linear(to, CU_MEMORYTYPE_UNIFIED, from, CU_MEMORYTYPE_UNIFIED, bytes, stream, per_thread, when);
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return anywhere(dst, src, ByteCount, NULL, false, SIM_COPY_DONE);
}

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return anywhere(dst, src, ByteCount, NULL, true, SIM_COPY_DONE);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return anywhere(dst, src, ByteCount, hStream, false, SIM_COPY_QUEUED);
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return anywhere(dst, src, ByteCount, hStream, true, SIM_COPY_QUEUED);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return to_device(dstDevice, srcHost, ByteCount, NULL, false, SIM_COPY_DONE);
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return to_device(dstDevice, srcHost, ByteCount, NULL, true, SIM_COPY_DONE);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
    return to_device(dstDevice, srcHost, ByteCount, hStream, false, SIM_COPY_QUEUED);
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                   CUstream hStream)
{
    return to_device(dstDevice, srcHost, ByteCount, hStream, true, SIM_COPY_QUEUED);
}

CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return to_host(dstHost, srcDevice, ByteCount, NULL, false, SIM_COPY_DONE);
}

CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return to_host(dstHost, srcDevice, ByteCount, NULL, true, SIM_COPY_DONE);
}

CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return to_host(dstHost, srcDevice, ByteCount, hStream, false, SIM_COPY_QUEUED);
}

CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return to_host(dstHost, srcDevice, ByteCount, hStream, true, SIM_COPY_QUEUED);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return is_on_device(dstDevice, srcDevice, ByteCount, NULL, false);
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return is_on_device(dstDevice, srcDevice, ByteCount, NULL, true);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream)
{
    return is_on_device(dstDevice, srcDevice, ByteCount, hStream, false);
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                   CUstream hStream)
{
    return is_on_device(dstDevice, srcDevice, ByteCount, hStream, true);
}
