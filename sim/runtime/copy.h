/* Copies. */
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

/* Types of memory that a direction names. The direction is valid. */
struct copy_sides {
    CUmemorytype from, to;
};
struct copy_sides copy_sides_of(enum cudaMemcpyKind kind);

cudaError_t copy_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                       cudaStream_t stream, enum copy_wait wait);

/* Copies between an array, at x bytes and y rows, and rows of memory. */
cudaError_t copy_to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                          size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, enum copy_wait wait);
cudaError_t copy_from_array(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
                            size_t height, enum cudaMemcpyKind kind, cudaStream_t stream,
                            enum copy_wait wait);

/* The result of a queued copy, or of the wait for it. */
CUresult copy_done(CUresult queued, cudaStream_t stream, enum copy_wait wait);

/* Convert the description of a copy of a box to the driver's, and back. */
cudaError_t copy_describe_box(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *copy);
cudaError_t copy_box_of(const CUDA_MEMCPY3D *copy, struct cudaMemcpy3DParms *p);

/* Find the address of the part of a global that a copy touches. */
cudaError_t copy_symbol_part(const void *symbol, size_t offset, size_t count, void **part);

#endif
