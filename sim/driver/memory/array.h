/* CUDA arrays: device memory that copies, textures and surfaces access by position. Stored in rows without
 * padding. */
#ifndef NEUTRINO_SIM_ARRAY_H
#define NEUTRINO_SIM_ARRAY_H

#include "driver/core/api.h"
#include "driver/core/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_array {
    struct sim_object object; /* copies hold references */
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    bool is_level; /* part of a mipmapped array, which frees it */
    uint64_t storage;
    size_t bytes;
    size_t element_bytes;
    size_t row_bytes;
    size_t rows;   /* of a slice, at least 1 */
    size_t slices; /* slices or layers, at least 1 */
};

/* Compute sizes from the descriptor. CUDA_ERROR_INVALID_VALUE for an invalid descriptor,
 * CUDA_ERROR_NOT_SUPPORTED for an array that this device lacks. */
CUresult sim_array_measure(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, struct sim_array *array);

/* A published array with memory, for a valid descriptor. NULL: out of memory. */
struct sim_array *sim_array_make(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, struct sim_context *context,
                                 bool is_level);

/* Address of a box of `width` bytes, `height` rows and `depth` slices. False: the box exceeds the array. */
bool sim_array_locate(const struct sim_array *array, size_t x, size_t y, size_t z, size_t width,
                      size_t height, size_t depth, uint64_t *address);

/* A level of a mipmapped array; NULL if the handle is invalid or the array has fewer levels. */
const struct sim_array *sim_mipmapped_level(const void *handle, unsigned level);

#endif
