#include "cuda/capture/memset.h"

#include <stdio.h>

#include "cuda/capture/operation.h"
#include "cuda/capture/place.h"
#include "cuda/capture/refuse.h"
#include "cuda/capture/stream.h"

/* A graph node's value may have more bits than its elements. */
static uint32_t value_of(const struct nb_set *set)
{
    return set->element_bytes < 4 ? set->value & ((1u << 8 * set->element_bytes) - 1) : set->value;
}

uint32_t nb_capture_memset(const struct nb_call *call, struct nb_set set)
{
    const char *what = "host memory";
    if (set.width == 0 || set.height == 0)
        return NB_NOTHING;
    struct nb_extent extent = {.address = set.address, .pitch = set.pitch, .height = set.height, .depth = 1};
    if (__builtin_mul_overflow(set.width, set.element_bytes, &extent.width))
        extent.width = UINT64_MAX;
    if (nb_capture_find_place(&extent, &what) != NB_PLACE_CAPTURED) {
        char reason[160];
        snprintf(reason, sizeof reason, "sets %s, which a capture cannot contain", what);
        nb_capture_refuse(call, reason);
        return NB_NOTHING;
    }
    struct nb_capture_operation operation = {
        .kind = NB_OPERATION_MEMSET,
        .stream = set.graph != 0 ? NB_NOTHING : nb_capture_write_stream(call, set.stream),
        .graph = set.graph,
        .as.set = {.address = set.address,
                   .pitch = set.height > 1 ? set.pitch : 0,
                   .width = set.width,
                   .height = set.height,
                   .value = value_of(&set),
                   .element_bytes = set.element_bytes}};
    return nb_capture_append_operation(&operation, NULL, 0);
}
