/* Memsets of planes. Before 7.1 HIP fills planes with bytes only (no hipMemsetD2D16, hipMemsetD2D32), so
 * wider elements are set row by row. */
#include "hip/driver/hip.h"

CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                          size_t Height)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t row = 0; result == CUDA_SUCCESS && row < Height; row++)
        result = cuMemsetD16_v2(dstDevice + row * dstPitch, us, Width);
    return result;
}

CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                          size_t Height)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t row = 0; result == CUDA_SUCCESS && row < Height; row++)
        result = cuMemsetD32_v2(dstDevice + row * dstPitch, ui, Width);
    return result;
}

CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                            size_t Height, CUstream hStream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t row = 0; result == CUDA_SUCCESS && row < Height; row++)
        result = cuMemsetD16Async(dstDevice + row * dstPitch, us, Width, hStream);
    return result;
}

CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                            size_t Height, CUstream hStream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t row = 0; result == CUDA_SUCCESS && row < Height; row++)
        result = cuMemsetD32Async(dstDevice + row * dstPitch, ui, Width, hStream);
    return result;
}
