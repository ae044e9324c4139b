#include "core/base/vector.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16

static bool grow(struct nb_vector *vector)
{
    const size_t capacity = vector->capacity == 0 ? FIRST_CAPACITY : 2 * vector->capacity;
    char *items = realloc(vector->items, capacity * vector->item_bytes);
    if (items == NULL)
        return false;
    vector->items = items;
    vector->capacity = capacity;
    return true;
}

bool nb_vector_insert(struct nb_vector *vector, size_t index, const void *item)
{
    if (vector->count == vector->capacity && !grow(vector))
        return false;
    char *place = nb_vector_item(vector, index);
    memmove(place + vector->item_bytes, place, (vector->count - index) * vector->item_bytes);
    memcpy(place, item, vector->item_bytes);
    vector->count++;
    return true;
}

void nb_vector_remove(struct nb_vector *vector, size_t index)
{
    char *place = nb_vector_item(vector, index);
    vector->count--;
    memmove(place, place + vector->item_bytes, (vector->count - index) * vector->item_bytes);
}

void nb_vector_free(struct nb_vector *vector)
{
    free(vector->items);
    *vector = (struct nb_vector){.item_bytes = vector->item_bytes};
}
