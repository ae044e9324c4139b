/* Disjoint ranges of addresses, sorted, found by any address in them. The owner locks.
 *
 * An item is any structure that begins with its address and its bytes, both uint64_t. */
#ifndef NEUTRINO_RANGES_H
#define NEUTRINO_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nb_ranges {
    size_t item_bytes;
    size_t count;
    size_t capacity;
    char *items;
};

#define NB_RANGES_INITIALIZER(type) {sizeof(type), 0, 0, NULL}

/* The item that holds the address, or NULL. Valid until the ranges change. */
void *nb_ranges_find(const struct nb_ranges *ranges, uint64_t address) __attribute__((visibility("hidden")));

/* Does any item touch [address, address + bytes)? */
bool nb_ranges_meet(const struct nb_ranges *ranges, uint64_t address, uint64_t bytes)
    __attribute__((visibility("hidden")));

/* False if it is empty or meets another, or without memory. */
bool nb_ranges_add(struct nb_ranges *ranges, const void *item) __attribute__((visibility("hidden")));

/* Remove the item, one that nb_ranges_find returned. */
void nb_ranges_remove(struct nb_ranges *ranges, void *item) __attribute__((visibility("hidden")));

static inline void *nb_ranges_item(const struct nb_ranges *ranges, size_t index)
{
    return ranges->items + index * ranges->item_bytes;
}

#endif
