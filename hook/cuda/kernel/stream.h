/* Which stream a call means, and whether what it is given runs or becomes part of a graph. */
#ifndef NEUTRINO_CUDA_STREAM_H
#define NEUTRINO_CUDA_STREAM_H

#include <cuda.h>

#include <stdatomic.h>
#include <stdbool.h>

#include "core/process/call.h"

/* Set by the first stream capture of the process: only from then on are streams asked whether they are
 * capturing. Never cleared: an invalidated capture would leave a count wrong. */
extern atomic_bool nb_stream_captures_happen __attribute__((visibility("hidden")));

/* 0 is the legacy or the per-thread default stream, as the call's name ends in _ptsz or _ptds or does not. */
CUstream nb_stream_of(const struct nb_call *call, CUstream stream) __attribute__((visibility("hidden")));

bool nb_stream_ask_captured(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));

/* Does a stream capture take what this call gives the stream? Inside a hook. */
static inline bool nb_stream_is_captured(const struct nb_call *call, CUstream stream)
{
    return __builtin_expect(atomic_load_explicit(&nb_stream_captures_happen, memory_order_relaxed), 0) &&
           nb_stream_ask_captured(call, stream);
}

#endif
