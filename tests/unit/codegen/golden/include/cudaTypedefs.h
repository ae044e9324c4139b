#ifndef GOLDEN_CUDA_TYPEDEFS_H
#define GOLDEN_CUDA_TYPEDEFS_H
#include <cuda.h>

typedef CUresult(CUDAAPI *PFN_cuInit_v2000)(unsigned int Flags);
typedef CUresult(CUDAAPI *PFN_cuDriverGetVersion_v2020)(int *driverVersion);
typedef CUresult(CUDAAPI *PFN_cuMemAlloc_v2000)(CUdeviceptr_v1 *dptr, unsigned int bytesize);
typedef CUresult(CUDAAPI *PFN_cuMemAlloc_v3020)(CUdeviceptr_v2 *dptr, size_t bytesize);
typedef CUresult(CUDAAPI *PFN_cuMemOpen_v4010)(CUdeviceptr_v2 *pdptr, CUhandle handle, unsigned int Flags);
typedef CUresult(CUDAAPI *PFN_cuModuleLoadData_v2000)(CUmodule *module, const void *image);
typedef CUresult(CUDAAPI *PFN_cuCtxSynchronize_v2000)(void);
typedef CUresult(CUDAAPI *PFN_cuParamSetf_v2000)(CUfunction hfunc, int offset, float value);
typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v10000)(CUstream hStream, CUhostFn fn, void *userData);
typedef CUresult(CUDAAPI *PFN_cuLaunchKernel_v4000)(CUfunction f, unsigned int gridDimX, CUstream hStream,
                                                    void **kernelParams);
typedef CUresult(CUDAAPI *PFN_cuLaunchKernel_v7000_ptsz)(CUfunction f, unsigned int gridDimX, CUstream hStream,
                                                         void **kernelParams);

#endif
