/* Exports of HIP's library that none of its C headers declares: what hipcc's output calls, and functions that
 * only hip_ext.h and C++ know, under their mangled names. Read after hip_runtime_api.h.
 *
 * From clr's hip_platform.cpp, hip_module.cpp and hip_runtime_prof.h; what clang emits is in its
 * CGCUDANV.cpp. */
#ifndef NEUTRINO_HIP_EXTRA_H
#define NEUTRINO_HIP_EXTRA_H

/* Kernels, variables and textures that hipcc linked into a program: constructors register them. */
void **__hipRegisterFatBinary(const void *data);
void __hipUnregisterFatBinary(void **modules);
void __hipRegisterFunction(void **modules, const void *hostFunction, char *deviceFunction,
                           const char *deviceName, unsigned int threadLimit, void *tid, void *bid,
                           dim3 *blockDim, dim3 *gridDim, int *wSize);
void __hipRegisterVar(void **modules, void *var, char *hostVar, char *deviceVar, int ext, size_t size,
                      int constant, int global);
void __hipRegisterManagedVar(void *hipModule, void **pointer, void *init_value, const char *name, size_t size,
                             unsigned int align);
void __hipRegisterSurface(void **modules, void *var, char *hostVar, char *deviceVar, int type, int ext);
void __hipRegisterTexture(void **modules, void *var, char *hostVar, char *deviceVar, int type, int norm,
                          int ext);

/* hipExtModuleLaunchKernel, and its deprecated form. Sizes are in work-items, not in blocks. */
hipError_t _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
    hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
    uint32_t localWorkSizeX, uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
    hipStream_t hStream, void **kernelParams, void **extra, hipEvent_t startEvent, hipEvent_t stopEvent,
    uint32_t flags);
hipError_t _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(
    hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
    uint32_t localWorkSizeX, uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
    hipStream_t hStream, void **kernelParams, void **extra, hipEvent_t startEvent, hipEvent_t stopEvent);

/* hip_impl::hipLaunchKernelGGLImpl: its references are pointers. */
void _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv(uintptr_t function_address,
                                                                         const dim3 *numBlocks,
                                                                         const dim3 *dimBlocks,
                                                                         uint32_t sharedMemBytes,
                                                                         hipStream_t stream, void **kernarg);

/* hipCreateSurfaceObject, hipDestroySurfaceObject: declared for C++ only, and not extern "C". */
hipError_t _Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc(hipSurfaceObject_t *pSurfObject,
                                                                          const hipResourceDesc *pResDesc);
hipError_t _Z23hipDestroySurfaceObjectP13__hip_surface(hipSurfaceObject_t surfaceObject);

/* Functions of newer libraries that launch a kernel or return functions. Without their prototypes, a shim
 * would miss launches. */
#if HIP_VERSION < 50500000
typedef struct hipFunctionLaunchParams_t {
    hipFunction_t function;
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    hipStream_t hStream;
    void **kernelParams;
} hipFunctionLaunchParams;

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
                                            unsigned int gridDimZ, unsigned int blockDimX,
                                            unsigned int blockDimY, unsigned int blockDimZ,
                                            unsigned int sharedMemBytes, hipStream_t stream,
                                            void **kernelParams);
hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams *launchParamsList,
                                                       unsigned int numDevices, unsigned int flags);
#endif
#if HIP_VERSION < 60100000
typedef enum hipDriverProcAddressQueryResult {
    HIP_GET_PROC_ADDRESS_SUCCESS = 0
} hipDriverProcAddressQueryResult;

hipError_t hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                             hipDriverProcAddressQueryResult *symbolStatus);
#endif
#if HIP_VERSION < 60500000
typedef struct HIP_LAUNCH_CONFIG_st {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    hipStream_t hStream;
    struct hipLaunchAttribute_st *attrs;
    unsigned int numAttrs;
} HIP_LAUNCH_CONFIG;

typedef struct hipLaunchConfig_st {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    hipStream_t stream;
    struct hipLaunchAttribute_st *attrs;
    unsigned int numAttrs;
} hipLaunchConfig_t;

hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *config, hipFunction_t f, void **params,
                                void **extra);
hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *config, const void *fPtr, void **args);
#endif

#endif
