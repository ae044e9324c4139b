/* Whether a device's compiler would take PTX that is made for some target. */
#ifndef NEUTRINO_SIM_TARGET_H
#define NEUTRINO_SIM_TARGET_H

#include "driver/core/api.h"

/* `device` and `target` as 90 for sm_90, `suffix` the letter behind it ('a', 'f') or another character,
 * `version` as 87 for 8.7. CUDA_ERROR_INVALID_PTX, and `reason` in ptxas' words, for a target that is
 * unknown, newer than the version or than the device, or made for another device alone. */
CUresult sim_target_check(unsigned device, unsigned version, unsigned target, char suffix,
                          const char **reason);

#endif
