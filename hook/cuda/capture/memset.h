/* All forms of memsets in one structure, and how a capture keeps them. */
#ifndef NEUTRINO_CUDA_CAPTURE_SET_H
#define NEUTRINO_CUDA_CAPTURE_SET_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"

struct nb_set {
    uint64_t address;
    uint64_t pitch; /* unused for one row */
    uint64_t width, height;
    uint32_t value;
    uint32_t element_bytes;
    CUstream stream;
    uint32_t graph; /* the graph that contains the memset as a node, else 0 */
};

/* Append a memset that nb_capture_begin_operation accepted and the driver made, or a graph's memset node.
 * Returns the operation's index, or NB_NOTHING if the memset is refused or empty. */
uint32_t nb_capture_memset(const struct nb_call *call, struct nb_set set)
    __attribute__((visibility("hidden")));

#endif
