/* Modules and libraries: PTX that the engine has accepted, and what it holds. */
#ifndef NEUTRINO_SIM_MODULE_H
#define NEUTRINO_SIM_MODULE_H

#include "ptx/ptx.h"
#include "driver/core/api.h"
#include "driver/core/object.h"

struct sim_kernel;
struct sim_legacy_launch;
struct sim_library;

/* What cuFuncSetAttribute and cuKernelSetAttribute may set. */
struct sim_settings {
    atomic_int max_dynamic_shared;
    atomic_int carveout;
    atomic_int nonportable_cluster;
    atomic_int cluster_policy;
};

struct sim_function {
    struct sim_object object; /* lives and dies with its module */
    struct sim_module *module;
    const struct ptx_kernel *ptx;
    struct sim_settings own;
    struct sim_settings *settings;    /* `own`, or those of the library's kernel */
    struct sim_legacy_launch *legacy; /* what the calls before cuLaunchKernel have set; NULL: nothing */
};

struct sim_module {
    struct sim_object object; /* queued launches and graphs hold references */
    struct ptx_module *ptx;
    struct sim_function *functions;
    size_t function_count;
    uint64_t *variables; /* device memory of the module's variables */
    size_t variable_count;
    bool of_library; /* which unloads it */
};

struct sim_kernel {
    struct sim_object object; /* lives and dies with its library */
    struct sim_library *library;
    size_t index;
    const struct ptx_kernel *ptx;
    struct sim_settings settings;
};

/* Parse and place a module for `context`, unpublished. */
CUresult sim_module_make(struct sim_context *context, const char *text, size_t bytes,
                         struct sim_module **module, struct ptx_diagnostic *diagnostic);

/* Make the handles invalid and give up the reference of sim_module_make. */
void sim_module_close(struct sim_module *module);

void sim_settings_init(struct sim_settings *settings, const struct ptx_kernel *kernel);

/* The function that a launch names: a CUfunction, or a CUkernel cast to one. */
CUresult sim_function_resolve(struct sim_context *context, CUfunction handle, struct sim_function **function);

/* The kernel's function in `context`, whose module is loaded if it is not yet. */
CUresult sim_kernel_function(struct sim_context *context, struct sim_kernel *kernel,
                             struct sim_function **function);

/* Drop what libraries have loaded into a context that ends. */
void sim_library_forget_context(struct sim_context *context);

#endif
