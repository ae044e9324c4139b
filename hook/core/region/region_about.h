/* What a recording says of itself, for people, and what it must say that was not seen. */
#ifndef NEUTRINO_REGION_ABOUT_H
#define NEUTRINO_REGION_ABOUT_H

#include <stdint.h>

/* NB_CAPTURE_META elements: the region's name, the program, when, under which driver. */
void nb_region_write_about(const char *name) __attribute__((visibility("hidden")));

/* A refusal from hook/core, which is about no call. */
void nb_region_refuse(const char *reason) __attribute__((visibility("hidden")));

#endif
