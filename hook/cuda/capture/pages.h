/* Remembers what each page of device memory held when the region began, as a hash. */
#ifndef NEUTRINO_CUDA_CAPTURE_PAGES_H
#define NEUTRINO_CUDA_CAPTURE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* Remember a page, at a higher address than the one before. */
void nb_pages_remember(uint64_t address, const unsigned char *page) __attribute__((visibility("hidden")));

/* Whether the page holds what it held. A page that was not remembered held zeros: it was allocated later.
 * False for every page if memory ran out for the hashes. */
bool nb_pages_is_as_before(uint64_t address, const unsigned char *page) __attribute__((visibility("hidden")));

void nb_pages_forget(void) __attribute__((visibility("hidden")));

#endif
