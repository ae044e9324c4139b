/* All forms of copies in one structure, and how a capture keeps them. */
#ifndef NEUTRINO_CUDA_CAPTURE_COPY_H
#define NEUTRINO_CUDA_CAPTURE_COPY_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"

struct nb_copy_end {
    uint64_t address;
    uint64_t pitch; /* bytes from row to row */
    uint64_t slice; /* from slice to slice */
    bool is_array;  /* the fields above are unset then */
};

struct nb_copy {
    struct nb_copy_end destination, source;
    uint64_t width;         /* bytes of a row */
    uint64_t height, depth; /* rows of a slice, slices */
    CUstream stream;
    uint32_t graph;  /* the graph that contains the copy as a node, else 0 */
    bool host_waits; /* the call returns after the host memory was read or written */
};

/* Append a copy that nb_capture_begin_operation accepted and the driver made, or a graph's copy node.
 * Appends a device copy, an upload with the host's current bytes, or a copy to the host with the bytes that
 * the host got, for which it waits; or refuses the copy. Returns the
 * operation's index or NB_NOTHING. */
uint32_t nb_capture_copy(const struct nb_call *call, struct nb_copy copy)
    __attribute__((visibility("hidden")));

/* Hash the host memory that the copy reads, to notice when it changes; 0 if the copy reads none. */
uint64_t nb_capture_hash_copy_source(const struct nb_copy *copy) __attribute__((visibility("hidden")));

struct nb_copy nb_copy_of_bytes(uint64_t destination, uint64_t source, size_t bytes, CUstream stream,
                                bool host_waits) __attribute__((visibility("hidden")));
struct nb_copy nb_copy_of_plane(const CUDA_MEMCPY2D *from, CUstream stream, bool host_waits)
    __attribute__((visibility("hidden")));
struct nb_copy nb_copy_of_volume(const CUDA_MEMCPY3D *from, CUstream stream, bool host_waits)
    __attribute__((visibility("hidden")));

#endif
