/* Beside the header whose prototypes would be in the way. */
#ifndef NEUTRINO_SIM_RUNTIME_UNSUPPORTED_H
#define NEUTRINO_SIM_RUNTIME_UNSUPPORTED_H

#include <driver_types.h>

/* cudaErrorNotSupported, as the thread's last error. */
cudaError_t runtime_unsupported(void);

#endif
