/* Called by the generated weak definition of every function in the header. */
#ifndef NEUTRINO_SIM_STUB_H
#define NEUTRINO_SIM_STUB_H

#include <cuda.h>

/* CUDA_ERROR_NOT_SUPPORTED. The first call with a `name`, a string literal, writes a line to stderr. */
CUresult sim_not_supported(const char *name);

#endif
