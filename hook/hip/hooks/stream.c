/* Hooks of streams with a mask of compute units, and stream numbers. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include <stdatomic.h>

#include "core/base/handle_map.h"
#include "core/process/call.h"
#include "core/region/region.h"
#include "cuda/capture/refuse.h"
#include "cuda/kernel/handle.h"
#include "cuda/vendor.h"
#include "hip/driver/hip.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* Streams with a mask of compute units. */
static struct nb_handle_map partial = NB_HANDLE_MAP_INITIALIZER;

void nb_post_hip_stream_of_units(const struct nb_call *call, hipError_t result, hipStream_t *stream,
                                 uint32_t cuMaskSize, const uint32_t *cuMask)
{
    static char is_partial;
    (void)call, (void)cuMaskSize, (void)cuMask;
    if (nb_capture_enabled() && result == hipSuccess && stream != NULL &&
        !nb_handle_map_set(&partial, nb_handle(*stream), &is_partial))
        nb_capture_refuse_later();
}

const char *nb_vendor_stream_problem(CUstream stream)
{
    return nb_handle_map_get(&partial, nb_handle(stream)) != NULL
               ? "uses a stream of some of the device's compute units, which is not recorded"
               : NULL;
}

/* Numbers of streams, from their first use until they are destroyed. */
static struct nb_handle_map numbers = NB_HANDLE_MAP_INITIALIZER;

static void forget(void)
{
    nb_handle_map_forget(&partial);
    nb_handle_map_forget(&numbers);
}

static const struct nb_component streams = {.locks = {&partial.lock, &numbers.lock}, .forget = forget};
const struct nb_component *const nb_vendor_components[] = {&streams, NULL};

/* hipStreamPerThread is another stream in each thread. */
unsigned long long nb_hip_stream_number(hipStream_t stream)
{
    static atomic_uintptr_t last;
    if (stream == NULL || stream == hipStreamPerThread)
        return 0;
    const void *known_number = nb_handle_map_get(&numbers, nb_handle(stream));
    if (known_number != NULL)
        return (uintptr_t)known_number;
    const uintptr_t number = atomic_fetch_add(&last, 1) + 1;
    return nb_handle_map_set(&numbers, nb_handle(stream), (void *)number) ? number : 0;
}

hipError_t nb_wrap_when_recording_hip_stream_destroy(const struct nb_call *call, nb_hipStreamDestroy_t real,
                                                     hipStream_t stream)
{
    nb_handle_map_set(&partial, nb_handle(stream), NULL);
    nb_handle_map_set(&numbers, nb_handle(stream), NULL);
    return (hipError_t)nb_wrap_when_recording_stream_destroy(call, NB_SAME(cuStreamDestroy, real),
                                                             (CUstream)stream);
}
