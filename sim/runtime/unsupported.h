/* Separate from cudart.h, whose prototypes would conflict. */
#ifndef NEUTRINO_SIM_RUNTIME_UNSUPPORTED_H
#define NEUTRINO_SIM_RUNTIME_UNSUPPORTED_H

#include <driver_types.h>

/* cudaErrorNotSupported, which becomes the thread's last error. */
cudaError_t runtime_unsupported(void);

#endif
