/* Code that hipcc linked into a program. Constructors register it, before main and also where there is no GPU,
 * so that nothing here may call HIP: of a kernel, its first launch finds out. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include <stdlib.h>
#include <string.h>

#include "binmap.h"
#include "call.h"
#include "driver/hip.h"
#include "funcmap.h"
#include "handle.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* A variable of registered code, by the address of its host's shadow. */
struct variable {
    uint64_t module; /* what __hipRegisterFatBinary gave */
    const void *shadow;
    char name[];
};

static struct nb_handle_map variables = NB_HANDLE_MAP_INITIALIZER;

/* ---- registering ---------------------------------------------------------------------------------------- */

/* It is in no context, as a library of CUDA's is. */
void nb_after_hip_register_binary(const struct nb_call *call, void **result, const void *data)
{
    CUlibrary library = (CUlibrary)result;
    if (result != NULL)
        nb_after_library_load(call, CUDA_SUCCESS, &library, data, NULL, NULL, 0, NULL, NULL, 0);
}

void nb_after_hip_unregister_binary(const struct nb_call *call, void **modules);
static int is_of(const void *value, uint64_t module)
{
    return ((const struct variable *)value)->module == module;
}

void nb_after_hip_unregister_binary(const struct nb_call *call, void **modules)
{
    nb_handle_map_remove_if(&variables, is_of, nb_handle(modules));
    nb_after_library_unload(call, CUDA_SUCCESS, (CUlibrary)modules);
}

void nb_after_hip_register_function(const struct nb_call *call, void **modules, const void *hostFunction,
                                    char *deviceFunction, const char *deviceName, unsigned int threadLimit,
                                    void *tid, void *bid, dim3 *blockDim, dim3 *gridDim, int *wSize)
{
    (void)deviceFunction, (void)threadLimit, (void)tid, (void)bid, (void)blockDim, (void)gridDim, (void)wSize;
    if (hostFunction != NULL && deviceName != NULL && call->thread != NULL)
        nb_funcmap_set(nb_handle(hostFunction), NB_FUNCTION_STUB, nb_binmap_get(nb_handle(modules)),
                       deviceName);
}

static void add(const struct nb_call *call, const void *modules, const void *shadow, const char *name)
{
    if (shadow == NULL || name == NULL || call->thread == NULL)
        return;
    const size_t length = strnlen(name, NB_STRING_MAX);
    struct variable *variable = calloc(1, sizeof *variable + length + 1);
    if (variable == NULL)
        return;
    variable->module = nb_handle(modules);
    variable->shadow = shadow;
    memcpy(variable->name, name, length);
    nb_handle_map_set(&variables, nb_handle(shadow), variable);
}

void nb_after_hip_register_variable(const struct nb_call *call, void **modules, void *var, char *hostVar,
                                    char *deviceVar, int ext, size_t size, int constant, int global)
{
    (void)hostVar, (void)ext, (void)size, (void)constant, (void)global;
    add(call, modules, var, deviceVar);
}

void nb_after_hip_register_managed(const struct nb_call *call, void *hipModule, void **pointer,
                                   void *init_value, const char *name, size_t size, unsigned int align)
{
    (void)init_value, (void)size, (void)align;
    add(call, hipModule, pointer, name);
}

/* ---- where a registered variable is --------------------------------------------------------------------- */

struct sought {
    uint64_t module;
    const char *name;
};

static int is_sought(const void *value, const void *argument)
{
    const struct variable *variable = value;
    const struct sought *sought = argument;
    return variable->module == sought->module && strcmp(variable->name, sought->name) == 0;
}

bool nb_hip_registered_variable(CUmodule module, const char *name, hipDeviceptr_t *address, size_t *bytes,
                                CUresult *result)
{
    const struct nb_binary *binary = nb_binmap_get(nb_handle(module));
    if (binary == NULL || binary->context != 0)
        return false;
    const struct sought sought = {binary->handle, name};
    const struct variable *variable = nb_handle_map_find(&variables, is_sought, &sought);
    *result = CUDA_ERROR_NOT_FOUND;
    if (variable != NULL)
        *result = (CUresult)HIP(hipGetSymbolAddress)(address, variable->shadow);
    if (variable != NULL && *result == CUDA_SUCCESS)
        *result = (CUresult)HIP(hipGetSymbolSize)(bytes, variable->shadow);
    return true;
}

/* The program asks for it by its shadow: as cuModuleGetGlobal, by the name that the shadow has. */
void nb_after_hip_get_symbol(const struct nb_call *call, hipError_t result, void **devPtr, const void *symbol)
{
    const struct variable *variable = nb_handle_map_get(&variables, nb_handle(symbol));
    if (variable != NULL)
        nb_after_get_global(call, (CUresult)result, (CUdeviceptr *)devPtr, NULL,
                            (CUmodule)variable->module, variable->name);
}
