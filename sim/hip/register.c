/* Functions that hipcc's start-up code and kernel stubs call (clang's CGCUDANV.cpp, clr's hip_platform.cpp).
 */
#include "hip/hip.h"

#include "runtime/registry.h"

#include <string.h>

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

static struct runtime_binary *binary_of(void *modules)
{
    return modules;
}

void **__hipRegisterFatBinary(const void *data)
{
    return data == NULL ? NULL : (void **)(void *)runtime_binary_add(data);
}

void __hipUnregisterFatBinary(void **modules)
{
    if (modules != NULL)
        runtime_binary_remove(binary_of(modules));
}

void __hipRegisterFunction(void **modules, const void *hostFunction, char *deviceFunction,
                           const char *deviceName, unsigned int threadLimit, void *tid, void *bid,
                           dim3 *blockDim, dim3 *gridDim, int *wSize)
{
    (void)deviceFunction, (void)threadLimit, (void)tid, (void)bid, (void)blockDim, (void)gridDim, (void)wSize;
    if (modules != NULL)
        runtime_symbol_add(binary_of(modules), RUNTIME_KERNEL, hostFunction, deviceName);
}

void __hipRegisterVar(void **modules, void *var, char *hostVar, char *deviceVar, int ext, size_t size,
                      int constant, int global)
{
    (void)hostVar, (void)ext, (void)size, (void)constant, (void)global;
    if (modules != NULL)
        runtime_symbol_add(binary_of(modules), RUNTIME_GLOBAL, var, deviceVar);
}

/* The program may read its pointer before any call, so the memory is allocated here. */
void __hipRegisterManagedVar(void *hipModule, void **pointer, void *init_value, const char *name, size_t size,
                             unsigned int align)
{
    (void)align;
    if (hipModule == NULL || cudaMallocManaged(pointer, size, cudaMemAttachGlobal) != cudaSuccess)
        return;
    memcpy(*pointer, init_value, size);
    runtime_symbol_add(binary_of(hipModule), RUNTIME_MANAGED, pointer, name);
}

/* No kernel here reads textures or surfaces. */
void __hipRegisterSurface(void **modules, void *var, char *hostVar, char *deviceVar, int type, int ext)
{
    (void)modules, (void)var, (void)hostVar, (void)deviceVar, (void)type, (void)ext;
}

void __hipRegisterTexture(void **modules, void *var, char *hostVar, char *deviceVar, int type, int norm,
                          int ext)
{
    (void)modules, (void)var, (void)hostVar, (void)deviceVar, (void)type, (void)norm, (void)ext;
}

/* The launch configuration that <<<>>> passes to the kernel's stub. */
hipError_t __hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream)
{
    return hip_result(__cudaPushCallConfiguration(gridDim, blockDim, sharedMem, (CUstream)stream));
}

hipError_t __hipPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, hipStream_t *stream)
{
    return hip_result(__cudaPopCallConfiguration(gridDim, blockDim, sharedMem, stream));
}
