#include "cuda/probe/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/handle_map.h"
#include "core/driver/slots.h"
#include "cuda/kernel/function.h"
#include "cuda/kernel/handle.h"
#include "cuda/memory/foreign.h"
#include "cuda/probe/allocations.h"
#include "cuda/probe/device.h"
#include "real.h"
#include "surface.h"

static struct nb_handle_map kernels = NB_HANDLE_MAP_INITIALIZER;
static struct nb_handle_map skipped_kernels = NB_HANDLE_MAP_INITIALIZER; /* by number: the log has them */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one thread adds a kernel; others wait for it */
static pthread_cond_t is_decided = PTHREAD_COND_INITIALIZER;

enum { REASON_BYTES = 256 };

static const char *name_of(CUresult result)
{
    const char *name = NULL;
    return NB_REAL(cuGetErrorName)(result, &name) == CUDA_SUCCESS && name != NULL ? name : "unknown error";
}

static void decided(const struct nb_call *call, const struct nb_probe_kernel *kernel, const char *why)
{
    nb_probe_write(call, &(struct nb_probe_note){.kernel = kernel->number,
                                                 .stage = NB_PROBE_DECIDED,
                                                 .answer = kernel->answer,
                                                 .at = why == NULL ? NB_PROBE_PROBED : NB_PROBE_REFUSED,
                                                 .text = why});
}

void nb_probe_kernel_give_up(const struct nb_call *call, struct nb_probe_kernel *kernel, const char *what,
                             CUresult result)
{
    char why[REASON_BYTES];
    snprintf(why, sizeof why, "%s: %s", what, name_of(result));
    if (atomic_exchange(&kernel->is_given_up, 1) == 0)
        decided(call, kernel, why);
}

void nb_probe_skip(const struct nb_call *call, struct nb_probe_kernel *kernel, enum nb_probe_skip why)
{
    static const char *const reasons[] = {
        [NB_SKIP_CONTEXT] = "the kernel was probed in another context",
        [NB_SKIP_PARAMETERS] = "the layout of its parameters is unknown",
        [NB_SKIP_MEMORY] = "there is no memory for its maps; raise --max-map-bytes",
        [NB_SKIP_SIZE] = "its maps exceed --max-map-bytes",
        [NB_SKIP_LOST] = "it was probed, but its maps could not be read back",
        [NB_SKIP_TRACES] = "it was probed, but the session has no room for its trace",
    };
    if ((atomic_fetch_or(&kernel->skipped, UINT32_C(1) << why) >> why & 1) == 0)
        nb_probe_write(call, &(struct nb_probe_note){.kernel = kernel->number,
                                                     .stage = NB_PROBE_SKIPPED,
                                                     .answer = kernel->answer,
                                                     .text = reasons[why]});
}

void nb_probe_skip_kernel(const struct nb_call *call, uint64_t kernel, const char *why)
{
    static char is_logged;
    if (nb_handle_map_get(&skipped_kernels, kernel) == NULL &&
        nb_handle_map_set(&skipped_kernels, kernel, &is_logged))
        nb_probe_write(call,
                       &(struct nb_probe_note){.kernel = kernel, .stage = NB_PROBE_SKIPPED, .text = why});
}

/* Variables of the engine's module hold the addresses of the original module's globals. They are written on a
 * stream that waits for no other: a kernel that is under way may be waiting for this launch. The pruned
 * module may use fewer globals than the probed one. */
static CUresult share_globals(const struct nb_probe_kernel *kernel, CUmodule module,
                              const struct nb_probe_reply *reply, CUstream stream, const char **failed)
{
    CUmodule original = NULL;
    CUresult result = NB_REAL(cuFuncGetModule)(&original, kernel->original);
    *failed = "the kernel's module is unknown";
    const char *end = reply->text + reply->text_bytes;
    for (const char *symbol = reply->text; symbol < end && result == CUDA_SUCCESS;) {
        const char *variable = symbol + strnlen(symbol, (size_t)(end - symbol)) + 1;
        if (variable >= end)
            return CUDA_ERROR_INVALID_VALUE;
        CUdeviceptr from = 0, to = 0;
        size_t room = 0;
        *failed = "a global of the original module cannot be shared";
        result = NB_REAL(cuModuleGetGlobal_v2)(&from, NULL, original, variable);
        if (result == CUDA_SUCCESS)
            result = NB_REAL(cuModuleGetGlobal_v2)(&to, &room, module, symbol);
        const bool is_unused = result == CUDA_ERROR_NOT_FOUND && module == kernel->pruned_module;
        if (is_unused)
            result = CUDA_SUCCESS;
        else if (result == CUDA_SUCCESS)
            result = room >= sizeof from ? NB_REAL(cuMemcpyHtoDAsync_v2)(to, &from, sizeof from, stream)
                                         : CUDA_ERROR_INVALID_VALUE;
        if (result == CUDA_SUCCESS && !is_unused)
            result = NB_REAL(cuStreamSynchronize)(stream); /* `from` is on this stack */
        symbol = variable + strnlen(variable, (size_t)(end - variable)) + 1;
    }
    return result;
}

static void unload(const struct nb_probe_kernel *kernel)
{
    if (kernel->module != NULL)
        NB_REAL(cuModuleUnload)(kernel->module);
    if (kernel->pruned_module != NULL)
        NB_REAL(cuModuleUnload)(kernel->pruned_module);
}

static CUresult load(struct nb_probe_kernel *kernel, const struct nb_probe_reply *reply, const char **failed)
{
    *failed = "the driver refuses the engine's image";
    CUresult result = NB_REAL(cuModuleLoadData)(&kernel->module, reply->image);
    if (result == CUDA_SUCCESS) {
        *failed = "the engine's image lacks the kernel";
        result = NB_REAL(cuModuleGetFunction)(&kernel->function, kernel->module, kernel->of->name);
    }
    if (result == CUDA_SUCCESS && reply->pruned_image != NULL) {
        *failed = "the driver refuses the engine's image of the kernel without probes";
        result = NB_REAL(cuModuleLoadData)(&kernel->pruned_module, reply->pruned_image);
        if (result == CUDA_SUCCESS)
            result = NB_REAL(cuModuleGetFunction)(&kernel->pruned, kernel->pruned_module, kernel->of->name);
    }
    if (result == CUDA_SUCCESS && reply->text_bytes > 0) {
        CUstream stream = NULL;
        result = NB_REAL(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING);
        if (result == CUDA_SUCCESS) {
            result = share_globals(kernel, kernel->module, reply, stream, failed);
            if (result == CUDA_SUCCESS && kernel->pruned_module != NULL)
                result = share_globals(kernel, kernel->pruned_module, reply, stream, failed);
            NB_REAL(cuStreamDestroy_v2)(stream);
        }
    }
    return result;
}

/* The original's function in the current context, and its globals for tables of allocations. */
static CUresult find_original(struct nb_probe_kernel *kernel)
{
    CUmodule module = NULL;
    CUresult result = CUDA_SUCCESS;
    kernel->original = (CUfunction)kernel->of->handle;
    if (kernel->of->kind == NB_FUNCTION_KERNEL)
        result = NB_REAL(cuKernelGetFunction)(&kernel->original, (CUkernel)kernel->of->handle);
    if (result == CUDA_SUCCESS && NB_REAL(cuFuncGetModule)(&module, kernel->original) == CUDA_SUCCESS &&
        kernel->of->binary != NULL)
        nb_probe_add_globals(kernel->of->binary, module);
    else
        nb_foreign_miss();
    return result;
}

/* Return why launches run the original; NULL if they run the probed kernel, "" if the log has the reason. */
static const char *prepare(const struct nb_call *call, struct nb_probe_kernel *kernel, char *text)
{
    struct nb_probe_reply reply = {0};
    const char *failed = NULL;
    const CUresult found = find_original(kernel);
    const char *why = nb_probe_ask(call, kernel->of, kernel->number, nb_device_capability(), &reply);
    kernel->answer = reply.answer;
    if (why != NULL)
        return why;
    if (found != CUDA_SUCCESS)
        return "the kernel's function is unknown";
    const CUresult result = load(kernel, &reply, &failed);
    if (result == CUDA_SUCCESS) {
        kernel->is_pageable = nb_device_is_pageable();
        kernel->map_count = reply.map_count;
        memcpy(kernel->maps, reply.maps, reply.map_count * sizeof *reply.maps);
        for (uint32_t i = 0; i < reply.map_count; i++)
            atomic_store(&kernel->entries[i], reply.maps[i].entries);
        return NULL;
    }
    unload(kernel);
    kernel->module = NULL;
    snprintf(text, REASON_BYTES, "%s: %s", failed, name_of(result));
    return text;
}

static struct nb_probe_kernel *add(const struct nb_call *call, const struct nb_function *function,
                                   uint64_t number)
{
    char text[REASON_BYTES];
    struct nb_probe_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return NULL;
    kernel->of = function; /* before other threads can find it */
    kernel->number = number;
    if (!nb_handle_map_set(&kernels, function->handle, kernel)) {
        free(kernel);
        return NULL;
    }
    pthread_mutex_unlock(&lock); /* the wait for the supervisor may be long */
    NB_REAL(cuCtxGetCurrent)(&kernel->context);
    const char *why = prepare(call, kernel, text);
    decided(call, kernel, why);
    pthread_mutex_lock(&lock);
    atomic_store(&kernel->is_ready, 1);
    pthread_cond_broadcast(&is_decided);
    return kernel;
}

struct nb_probe_kernel *nb_probe_kernel_for(const struct nb_call *call, CUfunction handle)
{
    const struct nb_function *function = nb_funcmap_get(nb_handle(handle));
    const struct nb_description *description = nb_find_description(handle);
    if (function == NULL || description == NULL)
        return NULL;
    struct nb_probe_kernel *kernel = nb_handle_map_get(&kernels, function->handle);
    /* A handle that the driver gave to another kernel has another entry in the funcmap. */
    if (kernel == NULL || kernel->of != function || !atomic_load(&kernel->is_ready)) {
        pthread_mutex_lock(&lock);
        kernel = nb_handle_map_get(&kernels, function->handle);
        if (kernel == NULL || kernel->of != function)
            kernel = add(call, function, description->number);
        while (kernel != NULL && !atomic_load(&kernel->is_ready))
            pthread_cond_wait(&is_decided, &lock);
        pthread_mutex_unlock(&lock);
    }
    return kernel != NULL && kernel->module != NULL && !atomic_load(&kernel->is_given_up) ? kernel : NULL;
}

/* The kernels of an image that are taken out of the map. */
struct unloaded {
    const struct nb_binary *binary;
    struct nb_probe_kernel *first;
};

static int take_of_binary(const void *value, uint64_t argument)
{
    struct unloaded *unloaded = (struct unloaded *)(uintptr_t)argument;
    struct nb_probe_kernel *kernel = (struct nb_probe_kernel *)(uintptr_t)value;
    if (kernel->of->binary != unloaded->binary)
        return 0;
    kernel->next = unloaded->first;
    unloaded->first = kernel;
    return 1;
}

/* The driver may wait for the device before it unloads a module. Other threads can launch meanwhile, since a
 * kernel may be waiting for theirs: no lock is held. */
void nb_probe_unload(const struct nb_binary *binary)
{
    struct unloaded unloaded = {.binary = binary};
    nb_handle_map_remove_if(&kernels, take_of_binary, (uint64_t)(uintptr_t)&unloaded);
    for (const struct nb_probe_kernel *kernel = unloaded.first; kernel != NULL; kernel = kernel->next)
        unload(kernel);
}

/* The context is gone, and its modules with it. Context 0: any. */
static int is_of_context(const void *value, uint64_t context)
{
    return context == 0 || nb_handle(((const struct nb_probe_kernel *)value)->context) == context;
}

void nb_probe_forget_kernels(uint64_t context)
{
    nb_handle_map_remove_if(&kernels, is_of_context, context);
}

static void forget(void)
{
    nb_handle_map_forget(&kernels);
    nb_handle_map_forget(&skipped_kernels);
    is_decided = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

const struct nb_component nb_probe_kernel_component = {.locks = {&lock, &kernels.lock, &skipped_kernels.lock},
                                                       .forget = forget};
