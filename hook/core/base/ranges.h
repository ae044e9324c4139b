/* Disjoint address ranges, sorted, found by any address in them. The owner holds the lock.
 *
 * An item is any structure that begins with its address and its size in bytes, both uint64_t. */
#ifndef NEUTRINO_RANGES_H
#define NEUTRINO_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/vector.h"

struct nb_ranges {
    struct nb_vector sorted; /* by address */
};

#define NB_RANGES_INITIALIZER(type) {NB_VECTOR_INITIALIZER(type)}

/* Return the item that contains the address, or NULL. Valid until the ranges change. */
void *nb_ranges_find(const struct nb_ranges *ranges, uint64_t address) __attribute__((visibility("hidden")));

/* Does any item overlap [address, address + bytes)? */
bool nb_ranges_overlap(const struct nb_ranges *ranges, uint64_t address, uint64_t bytes)
    __attribute__((visibility("hidden")));

/* False if the item is empty or overlaps another, or if memory runs out. */
bool nb_ranges_add(struct nb_ranges *ranges, const void *item) __attribute__((visibility("hidden")));

/* Remove an item that nb_ranges_find returned. */
void nb_ranges_remove(struct nb_ranges *ranges, void *item) __attribute__((visibility("hidden")));

static inline size_t nb_ranges_count(const struct nb_ranges *ranges)
{
    return ranges->sorted.count;
}

static inline void *nb_ranges_item(const struct nb_ranges *ranges, size_t index)
{
    return nb_vector_item(&ranges->sorted, index);
}

/* Remove all items and keep the memory. */
static inline void nb_ranges_clear(struct nb_ranges *ranges)
{
    ranges->sorted.count = 0;
}

#endif
