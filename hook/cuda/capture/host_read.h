/* Copies from device memory to the host: how many a region may hold, and when the host has the bytes. */
#ifndef NEUTRINO_CUDA_CAPTURE_HOST_READ_H
#define NEUTRINO_CUDA_CAPTURE_HOST_READ_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* Count a copy of `bytes` bytes. False if the region now has more copies or bytes than a capture may have
 * (capture_format.h). */
bool nb_host_read_count(uint64_t bytes) __attribute__((visibility("hidden")));

/* Wait until the stream is idle, so that a copy in its order has ended. False after 10 s, or if the driver
 * returns an error: the work may wait for the host, which this wait holds up. */
bool nb_host_read_wait(const struct nb_call *call, CUstream stream) __attribute__((visibility("hidden")));

extern const struct nb_component nb_host_read_component __attribute__((visibility("hidden")));

#endif
