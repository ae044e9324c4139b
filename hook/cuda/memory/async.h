/* Stream-ordered memory of a captured program. */
#ifndef NEUTRINO_CUDA_MEMORY_ASYNC_H
#define NEUTRINO_CUDA_MEMORY_ASYNC_H

#include "core/process/component.h"

extern const struct nb_component nb_memory_async_component __attribute__((visibility("hidden")));

#endif
