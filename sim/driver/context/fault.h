#ifndef NEUTRINO_SIM_FAULT_H
#define NEUTRINO_SIM_FAULT_H

#include "ptx/ptx.h"
#include "driver/core/api.h"

/* One report on stderr of how a kernel ended; none with SIM_MEMORY_CHECK=pages, as GPUs give none. */
void sim_fault_report(const struct ptx_kernel *kernel, CUresult result,
                      const struct ptx_diagnostic *diagnostic);

#endif
