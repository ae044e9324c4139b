/* Ours: what hipcc's output calls, and a function that only C++ knows, as in semantics/hip_extra.h. */
#ifndef GOLDEN_HIP_EXTRA_H
#define GOLDEN_HIP_EXTRA_H
void **__hipRegisterFatBinary(const void *data);
void __hipUnregisterFatBinary(void **modules);
void __hipRegisterFunction(void **modules, const void *hostFunction, char *deviceFunction, const char *deviceName,
                           unsigned int threadLimit, dim3 *blockDim, int *wSize);
void _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv(uintptr_t function_address,
                                                                         const dim3 *numBlocks,
                                                                         const dim3 *dimBlocks,
                                                                         uint32_t sharedMemBytes,
                                                                         hipStream_t stream, void **kernarg);
#endif
