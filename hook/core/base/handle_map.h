/* A map from handles to pointers. Any thread reads without a lock; writers take the map's lock.
 *
 * A reader may hold a value while another thread removes it. So values and outgrown tables are never
 * freed, which leaks a few hundred bytes for every kernel that a process looks up. */
#ifndef NEUTRINO_HANDLE_MAP_H
#define NEUTRINO_HANDLE_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nb_handle_entry {
    _Atomic uint64_t handle; /* 0: never used */
    _Atomic(void *) value;   /* NULL: removed */
};

struct nb_handle_table {
    size_t capacity; /* a power of two */
    size_t used;     /* entries whose handle is set */
    struct nb_handle_entry entries[];
};

struct nb_handle_map {
    _Atomic(struct nb_handle_table *) table;
    pthread_mutex_t lock;
};

#define NB_HANDLE_MAP_INITIALIZER {NULL, PTHREAD_MUTEX_INITIALIZER}

/* Fibonacci hashing: handles are pointers, whose low bits and high bits differ little. */
static inline size_t nb_handle_place(const struct nb_handle_table *table, uint64_t handle)
{
    return (size_t)((handle * 0x9e3779b97f4a7c15u) >> 20) & (table->capacity - 1);
}

/* Return the value or NULL. Inline, because every launch calls it. */
static inline void *nb_handle_map_get(const struct nb_handle_map *map, uint64_t handle)
{
    const struct nb_handle_table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    if (table == NULL || handle == 0)
        return NULL;
    for (size_t place = nb_handle_place(table, handle);; place = (place + 1) & (table->capacity - 1)) {
        const struct nb_handle_entry *entry = &table->entries[place];
        const uint64_t current = atomic_load_explicit(&entry->handle, memory_order_acquire);
        if (current == handle)
            return atomic_load_explicit(&entry->value, memory_order_acquire);
        if (current == 0)
            return NULL;
    }
}

/* Add or replace an entry; a NULL value removes it. Handle 0 is invalid. False if memory runs out. */
bool nb_handle_map_set(struct nb_handle_map *map, uint64_t handle, void *value)
    __attribute__((visibility("hidden")));

/* Remove every entry that `matches` accepts. */
void nb_handle_map_remove_if(struct nb_handle_map *map, int (*matches)(const void *value, uint64_t argument),
                             uint64_t argument) __attribute__((visibility("hidden")));

/* Return any value that `matches` accepts, or NULL. Takes no lock, so `matches` may call the driver. */
void *nb_handle_map_find(const struct nb_handle_map *map,
                         int (*matches)(const void *value, const void *argument), const void *argument)
    __attribute__((visibility("hidden")));

/* Drop all entries, in a forked child: they are the parent's. The caller holds the lock. */
void nb_handle_map_forget(struct nb_handle_map *map) __attribute__((visibility("hidden")));

#endif
