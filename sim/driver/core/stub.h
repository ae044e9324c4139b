/* What the generated weak definitions of every function of the header call. */
#ifndef NEUTRINO_SIM_STUB_H
#define NEUTRINO_SIM_STUB_H

#include <cuda.h>

/* CUDA_ERROR_NOT_SUPPORTED; the first call with a `name` (a string literal) says so in one line on stderr. */
CUresult sim_not_supported(const char *name);

#endif
