/* Functions that nvcc's start-up code and kernel stubs call (crt/host_runtime.h). */
#include "runtime/registry.h"

#define CONFIGURATIONS_MAX 32 /* nested launches in the arguments of launches */

EXPORT void **__cudaRegisterFatBinary(void *wrapper);
EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
EXPORT void __cudaUnregisterFatBinary(void **handle);
EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                   int threads, uint3 *thread, uint3 *block, dim3 *block_size,
                                   dim3 *grid_size, int *warp);
EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                              size_t bytes, int constant, int global);
EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external,
                                     size_t bytes, int constant, int global);
EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
EXPORT char __cudaInitModule(void **handle);
EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

static struct runtime_binary *binary_of(void **handle)
{
    return (struct runtime_binary *)(void *)handle;
}

void **__cudaRegisterFatBinary(void *wrapper)
{
    return (void **)(void *)runtime_binary_add(wrapper);
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    if (handle != NULL)
        runtime_binary_remove(binary_of(handle));
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads,
                            uint3 *thread, uint3 *block, dim3 *block_size, dim3 *grid_size, int *warp)
{
    (void)device, (void)threads, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp;
    if (handle != NULL)
        runtime_symbol_add(binary_of(handle), RUNTIME_KERNEL, host, name);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
                       int constant, int global)
{
    (void)device, (void)external, (void)bytes, (void)constant, (void)global;
    if (handle != NULL)
        runtime_symbol_add(binary_of(handle), RUNTIME_GLOBAL, host, name);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external,
                              size_t bytes, int constant, int global)
{
    (void)device, (void)external, (void)bytes, (void)constant, (void)global;
    if (handle != NULL)
        runtime_symbol_add(binary_of(handle), RUNTIME_MANAGED, host, name);
}

/* For device code that names host variables. Needs a GPU with the host's page tables, which this device is
 * not. */
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    (void)handle, (void)name, (void)host, (void)bytes;
}

char __cudaInitModule(void **handle)
{
    return handle != NULL && runtime_set_managed_pointers(binary_of(handle)) == cudaSuccess;
}

/* A stack: the arguments between <<<>>> and the stub's call may contain launches. */
static _Thread_local struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} configurations[CONFIGURATIONS_MAX];
static _Thread_local unsigned depth;

/* A result other than 0 skips the launch. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    if (depth == CONFIGURATIONS_MAX)
        return (unsigned)runtime_error(cudaErrorLaunchOutOfResources);
    configurations[depth].grid = grid;
    configurations[depth].block = block;
    configurations[depth].shared = shared;
    configurations[depth++].stream = stream;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (depth == 0)
        return runtime_error(cudaErrorMissingConfiguration);
    *grid = configurations[--depth].grid;
    *block = configurations[depth].block;
    *shared = configurations[depth].shared;
    *(cudaStream_t *)stream = configurations[depth].stream;
    return cudaSuccess;
}
