/* Replaces the generated header: the HIP functions that answer.c calls. */
#ifndef REAL_H
#define REAL_H

#include <hip/hip_runtime_api.h>

typedef __typeof__(&hipGetLastError) nb_hipGetLastError_t;
typedef __typeof__(&hipPeekAtLastError) nb_hipPeekAtLastError_t;
typedef __typeof__(&hipMalloc) nb_hipMalloc_t;
typedef __typeof__(&hipFree) nb_hipFree_t;

#endif
