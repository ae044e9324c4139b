/* A launch's parameters as one buffer, in the kernel's layout. */
#ifndef NEUTRINO_CUDA_PARAMETERS_H
#define NEUTRINO_CUDA_PARAMETERS_H

#include <stdint.h>
#include <string.h>

#include "core/maps/funcmap.h"

struct nb_parameters {
    const void *packed;  /* from `extra`; else NULL */
    void **each;         /* kernelParams; may be NULL */
    uint32_t bytes;      /* size of the kernel's buffer; 0 if unknown */
    uint32_t kept_bytes; /* bytes of it that go into a record */
};

/* Read the list `extra`. */
struct nb_parameters nb_read_packed_parameters(void **extra) __attribute__((visibility("hidden")));

/* Locate the parameters and compute how many of their bytes go into a record. */
static inline struct nb_parameters nb_locate_parameters(const struct nb_description *description,
                                                        void **kernelParams, void **extra)
{
    struct nb_parameters parameters = {NULL, kernelParams, 0, 0};
    if (__builtin_expect(kernelParams != NULL, 1))
        parameters.bytes = description->parameter_bytes;
    else if (extra != NULL)
        parameters = nb_read_packed_parameters(extra);
    parameters.kept_bytes = parameters.bytes < NB_PARAMETERS_MAX ? parameters.bytes : NB_PARAMETERS_MAX;
    return parameters;
}

/* Write `kept_bytes` bytes to `into`, and zeros up to the next multiple of 8. Most parameters have 8 or 4
 * bytes; these are copied without a call. */
static inline void nb_copy_parameters(const struct nb_parameters *parameters,
                                      const struct nb_description *description, unsigned char *into)
{
    if ((parameters->kept_bytes & 7) != 0)
        memset(into + (parameters->kept_bytes & ~7u), 0, 8);
    if (parameters->packed != NULL) {
        memcpy(into, parameters->packed, parameters->kept_bytes);
        return;
    }
    if (description->holes) /* without holes every byte is written below */
        memset(into, 0, parameters->kept_bytes);
    for (uint32_t i = 0; parameters->each != NULL && i < description->parameter_count; i++) {
        const struct nb_parameter at = description->layout[i];
        const void *from = parameters->each[i];
        if (from == NULL || at.offset >= parameters->kept_bytes)
            continue;
        const uint32_t room = parameters->kept_bytes - at.offset;
        if (at.size == 8 && room >= 8)
            memcpy(into + at.offset, from, 8);
        else if (at.size == 4 && room >= 4)
            memcpy(into + at.offset, from, 4);
        else
            memcpy(into + at.offset, from, at.size < room ? at.size : room);
    }
}

#endif
