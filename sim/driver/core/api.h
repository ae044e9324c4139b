/* cuda.h for the driver's sources: declares every ABI variant, under the name of its implementation. Each
 * variant is a separate function, never an alias, because callers map addresses back to names. */
#ifndef NEUTRINO_SIM_API_H
#define NEUTRINO_SIM_API_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>

#ifndef SIM_EXPORTS /* only stubs.c defines this: it contains the exports */
#include "names.h"
#endif

/* Do not fold identical variants into one address. */
#pragma GCC optimize("no-ipa-icf")

#endif
