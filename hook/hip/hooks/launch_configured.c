/* Launches in three steps, as hipcc compiled them before HIP-Clang: hipConfigureCall, hipSetupArgument for
 * each parameter, hipLaunchByPtr. The library has no function to read a prepared launch back, so the hooks
 * keep a copy for each thread. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include <stdlib.h>

#include "core/process/call.h"
#include "cuda/trace/launch_record.h"
#include "hip/hooks/unprobed.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* Limits far above the parameters of a kernel and the launches that a thread prepares at a time. */
enum { ARGUMENTS_MAX = 4096, PREPARED_MAX = 16 };

struct prepared {
    struct prepared *below;
    struct nb_launch_form launch;
    size_t bytes; /* of the arguments */
    unsigned depth;
    bool is_whole; /* false if an argument exceeded ARGUMENTS_MAX */
    unsigned char arguments[ARGUMENTS_MAX];
};

static _Thread_local struct prepared *top;

void nb_post_hip_configure(const struct nb_call *call, hipError_t result, dim3 gridDim, dim3 blockDim,
                           size_t sharedMem, hipStream_t stream)
{
    const unsigned depth = top != NULL ? top->depth + 1 : 1;
    struct prepared *prepared = NULL;
    if (result == hipSuccess && call->thread != NULL && depth <= PREPARED_MAX)
        prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL)
        return;
    prepared->below = top;
    prepared->depth = depth;
    prepared->is_whole = true;
    prepared->launch = (struct nb_launch_form){.grid = {gridDim.x, gridDim.y, gridDim.z},
                                               .block = {blockDim.x, blockDim.y, blockDim.z},
                                               .shared_bytes = (unsigned int)sharedMem,
                                               .stream = (CUstream)stream};
    top = prepared;
}

void nb_post_hip_argument(const struct nb_call *call, hipError_t result, const void *arg, size_t size,
                          size_t offset)
{
    (void)call;
    if (result != hipSuccess || top == NULL || arg == NULL)
        return;
    if (offset > ARGUMENTS_MAX || size > ARGUMENTS_MAX - offset) {
        top->is_whole = false;
        return;
    }
    memcpy(top->arguments + offset, arg, size);
    top->bytes = offset + size > top->bytes ? offset + size : top->bytes;
}

hipError_t nb_wrap_hip_launch_configured(const struct nb_call *call, nb_hipLaunchByPtr_t real,
                                         const void *func)
{
    static const char *const unknown = "launches a kernel whose parameters were not seen (hipSetupArgument)";
    struct prepared *prepared = top;
    struct nb_launch_form launch = {.problem = unknown};
    size_t bytes = 0;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, NULL, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    if (prepared != NULL) {
        launch = prepared->launch;
        launch.problem = prepared->is_whole ? NULL : unknown;
        launch.extra = extra;
        extra[1] = prepared->arguments;
        bytes = prepared->bytes;
        top = prepared->below;
    }
    launch.function = (CUfunction)(uintptr_t)func;
    nb_hip_skip_probe(call, &launch);
    const struct nb_launch_under_way under_way = nb_launch_begin(call, &launch);
    const hipError_t result = real(func);
    nb_launch_end(call, under_way, (CUresult)result);
    free(prepared);
    return result;
}
