/* Adds kernels that a program looks up to the funcmap. */
#include <cuda.h>

#include "core/driver/slots.h"
#include "core/maps/binmap.h"
#include "core/maps/funcmap.h"
#include "core/process/call.h"
#include "cuda/kernel/handle.h"
#include "real.h"
#include "special.h"
#include "surface.h"

static void add_function(CUfunction function, CUmodule module, enum nb_function_kind kind, const char *name)
{
    nb_funcmap_set(nb_handle(function), kind, nb_binmap_get(nb_handle(module)), name);
}

void nb_post_get_function(const struct nb_call *call, CUresult result, CUfunction *hfunc, CUmodule hmod,
                          const char *name)
{
    if (result == CUDA_SUCCESS && hfunc != NULL && name != NULL && call->thread != NULL)
        add_function(*hfunc, hmod, NB_FUNCTION, name);
}

void nb_post_get_kernel(const struct nb_call *call, CUresult result, CUkernel *pKernel, CUlibrary library,
                        const char *name)
{
    if (result == CUDA_SUCCESS && pKernel != NULL && name != NULL && call->thread != NULL)
        add_function((CUfunction)*pKernel, (CUmodule)library, NB_FUNCTION_KERNEL, name);
}

void nb_post_kernel_function(const struct nb_call *call, CUresult result, CUfunction *pFunc, CUkernel kernel)
{
    if (result == CUDA_SUCCESS && pFunc != NULL && call->thread != NULL)
        nb_funcmap_derive(nb_handle(*pFunc), nb_handle(kernel));
}

void nb_post_enumerate_functions(const struct nb_call *call, CUresult result, CUfunction *functions,
                                 unsigned int numFunctions, CUmodule mod)
{
    if (result != CUDA_SUCCESS || functions == NULL || !NB_HAS(cuFuncGetName) || !nb_hook_enter(call))
        return;
    for (unsigned int i = 0; i < numFunctions; i++) {
        const char *name = NULL;
        if (functions[i] != NULL && NB_REAL(cuFuncGetName)(&name, functions[i]) == CUDA_SUCCESS &&
            name != NULL)
            add_function(functions[i], mod, NB_FUNCTION, name);
    }
    nb_hook_leave(call);
}

void nb_post_enumerate_kernels(const struct nb_call *call, CUresult result, CUkernel *kernels,
                               unsigned int numKernels, CUlibrary lib)
{
    if (result != CUDA_SUCCESS || kernels == NULL || !NB_HAS(cuKernelGetName) || !nb_hook_enter(call))
        return;
    for (unsigned int i = 0; i < numKernels; i++) {
        const char *name = NULL;
        if (kernels[i] != NULL && NB_REAL(cuKernelGetName)(&name, kernels[i]) == CUDA_SUCCESS && name != NULL)
            add_function((CUfunction)kernels[i], (CUmodule)lib, NB_FUNCTION_KERNEL, name);
    }
    nb_hook_leave(call);
}
