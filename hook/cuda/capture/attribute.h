/* Launch attributes of a region. */
#ifndef NEUTRINO_CUDA_CAPTURE_ATTRIBUTE_H
#define NEUTRINO_CUDA_CAPTURE_ATTRIBUTE_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"
#include "core/wire/record.h"

/* Copy the launch attributes that a replay can repeat to `into`, which has room for `count`, and refuse
 * the others. Returns the number copied. */
uint32_t nb_capture_copy_attributes(const struct nb_call *call, const CUlaunchAttribute *attributes,
                                    uint32_t count, struct nb_attribute *into)
    __attribute__((visibility("hidden")));

#endif
