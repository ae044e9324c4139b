/* Facts about the device of the current context. */
#ifndef NEUTRINO_CUDA_PROBE_DEVICE_H
#define NEUTRINO_CUDA_PROBE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/* The compute capability, as 90; 0 if unknown. */
uint32_t nb_device_capability(void) __attribute__((visibility("hidden")));

/* Can kernels use memory that the process has from malloc or mmap? */
bool nb_device_is_pageable(void) __attribute__((visibility("hidden")));

#endif
