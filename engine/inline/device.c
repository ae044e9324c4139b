#include "inline/session.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

extern const char nb_kernels_80[] __attribute__((visibility("hidden"))); /* kernels.S */
extern const char nb_kernels_90[] __attribute__((visibility("hidden")));

enum {
    THREADS = 256,
    SCRATCH_FACTOR = 3, /* caches' worth: replacement is not least-recently-used */
    NOISE_BYTES = 2 << 20,
    DEFAULT_L2_BYTES = 32 << 20
};

bool nb_random(void *into, size_t bytes)
{
    unsigned char *at = into;
    while (bytes > 0) {
        const ssize_t size = getrandom(at, bytes < 256 ? bytes : 256, 0);
        if (size < 0 && errno != EINTR)
            return false;
        if (size > 0) {
            at += size;
            bytes -= (size_t)size;
        }
    }
    return true;
}

uint64_t nb_draw(uint64_t limit)
{
    uint64_t number = 0;
    (void)nb_random(&number, sizeof number);
    return number % limit; /* limits are so small that the bias does not matter */
}

int nb_allocate(struct nb_session *session, uint64_t bytes, CUdeviceptr *value)
{
    const uint64_t whole = (bytes + NB_LINE_BYTES - 1) / NB_LINE_BYTES * NB_LINE_BYTES + NB_LINE_BYTES;
    if (session->extent_count == NB_EXTENTS_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    NB_TRY(session->driver.cuMemAlloc_v2(value, (size_t)whole));
    session->extents[session->extent_count++] = (struct nb_extent){*value, whole};
    return 0;
}

int nb_launch(const struct nb_session *session, CUfunction function, uint64_t blocks, unsigned threads,
              void **parameters)
{
    const CUlaunchConfig config = {
        .gridDimX = (unsigned)blocks,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = threads,
        .blockDimY = 1,
        .blockDimZ = 1,
    };
    return (int)session->driver.cuLaunchKernelEx(&config, function, parameters, NULL);
}

int nb_move_all(const struct nb_session *session, CUfunction function, const struct nb_move *move)
{
    const uint64_t blocks = (move->bytes + NB_BLOCK_BYTES - 1) / NB_BLOCK_BYTES;
    struct nb_move copy = *move;
    void *parameters[] = {&copy};
    return blocks == 0 ? 0
                       : nb_launch(session, function, (blocks + THREADS - 1) / THREADS, THREADS, parameters);
}

int nb_elapsed(const struct nb_session *session, CUevent start, CUevent end, double *time_us)
{
    float milliseconds = 0;
    const CUresult result = session->driver.cuEventElapsedTime_v2 != NULL
                                ? session->driver.cuEventElapsedTime_v2(&milliseconds, start, end)
                                : session->driver.cuEventElapsedTime(&milliseconds, start, end);
    *time_us = 1000.0 * (double)milliseconds;
    return (int)result;
}

static int attribute(const struct nb_session *session, CUdevice device, CUdevice_attribute attribute_number,
                     int *value)
{
    return (int)session->driver.cuDeviceGetAttribute(value, attribute_number, device);
}

static int find_kernels(struct nb_session *session, int major)
{
    CUmodule module;
    const struct {
        const char *name;
        CUfunction *function;
    } attribute_number[] = {
        {"nb_give", &session->functions.give},
        {"nb_noise", &session->functions.noise},
        {"nb_restore_canaries", &session->functions.restore},
        {"nb_hold", &session->functions.hold},
        {"nb_sweep", &session->functions.sweep},
        {"nb_discard", &session->functions.discard},
        {"nb_check_output", &session->functions.check},
    };
    NB_TRY(session->driver.cuModuleLoadDataEx(&module, major >= 9 ? nb_kernels_90 : nb_kernels_80, 0, NULL,
                                              NULL));
    for (size_t i = 0; i < sizeof attribute_number / sizeof attribute_number[0]; i++) {
        NB_TRY(session->driver.cuModuleGetFunction(attribute_number[i].function, module,
                                                   attribute_number[i].name));
        if (session->driver.cuFuncLoad != NULL)
            NB_TRY(session->driver.cuFuncLoad(*attribute_number[i].function));
    }
    return 0;
}

static int make_events(struct nb_session *session)
{
    for (int i = 0; i < NB_EVENTS; i++)
        NB_TRY(session->driver.cuEventCreate(&session->events[i], CU_EVENT_DEFAULT));
    NB_TRY(session->driver.cuEventCreate(&session->joined, CU_EVENT_DISABLE_TIMING));
    session->joins_all = session->driver.cuCtxRecordEvent != NULL &&
                         session->driver.cuCtxRecordEvent(session->context, session->joined) == CUDA_SUCCESS;
    return 0;
}

static int make_memory(struct nb_session *session, int l2_bytes)
{
    struct nb_move noise = {.bytes = NOISE_BYTES};
    session->scratch_bytes = SCRATCH_FACTOR * (uint64_t)(l2_bytes > 0 ? l2_bytes : DEFAULT_L2_BYTES);
    session->noise_bytes = NOISE_BYTES;
    NB_TRY(nb_allocate(session, session->scratch_bytes, &session->scratch));
    NB_TRY(nb_allocate(session, NOISE_BYTES, &session->noise));
    noise.to = session->noise;
    if (!nb_random(&noise.key, sizeof noise.key))
        return CUDA_ERROR_UNKNOWN;
    NB_TRY(nb_move_all(session, session->functions.noise, &noise));
    NB_TRY(session->driver.cuMemHostAlloc((void **)&session->signal, sizeof *session->signal,
                                          CU_MEMHOSTALLOC_DEVICEMAP));
    return (int)session->driver.cuMemHostGetDevicePointer_v2(&session->signal_device, session->signal, 0);
}

int nb_device_build(struct nb_session *session, unsigned ordinal, const char **step)
{
    CUdevice device;
    int major = 0, l2_bytes = 0, multiprocessors = 0, shared_bytes = 0;
    *step = "the device cannot be used";
    NB_TRY(session->driver.cuInit(0));
    NB_TRY(session->driver.cuDeviceGet(&device, (int)ordinal));
    NB_TRY(session->driver.cuDevicePrimaryCtxRetain(&session->context, device));
    NB_TRY(session->driver.cuCtxSetCurrent(session->context));
    NB_TRY(attribute(session, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major));
    NB_TRY(attribute(session, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2_bytes));
    NB_TRY(attribute(session, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &multiprocessors));
    NB_TRY(attribute(session, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &shared_bytes));
    *step = "timing inline needs compute capability 8.0 or newer";
    if (major < 8)
        return CUDA_ERROR_NOT_SUPPORTED;
    *step = "the kernels cannot be loaded";
    NB_TRY(find_kernels(session, major));
    session->early = major >= 9;
    session->multiprocessors = (unsigned)multiprocessors;
    session->shared_bytes = (unsigned)shared_bytes;
    NB_TRY(session->driver.cuFuncSetAttribute(session->functions.restore,
                                              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes));
    *step = "the device has too little free memory";
    NB_TRY(make_events(session));
    NB_TRY(make_memory(session, l2_bytes));
    return (int)session->driver.cuCtxSynchronize();
}
