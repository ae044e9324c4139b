/* What a driver exports beyond cuda.h: profiler control, and interop with graphics. */
#ifndef NEUTRINO_SIM_BEYOND_H
#define NEUTRINO_SIM_BEYOND_H

/* The address of a function of that name that cudaProfiler.h declares, or NULL. */
void *sim_beyond_find(const char *name);

#endif
