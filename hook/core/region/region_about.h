/* Facts about a raw capture for people, and refusals that concern no single call. */
#ifndef NEUTRINO_REGION_ABOUT_H
#define NEUTRINO_REGION_ABOUT_H

#include <stdint.h>

/* Write NB_CAPTURE_META elements: the region's name, the program, the time, the driver. */
void nb_region_write_about(const char *name) __attribute__((visibility("hidden")));

/* Append a refusal that concerns no single call. */
void nb_region_refuse(const char *reason) __attribute__((visibility("hidden")));

#endif
