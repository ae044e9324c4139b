/* Operations of a region: before, when and after the driver accepts one. */
#ifndef NEUTRINO_CUDA_CAPTURE_OPERATION_H
#define NEUTRINO_CUDA_CAPTURE_OPERATION_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"
#include "core/region/recording.h"
#include "core/region/region.h"
#include "core/wire/capture_format.h"

/* Append an operation with the bytes that its spans refer to, in their order, at most two; their offsets are
 * filled in here. Returns its index, or NB_NOTHING, and a refusal written, if its stream
 * was not. */
uint32_t nb_capture_operation(struct nb_capture_operation *operation, const struct nb_piece *data,
                              unsigned count) __attribute__((visibility("hidden")));

/* The host has waited for a stream, by its index, or for all (NB_NOTHING). */
void nb_capture_join(uint32_t stream) __attribute__((visibility("hidden")));

/* Before an operation that is no launch is given to the driver; a region may begin or end
 * here. Is it to be recorded, if the driver accepts it? Where nb_region_wanted(). */
bool nb_capture_announce(const struct nb_call *call, CUstream stream) __attribute__((visibility("hidden")));

/* The driver has answered: is what was announced to be recorded? If the region has begun to end meanwhile,
 * the recording will say so. */
static inline bool nb_capture_is_taken(bool announced, CUresult result)
{
    if (!announced || result != CUDA_SUCCESS)
        return false;
    if (!nb_region_is_open())
        nb_recording_miss();
    return nb_region_is_open();
}

/* Is what the driver has accepted part of a region? For calls that need no announcing. */
static inline bool nb_capture_happened(const struct nb_call *call, CUresult result)
{
    return result == CUDA_SUCCESS && call->thread != NULL && nb_region_is_open();
}

extern const struct nb_component nb_capture_operation_component __attribute__((visibility("hidden")));

#endif
