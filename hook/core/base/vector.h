/* A growable array of items of one type. The owner holds the lock, if one is needed. */
#ifndef NEUTRINO_VECTOR_H
#define NEUTRINO_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

struct nb_vector {
    size_t item_bytes;
    size_t count;
    size_t capacity;
    char *items;
};

#define NB_VECTOR_INITIALIZER(type) {sizeof(type), 0, 0, NULL}

/* Copy `item` to `index`, at most `count`, and move the items behind it up. False if memory runs out. */
bool nb_vector_insert(struct nb_vector *vector, size_t index, const void *item)
    __attribute__((visibility("hidden")));

void nb_vector_remove(struct nb_vector *vector, size_t index) __attribute__((visibility("hidden")));

/* Release the memory. The vector is empty and can be used again. */
void nb_vector_free(struct nb_vector *vector) __attribute__((visibility("hidden")));

/* Valid until an item is added. */
static inline void *nb_vector_item(const struct nb_vector *vector, size_t index)
{
    return vector->items + index * vector->item_bytes;
}

/* False if memory runs out. */
static inline bool nb_vector_append(struct nb_vector *vector, const void *item)
{
    return nb_vector_insert(vector, vector->count, item);
}

#endif
