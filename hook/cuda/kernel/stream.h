/* Finds out which stream a call means, and whether stream capture takes the call's work. */
#ifndef NEUTRINO_CUDA_STREAM_H
#define NEUTRINO_CUDA_STREAM_H

#include <cuda.h>

#include <stdatomic.h>
#include <stdbool.h>

#include "core/process/call.h"

/* Set by the first stream capture of the process. Only then does the shim ask streams whether they are
 * capturing. Never cleared, because an invalidated stream capture would leave a count wrong. */
extern atomic_bool nb_stream_capture_was_used __attribute__((visibility("hidden")));

/* Replace 0 by the legacy or the per-thread default stream: the call's name ends in _ptsz or _ptds for the
 * latter. */
CUstream nb_stream_resolve(const struct nb_call *call, CUstream stream) __attribute__((visibility("hidden")));

/* The driver may reuse a destroyed stream's handle, but never its number. 0 if unknown. The stream is one
 * that nb_stream_resolve returned. */
uint64_t nb_stream_query_number(CUstream stream) __attribute__((visibility("hidden")));

bool nb_stream_query_captured(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));

/* Does a stream capture take this call's work? Inside a hook. */
static inline bool nb_stream_is_captured(const struct nb_call *call, CUstream stream)
{
    return __builtin_expect(atomic_load_explicit(&nb_stream_capture_was_used, memory_order_relaxed), 0) &&
           nb_stream_query_captured(call, stream);
}

#endif
