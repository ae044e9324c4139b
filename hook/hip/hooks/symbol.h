/* Globals that the program names by a host address (__hipRegisterVar). */
#ifndef NEUTRINO_HIP_SYMBOL_H
#define NEUTRINO_HIP_SYMBOL_H

#include "core/process/call.h"

/* The program uses a global: load its code into the binmap and tell the capture, so that its address can be
 * found. Call this inside a hook, where nb_capture_enabled(). */
void nb_hip_symbol_used(const struct nb_call *call, const void *symbol) __attribute__((visibility("hidden")));

#endif
