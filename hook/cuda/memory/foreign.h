/* Memory that a kernel can reach but no capture contains: managed, host, imported, or of another device. */
#ifndef NEUTRINO_CUDA_FOREIGN_H
#define NEUTRINO_CUDA_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/process/component.h"

#define NB_FOREIGN_UNSERVED "memory outside the arena"

/* `what` names the memory for users ("managed memory"); a constant text. */
void nb_foreign_add(uint64_t address, uint64_t bytes, const char *what) __attribute__((visibility("hidden")));
void nb_foreign_remove(uint64_t address) __attribute__((visibility("hidden")));

/* Return the name of the memory at this address, or NULL. Any thread may call this. */
const char *nb_foreign_find(uint64_t address) __attribute__((visibility("hidden")));

/* Is the memory at this address managed? Asks the driver. */
bool nb_foreign_is_managed(uint64_t address) __attribute__((visibility("hidden")));

extern const struct nb_component nb_foreign_component __attribute__((visibility("hidden")));

#endif
