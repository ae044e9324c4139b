/* NEUTRINO_FILTER: a caller whose library's file name contains one of these words gets the real driver. */
#ifndef NEUTRINO_FILTER_H
#define NEUTRINO_FILTER_H

#include <stdbool.h>

bool nb_filter_matches(const void *caller) __attribute__((visibility("hidden")));

#endif
