/* A launch's parameters as one buffer, laid out as the kernel sees it. */
#ifndef NEUTRINO_CUDA_PARAMETERS_H
#define NEUTRINO_CUDA_PARAMETERS_H

#include <stdint.h>

#include "funcmap.h"

struct nb_parameters {
    const void *packed;  /* from `extra`; else NULL */
    void **each;         /* kernelParams; may be NULL */
    uint32_t bytes;      /* of the kernel's buffer; 0 if unknown */
    uint32_t kept_bytes; /* of it that are recorded */
};

/* Where the parameters are and how many bytes of them go into a record. */
struct nb_parameters nb_parameters_of(const struct nb_description *description, void **kernelParams,
                                      void **extra) __attribute__((visibility("hidden")));

/* Write `kept_bytes` bytes to `into`. */
void nb_parameters_copy(const struct nb_parameters *parameters, const struct nb_description *description,
                        unsigned char *into) __attribute__((visibility("hidden")));

#endif
