/* The CUDA runtime over the driver that the process finds: what its files share. */
#ifndef NEUTRINO_SIM_CUDART_H
#define NEUTRINO_SIM_CUDART_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(default) /* what cuda_runtime_api.h declares is exported where it is defined */
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#include "runtime/driver.h"

#define EXPORT __attribute__((visibility("default")))

/* The driver's and the runtime's numbers are the same since CUDA 10.1. Any but 0 becomes the thread's last
 * error. */
cudaError_t runtime_result(CUresult result);
cudaError_t runtime_error(cudaError_t error);

/* The thread has a current context: its own, or the primary one of its device, made on first use. */
cudaError_t runtime_ready(void);

/* The device of the current context, else the one that cudaSetDevice chose. */
CUdevice runtime_device(void);

/* What the default stream is for code compiled with --default-stream per-thread. */
static inline cudaStream_t runtime_per_thread(cudaStream_t stream)
{
    return stream == NULL ? cudaStreamPerThread : stream;
}

#define READY()                                                                                              \
    do {                                                                                                     \
        const cudaError_t ready = runtime_ready();                                                           \
        if (ready != cudaSuccess)                                                                            \
            return ready;                                                                                    \
    } while (0)

/* A row of a table: a function of the runtime that is one of the driver, once there is a context. */
#define FORWARD(name, parameters, function, ...)                                                             \
    cudaError_t name parameters                                                                              \
    {                                                                                                        \
        READY();                                                                                             \
        return runtime_result(DRIVER(function)(__VA_ARGS__));                                                \
    }

/* The same in both forms of the default stream; the parameter is called `stream`. */
#define FORWARD_STREAM(name, parameters, function, ...)                                                      \
    FORWARD(name, parameters, function, __VA_ARGS__)                                                         \
    EXPORT cudaError_t name##_ptsz parameters;                                                               \
    cudaError_t name##_ptsz parameters                                                                       \
    {                                                                                                        \
        READY();                                                                                             \
        stream = runtime_per_thread(stream);                                                                 \
        return runtime_result(DRIVER(function)(__VA_ARGS__));                                                \
    }

/* The per-thread form, `variant`, of a function that is written out. */
#define PER_THREAD(variant, parameters, call)                                                                \
    EXPORT cudaError_t variant parameters;                                                                   \
    cudaError_t variant parameters                                                                           \
    {                                                                                                        \
        return call;                                                                                         \
    }

#endif
