/* Fault injection: calls that fail, are delayed, or run out of memory, so that programs can be tested on
 * them.
 *
 * Every generated export asks here first while rules are active. The driver's own internal calls are exempt.
 * inject_parse.h has the syntax. */
#ifndef NEUTRINO_SIM_INJECT_H
#define NEUTRINO_SIM_INJECT_H

#include "driver/core/api.h"
#include "driver/core/watch.h"

#include <stdbool.h>

/* Read SIM_INJECT. CUDA_ERROR_INVALID_VALUE, with a line on stderr, if it cannot be parsed. */
CUresult sim_inject_start(void);

/* Whether cuGetProcAddress must not find the export. */
bool sim_inject_drops(const char *symbol);

/* The version to report. 0: no rule sets one. */
int sim_inject_version(void);

/* Replace all rules and restart their counts. NULL or "": remove all rules. CUDA_ERROR_INVALID_VALUE, with a
 * line on stderr and the rules unchanged, if the text cannot be parsed. */
__attribute__((visibility("default"))) CUresult simInject(const char *rules);

/* The same call for programs that reach the driver through another library: cuGetExportTable returns this
 * table for the identifier "neutrino-inject\0". */
struct sim_inject_table {
    size_t bytes; /* of this table */
    CUresult (*inject)(const char *rules);
};

extern const CUuuid sim_inject_table_id;
extern const struct sim_inject_table sim_inject_table;

#endif
