/* Events of a region. */
#ifndef NEUTRINO_CUDA_CAPTURE_EVENT_H
#define NEUTRINO_CUDA_CAPTURE_EVENT_H

#include "core/process/component.h"

extern const struct nb_component nb_capture_event_component __attribute__((visibility("hidden")));

#endif
