/* The parts of the shim that keep state, and what happens to all of them together.
 *
 * A fork copies a locked mutex as locked, and in the child no thread is left to unlock it. So before a fork
 * the parent takes the locks of all components, in the order of the tables, and parent and child release them
 * afterwards. */
#ifndef NEUTRINO_COMPONENT_H
#define NEUTRINO_COMPONENT_H

#include <pthread.h>

#define NB_COMPONENT_LOCKS 4

/* Every member may be empty. */
struct nb_component {
    pthread_mutex_t *locks[NB_COMPONENT_LOCKS]; /* in the order in which they nest; unused ones NULL */
    void (*start)(void);                        /* the process has found its session: read the environment */
    void (*forget)(void); /* in a forked child, with all locks: drop the parent's state */
    void (*reset)(void);  /* a region begins: drop what belongs to the one before */
};

/* Add a table that ends with NULL. A component whose lock is held while another's is taken comes before it.
 * Called by the composition root (hook/cuda/compose.c), before any other thread can call the shim. */
void nb_components_add(const struct nb_component *const *table) __attribute__((visibility("hidden")));

void nb_components_start(void) __attribute__((visibility("hidden")));
void nb_components_lock(void) __attribute__((visibility("hidden")));
void nb_components_unlock(void) __attribute__((visibility("hidden")));
void nb_components_forget(void) __attribute__((visibility("hidden")));
void nb_components_reset(void) __attribute__((visibility("hidden")));

#endif
