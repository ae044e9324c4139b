/* The state of the device and its memory when a region begins and when it ends. */
#ifndef NEUTRINO_CUDA_CAPTURE_STATE_H
#define NEUTRINO_CUDA_CAPTURE_STATE_H

#include "core/region/region.h"

extern const struct nb_region_operations nb_capture_region_operations __attribute__((visibility("hidden")));

#endif
