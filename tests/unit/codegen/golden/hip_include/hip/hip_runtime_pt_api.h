#ifndef GOLDEN_HIP_RUNTIME_PT_API_H
#define GOLDEN_HIP_RUNTIME_PT_API_H
#ifdef HIP_API_PER_THREAD_DEFAULT_STREAM
#define hipLaunchKernel hipLaunchKernel_spt
#endif
hipError_t hipLaunchKernel_spt(const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args,
                               size_t sharedMemBytes, hipStream_t stream);
#endif
