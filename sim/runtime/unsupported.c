/* Exports of NVIDIA's runtime of CUDA 13.0 that are not supported here, so that programs that refer to them
 * load. */
#include "runtime/unsupported.h"

#include <driver_types.h>
#include <stdatomic.h>
#include <stdio.h>

/* Defined without prototypes: on x86-64 a function ignores excess arguments. */
#define UNSUPPORTED(name)                                                                                    \
    __attribute__((visibility("default"))) cudaError_t name(void);                                           \
    cudaError_t name(void)                                                                                   \
    {                                                                                                        \
        static atomic_flag said = ATOMIC_FLAG_INIT;                                                          \
        if (!atomic_flag_test_and_set(&said))                                                                \
            (void)fprintf(stderr, "CUDA runtime (neutrino): %s is not supported\n", #name);                  \
        return runtime_unsupported();                                                                        \
    }

/* clang-format off */
UNSUPPORTED(__cudaGetProcAddress)
UNSUPPORTED(__cudaRegisterUnifiedTable)
UNSUPPORTED(cudaArrayGetPlane)
UNSUPPORTED(cudaArrayGetSparseProperties)
UNSUPPORTED(cudaDestroyExternalMemory)
UNSUPPORTED(cudaDestroyExternalSemaphore)
UNSUPPORTED(cudaDeviceFlushGPUDirectRDMAWrites)
UNSUPPORTED(cudaDeviceGetHostAtomicCapabilities)
UNSUPPORTED(cudaDeviceGetNvSciSyncAttributes)
UNSUPPORTED(cudaDeviceGetSharedMemConfig)
UNSUPPORTED(cudaDeviceGetTexture1DLinearMaxWidth)
UNSUPPORTED(cudaDeviceRegisterAsyncNotification)
UNSUPPORTED(cudaDeviceSetSharedMemConfig)
UNSUPPORTED(cudaDeviceUnregisterAsyncNotification)
UNSUPPORTED(cudaEGLStreamConsumerAcquireFrame)
UNSUPPORTED(cudaEGLStreamConsumerConnect)
UNSUPPORTED(cudaEGLStreamConsumerConnectWithFlags)
UNSUPPORTED(cudaEGLStreamConsumerDisconnect)
UNSUPPORTED(cudaEGLStreamConsumerReleaseFrame)
UNSUPPORTED(cudaEGLStreamProducerConnect)
UNSUPPORTED(cudaEGLStreamProducerDisconnect)
UNSUPPORTED(cudaEGLStreamProducerPresentFrame)
UNSUPPORTED(cudaEGLStreamProducerReturnFrame)
UNSUPPORTED(cudaEventCreateFromEGLSync)
UNSUPPORTED(cudaExternalMemoryGetMappedBuffer)
UNSUPPORTED(cudaExternalMemoryGetMappedMipmappedArray)
UNSUPPORTED(cudaFuncSetSharedMemConfig)
UNSUPPORTED(cudaGLGetDevices)
UNSUPPORTED(cudaGLMapBufferObject)
UNSUPPORTED(cudaGLMapBufferObjectAsync)
UNSUPPORTED(cudaGLRegisterBufferObject)
UNSUPPORTED(cudaGLSetBufferObjectMapFlags)
UNSUPPORTED(cudaGLSetGLDevice)
UNSUPPORTED(cudaGLUnmapBufferObject)
UNSUPPORTED(cudaGLUnmapBufferObjectAsync)
UNSUPPORTED(cudaGLUnregisterBufferObject)
UNSUPPORTED(cudaGetExportTable)
UNSUPPORTED(cudaGraphAddExternalSemaphoresSignalNode)
UNSUPPORTED(cudaGraphAddExternalSemaphoresWaitNode)
UNSUPPORTED(cudaGraphExecExternalSemaphoresSignalNodeSetParams)
UNSUPPORTED(cudaGraphExecExternalSemaphoresWaitNodeSetParams)
UNSUPPORTED(cudaGraphExternalSemaphoresSignalNodeGetParams)
UNSUPPORTED(cudaGraphExternalSemaphoresSignalNodeSetParams)
UNSUPPORTED(cudaGraphExternalSemaphoresWaitNodeGetParams)
UNSUPPORTED(cudaGraphExternalSemaphoresWaitNodeSetParams)
UNSUPPORTED(cudaGraphicsEGLRegisterImage)
UNSUPPORTED(cudaGraphicsGLRegisterBuffer)
UNSUPPORTED(cudaGraphicsGLRegisterImage)
UNSUPPORTED(cudaGraphicsMapResources)
UNSUPPORTED(cudaGraphicsResourceGetMappedEglFrame)
UNSUPPORTED(cudaGraphicsResourceGetMappedMipmappedArray)
UNSUPPORTED(cudaGraphicsResourceGetMappedPointer)
UNSUPPORTED(cudaGraphicsResourceSetMapFlags)
UNSUPPORTED(cudaGraphicsSubResourceGetMappedArray)
UNSUPPORTED(cudaGraphicsUnmapResources)
UNSUPPORTED(cudaGraphicsUnregisterResource)
UNSUPPORTED(cudaGraphicsVDPAURegisterOutputSurface)
UNSUPPORTED(cudaGraphicsVDPAURegisterVideoSurface)
UNSUPPORTED(cudaImportExternalMemory)
UNSUPPORTED(cudaImportExternalSemaphore)
UNSUPPORTED(cudaLogsCurrent)
UNSUPPORTED(cudaLogsDumpToFile)
UNSUPPORTED(cudaLogsDumpToMemory)
UNSUPPORTED(cudaLogsRegisterCallback)
UNSUPPORTED(cudaLogsUnregisterCallback)
UNSUPPORTED(cudaMemcpyArrayToArray)
UNSUPPORTED(cudaMemcpyArrayToArray_ptds)
UNSUPPORTED(cudaMipmappedArrayGetSparseProperties)
UNSUPPORTED(cudaSetValidDevices)
UNSUPPORTED(cudaSignalExternalSemaphoresAsync)
UNSUPPORTED(cudaSignalExternalSemaphoresAsync_ptsz)
UNSUPPORTED(cudaVDPAUGetDevice)
UNSUPPORTED(cudaVDPAUSetVDPAUDevice)
UNSUPPORTED(cudaWaitExternalSemaphoresAsync)
UNSUPPORTED(cudaWaitExternalSemaphoresAsync_ptsz)
/* clang-format on */
