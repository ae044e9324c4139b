/* Modules and libraries: PTX that the engine has accepted, with its functions and globals. */
#ifndef NEUTRINO_SIM_MODULE_H
#define NEUTRINO_SIM_MODULE_H

#include "driver/core/api.h"
#include "driver/core/object.h"
#include "ptx/ptx.h"

struct sim_kernel;
struct sim_legacy_launch;
struct sim_library;

/* The settings of cuFuncSetAttribute and cuKernelSetAttribute. */
struct sim_settings {
    atomic_int max_dynamic_shared;
    atomic_int carveout;
    atomic_int nonportable_cluster;
    atomic_int cluster_policy;
};

struct sim_function {
    struct sim_object object; /* part of the module's memory */
    struct sim_module *module;
    const struct ptx_kernel *ptx;
    struct sim_settings own;
    struct sim_settings *settings;    /* `own`, or those of the library's kernel */
    struct sim_legacy_launch *legacy; /* values set by the calls before cuLaunchKernel; NULL: none */
    atomic_flag explained;            /* the refusal of its launches is on stderr */
};

struct sim_module {
    struct sim_object object; /* queued launches and graphs hold references */
    struct ptx_module *ptx;
    struct sim_function *functions;
    size_t function_count;
    uint64_t *globals; /* device memory of the module's globals */
    size_t global_count;
    bool of_library; /* owned by a library, which unloads it */
};

struct sim_kernel {
    struct sim_object object; /* part of the library's memory */
    struct sim_library *library;
    size_t index;
    const struct ptx_kernel *ptx;
    struct sim_settings settings;
};

/* Parse a module and place its globals for `context`. The module is not published. */
CUresult sim_module_make(struct sim_context *context, const char *text, size_t bytes,
                         struct sim_module **module, struct ptx_diagnostic *diagnostic);

/* Withdraw the functions' handles and release the reference of sim_module_make. */
void sim_module_close(struct sim_module *module);

void sim_settings_init(struct sim_settings *settings, const struct ptx_kernel *kernel);

/* Resolve the function of a launch: a CUfunction, or a CUkernel cast to one. */
CUresult sim_function_resolve(struct sim_context *context, CUfunction handle, struct sim_function **function);

/* The kernel's function in `context`. Loads its module there at first use. */
CUresult sim_kernel_function(struct sim_context *context, struct sim_kernel *kernel,
                             struct sim_function **function);

/* Drop the modules that libraries have loaded into a context that ends. */
void sim_library_forget_context(struct sim_context *context);

#endif
