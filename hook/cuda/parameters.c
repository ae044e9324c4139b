#include "parameters.h"

#include <cuda.h>
#include <string.h>

/* `extra` is a list of pairs that CU_LAUNCH_PARAM_END ends. No driver accepts more than the two kinds. */
#define EXTRA_PAIRS_MAX 4

static struct nb_parameters packed_parameters(void **extra)
{
    struct nb_parameters parameters = {NULL, NULL, 0, 0};
    for (int pair = 0; pair < EXTRA_PAIRS_MAX && extra[2 * pair] != CU_LAUNCH_PARAM_END; pair++) {
        void *value = extra[2 * pair + 1];
        if (extra[2 * pair] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            parameters.packed = value;
        else if (extra[2 * pair] == CU_LAUNCH_PARAM_BUFFER_SIZE && value != NULL) {
            size_t bytes;
            memcpy(&bytes, value, sizeof bytes);
            parameters.bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
        }
    }
    if (parameters.packed == NULL)
        parameters.bytes = 0;
    return parameters;
}

struct nb_parameters nb_parameters_of(const struct nb_description *description, void **kernelParams,
                                      void **extra)
{
    struct nb_parameters parameters = {NULL, kernelParams, 0, 0};
    if (kernelParams != NULL)
        parameters.bytes = description->parameter_bytes;
    else if (extra != NULL)
        parameters = packed_parameters(extra);
    parameters.kept_bytes = parameters.bytes < NB_PARAMETERS_MAX ? parameters.bytes : NB_PARAMETERS_MAX;
    return parameters;
}

void nb_parameters_copy(const struct nb_parameters *parameters, const struct nb_description *description,
                        unsigned char *into)
{
    if (parameters->packed != NULL) {
        memcpy(into, parameters->packed, parameters->kept_bytes);
        return;
    }
    memset(into, 0, parameters->kept_bytes);
    for (uint32_t i = 0; parameters->each != NULL && i < description->parameter_count; i++) {
        const struct nb_parameter at = description->layout[i];
        if (at.offset >= parameters->kept_bytes || parameters->each[i] == NULL)
            continue;
        const uint32_t room = parameters->kept_bytes - at.offset;
        unsigned char *to = into + at.offset;
        if (at.size == 8 && room >= 8) /* a pointer: what most parameters are */
            memcpy(to, parameters->each[i], 8);
        else if (at.size == 4 && room >= 4)
            memcpy(to, parameters->each[i], 4);
        else
            memcpy(to, parameters->each[i], at.size < room ? at.size : room);
    }
}
