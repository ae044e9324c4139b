/* Copies of every form as one shape, and what a capture makes of them. */
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
    bool is_array;  /* then nothing above is known */
};

struct nb_copy {
    struct nb_copy_end destination, source;
    uint64_t width;         /* bytes of a row */
    uint64_t height, depth; /* rows of a slice, slices */
    CUstream stream;
    uint32_t graph;  /* the graph whose node it is, else 0 */
    bool host_waits; /* the call returns when what it reads or writes on the host has been read or written */
};

/* A copy that nb_capture_announce said is to be recorded, and that happened, or a graph's node. Writes a
 * copy, an upload with the host's bytes as they are now, or why it is neither. Returns the operation's index,
 * or NB_NOTHING. */
uint32_t nb_capture_copy(const struct nb_call *call, struct nb_copy copy)
    __attribute__((visibility("hidden")));

/* Tells two contents of the host's memory apart that a copy reads; 0 if it reads none. */
uint64_t nb_capture_copy_source(const struct nb_copy *copy) __attribute__((visibility("hidden")));

struct nb_copy nb_copy_of_bytes(uint64_t destination, uint64_t source, size_t bytes, CUstream stream,
                                bool host_waits) __attribute__((visibility("hidden")));
struct nb_copy nb_copy_of_plane(const CUDA_MEMCPY2D *from, CUstream stream, bool host_waits)
    __attribute__((visibility("hidden")));
struct nb_copy nb_copy_of_volume(const CUDA_MEMCPY3D *from, CUstream stream, bool host_waits)
    __attribute__((visibility("hidden")));

#endif
