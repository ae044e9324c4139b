/* Copies: parse the API's many forms, check the addresses, and queue the copy. */
#ifndef NEUTRINO_SIM_COPY_H
#define NEUTRINO_SIM_COPY_H

#include "driver/core/api.h"
#include "driver/stream/work.h"

#include <stdbool.h>

/* When a copy call returns. */
enum sim_copy_return {
    SIM_COPY_DONE,   /* after the copy */
    SIM_COPY_QUEUED, /* after queuing; the program may change or read host memory as soon as CUDA allows it */
    SIM_COPY_IN_ORDER /* after queuing; the program leaves the source unchanged until the copy is made */
};

/* A copy of one row of `bytes` between addresses of these types. CU_MEMORYTYPE_UNIFIED: determine the type.
 */
CUresult sim_copy_linear(uint64_t destination, CUmemorytype destination_type, uint64_t source,
                         CUmemorytype source_type, size_t bytes, struct sim_copy *copy);

/* A copy as cuMemcpy3D describes it. On success it owns references to its arrays. */
CUresult sim_copy_3d(const CUDA_MEMCPY3D *parameters, struct sim_copy *copy);

/* The inverse of sim_copy_3d. Offsets are part of the addresses, except in arrays. */
void sim_copy_describe(const struct sim_copy *copy, CUDA_MEMCPY3D *parameters);

/* Queue the copy. Takes what it owns. */
CUresult sim_copy_submit(struct sim_copy *copy, CUstream stream, bool per_thread, enum sim_copy_return when);

/* sim_copy_3d and sim_copy_submit. */
CUresult sim_copy_volume(const CUDA_MEMCPY3D *parameters, CUstream stream, bool per_thread,
                         enum sim_copy_return when);

/* Copy a one-row source now, because the program may change it as soon as the call returns. */
bool sim_copy_stage(struct sim_copy *copy);

/* Release what the copy owns. */
void sim_copy_clear(struct sim_copy *copy);

#endif
