/* Readers look handles up while one thread adds, replaces and removes them. They must find the handle's
 * own value or NULL, and always find a handle that was added before they began. */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/handle_map.h"

enum { STABLE = 1000, PASSING = 20000, READERS = 3 };

static struct nb_handle_map map = NB_HANDLE_MAP_INITIALIZER;
static uint64_t values[STABLE + PASSING];
static atomic_bool done;
static atomic_int wrong;

static uint64_t handle_of(size_t index)
{
    return 0x7f0000000000u + index * 64;
}

static void *read_all(void *unused)
{
    (void)unused;
    while (!atomic_load(&done))
        for (size_t i = 0; i < STABLE + PASSING; i += 7) {
            const uint64_t *value = nb_handle_map_get(&map, handle_of(i));
            if (value != NULL ? value != &values[i] : i < STABLE)
                atomic_fetch_add(&wrong, 1);
        }
    return NULL;
}

int main(void)
{
    pthread_t readers[READERS];
    for (size_t i = 0; i < STABLE; i++)
        nb_handle_map_set(&map, handle_of(i), &values[i]);
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, read_all, NULL);
    for (size_t i = STABLE; i < STABLE + PASSING; i++) {
        nb_handle_map_set(&map, handle_of(i), &values[i]);
        if (i % 3 == 0)
            nb_handle_map_set(&map, handle_of(i - 1), NULL);
    }
    atomic_store(&done, 1);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    int lost = 0;
    for (size_t i = STABLE; i < STABLE + PASSING; i++) {
        const void *found = nb_handle_map_get(&map, handle_of(i));
        const int removed = i + 1 < STABLE + PASSING && (i + 1) % 3 == 0;
        lost += removed ? found != NULL : found != (const void *)&values[i];
    }
    printf("wrong %d lost %d\n", atomic_load(&wrong), lost);
    return atomic_load(&wrong) != 0 || lost != 0;
}
