/* Explain a crash of host code that uses a device pointer like a host pointer. */
#ifndef NEUTRINO_FAULT_H
#define NEUTRINO_FAULT_H

/* From now on a segmentation fault at an address of the arena writes one line to standard error first. Then
 * the action that the process had for the signal follows. Call it when the arena is configured. */
void nb_fault_explain(void) __attribute__((visibility("hidden")));

#endif
