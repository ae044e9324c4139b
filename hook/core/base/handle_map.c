#include "core/base/handle_map.h"

#include <stdlib.h>

static void store_entry(struct nb_handle_table *table, uint64_t handle, void *value)
{
    for (size_t place = nb_handle_place(table, handle);; place = (place + 1) & (table->capacity - 1)) {
        struct nb_handle_entry *entry = &table->entries[place];
        const uint64_t current = atomic_load_explicit(&entry->handle, memory_order_relaxed);
        if (current != 0 && current != handle)
            continue;
        atomic_store_explicit(&entry->value, value, memory_order_release);
        if (current == 0) {
            table->used++;
            atomic_store_explicit(&entry->handle, handle, memory_order_release);
        }
        return;
    }
}

/* Return a table with room for one more entry. A table is at least half empty, so a search ends soon. */
static struct nb_handle_table *ensure_room(struct nb_handle_map *map)
{
    struct nb_handle_table *old = atomic_load_explicit(&map->table, memory_order_relaxed);
    if (old != NULL && old->used < old->capacity / 2)
        return old;
    size_t live = 0;
    for (size_t i = 0; old != NULL && i < old->capacity; i++)
        live += atomic_load_explicit(&old->entries[i].value, memory_order_relaxed) != NULL;
    size_t capacity = 256;
    while (capacity < 4 * live)
        capacity *= 2;
    struct nb_handle_table *table = calloc(1, sizeof *table + capacity * sizeof table->entries[0]);
    if (table == NULL)
        return NULL;
    table->capacity = capacity;
    for (size_t i = 0; old != NULL && i < old->capacity; i++) {
        void *value = atomic_load_explicit(&old->entries[i].value, memory_order_relaxed);
        if (value != NULL)
            store_entry(table, atomic_load_explicit(&old->entries[i].handle, memory_order_relaxed), value);
    }
    atomic_store_explicit(&map->table, table, memory_order_release);
    return table;
}

bool nb_handle_map_set(struct nb_handle_map *map, uint64_t handle, void *value)
{
    if (handle == 0)
        return false;
    pthread_mutex_lock(&map->lock);
    const bool is_there = nb_handle_map_get(map, handle) != NULL;
    struct nb_handle_table *table = is_there        ? atomic_load_explicit(&map->table, memory_order_relaxed)
                                    : value != NULL ? ensure_room(map)
                                                    : NULL;
    if (table != NULL)
        store_entry(table, handle, value);
    pthread_mutex_unlock(&map->lock);
    return table != NULL || value == NULL;
}

void nb_handle_map_remove_if(struct nb_handle_map *map, int (*matches)(const void *value, uint64_t argument),
                             uint64_t argument)
{
    pthread_mutex_lock(&map->lock);
    struct nb_handle_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    for (size_t i = 0; table != NULL && i < table->capacity; i++) {
        const void *value = atomic_load_explicit(&table->entries[i].value, memory_order_relaxed);
        if (value != NULL && matches(value, argument))
            atomic_store_explicit(&table->entries[i].value, NULL, memory_order_release);
    }
    pthread_mutex_unlock(&map->lock);
}

void *nb_handle_map_find(const struct nb_handle_map *map,
                         int (*matches)(const void *value, const void *argument), const void *argument)
{
    struct nb_handle_table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    for (size_t i = 0; table != NULL && i < table->capacity; i++) {
        void *value = atomic_load_explicit(&table->entries[i].value, memory_order_acquire);
        if (value != NULL && matches(value, argument))
            return value;
    }
    return NULL;
}

void nb_handle_map_forget(struct nb_handle_map *map)
{
    atomic_store_explicit(&map->table, NULL, memory_order_release);
}
