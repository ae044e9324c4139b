/* Memsets of every form as one shape, and what a capture makes of them. */
#ifndef NEUTRINO_CUDA_CAPTURE_SET_H
#define NEUTRINO_CUDA_CAPTURE_SET_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"

struct nb_set {
    uint64_t address;
    uint64_t pitch; /* any for one row */
    uint64_t width, height;
    uint32_t value;
    uint32_t element_bytes;
    CUstream stream;
    uint32_t graph; /* the graph whose node it is, else 0 */
};

/* One that nb_capture_announce said is to be recorded, and that happened, or a graph's node. Returns the
 * operation's index, or NB_NOTHING where it is refused or does nothing. */
uint32_t nb_capture_set(const struct nb_call *call, struct nb_set set) __attribute__((visibility("hidden")));

#endif
