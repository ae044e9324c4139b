/* Code images and the host addresses of their kernels and globals, as the compiler's start-up code registers
 * them. An image is loaded at the first use of any of its symbols. */
#ifndef NEUTRINO_SIM_RUNTIME_REGISTRY_H
#define NEUTRINO_SIM_RUNTIME_REGISTRY_H

#include "runtime/cudart.h"

struct runtime_binary;

enum runtime_symbol_kind {
    RUNTIME_KERNEL,
    RUNTIME_GLOBAL,
    RUNTIME_MANAGED /* the host address is that of the pointer that the program reads */
};

/* NULL: out of memory. The program keeps `wrapper`. */
struct runtime_binary *runtime_binary_add(const void *wrapper);
void runtime_binary_remove(struct runtime_binary *binary);

void runtime_symbol_add(struct runtime_binary *binary, enum runtime_symbol_kind kind, const void *host,
                        const char *name);

/* A library that the program loaded. Takes ownership of it, also if memory runs out. */
cudaError_t runtime_library_add(CUlibrary library);
cudaError_t runtime_library_remove(CUlibrary library);

/* Launches and attributes take `kernel`, of such a library, in place of a host address. */
cudaError_t runtime_library_kernel_add(CUlibrary library, CUkernel kernel);

/* The host address of a kernel that was used before; NULL if unknown. */
const void *runtime_host_kernel(CUfunction function);

/* cudaErrorInvalidDeviceFunction if the kernel is not registered. */
cudaError_t runtime_kernel(const void *host, CUkernel *kernel);

/* The address of a global in the current context. cudaErrorInvalidSymbol if it is not registered. */
cudaError_t runtime_global(const void *host, CUdeviceptr *address, size_t *bytes);

/* Set the program's pointers to its managed variables. */
cudaError_t runtime_set_managed_pointers(struct runtime_binary *binary);

#endif
