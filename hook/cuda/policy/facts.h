/* Facts of driver calls for a policy's rules. HIP's structures have the same layout. */
#ifndef NEUTRINO_CUDA_POLICY_FACTS_H
#define NEUTRINO_CUDA_POLICY_FACTS_H

#include "core/policy/facts.h"

extern const struct nb_policy_facts nb_cuda_policy_facts __attribute__((visibility("hidden")));

#endif
