/* Internal interface of the CUDA runtime, which runs over the driver that the process finds. */
#ifndef NEUTRINO_SIM_CUDART_H
#define NEUTRINO_SIM_CUDART_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(default) /* export the functions that cuda_runtime_api.h declares */
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#include "runtime/driver.h"

#define EXPORT __attribute__((visibility("default")))

/* Convert a driver result. The numbers of driver and runtime agree since CUDA 10.1. An error becomes the
 * thread's last error. */
cudaError_t runtime_result(CUresult result);
cudaError_t runtime_error(cudaError_t error);

/* Make sure that the thread has a current context: its own, or the primary context of its device. */
cudaError_t runtime_ensure_context(void);

/* The device of the current context, or of cudaSetDevice without one. */
CUdevice runtime_device(void);

/* The primary context of a device, which stays retained. */
CUresult runtime_primary_context(int device, CUcontext *context);

/* The meaning of the default stream in code compiled with --default-stream per-thread. */
static inline cudaStream_t runtime_per_thread(cudaStream_t stream)
{
    return stream == NULL ? cudaStreamPerThread : stream;
}

#define READY()                                                                                              \
    do {                                                                                                     \
        const cudaError_t ready = runtime_ensure_context();                                                  \
        if (ready != cudaSuccess)                                                                            \
            return ready;                                                                                    \
    } while (0)

/* Defines a function that makes a context if needed and calls one driver function. */
#define FORWARD(name, parameters, function, ...)                                                             \
    cudaError_t name parameters                                                                              \
    {                                                                                                        \
        READY();                                                                                             \
        return runtime_result(DRIVER(function)(__VA_ARGS__));                                                \
    }

/* The same for both forms of the default stream. The parameter is called `stream`. */
#define FORWARD_STREAM(name, parameters, function, ...)                                                      \
    FORWARD(name, parameters, function, __VA_ARGS__)                                                         \
    EXPORT cudaError_t name##_ptsz parameters;                                                               \
    cudaError_t name##_ptsz parameters                                                                       \
    {                                                                                                        \
        READY();                                                                                             \
        stream = runtime_per_thread(stream);                                                                 \
        return runtime_result(DRIVER(function)(__VA_ARGS__));                                                \
    }

/* Defines the per-thread form, `variant`, of a function. */
#define PER_THREAD(variant, parameters, call)                                                                \
    EXPORT cudaError_t variant parameters;                                                                   \
    cudaError_t variant parameters                                                                           \
    {                                                                                                        \
        return call;                                                                                         \
    }

#endif
