/* Exports that cuda.h does not declare: profiler control and graphics interop. */
#ifndef NEUTRINO_SIM_UNDECLARED_H
#define NEUTRINO_SIM_UNDECLARED_H

/* The address of a function that cudaProfiler.h declares. NULL: no function has that name. */
void *sim_undeclared_find(const char *name);

#endif
