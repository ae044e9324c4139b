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

/* Count memory that lies elsewhere (cuMemCreate) against the device's size. */
bool sim_heap_charge(size_t bytes);
void sim_heap_refund(size_t bytes);

size_t sim_heap_available(void);

#endif
