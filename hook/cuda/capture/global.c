/* An element holds a global's content before and after the region. So elements are written when the region
 * ends, in the order in which the globals were found. */
#include "cuda/capture/global.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/ranges.h"
#include "core/base/vector.h"
#include "core/driver/slots.h"
#include "core/image/image_globals.h"
#include "core/region/raw_capture.h"
#include "core/wire/capture_format.h"
#include "cuda/capture/refuse.h"
#include "cuda/memory/foreign.h"
#include "real.h"
#include "surface.h"

/* Limit for all globals together: their content stays in memory while the region is open. */
#define GLOBALS_BYTES_MAX (UINT64_C(64) << 20)

struct global {
    uint32_t module;
    uint64_t address, bytes;
    const struct nb_binary *binary; /* NULL if unloaded */
    char *name;
    void *before;
};

/* Address range of a global; an item of nb_ranges. */
struct place {
    uint64_t address, bytes;
    uint32_t index;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nb_ranges places = NB_RANGES_INITIALIZER(struct place);
static struct nb_vector globals = NB_VECTOR_INITIALIZER(struct global);
static uint64_t kept_bytes;

/* ---- at the first use of a module ---------------------------------------------------------------------- */

/* A module whose globals are being found. */
struct search {
    const struct nb_call *call;
    const struct nb_binary *binary;
    CUmodule handle;
    uint32_t module;
    bool settled; /* no queued work can still write to them */
};

static void refuse(const struct nb_call *call, const char *name, const char *why)
{
    char reason[512];
    snprintf(reason, sizeof reason, "global %.300s %s", name, why);
    nb_capture_refuse(call, reason);
}

/* The query must not invalidate another thread's stream capture (cuStreamBeginCapture, modes). */
static CUresult read_global(void *into, uint64_t address, uint64_t bytes)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool exchanged = NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode) == CUDA_SUCCESS;
    const CUresult result = NB_REAL(cuMemcpyDtoH_v2)(into, address, bytes);
    if (exchanged)
        NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    return result;
}

static CUresult settle(struct search *search)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (search->settled)
        return CUDA_SUCCESS;
    const bool exchanged = NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode) == CUDA_SUCCESS;
    const CUresult result = NB_REAL(cuCtxSynchronize)();
    if (exchanged)
        NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    search->settled = result == CUDA_SUCCESS;
    return result;
}

/* Call with the lock. False if memory runs out. */
static bool add(const struct global *global)
{
    const struct place place = {global->address, global->bytes, (uint32_t)globals.count};
    if (!nb_vector_append(&globals, global))
        return false;
    if (!nb_ranges_add(&places, &place)) {
        nb_vector_remove(&globals, globals.count - 1);
        return false;
    }
    kept_bytes += global->bytes;
    return true;
}

static bool is_known_or_too_large(const struct search *search, const struct global *global)
{
    pthread_mutex_lock(&lock);
    const bool is_known = nb_ranges_find(&places, global->address) != NULL;
    const bool too_large = global->bytes > GLOBALS_BYTES_MAX - kept_bytes;
    pthread_mutex_unlock(&lock);
    if (!is_known && too_large)
        refuse(search->call, global->name, "exceeds the 64 MiB that a capture keeps of all globals");
    return is_known || too_large;
}

static void keep(struct search *search, const char *name, uint64_t address, uint64_t bytes)
{
    struct global global = {.module = search->module,
                            .address = address,
                            .bytes = bytes,
                            .binary = search->binary,
                            .name = strdup(name)};
    if (global.name != NULL && is_known_or_too_large(search, &global)) {
        free(global.name);
        return;
    }
    global.before = malloc(bytes);
    bool added = false;
    if (global.name != NULL && global.before != NULL && settle(search) == CUDA_SUCCESS &&
        read_global(global.before, address, bytes) == CUDA_SUCCESS) {
        pthread_mutex_lock(&lock);
        added = add(&global);
        pthread_mutex_unlock(&lock);
    }
    if (added)
        return;
    refuse(search->call, name, "could not be read");
    free(global.name);
    free(global.before);
}

static void visit(const char *name, bool managed, void *context)
{
    struct search *search = context;
    CUdeviceptr address = 0;
    size_t bytes = 0;
    const bool is_known =
        NB_REAL(cuModuleGetGlobal_v2)(&address, &bytes, search->handle, name) == CUDA_SUCCESS;
    if (managed || (is_known && nb_foreign_is_managed(address)))
        refuse(search->call, name, "is managed, so the host may change it during the region");
    else if (is_known && bytes != 0)
        keep(search, name, address, bytes);
}

static uint32_t query_architecture(void)
{
    CUdevice device;
    int major = 0, minor = 0;
    if (NB_REAL(cuCtxGetDevice)(&device) != CUDA_SUCCESS)
        return 0;
    NB_REAL(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    NB_REAL(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    return (uint32_t)(10 * major + minor);
}

void nb_capture_add_globals(const struct nb_call *call, uint32_t module, const struct nb_binary *binary,
                            CUmodule handle)
{
    const int saved = errno;
    struct search search = {call, binary, handle, module, false};
    const char *problem = nb_image_globals(binary->kept, binary->bytes, query_architecture(), visit, &search);
    if (problem != NULL) {
        char reason[256];
        snprintf(reason, sizeof reason, "a module may have globals that are not captured: %s", problem);
        nb_capture_refuse(call, reason);
    }
    errno = saved;
}

/* ---- while the region is open -------------------------------------------------------------------------- */

bool nb_capture_find_added_global(uint64_t address, uint32_t *global, uint64_t *delta)
{
    pthread_mutex_lock(&lock);
    const struct place *place = nb_ranges_find(&places, address);
    const bool is_found = place != NULL;
    if (is_found) {
        *global = place->index;
        *delta = address - place->address;
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

uint64_t nb_capture_bytes_of_global(uint64_t address)
{
    pthread_mutex_lock(&lock);
    const struct place *place = nb_ranges_find(&places, address);
    const uint64_t room = place != NULL ? place->address + place->bytes - address : 0;
    pthread_mutex_unlock(&lock);
    return room;
}

void nb_capture_unload_globals(const struct nb_call *call, const struct nb_binary *binary)
{
    bool lost = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < globals.count; i++) {
        struct global *global = nb_vector_item(&globals, i);
        if (global->binary != binary)
            continue;
        global->binary = NULL;
        lost = true;
        struct place *place = nb_ranges_find(&places, global->address);
        if (place != NULL)
            nb_ranges_remove(&places, place);
    }
    pthread_mutex_unlock(&lock);
    if (lost)
        nb_capture_refuse(call, "unloads a module whose globals the region uses");
}

/* ---- when it ends -------------------------------------------------------------------------------------- */

/* If the global cannot be read, only its content before the region is written. */
static CUresult write_global(const struct global *global)
{
    CUresult result = CUDA_SUCCESS;
    void *after = global->binary != NULL ? malloc(global->bytes) : NULL;
    if (after == NULL && global->binary != NULL)
        nb_capture_refuse_incomplete();
    if (after != NULL)
        result = read_global(after, global->address, global->bytes);
    const size_t name_bytes = strlen(global->name);
    const uint64_t first = sizeof(struct nb_capture_global),
                   after_bytes = after != NULL && result == CUDA_SUCCESS ? global->bytes : 0;
    const struct nb_capture_global element = {.module = global->module,
                                              .address = global->address,
                                              .bytes = global->bytes,
                                              .name = {first, name_bytes},
                                              .before = {first + name_bytes, global->bytes},
                                              .after = {first + name_bytes + global->bytes, after_bytes}};
    const struct nb_piece pieces[] = {{&element, sizeof element},
                                      {global->name, name_bytes},
                                      {global->before, global->bytes},
                                      {after, after_bytes}};
    nb_raw_capture_append(NB_CAPTURE_GLOBAL, pieces, 4);
    free(after);
    return result;
}

static void reset(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < globals.count; i++) {
        struct global *global = nb_vector_item(&globals, i);
        free(global->name);
        free(global->before);
    }
    globals.count = 0;
    nb_ranges_clear(&places);
    kept_bytes = 0;
    pthread_mutex_unlock(&lock);
}

CUresult nb_capture_write_globals(void)
{
    const int saved = errno;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < globals.count; i++) {
        const CUresult status = write_global(nb_vector_item(&globals, i));
        result = result == CUDA_SUCCESS ? status : result;
    }
    pthread_mutex_unlock(&lock);
    reset();
    errno = saved;
    return result;
}

const struct nb_component nb_capture_global_component = {.locks = {&lock}, .reset = reset};
