/* Ours: a header in the manner of CUDA's, as small as shows every case of the generator. */
#ifndef GOLDEN_CUDA_H
#define GOLDEN_CUDA_H
#include <stdlib.h>

#define CUDA_VERSION 13000
#define CUDAAPI
#ifndef __CUDA_API_VERSION_INTERNAL
#define cuMemAlloc cuMemAlloc_v2
#endif

typedef enum CUresult_enum { CUDA_SUCCESS = 0, CUDA_ERROR_NOT_SUPPORTED = 801 } CUresult;
typedef unsigned long long CUdeviceptr_v2;
typedef CUdeviceptr_v2 CUdeviceptr;
typedef unsigned int CUdeviceptr_v1;
typedef struct CUmodule_st *CUmodule;
typedef struct CUstream_st *CUstream;
typedef struct CUfunction_st *CUfunction;
typedef void(CUDAAPI *CUhostFn)(void *userData);
typedef struct CUhandle_st { char reserved[64]; } CUhandle;

/**
 * \defgroup GOLDEN_INIT Initialization
 * @{
 */
CUresult CUDAAPI cuInit(unsigned int Flags);
CUresult CUDAAPI cuDriverGetVersion(int *driverVersion);
/** @} */

/**
 * \defgroup GOLDEN_MEM Memory Management
 * @{
 */
CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize);
CUresult CUDAAPI cuMemOpen(CUdeviceptr *pdptr, CUhandle handle, unsigned int Flags);
/** @} */

/**
 * \defgroup GOLDEN_MODULE Module Management
 * @{
 */
CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image);
/** @} */

/**
 * \defgroup GOLDEN_EXEC Execution Control
 * @{
 */
CUresult CUDAAPI cuCtxSynchronize(void);
CUresult CUDAAPI cuParamSetf(CUfunction hfunc, int offset, float value);
CUresult CUDAAPI cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData);
CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int gridDimX, CUstream hStream, void **kernelParams);
/** @} */

#ifdef __CUDA_API_VERSION_INTERNAL
CUresult CUDAAPI cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize);
CUresult CUDAAPI cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, CUstream hStream, void **kernelParams);
#endif

#endif
