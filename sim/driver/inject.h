/* Faults on request: calls that fail, are late, or run out of memory, so that programs can be tested on them.
 *
 * The export of every function (generated) asks here first while calls are watched; what the driver calls of
 * itself is never asked about. The language is in inject_parse.h. */
#ifndef NEUTRINO_SIM_INJECT_H
#define NEUTRINO_SIM_INJECT_H

#include "api.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Not 0 while there are rules, and until SIM_INJECT has been read, which the first call of any function does.
 */
extern atomic_int sim_watched __attribute__((visibility("hidden")));

/* The exports, generated; `number` below is an index. */
extern const char *const sim_functions[];
extern const unsigned sim_function_count;

/* Count a call and do what the rules say: what it is to return, without doing anything, or -1 to go on. */
__attribute__((cold, visibility("hidden"))) int sim_inject(unsigned number);

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
