#ifndef NEUTRINO_SIM_FAULT_H
#define NEUTRINO_SIM_FAULT_H

#include "driver/core/api.h"
#include "ptx/ptx.h"

/* Report on stderr how a kernel ended. No report with SIM_MEMORY_CHECK=pages: a GPU gives none. */
void sim_fault_report(const struct ptx_kernel *kernel, CUresult result,
                      const struct ptx_diagnostic *diagnostic);

#endif
