/* Appends operations to a region: hooks ask before the driver call, and append after the driver accepts
 * it. */
#ifndef NEUTRINO_CUDA_CAPTURE_OPERATION_H
#define NEUTRINO_CUDA_CAPTURE_OPERATION_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"
#include "core/region/raw_capture.h"
#include "core/region/region.h"
#include "core/wire/capture_format.h"

/* Append an operation, followed by at most two pieces of data to which its spans refer, in order. Fills in
 * the spans' offsets. Returns the operation's index, or NB_NOTHING and a refusal if its stream could not
 * be written. */
uint32_t nb_capture_append_operation(struct nb_capture_operation *operation, const struct nb_piece *data,
                                     unsigned count) __attribute__((visibility("hidden")));

/* The host has waited for a stream, given by its index, or for all streams (NB_NOTHING). */
void nb_capture_synchronize(uint32_t stream) __attribute__((visibility("hidden")));

/* Call before an operation that is not a launch, if nb_capture_enabled(). A region may begin or end here.
 * True if the operation must be captured once the driver accepts it. */
bool nb_capture_begin_operation(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));

/* Call after the driver has returned. True if an operation that nb_capture_begin_operation accepted must
 * be appended now. If the region has begun to end meanwhile, the capture says so. */
static inline bool nb_capture_is_accepted(bool announced, CUresult result)
{
    if (!announced || result != CUDA_SUCCESS)
        return false;
    if (!nb_region_is_open())
        nb_raw_capture_miss();
    return nb_region_is_open();
}

/* Is a call that the driver accepted part of a region? For calls without nb_capture_begin_operation. */
static inline bool nb_capture_is_in_region(const struct nb_call *call, CUresult result)
{
    return result == CUDA_SUCCESS && call->thread != NULL && nb_region_is_open();
}

extern const struct nb_component nb_capture_operation_component __attribute__((visibility("hidden")));

#endif
