/* cuda.h as the driver sees it: every ABI variant declared, and every declared function exported although the
 * driver is compiled with hidden visibility. Each variant is a function of its own, never an alias: callers
 * map addresses back to names. */
#ifndef NEUTRINO_SIM_API_H
#define NEUTRINO_SIM_API_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

/* Identical variants must not be folded into one address. */
#pragma GCC optimize("no-ipa-icf")

#endif
