/* One structure for all forms of a launch. */
#ifndef NEUTRINO_CUDA_LAUNCH_FORM_H
#define NEUTRINO_CUDA_LAUNCH_FORM_H

#include <cuda.h>

#include <stdint.h>

struct nb_launch_form {
    CUfunction function;
    unsigned int grid[3], block[3];
    unsigned int shared_bytes;
    CUstream stream;
    const CUlaunchAttribute *attributes;
    unsigned int attribute_count;
    uint32_t flags; /* enum nb_launch_flag */
    void **kernelParams, **extra;
    const char *problem; /* why no capture can contain it, else NULL */
};

#endif
