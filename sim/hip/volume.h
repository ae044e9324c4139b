/* Two- and three-dimensional copies as CUDA's structures. */
#ifndef NEUTRINO_SIM_HIP_VOLUME_H
#define NEUTRINO_SIM_HIP_VOLUME_H

#include "hip/hip.h"

/* Returns hipErrorNotSupported for arrays. */
hipError_t hip_rows(const hip_Memcpy2D *copy, CUDA_MEMCPY2D *rows);
hipError_t hip_volume(const HIP_MEMCPY3D *copy, CUDA_MEMCPY3D *volume);
hipError_t hip_volume_runtime(const hipMemcpy3DParms *copy, CUDA_MEMCPY3D *volume);

#endif
