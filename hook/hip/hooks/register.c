/* Code that hipcc linked into a program. Constructors register it before main, also on machines without a
 * GPU, so registration calls no HIP function. The first launch of a kernel reads its attributes (function.c).
 */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include <stdlib.h>
#include <string.h>

#include "core/maps/binmap.h"
#include "core/process/call.h"
#include "core/region/region.h"
#include "cuda/capture/symbol.h"
#include "cuda/kernel/handle.h"
#include "hip/driver/hip.h"
#include "hip/hooks/registered.h"
#include "hip/hooks/symbol.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* These stay valid after a fork: the child's first HIP call may use registered code. */
struct nb_handle_map nb_registered_kernels = NB_HANDLE_MAP_INITIALIZER;
static struct nb_handle_map globals = NB_HANDLE_MAP_INITIALIZER;
static struct nb_handle_map binaries =
    NB_HANDLE_MAP_INITIALIZER; /* the registered data, by the handle that the library returned */

static void before_fork(void)
{
    pthread_mutex_lock(&binaries.lock);
    pthread_mutex_lock(&nb_registered_kernels.lock);
    pthread_mutex_lock(&globals.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&globals.lock);
    pthread_mutex_unlock(&nb_registered_kernels.lock);
    pthread_mutex_unlock(&binaries.lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* ---- registering --------------------------------------------------------------------------------------- */

/* Registered code is in no context, like a CUDA library. */
static void load(const struct nb_call *call, void **binary, const void *code)
{
    CUlibrary library = (CUlibrary)binary;
    nb_post_library_load(call, CUDA_SUCCESS, &library, code, NULL, NULL, 0, NULL, NULL, 0);
}

void nb_post_hip_register_binary(const struct nb_call *call, void **result, const void *data)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (result == NULL || data == NULL)
        return;
    pthread_once(&once, watch_forks);
    nb_handle_map_set(&binaries, nb_handle(result), (void *)(uintptr_t)data);
    load(call, result, data);
}

static int is_of(const void *value, uint64_t binary)
{
    return ((const struct nb_registered *)value)->binary == binary;
}

void nb_post_hip_unregister_binary(const struct nb_call *call, void **modules)
{
    nb_handle_map_remove_if(&nb_registered_kernels, is_of, nb_handle(modules));
    nb_handle_map_remove_if(&globals, is_of, nb_handle(modules));
    nb_handle_map_set(&binaries, nb_handle(modules), NULL);
    nb_post_library_unload(call, CUDA_SUCCESS, (CUlibrary)modules);
}

static void add(struct nb_handle_map *map, const void *binary, const void *address, const char *name)
{
    if (address == NULL || name == NULL)
        return;
    const size_t length = strnlen(name, NB_STRING_MAX);
    struct nb_registered *registered = calloc(1, sizeof *registered + length + 1);
    if (registered == NULL)
        return;
    registered->binary = nb_handle(binary);
    registered->address = address;
    memcpy(registered->name, name, length);
    nb_handle_map_set(map, nb_handle(address), registered);
}

void nb_post_hip_register_function(const struct nb_call *call, void **modules, const void *hostFunction,
                                   char *deviceFunction, const char *deviceName, unsigned int threadLimit,
                                   void *tid, void *bid, dim3 *blockDim, dim3 *gridDim, int *wSize)
{
    (void)call, (void)deviceFunction, (void)threadLimit, (void)tid, (void)bid, (void)blockDim, (void)gridDim;
    (void)wSize;
    add(&nb_registered_kernels, modules, hostFunction, deviceName);
}

void nb_post_hip_register_global(const struct nb_call *call, void **modules, void *var, char *hostVar,
                                 char *deviceVar, int ext, size_t size, int constant, int global)
{
    (void)call, (void)hostVar, (void)ext, (void)size, (void)constant, (void)global;
    add(&globals, modules, var, deviceVar);
}

void nb_post_hip_register_managed(const struct nb_call *call, void *hipModule, void **pointer,
                                  void *init_value, const char *name, size_t size, unsigned int align)
{
    (void)call, (void)init_value, (void)size, (void)align;
    add(&globals, hipModule, pointer, name);
}

void nb_registered_load(uint64_t binary)
{
    const struct nb_call call = {.thread = &nb_thread, .slot = NB_SLOT___hipRegisterFatBinary};
    const void *code = nb_handle_map_get(&binaries, binary);
    if (code == NULL || nb_binmap_get(binary) != NULL || nb_thread.state != NB_THREAD_INSIDE)
        return;
    nb_binmap_load(&call, binary, 0, code, 0);
}

/* ---- registered globals -------------------------------------------------------------------------------- */

struct sought {
    uint64_t binary;
    const char *name;
};

static int is_sought(const void *value, const void *argument)
{
    const struct nb_registered *global = value;
    const struct sought *sought = argument;
    return global->binary == sought->binary && strcmp(global->name, sought->name) == 0;
}

bool nb_hip_registered_global(CUmodule module, const char *name, hipDeviceptr_t *address, size_t *bytes,
                              CUresult *result)
{
    const struct sought sought = {nb_handle(module), name};
    if (nb_handle_map_get(&binaries, sought.binary) == NULL)
        return false;
    const struct nb_registered *global = nb_handle_map_find(&globals, is_sought, &sought);
    *result = CUDA_ERROR_NOT_FOUND;
    if (global != NULL)
        *result = nb_hip_result(HIP(hipGetSymbolAddress)(address, global->address));
    if (global != NULL && *result == CUDA_SUCCESS)
        *result = nb_hip_result(HIP(hipGetSymbolSize)(bytes, global->address));
    return true;
}

void nb_hip_symbol_used(const struct nb_call *call, const void *symbol)
{
    const struct nb_registered *global = nb_handle_map_get(&globals, nb_handle(symbol));
    if (global == NULL)
        return;
    nb_registered_load(global->binary);
    nb_capture_add_symbol(call, (CUmodule)global->binary, global->name);
}

void nb_post_hip_get_symbol(const struct nb_call *call, hipError_t result, void **devPtr, const void *symbol)
{
    (void)devPtr;
    if (result != hipSuccess || !nb_capture_enabled() || !nb_hook_enter(call))
        return;
    nb_hip_symbol_used(call, symbol);
    nb_hook_leave(call);
}
