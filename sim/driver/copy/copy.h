/* Copies: what the API's many forms describe, checked against what is memory, and queued. */
#ifndef NEUTRINO_SIM_COPY_H
#define NEUTRINO_SIM_COPY_H

#include "driver/core/api.h"
#include "driver/stream/work.h"

#include <stdbool.h>

/* When a call that copies may come back. */
enum sim_copy_return {
    SIM_COPY_DONE,    /* copied */
    SIM_COPY_QUEUED,  /* queued, and the program may change or read host memory as CUDA says it may */
    SIM_COPY_IN_ORDER /* queued, and the program leaves the source alone until the copy has been made */
};

/* A copy of `bytes` in one row between addresses of these types. CU_MEMORYTYPE_UNIFIED: find out. */
CUresult sim_copy_linear(uint64_t destination, CUmemorytype destination_type, uint64_t source,
                         CUmemorytype source_type, size_t bytes, struct sim_copy *copy);

/* A copy as cuMemcpy3D describes it. On success the copy owns references to its arrays. */
CUresult sim_copy_3d(const CUDA_MEMCPY3D *parameters, struct sim_copy *copy);

/* The inverse: parameters that sim_copy_3d makes the same copy of. Positions are in the addresses, except in
 * arrays. */
void sim_copy_describe(const struct sim_copy *copy, CUDA_MEMCPY3D *parameters);

/* Queue a copy and take what it owns. */
CUresult sim_copy_submit(struct sim_copy *copy, CUstream stream, bool per_thread, enum sim_copy_return when);

/* sim_copy_3d and sim_copy_submit. */
CUresult sim_copy_volume(const CUDA_MEMCPY3D *parameters, CUstream stream, bool per_thread,
                         enum sim_copy_return when);

/* Keep what a source in one row holds now: it may be changed as soon as the call has returned. */
bool sim_copy_stage(struct sim_copy *copy);

/* A stream's part: sim_work_run, sim_work_clone and sim_work_clear of a copy. */
void sim_copy_run(struct sim_context *context, const struct sim_copy *copy);
bool sim_copy_clone(struct sim_copy *clone, const struct sim_copy *copy);
void sim_copy_clear(struct sim_copy *copy);

#endif
