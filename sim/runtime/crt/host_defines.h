/* Stands in for nvcc's header, which the wheel with cuda_runtime_api.h does not contain. */
#ifndef NEUTRINO_HOST_DEFINES_H
#define NEUTRINO_HOST_DEFINES_H

#define CUDARTAPI
#define CUDARTAPI_CDECL
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __align__(bytes)         __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)
#define __inline_hint__
#define __CUDA_DEPRECATED
#define CUDA_CB

#endif
