/* Memory that a kernel can reach and no capture holds: managed, host, imported, of another device. */
#ifndef NEUTRINO_CUDA_FOREIGN_H
#define NEUTRINO_CUDA_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/process/component.h"

#define NB_FOREIGN_UNSERVED "memory that was not served from the arena"

/* `what` names it for people ("managed memory"); a constant. */
void nb_foreign_add(uint64_t address, uint64_t bytes, const char *what) __attribute__((visibility("hidden")));
void nb_foreign_remove(uint64_t address) __attribute__((visibility("hidden")));

/* What stands at this address, or NULL. Any thread. */
const char *nb_foreign_find(uint64_t address) __attribute__((visibility("hidden")));

/* Is there managed memory at this address? Asks the driver. */
bool nb_foreign_is_managed(uint64_t address) __attribute__((visibility("hidden")));

extern const struct nb_component nb_foreign_component __attribute__((visibility("hidden")));

#endif
