#ifndef NEUTRINO_SIM_COPY_H
#define NEUTRINO_SIM_COPY_H

#include "api.h"
#include "work.h"

/* A copy of `bytes` in one row between addresses of these types. CU_MEMORYTYPE_UNIFIED: find out. */
CUresult sim_copy_linear(uint64_t destination, CUmemorytype destination_type, uint64_t source,
                         CUmemorytype source_type, size_t bytes, struct sim_copy *copy);

/* A copy as cuMemcpy3D describes it. CUDA_ERROR_NOT_SUPPORTED for arrays. */
CUresult sim_copy_3d(const CUDA_MEMCPY3D *parameters, struct sim_copy *copy);

#endif
