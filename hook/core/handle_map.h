/* Handle -> pointer. Any thread reads without a lock; writers take the map's own lock.
 *
 * A reader may hold a value while another thread removes it, so values and outgrown tables are never freed:
 * what a process leaks this way is a few hundred bytes a kernel it ever looked up. */
#ifndef NEUTRINO_HANDLE_MAP_H
#define NEUTRINO_HANDLE_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct nb_handle_table;

struct nb_handle_map {
    _Atomic(struct nb_handle_table *) table;
    pthread_mutex_t lock;
};

#define NB_HANDLE_MAP_INITIALIZER {NULL, PTHREAD_MUTEX_INITIALIZER}

/* The value, or NULL. */
void *nb_handle_map_get(const struct nb_handle_map *map, uint64_t handle)
    __attribute__((visibility("hidden")));

/* Put or replace; a NULL value removes. Handle 0 is no handle. Without memory the entry is not made. */
void nb_handle_map_set(struct nb_handle_map *map, uint64_t handle, void *value)
    __attribute__((visibility("hidden")));

/* Remove every entry for which `matches` says so. */
void nb_handle_map_remove_if(struct nb_handle_map *map, int (*matches)(const void *value, uint64_t argument),
                             uint64_t argument) __attribute__((visibility("hidden")));

/* In a forked child: the parent's entries mean nothing here. The caller holds the lock. */
void nb_handle_map_forget(struct nb_handle_map *map) __attribute__((visibility("hidden")));

#endif
