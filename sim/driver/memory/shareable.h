/* Memory that another process can map: a sealed memfd. Its name tells whether it is an allocation or a pool,
 * and its size is all that the other process needs. */
#ifndef NEUTRINO_SIM_SHAREABLE_H
#define NEUTRINO_SIM_SHAREABLE_H

#include <stddef.h>

#define SIM_SHAREABLE_ALLOCATION "cuda allocation"
#define SIM_SHAREABLE_POOL       "cuda memory pool"

/* Create a file with a fixed size, so that mapped pages never disappear. Returns a descriptor, or -1. */
int sim_shareable_make(const char *name, size_t bytes);

/* Open the file behind another process's descriptor. Returns a new descriptor, or -1 if the file has another
 * name. */
int sim_shareable_open(int descriptor, const char *name, size_t *bytes);

#endif
