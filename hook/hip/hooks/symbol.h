/* Variables that the program names by their host's address (__hipRegisterVar). */
#ifndef NEUTRINO_HIP_SYMBOL_H
#define NEUTRINO_HIP_SYMBOL_H

#include "core/process/call.h"

/* The program works on a variable: a recording that finds its address knows whose it is from here on. Inside
 * a hook, where nb_capture_enabled(). */
void nb_hip_symbol_used(const struct nb_call *call, const void *symbol) __attribute__((visibility("hidden")));

#endif
