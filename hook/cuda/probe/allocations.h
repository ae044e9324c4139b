/* The table of the process's memory that a probed kernel gets (NB_PROBE_ALLOCATIONS). */
#ifndef NEUTRINO_CUDA_PROBE_ALLOCATIONS_H
#define NEUTRINO_CUDA_PROBE_ALLOCATIONS_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/maps/binmap.h"

/* Bytes of a table now, at most `capacity`. */
uint64_t nb_probe_table_bytes(uint64_t capacity) __attribute__((visibility("hidden")));

/* Fill a table for a launch on the stream of this number. Memory that the same stream has freed is left out;
 * memory that another stream frees is in, because that free may not have happened yet. Rows that do not fit
 * are counted as missing. */
void nb_probe_fill_table(void *table, uint64_t bytes, uint64_t stream, bool is_pageable)
    __attribute__((visibility("hidden")));

/* Note the globals of an image that a kernel is launched from. `module` is its module in the current context.
 */
void nb_probe_add_globals(const struct nb_binary *binary, CUmodule module)
    __attribute__((visibility("hidden")));

#endif
