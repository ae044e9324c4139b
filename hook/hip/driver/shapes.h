/* Converts HIP's copies, memsets and kernel nodes to CUDA's structures. */
#ifndef NEUTRINO_HIP_SHAPES_H
#define NEUTRINO_HIP_SHAPES_H

#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>

#define NB_SHAPE __attribute__((visibility("hidden")))

/* The results have the unified memory type: an address tells host from device, as in HIP for all memory that
 * it knows. */
CUDA_MEMCPY2D nb_shape_of_rows(void *destination, size_t destination_pitch, const void *source,
                               size_t source_pitch, size_t width, size_t height) NB_SHAPE;
CUDA_MEMCPY2D nb_shape_of_plane(const hip_Memcpy2D *from) NB_SHAPE;
CUDA_MEMCPY3D nb_shape_of_bytes(void *destination, const void *source, size_t bytes) NB_SHAPE;

/* Returns false if the library and the header have different structures (32-bit sizes before 6.0). */
bool nb_shape_of_driver_volume(const HIP_MEMCPY3D *from, CUDA_MEMCPY3D *into) NB_SHAPE;

CUDA_MEMSET_NODE_PARAMS nb_shape_of_set(const hipMemsetParams *from) NB_SHAPE;
CUDA_KERNEL_NODE_PARAMS nb_shape_of_kernel(const hipKernelNodeParams *from) NB_SHAPE;

#endif
