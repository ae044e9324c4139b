/* NEUTRINO_FILTER: callers whose library's file name holds one of these words get the real driver. */
#ifndef NEUTRINO_FILTER_H
#define NEUTRINO_FILTER_H

#include <stdbool.h>

bool nb_filter_names(const void *caller) __attribute__((visibility("hidden")));

#endif
