/* Memory that another process can have too: a sealed memfd. Its name says whether it is one allocation or a
 * pool, its size all that the other process has to know. */
#ifndef NEUTRINO_SIM_SHAREABLE_H
#define NEUTRINO_SIM_SHAREABLE_H

#include <stddef.h>

#define SIM_SHAREABLE_ALLOCATION "cuda allocation"
#define SIM_SHAREABLE_POOL       "cuda memory pool"

/* A descriptor, or -1. The file never gets another size, so that what is mapped of it is always there. */
int sim_shareable_make(const char *name, size_t bytes);

/* A descriptor of the caller's own for the file behind another process's. -1: it is none of that name. */
int sim_shareable_open(int descriptor, const char *name, size_t *bytes);

#endif
