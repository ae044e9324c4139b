/* Faults on request: calls that fail, are late, or run out of memory, so that programs can be tested on them.
 *
 * The export of every function (generated) asks here first while calls are watched; what the driver calls of
 * itself is never asked about. The language is in inject_parse.h. */
#ifndef NEUTRINO_SIM_INJECT_H
#define NEUTRINO_SIM_INJECT_H

#include "driver/core/api.h"
#include "driver/core/watch.h"

#include <stdbool.h>

/* CUDA_ERROR_INVALID_VALUE if SIM_INJECT cannot be read; it was said why. */
CUresult sim_inject_start(void);

/* Whether cuGetProcAddress is to know the export. */
bool sim_inject_drops(const char *symbol);

/* The version to pretend, or 0. */
int sim_inject_version(void);

/* Replace all rules; counts begin anew. NULL or "": none. CUDA_ERROR_INVALID_VALUE, with a line on stderr and
 * the rules as they were, if the text cannot be read. */
__attribute__((visibility("default"))) CUresult simInject(const char *rules);

/* The same for programs that have the driver behind another library: cuGetExportTable with this identifier,
 * "neutrino-inject\0", gives a pointer to it. */
struct sim_inject_table {
    size_t bytes; /* of the table */
    CUresult (*inject)(const char *rules);
};

extern const CUuuid sim_inject_table_id;
extern const struct sim_inject_table sim_inject_table;

#endif
