/* Results of hooks that called the driver for themselves. */
#ifndef NEUTRINO_HIP_ANSWER_H
#define NEUTRINO_HIP_ANSWER_H

#include <cuda.h>
#include <hip/hip_runtime_api.h>

/* Returns the hook's result, and makes hipGetLastError return the same. For hooks whose result may differ
 * from that of their last driver call. */
hipError_t nb_hip_answer(CUresult result) __attribute__((visibility("hidden")));

#endif
