/* Device memory: a first-fit heap in one reserved range of addresses. */
#ifndef NEUTRINO_SIM_HEAP_H
#define NEUTRINO_SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reserve addresses for `bytes` of memory. */
bool sim_heap_start(size_t bytes);

/* 0: out of memory. The contents are undefined, as on a device. */
uint64_t sim_heap_allocate(size_t bytes);
void sim_heap_free(uint64_t address, size_t bytes);

/* Reserve addresses only. sim_heap_charge and sim_heap_refund count their memory. */
uint64_t sim_heap_reserve(size_t bytes);
void sim_heap_unreserve(uint64_t address, size_t bytes);

/* Count memory outside the heap (cuMemCreate) against the device's size. */
bool sim_heap_charge(size_t bytes);
void sim_heap_refund(size_t bytes);

size_t sim_heap_available(void);

/* Fail allocations beyond `bytes` live bytes, although the device has more memory. */
void sim_heap_set_ceiling(size_t bytes);

/* The reserved addresses. The process can read and write all of them. */
void sim_heap_bounds(uint64_t *begin, uint64_t *end);

#endif
