/* Setting memory. HIP sets planes by the byte alone before 7.1 (hipMemsetD2D16, hipMemsetD2D32): wider
 * elements are set row by row, which writes the same. */
#include "hip/driver/hip.h"

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
    return nb_hip_result(HIP(hipMemsetD8)(nb_hip_address(dstDevice), uc, N));
}

CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
    return nb_hip_result(HIP(hipMemsetD16)(nb_hip_address(dstDevice), us, N));
}

CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
    return nb_hip_result(HIP(hipMemsetD32)(nb_hip_address(dstDevice), (int)ui, N));
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
    return nb_hip_result(HIP(hipMemsetD8Async)(nb_hip_address(dstDevice), uc, N, nb_hip_stream(hStream)));
}

CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
    return nb_hip_result(HIP(hipMemsetD16Async)(nb_hip_address(dstDevice), us, N, nb_hip_stream(hStream)));
}

CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
    return nb_hip_result(
        HIP(hipMemsetD32Async)(nb_hip_address(dstDevice), (int)ui, N, nb_hip_stream(hStream)));
}

CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                         size_t Height)
{
    return nb_hip_result(HIP(hipMemset2D)(nb_hip_address(dstDevice), dstPitch, uc, Width, Height));
}

CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                           size_t Height, CUstream hStream)
{
    return nb_hip_result(HIP(hipMemset2DAsync)(nb_hip_address(dstDevice), dstPitch, uc, Width, Height,
                                               nb_hip_stream(hStream)));
}

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
