/* The error log that cuLogs* gives: why calls were refused, and what kernels did wrong. */
#ifndef NEUTRINO_SIM_LOG_H
#define NEUTRINO_SIM_LOG_H

#include "driver/core/api.h"

/* Add a line and tell who registered for it. No lock of the driver's may be held: a callback may call it. */
__attribute__((format(printf, 1, 2))) void sim_log_error(const char *format, ...);

/* That a call returned an error, in the words of a GPU's driver. Gives the error back. */
CUresult sim_log_refusal(CUresult result, const char *call);

#endif
