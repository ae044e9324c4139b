/* Copies between linear memory. */
#ifndef NEUTRINO_SIM_RUNTIME_COPY_H
#define NEUTRINO_SIM_RUNTIME_COPY_H

#include "runtime/cudart.h"

/* How a copy call relates to the host. The driver's synchronous calls take no stream, so those of the per-
 * thread default stream are an asynchronous call and a wait. */
enum copy_wait {
    COPY_QUEUED, /* on `stream` */
    COPY_LEGACY, /* on the legacy default stream, synchronous as in the driver */
    COPY_WAITED  /* on `stream`, then wait for it */
};

cudaError_t copy_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                       cudaStream_t stream, enum copy_wait wait);

/* The result of a queued copy, or of the wait for it. */
CUresult copy_done(CUresult queued, cudaStream_t stream, enum copy_wait wait);

#endif
