/* The streams of a region. */
#ifndef NEUTRINO_CUDA_CAPTURE_STREAM_H
#define NEUTRINO_CUDA_CAPTURE_STREAM_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* The index of a stream element, written at its first use. `call` says whether 0 is the legacy or the
 * per-thread default stream (its name ends in _ptsz or _ptds). */
uint32_t nb_capture_stream(const struct nb_call *call, CUstream stream) __attribute__((visibility("hidden")));

/* The index of a stream that was given work in this region, else NB_NOTHING. */
uint32_t nb_capture_stream_used(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));

/* A number that tells the stream from all others. */
uint64_t nb_capture_stream_key(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_stream_component __attribute__((visibility("hidden")));

#endif
