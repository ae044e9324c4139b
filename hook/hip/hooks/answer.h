/* What the program is told where a hook has asked the driver something of its own. */
#ifndef NEUTRINO_HIP_ANSWER_H
#define NEUTRINO_HIP_ANSWER_H

#include <cuda.h>
#include <hip/hip_runtime_api.h>

/* The result of a call, which hipGetLastError says next as it would had the driver been asked only what the
 * program asked. For hooks whose answer may be another than that of the last call the driver saw. */
hipError_t nb_hip_answer(CUresult result) __attribute__((visibility("hidden")));

#endif
