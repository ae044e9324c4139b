/* Device and current context of a thread. */
#include "runtime/cudart.h"

#include <pthread.h>
#include <stdatomic.h>

#define DEVICES_MAX 64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primary[DEVICES_MAX]; /* retained once per process */
static _Thread_local int chosen;       /* device of cudaSetDevice */

CUresult runtime_primary_context(int device, CUcontext *context)
{
    if (device < 0 || device >= DEVICES_MAX)
        return CUDA_ERROR_INVALID_DEVICE;
    (void)pthread_mutex_lock(&mutex);
    CUresult result = CUDA_SUCCESS;
    if (primary[device] == NULL)
        result = DRIVER(cuDevicePrimaryCtxRetain)(&primary[device], device);
    *context = primary[device];
    (void)pthread_mutex_unlock(&mutex);
    return result;
}

static CUresult use(int device)
{
    CUcontext context;
    CUresult result = DRIVER(cuInit)(0);
    if (result == CUDA_SUCCESS)
        result = runtime_primary_context(device, &context);
    return result == CUDA_SUCCESS ? DRIVER(cuCtxSetCurrent)(context) : result;
}

cudaError_t runtime_ensure_context(void)
{
    CUcontext context = NULL; /* a program that uses both interfaces may have a context of its own */
    if (DRIVER(cuCtxGetCurrent)(&context) == CUDA_SUCCESS && context != NULL)
        return cudaSuccess;
    return runtime_result(use(chosen));
}

CUdevice runtime_device(void)
{
    CUcontext context = NULL;
    CUdevice device;
    if (DRIVER(cuCtxGetCurrent)(&context) == CUDA_SUCCESS && context != NULL &&
        DRIVER(cuCtxGetDevice)(&device) == CUDA_SUCCESS)
        return device;
    return chosen;
}

cudaError_t cudaGetDevice(int *device)
{
    if (device == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const CUresult result = DRIVER(cuInit)(0);
    if (result == CUDA_SUCCESS)
        *device = runtime_device();
    return runtime_result(result);
}

cudaError_t cudaSetDevice(int device)
{
    const CUresult result = use(device);
    if (result == CUDA_SUCCESS)
        chosen = device;
    return runtime_result(result);
}

/* cuDevicePrimaryCtxSetFlags refuses cudaDeviceMapHost (driver 580), which every device of the runtime has.
 */
static CUresult set_flags(int device, unsigned flags)
{
    return DRIVER(cuDevicePrimaryCtxSetFlags)(device, flags & ~(unsigned)cudaDeviceMapHost);
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    CUcontext context;
    if (flags != 0 && flags != cudaInitDeviceFlagsAreValid)
        return runtime_error(cudaErrorInvalidValue);
    CUresult result = DRIVER(cuInit)(0);
    if (result == CUDA_SUCCESS && flags == cudaInitDeviceFlagsAreValid)
        result = set_flags(device, deviceFlags);
    return runtime_result(result == CUDA_SUCCESS ? runtime_primary_context(device, &context) : result);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    const CUresult result = DRIVER(cuInit)(0);
    return runtime_result(result == CUDA_SUCCESS ? set_flags(runtime_device(), flags) : result);
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    int active;
    CUresult result = DRIVER(cuInit)(0);
    if (result == CUDA_SUCCESS)
        result = DRIVER(cuDevicePrimaryCtxGetState)(runtime_device(), flags, &active);
    if (result == CUDA_SUCCESS)
        *flags |= cudaDeviceMapHost; /* documented: implicit in the runtime's flags */
    return runtime_result(result);
}

cudaError_t cudaDeviceReset(void)
{
    READY();
    const CUdevice device = runtime_device();
    (void)pthread_mutex_lock(&mutex);
    CUresult result = CUDA_SUCCESS;
    if (device < DEVICES_MAX && primary[device] != NULL) {
        primary[device] = NULL;
        result = DRIVER(cuDevicePrimaryCtxReset)(device);
        if (result == CUDA_SUCCESS)
            result = DRIVER(cuCtxSetCurrent)(NULL);
    }
    (void)pthread_mutex_unlock(&mutex);
    return runtime_result(result);
}

cudaError_t cudaDeviceSynchronize(void)
{
    READY();
    return runtime_result(DRIVER(cuCtxSynchronize)());
}
