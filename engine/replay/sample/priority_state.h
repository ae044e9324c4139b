/* The part of struct nb_replay that belongs to priority.h. */
#ifndef NEUTRINO_ENGINE_PRIORITY_STATE_H
#define NEUTRINO_ENGINE_PRIORITY_STATE_H

#include "replay/base/driver.h"

struct nb_priority {
    CUmodule module; /* NULL: the device has no cache policies */
    CUfunction demote;
};

#endif
