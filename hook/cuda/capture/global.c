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

struct variable {
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
static struct nb_vector variables = NB_VECTOR_INITIALIZER(struct variable);
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
    snprintf(reason, sizeof reason, "a module's variable %.300s %s", name, why);
    nb_capture_refuse(call, reason);
}

/* The query must not invalidate another thread's stream capture (cuStreamBeginCapture, modes). */
static CUresult read_variable(void *into, uint64_t address, uint64_t bytes)
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
static bool add(const struct variable *variable)
{
    const struct place place = {variable->address, variable->bytes, (uint32_t)variables.count};
    if (!nb_vector_append(&variables, variable))
        return false;
    if (!nb_ranges_add(&places, &place)) {
        nb_vector_remove(&variables, variables.count - 1);
        return false;
    }
    kept_bytes += variable->bytes;
    return true;
}

static bool is_known_or_too_large(const struct search *search, const struct variable *variable)
{
    pthread_mutex_lock(&lock);
    const bool known = nb_ranges_find(&places, variable->address) != NULL;
    const bool too_large = variable->bytes > GLOBALS_BYTES_MAX - kept_bytes;
    pthread_mutex_unlock(&lock);
    if (!known && too_large)
        refuse(search->call, variable->name, "exceeds the 64 MiB that a capture keeps of all variables");
    return known || too_large;
}

static void keep(struct search *search, const char *name, uint64_t address, uint64_t bytes)
{
    struct variable variable = {.module = search->module,
                                .address = address,
                                .bytes = bytes,
                                .binary = search->binary,
                                .name = strdup(name)};
    if (variable.name != NULL && is_known_or_too_large(search, &variable)) {
        free(variable.name);
        return;
    }
    variable.before = malloc(bytes);
    bool kept = false;
    if (variable.name != NULL && variable.before != NULL && settle(search) == CUDA_SUCCESS &&
        read_variable(variable.before, address, bytes) == CUDA_SUCCESS) {
        pthread_mutex_lock(&lock);
        kept = add(&variable);
        pthread_mutex_unlock(&lock);
    }
    if (kept)
        return;
    refuse(search->call, name, "could not be read");
    free(variable.name);
    free(variable.before);
}

static void visit(const char *name, bool managed, void *context)
{
    struct search *search = context;
    CUdeviceptr address = 0;
    size_t bytes = 0;
    const bool known = NB_REAL(cuModuleGetGlobal_v2)(&address, &bytes, search->handle, name) == CUDA_SUCCESS;
    if (managed || (known && nb_foreign_is_managed(address)))
        refuse(search->call, name, "is managed, so the host may change it during the region");
    else if (known && bytes != 0)
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
        snprintf(reason, sizeof reason, "a module may have variables that are not recorded: %s", problem);
        nb_capture_refuse(call, reason);
    }
    errno = saved;
}

/* ---- while the region is open -------------------------------------------------------------------------- */

bool nb_capture_find_added_global(uint64_t address, uint32_t *global, uint64_t *delta)
{
    pthread_mutex_lock(&lock);
    const struct place *place = nb_ranges_find(&places, address);
    const bool found = place != NULL;
    if (found) {
        *global = place->index;
        *delta = address - place->address;
    }
    pthread_mutex_unlock(&lock);
    return found;
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
    for (size_t i = 0; i < variables.count; i++) {
        struct variable *variable = nb_vector_item(&variables, i);
        if (variable->binary != binary)
            continue;
        variable->binary = NULL;
        lost = true;
        struct place *place = nb_ranges_find(&places, variable->address);
        if (place != NULL)
            nb_ranges_remove(&places, place);
    }
    pthread_mutex_unlock(&lock);
    if (lost)
        nb_capture_refuse(call, "unloads a module whose variables the region uses");
}

/* ---- when it ends -------------------------------------------------------------------------------------- */

/* If the global cannot be read, only its content before the region is written. */
static CUresult write_variable(const struct variable *variable)
{
    CUresult result = CUDA_SUCCESS;
    void *after = variable->binary != NULL ? malloc(variable->bytes) : NULL;
    if (after == NULL && variable->binary != NULL)
        nb_capture_refuse_incomplete();
    if (after != NULL)
        result = read_variable(after, variable->address, variable->bytes);
    const size_t name_bytes = strlen(variable->name);
    const uint64_t first = sizeof(struct nb_capture_global),
                   after_bytes = after != NULL && result == CUDA_SUCCESS ? variable->bytes : 0;
    const struct nb_capture_global global = {.module = variable->module,
                                             .address = variable->address,
                                             .bytes = variable->bytes,
                                             .name = {first, name_bytes},
                                             .before = {first + name_bytes, variable->bytes},
                                             .after = {first + name_bytes + variable->bytes, after_bytes}};
    const struct nb_piece pieces[] = {{&global, sizeof global},
                                      {variable->name, name_bytes},
                                      {variable->before, variable->bytes},
                                      {after, after_bytes}};
    nb_raw_capture_append(NB_CAPTURE_GLOBAL, pieces, 4);
    free(after);
    return result;
}

static void reset(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < variables.count; i++) {
        struct variable *variable = nb_vector_item(&variables, i);
        free(variable->name);
        free(variable->before);
    }
    variables.count = 0;
    nb_ranges_clear(&places);
    kept_bytes = 0;
    pthread_mutex_unlock(&lock);
}

CUresult nb_capture_write_globals(void)
{
    const int saved = errno;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < variables.count; i++) {
        const CUresult status = write_variable(nb_vector_item(&variables, i));
        result = result == CUDA_SUCCESS ? status : result;
    }
    pthread_mutex_unlock(&lock);
    reset();
    errno = saved;
    return result;
}

const struct nb_component nb_capture_global_component = {.locks = {&lock}, .reset = reset};
