/* Copies and sets as CUDA describes them, from HIP's descriptions and back. */
#ifndef NEUTRINO_HIP_SHAPES_H
#define NEUTRINO_HIP_SHAPES_H

#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>

#define NB_SHAPE __attribute__((visibility("hidden")))

/* Ends of a copy are told apart by their addresses, not by the direction that the caller says: so does HIP
 * for all memory that it knows. An array is one without an address. */
CUDA_MEMCPY2D nb_shape_of_rows(void *destination, size_t destination_pitch, const void *source,
                               size_t source_pitch, size_t width, size_t height) NB_SHAPE;
CUDA_MEMCPY2D nb_shape_of_plane(const hip_Memcpy2D *from) NB_SHAPE;
CUDA_MEMCPY3D nb_shape_of_bytes(void *destination, const void *source, size_t bytes) NB_SHAPE;
CUDA_MEMCPY3D nb_shape_of_volume(const hipMemcpy3DParms *from) NB_SHAPE;
CUDA_MEMCPY3D nb_shape_of_driver_volume(const HIP_MEMCPY3D *from) NB_SHAPE;
CUDA_MEMSET_NODE_PARAMS nb_shape_of_set(const hipMemsetParams *from) NB_SHAPE;
CUDA_KERNEL_NODE_PARAMS nb_shape_of_kernel(const hipKernelNodeParams *from) NB_SHAPE;

/* The other way. False for a copy to or from an array. */
bool nb_hip_volume(const CUDA_MEMCPY3D *from, hipMemcpy3DParms *to) NB_SHAPE;
hipMemsetParams nb_hip_set(const CUDA_MEMSET_NODE_PARAMS *from) NB_SHAPE;

#endif
