/* Headers that HIP programs include without an include path, written for CUDA. */
#ifndef NEUTRINO_SIM_HIP_HIPRTC_HEADERS_H
#define NEUTRINO_SIM_HIP_HIPRTC_HEADERS_H

#include <stddef.h>

/* Text that hiprtc puts before every program. */
#define HIPRTC_PRELUDE "hip/hip_runtime.h"

struct hiprtc_header {
    const char *name, *text;
};

extern const struct hiprtc_header hiprtc_headers[];
extern const size_t hiprtc_header_count;

#endif
