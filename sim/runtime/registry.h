/* What the compiler's start-up code registers: code images, and which host address stands for which kernel or
 * variable in them. An image is loaded when something of it is first asked for. */
#ifndef NEUTRINO_SIM_RUNTIME_REGISTRY_H
#define NEUTRINO_SIM_RUNTIME_REGISTRY_H

#include "runtime/cudart.h"

struct runtime_binary;

enum runtime_symbol_kind {
    RUNTIME_KERNEL,
    RUNTIME_VARIABLE,
    RUNTIME_MANAGED /* the host address is that of the pointer that the program reads */
};

/* NULL where there is no memory. `wrapper` stays the program's. */
struct runtime_binary *runtime_binary_add(const void *wrapper);
void runtime_binary_remove(struct runtime_binary *binary);

void runtime_symbol_add(struct runtime_binary *binary, enum runtime_symbol_kind kind, const void *host,
                        const char *name);

/* cudaErrorInvalidDeviceFunction: no such kernel was registered. */
cudaError_t runtime_kernel(const void *host, CUkernel *kernel);

/* Where a variable is in the current context. cudaErrorInvalidSymbol: no such variable was registered. */
cudaError_t runtime_variable(const void *host, CUdeviceptr *address, size_t *bytes);

/* Points the program's pointers at its managed variables. */
cudaError_t runtime_managed(struct runtime_binary *binary);

#endif
