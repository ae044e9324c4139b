/* Memory for the maps of launches. */
#ifndef NEUTRINO_CUDA_PROBE_BUFFERS_H
#define NEUTRINO_CUDA_PROBE_BUFFERS_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/component.h"

/* Memory for the maps of one launch, used again after they are collected. It is never freed: cuMemFree waits
 * for the whole device, and kernels may wait for this thread's next launch. */
struct nb_probe_buffer {
    CUcontext context;
    CUdeviceptr device;
    unsigned char *host; /* pinned */
    CUevent event;       /* recorded behind the copy to the host */
    uint64_t capacity;
    struct nb_probe_buffer *next;
};

/* NULL if the limit or the device has no more memory. */
struct nb_probe_buffer *nb_probe_take_buffer(CUcontext context, uint64_t bytes)
    __attribute__((visibility("hidden")));

/* The device writes to it no more. */
void nb_probe_give_buffer(struct nb_probe_buffer *buffer) __attribute__((visibility("hidden")));

/* Its context is gone, and its memory with it. */
void nb_probe_drop_buffer(struct nb_probe_buffer *buffer) __attribute__((visibility("hidden")));

/* Drop the unused buffers of a context that is gone (NULL: of all). */
void nb_probe_forget_buffers(CUcontext context) __attribute__((visibility("hidden")));

extern const struct nb_component nb_probe_buffers_component __attribute__((visibility("hidden")));

#endif
