/* Whether a device's compiler accepts PTX for a given target. */
#ifndef NEUTRINO_SIM_TARGET_H
#define NEUTRINO_SIM_TARGET_H

#include "driver/core/api.h"

/* `device` and `target` are 90 for sm_90, `suffix` is the letter after the number ('a', 'f') or any other
 * character, `version` is 87 for 8.7. CUDA_ERROR_INVALID_PTX, with `reason` in ptxas' words, for a target
 * that is unknown, newer than the version or the device, or specific to another device. */
CUresult sim_target_check(unsigned device, unsigned version, unsigned target, char suffix,
                          const char **reason);

#endif
