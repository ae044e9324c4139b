/* Copies of memory without arrays. */
#ifndef NEUTRINO_SIM_RUNTIME_COPY_H
#define NEUTRINO_SIM_RUNTIME_COPY_H

#include "runtime/cudart.h"

/* How a call relates to the host: those of the per-thread default stream have no synchronous form in the
 * driver that takes a stream, so they are an asynchronous one and a wait. */
enum copy_wait {
    COPY_QUEUED, /* on `stream` */
    COPY_LEGACY, /* on the legacy default stream, done on return as the driver says */
    COPY_WAITED  /* on `stream`, done on return */
};

cudaError_t copy_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                       cudaStream_t stream, enum copy_wait wait);

/* What a queued copy returned, or the wait for it. */
CUresult copy_done(CUresult queued, cudaStream_t stream, enum copy_wait wait);

#endif
