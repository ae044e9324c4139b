/* Handle -> pointer. Any thread reads without a lock; writers take the map's own lock.
 *
 * A reader may hold a value while another thread removes it, so values and outgrown tables are never freed:
 * what a process leaks this way is a few hundred bytes a kernel it ever looked up. */
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

/* Fibonacci hashing: handles are pointers, alike in their low and high bits. */
static inline size_t nb_handle_place(const struct nb_handle_table *table, uint64_t handle)
{
    return (size_t)((handle * 0x9e3779b97f4a7c15u) >> 20) & (table->capacity - 1);
}

/* The value, or NULL. Here, to be inlined into launches. */
static inline void *nb_handle_map_get(const struct nb_handle_map *map, uint64_t handle)
{
    const struct nb_handle_table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    if (table == NULL || handle == 0)
        return NULL;
    for (size_t place = nb_handle_place(table, handle);; place = (place + 1) & (table->capacity - 1)) {
        const struct nb_handle_entry *entry = &table->entries[place];
        const uint64_t found = atomic_load_explicit(&entry->handle, memory_order_acquire);
        if (found == handle)
            return atomic_load_explicit(&entry->value, memory_order_acquire);
        if (found == 0)
            return NULL;
    }
}

/* Put or replace; a NULL value removes. Handle 0 is no handle. False: there was no memory to make the entry.
 */
bool nb_handle_map_set(struct nb_handle_map *map, uint64_t handle, void *value)
    __attribute__((visibility("hidden")));

/* Remove every entry for which `matches` says so. */
void nb_handle_map_remove_if(struct nb_handle_map *map, int (*matches)(const void *value, uint64_t argument),
                             uint64_t argument) __attribute__((visibility("hidden")));

/* Any value for which `matches` says so; NULL if there is none. Takes no lock: `matches` may call the driver.
 */
void *nb_handle_map_find(const struct nb_handle_map *map,
                         int (*matches)(const void *value, const void *argument), const void *argument)
    __attribute__((visibility("hidden")));

/* In a forked child: the parent's entries mean nothing here. The caller holds the lock. */
void nb_handle_map_forget(struct nb_handle_map *map) __attribute__((visibility("hidden")));

#endif
