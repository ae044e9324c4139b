/* cuda.h as the driver sees it: every ABI variant declared, under the name of its implementation. Each
 * variant is a function of its own, never an alias: callers map addresses back to names. */
#ifndef NEUTRINO_SIM_API_H
#define NEUTRINO_SIM_API_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>

#ifndef SIM_EXPORTS /* said by stubs.c alone, which defines the exports */
#include "names.h"
#endif

/* Identical variants must not be folded into one address. */
#pragma GCC optimize("no-ipa-icf")

#endif
