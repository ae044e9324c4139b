/* The error log of cuLogs*: why calls were refused, and faults of kernels. */
#ifndef NEUTRINO_SIM_LOG_H
#define NEUTRINO_SIM_LOG_H

#include "driver/core/api.h"

/* Add a line and call the registered callbacks. Hold no lock of the driver: a callback may call it. */
__attribute__((format(printf, 1, 2))) void sim_log_error(const char *format, ...);

/* Log that a call returned an error, in a GPU driver's words. Returns the error. */
CUresult sim_log_refusal(CUresult result, const char *call);

#endif
