/* Which allocations a region had. */
#ifndef NEUTRINO_CUDA_CAPTURE_ALLOCATION_H
#define NEUTRINO_CUDA_CAPTURE_ALLOCATION_H

/* A region begins: what lives now was allocated before it. */
void nb_capture_allocation_reset(void) __attribute__((visibility("hidden")));

/* Append an element for every allocation that lived at some time of the region. */
void nb_capture_allocations(void) __attribute__((visibility("hidden")));

#endif
