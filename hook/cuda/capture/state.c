#include "cuda/capture/state.h"

#include <cuda.h>

#include <string.h>

#include "core/arena/arena.h"
#include "core/driver/slots.h"
#include "core/process/component.h"
#include "core/region/raw_capture.h"
#include "core/region/region_about.h"
#include "core/wire/capture_format.h"
#include "cuda/capture/allocation.h"
#include "cuda/capture/global.h"
#include "cuda/capture/memory.h"
#include "cuda/capture/place.h"
#include "cuda/capture/refuse.h"
#include "cuda/capture/texture.h"
#include "cuda/memory/arena.h"
#include "cuda/memory/pending.h"
#include "real.h"
#include "surface.h"

static uint32_t attribute(CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    NB_REAL(cuDeviceGetAttribute)(&value, which, device);
    return (uint32_t)value;
}

static void append_device(CUdevice device)
{
    char name[256] = "";
    size_t memory = 0;
    int version = 0;
    CUuuid uuid = {{0}};
    NB_REAL(cuDeviceGetName)(name, sizeof name, device);
    NB_REAL(cuDeviceTotalMem_v2)(&memory, device);
    NB_REAL(cuDriverGetVersion)(&version);
    NB_REAL(cuDeviceGetUuid_v2)(&uuid, device);
    struct nb_capture_device element = {
        .vendor = nb_vendor,
        .driver_version = (uint32_t)version,
        .compute_major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        .compute_minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        .multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .l2_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
        .memory_bytes = memory,
        .arena = nb_arena_base(),
        .arena_bytes = nb_arena_bytes(),
        .name = {.offset = sizeof element, .bytes = strnlen(name, sizeof name)}};
    _Static_assert(sizeof element.uuid == sizeof uuid, "a UUID is 16 bytes");
    memcpy(element.uuid, &uuid, sizeof uuid);
    const struct nb_piece pieces[] = {{&element, sizeof element}, {name, element.name.bytes}};
    nb_raw_capture_append(NB_CAPTURE_DEVICE, pieces, 2);
}

/* Skip limits that this driver or device lacks. */
static void append_limits(void)
{
    static const CUlimit limits[] = {CU_LIMIT_STACK_SIZE,
                                     CU_LIMIT_PRINTF_FIFO_SIZE,
                                     CU_LIMIT_MALLOC_HEAP_SIZE,
                                     CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
                                     CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
                                     CU_LIMIT_MAX_L2_FETCH_GRANULARITY,
                                     CU_LIMIT_PERSISTING_L2_CACHE_SIZE};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        size_t value = 0;
        if (NB_REAL(cuCtxGetLimit)(&value, limits[i]) != CUDA_SUCCESS)
            continue;
        const struct nb_capture_limit element = {.limit = (uint32_t)limits[i], .value = value};
        const struct nb_piece piece = {&element, sizeof element};
        nb_raw_capture_append(NB_CAPTURE_LIMIT, &piece, 1);
    }
}

static CUresult write_begin(bool stores_after)
{
    CUdevice device;
    CUresult result = NB_REAL(cuCtxGetDevice)(&device);
    if (result == CUDA_SUCCESS)
        result = NB_REAL(cuCtxSynchronize)();
    if (result != CUDA_SUCCESS)
        return result;
    const bool is_served = nb_memory_is_served(&device);
    nb_memory_reap_idle();
    append_device(device);
    append_limits();
    nb_capture_refuse_textures();
    nb_capture_refuse_earlier_losses();
    if (!is_served)
        nb_region_refuse(
            nb_memory_has_failed()
                ? "device memory could not be served from the arena, so addresses differ in a replay"
                : "the region uses another device than the recorded memory");
    return nb_capture_write_memory_before(stores_after);
}

static CUresult write_end(bool stores_after)
{
    CUresult result = NB_REAL(cuCtxSynchronize)();
    if (result == CUDA_SUCCESS && stores_after)
        result = nb_capture_write_memory_after();
    /* Also after a fault: the capture then shows where memory was. */
    nb_capture_write_allocations(stores_after);
    const CUresult globals = nb_capture_write_globals();
    return result == CUDA_SUCCESS ? globals : result;
}

/* Allocating and waiting would invalidate another thread's stream capture in the global mode, but not in
 * the relaxed mode. Waiting for the context fails in every mode (H200: error 900); that becomes the
 * region's error. */
static int call_relaxed(CUresult (*write)(bool), bool stores_after)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool is_relaxed = NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode) == CUDA_SUCCESS;
    const CUresult result = write(stores_after);
    if (is_relaxed)
        NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    return (int)result;
}

static int begin_region(bool stores_after)
{
    nb_components_reset();
    return call_relaxed(write_begin, stores_after);
}

static int end_region(bool stores_after)
{
    return call_relaxed(write_end, stores_after);
}

const struct nb_region_operations nb_capture_region_operations = {
    .begin = begin_region, .end = end_region, .holds = nb_capture_contains};
