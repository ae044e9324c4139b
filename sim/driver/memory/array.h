/* CUDA arrays: device memory that only copies reach, by position. It lies in rows here, without padding. */
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
    bool is_level; /* of a mipmapped array, with which it goes */
    uint64_t storage;
    size_t bytes;
    size_t element_bytes;
    size_t row_bytes;
    size_t rows;   /* of a slice, at least 1 */
    size_t slices; /* slices or layers, at least 1 */
};

/* Fill in sizes from the descriptor. CUDA_ERROR_INVALID_VALUE: it describes no array that there is;
 * CUDA_ERROR_NOT_SUPPORTED: one that this device lacks. */
CUresult sim_array_measure(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, struct sim_array *array);

/* An array with memory and a handle, of a descriptor that can be measured. NULL without memory. */
struct sim_array *sim_array_make(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, struct sim_context *context,
                                 bool is_level);

/* Where a box of `width` bytes, `height` rows and `depth` slices begins. False: it is not all inside. */
bool sim_array_locate(const struct sim_array *array, size_t x, size_t y, size_t z, size_t width,
                      size_t height, size_t depth, uint64_t *address);

/* Destroy all arrays and mipmapped arrays of a context. */
void sim_array_free_context(struct sim_context *context);

#endif
