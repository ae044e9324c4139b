#include "replay/base/device.h"

#include <dlfcn.h>
#include <string.h>

#include "replay/base/engine.h"

static int attribute(struct nb_replay *replay, CUdevice_attribute name, uint32_t *value)
{
    int got = 0;
    NB_TRY(NB_CALL(replay, cuDeviceGetAttribute, &got, name, replay->device));
    *value = got < 0 ? 0 : (uint32_t)got;
    return NB_REPLAY_OK;
}

static int learn(struct nb_replay *replay)
{
    struct nb_replay_device *facts = &replay->facts;
    int version = 0;
    size_t total = 0, available = 0;
    NB_TRY(NB_CALL(replay, cuDriverGetVersion, &version));
    facts->driver_version = (uint32_t)version;
    NB_TRY(NB_CALL(replay, cuDeviceGetName, facts->name, sizeof facts->name, replay->device));
    facts->name[sizeof facts->name - 1] = '\0';
    NB_TRY(attribute(replay, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &facts->compute_major));
    NB_TRY(attribute(replay, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &facts->compute_minor));
    NB_TRY(attribute(replay, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &facts->multiprocessors));
    NB_TRY(attribute(replay, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &facts->l2_bytes));
    NB_TRY(attribute(replay, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &facts->clock_khz));
    NB_TRY(attribute(replay, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, &facts->pageable));
    NB_TRY(NB_CALL(replay, cuDeviceTotalMem_v2, &total, replay->device));
    NB_TRY(NB_CALL(replay, cuMemGetInfo_v2, &available, &total));
    facts->memory_bytes = total;
    facts->free_bytes = available;
    /* NVML knows neither the bus of the CPU driver nor that of HIP. */
    if (dlsym(replay->driver.library, "simInject") == NULL && replay->driver.nb_module_load_source == NULL)
        NB_TRY(NB_CALL(replay, cuDeviceGetPCIBusId, facts->pci_bus, sizeof facts->pci_bus, replay->device));
    return NB_REPLAY_OK;
}

/* HIP has no persisting L2 lines, so none are reset before a sample. */
static int find_persisting(struct nb_replay *replay)
{
    const CUresult result = replay->driver.cuCtxResetPersistingL2Cache();
    replay->persists = result != CUDA_ERROR_NOT_SUPPORTED;
    return replay->persists ? nb_called(replay, result, "cuCtxResetPersistingL2Cache") : NB_REPLAY_OK;
}

static int retain(struct nb_replay *replay)
{
    const struct nb_driver *driver = &replay->driver;
    const CUresult result = driver->cuInit(0);
    int count = 0;
    if (result != CUDA_SUCCESS)
        return nb_fail(replay, NB_REPLAY_NO_DRIVER, "cuInit: %s (%d)", nb_driver_name(driver, result),
                       (int)result);
    NB_TRY(NB_CALL(replay, cuDeviceGetCount, &count));
    if (replay->options.device >= (uint32_t)count)
        return nb_fail(replay, NB_REPLAY_OURS, "device %u does not exist; the driver has %d",
                       replay->options.device, count);
    NB_TRY(NB_CALL(replay, cuDeviceGet, &replay->device, (int)replay->options.device));
    return NB_CALL(replay, cuDevicePrimaryCtxRetain, &replay->context, replay->device);
}

NB_REPLAY_EXPORT int nb_replay_open_driver(const char *driver, uint32_t device, char *error)
{
    struct nb_replay replay = {.error = error, .options.device = device};
    NB_TRY(nb_driver_open(&replay.driver, driver, error));
    return retain(&replay);
}

static int open_device(struct nb_replay *replay)
{
    NB_TRY(retain(replay));
    NB_TRY(NB_CALL(replay, cuCtxSetCurrent, replay->context));
    NB_TRY(learn(replay));
    NB_TRY(find_persisting(replay));
    NB_TRY(NB_CALL(replay, cuStreamCreateWithPriority, &replay->streams.own, CU_STREAM_NON_BLOCKING, 0));
    replay->streams.timed = replay->streams.own;
    return NB_REPLAY_OK;
}

/* A failure is this machine's: the capture is not on the device yet. */
int nb_device_open(struct nb_replay *replay)
{
    const int status = open_device(replay);
    return status == NB_REPLAY_FAILED || status == NB_REPLAY_CANNOT ? NB_REPLAY_NO_DRIVER : status;
}

void nb_device_close(struct nb_replay *replay)
{
    if (replay->gone == NB_REPLAY_OK && replay->context != NULL)
        replay->driver.cuDevicePrimaryCtxRelease_v2(replay->device);
}
