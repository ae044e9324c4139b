/* The streams of a region. */
#ifndef NEUTRINO_CUDA_CAPTURE_STREAM_H
#define NEUTRINO_CUDA_CAPTURE_STREAM_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* Return the index of a stream element and write the element at its first use. `call` tells whether 0 is
 * the legacy or the per-thread default stream (its name ends in _ptsz or _ptds). */
uint32_t nb_capture_write_stream(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));

/* Return the index of a stream that was given work in this region, else NB_NOTHING. */
uint32_t nb_capture_find_stream(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));

/* A number that identifies the stream. */
uint64_t nb_capture_stream_key(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_stream_component __attribute__((visibility("hidden")));

#endif
