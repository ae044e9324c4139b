/* The one device: the limits that all models (model.h) share. */
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

/* Bytes of device memory. */
size_t sim_device_memory(void);

#endif
