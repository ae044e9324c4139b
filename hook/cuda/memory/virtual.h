/* The program's own virtual memory: its reservations are parts of the arena, its mappings are blocks. */
#ifndef NEUTRINO_CUDA_MEMORY_VIRTUAL_H
#define NEUTRINO_CUDA_MEMORY_VIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/process/component.h"

/* Find the program's own reservation that contains [address, address + bytes). */
bool nb_memory_find_reservation(uint64_t address, uint64_t bytes, uint64_t *begin, uint64_t *reserved_bytes)
    __attribute__((visibility("hidden")));

extern const struct nb_component nb_memory_virtual_component __attribute__((visibility("hidden")));

#endif
