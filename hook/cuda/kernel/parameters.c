#include "cuda/kernel/parameters.h"

#include <cuda.h>

#include <stdbool.h>

/* `extra` is a list of pairs of two kinds. Any other value ends it: CU_LAUNCH_PARAM_END is 0 in CUDA and 3
 * in HIP. */
#define EXTRA_PAIRS_MAX 4

static bool is_pair(const void *kind)
{
    return kind == CU_LAUNCH_PARAM_BUFFER_POINTER || kind == CU_LAUNCH_PARAM_BUFFER_SIZE;
}

struct nb_parameters nb_read_packed_parameters(void **extra)
{
    struct nb_parameters parameters = {NULL, NULL, 0, 0};
    for (int pair = 0; pair < EXTRA_PAIRS_MAX && is_pair(extra[2 * pair]); pair++) {
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
