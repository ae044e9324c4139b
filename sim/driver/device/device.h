/* The one device: limits that all models (model.h) share. */
#ifndef NEUTRINO_SIM_DEVICE_H
#define NEUTRINO_SIM_DEVICE_H

#include <stddef.h>

#define SIM_DEVICE 0

/* The same for every compute capability from 7.5 on. */
#define SIM_WARP              32
#define SIM_BLOCK_THREADS     1024
#define SIM_BLOCK_Z           64
#define SIM_GRID_X            2147483647
#define SIM_GRID_YZ           65535
#define SIM_SM_REGISTERS      65536
#define SIM_BLOCK_SHARED      49152
#define SIM_CONSTANT_BYTES    65536
#define SIM_PRIORITY_LEAST    0
#define SIM_PRIORITY_GREATEST (-5)

/* Extents of arrays, in elements: CUDA C++ Programming Guide, technical specifications of 9.0. */
#define SIM_TEXTURE_1D             131072
#define SIM_TEXTURE_2D_WIDTH       131072
#define SIM_TEXTURE_2D_HEIGHT      65536
#define SIM_TEXTURE_3D             16384
#define SIM_TEXTURE_GATHER         32768
#define SIM_TEXTURE_LAYERED_WIDTH  32768
#define SIM_TEXTURE_LAYERS         2048
#define SIM_TEXTURE_CUBEMAP_LAYERS 2046
#define SIM_MIPMAPPED_WIDTH        32768
#define SIM_SURFACE_1D             32768

/* Textures in linear memory. */
#define SIM_TEXTURE_ALIGNMENT        512
#define SIM_TEXTURE_PITCH_ALIGNMENT  32
#define SIM_TEXTURE_1D_LINEAR        (1 << 28)
#define SIM_TEXTURE_2D_LINEAR_WIDTH  131072
#define SIM_TEXTURE_2D_LINEAR_HEIGHT 65000
#define SIM_TEXTURE_2D_LINEAR_PITCH  2097120

/* Bytes of device memory. */
size_t sim_device_memory(void);

#endif
