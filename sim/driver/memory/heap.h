/* Device memory: one reserved range of addresses, handed out first fit. */
#ifndef NEUTRINO_SIM_HEAP_H
#define NEUTRINO_SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reserve the range, `bytes` of which may be allocated at a time. */
bool sim_heap_start(size_t bytes);

/* 0 if there is no room. Contents are those of a device: undefined. */
uint64_t sim_heap_allocate(size_t bytes);
void sim_heap_free(uint64_t address, size_t bytes);

/* The same for addresses whose memory sim_heap_charge and sim_heap_refund count. */
uint64_t sim_heap_reserve(size_t bytes);
void sim_heap_unreserve(uint64_t address, size_t bytes);

/* Count memory that lies elsewhere (cuMemCreate) against the device's size. */
bool sim_heap_charge(size_t bytes);
void sim_heap_refund(size_t bytes);

size_t sim_heap_available(void);

/* Allocations fail beyond that many live bytes, although the device has more. */
void sim_heap_set_ceiling(size_t bytes);

/* The range that was reserved: all of it can be read and written by the process. */
void sim_heap_bounds(uint64_t *begin, uint64_t *end);

#endif
