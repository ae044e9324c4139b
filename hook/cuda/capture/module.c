#include "cuda/capture/module.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/handle_map.h"
#include "core/driver/slots.h"
#include "core/region/raw_capture.h"
#include "core/wire/capture_format.h"
#include "core/wire/jit_options.h"
#include "cuda/capture/global.h"
#include "cuda/capture/refuse.h"
#include "cuda/kernel/handle.h"
#include "real.h"
#include "surface.h"

/* Compiler options of an image's load, by the image's number. */
struct load {
    bool has_symbols; /* the program's symbols were linked in */
    uint32_t count;
    struct nb_capture_option options[];
};

/* A module element of this capture, by the image's number. */
struct module_element {
    uint32_t index;
};

static struct nb_handle_map loads = NB_HANDLE_MAP_INITIALIZER;
static struct nb_handle_map modules = NB_HANDLE_MAP_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define CHECK_NUMBER(name, number) _Static_assert(CU_JIT_##name == (number), "CU_JIT_" #name " of cuda.h");
NB_JIT_OPTIONS(CHECK_NUMBER)

/* An option's value is cast to a pointer (cuModuleLoadDataEx). The values kept here have 32 bits. */
void nb_capture_keep_load_options(uint64_t handle, unsigned int count, const CUjit_option *options,
                                  void *const *values)
{
    const struct nb_binary *binary = nb_binmap_get(handle);
    if (binary == NULL || count == 0 || options == NULL || values == NULL)
        return;
    const int saved = errno;
    struct load *load = calloc(1, sizeof *load + count * sizeof *load->options);
    for (unsigned int i = 0; load != NULL && i < count; i++) {
        load->has_symbols |= options[i] == CU_JIT_GLOBAL_SYMBOL_ADDRESSES;
        if (nb_jit_option_changes_code((uint32_t)options[i]))
            load->options[load->count++] = (struct nb_capture_option){
                .option = (uint32_t)options[i], .value = (uint32_t)(uintptr_t)values[i]};
    }
    if (load == NULL || !nb_handle_map_set(&loads, binary->number, load))
        nb_capture_refuse_later();
    errno = saved;
}

static uint32_t write_image(const struct nb_binary *binary)
{
    const size_t origin_bytes = strlen(binary->origin);
    const struct nb_capture_image image = {.format = binary->format,
                                           .origin = {sizeof image, origin_bytes},
                                           .content = {sizeof image + origin_bytes, binary->bytes}};
    const struct nb_piece pieces[] = {
        {&image, sizeof image}, {binary->origin, origin_bytes}, {binary->kept, binary->bytes}};
    return nb_raw_capture_append(NB_CAPTURE_IMAGE, pieces, 3);
}

static uint32_t write_module(const struct nb_binary *binary, const struct load *load)
{
    const size_t options_bytes = load != NULL ? load->count * sizeof *load->options : 0;
    const struct nb_capture_module module = {.image = write_image(binary),
                                             /* A library is loaded in no context (binmap.h). */
                                             .kind = binary->context != 0 ? NB_CAPTURE_MODULE_MODULE
                                                                          : NB_CAPTURE_MODULE_LIBRARY,
                                             .options = {sizeof module, options_bytes}};
    const struct nb_piece pieces[] = {{&module, sizeof module},
                                      {load != NULL ? load->options : NULL, options_bytes}};
    return nb_raw_capture_append(NB_CAPTURE_MODULE, pieces, 2);
}

static uint32_t refuse(const struct nb_call *call, const char *whose, const char *why)
{
    char reason[512];
    snprintf(reason, sizeof reason, "the code of %.300s %s", whose, why);
    nb_capture_refuse(call, reason);
    return NB_NOTHING;
}

static uint32_t write_new(const struct nb_call *call, const struct nb_binary *binary, const char *whose,
                          CUmodule handle)
{
    const struct load *load = nb_handle_map_get(&loads, binary->number);
    if (load != NULL && load->has_symbols)
        return refuse(call, whose,
                      "was linked with addresses of the program (CU_JIT_GLOBAL_SYMBOL_ADDRESSES)");
    struct module_element *module_element = calloc(1, sizeof *module_element);
    if (module_element == NULL)
        return refuse(call, whose, "could not be kept: not enough memory");
    module_element->index = write_module(binary, load);
    nb_capture_add_globals(call, module_element->index, binary, handle);
    if (!nb_handle_map_set(&modules, binary->number, module_element))
        nb_capture_refuse_incomplete(); /* a later use would write it again, as another module */
    return module_element->index;
}

uint32_t nb_capture_write_module_at(const struct nb_call *call, const struct nb_binary *binary,
                                    const char *whose, CUmodule handle)
{
    if (binary->kept == NULL)
        return refuse(call, whose, "was not kept: the image store was full, or its size is unknown");
    /* This lock is held across driver calls: a second thread must not launch a kernel of this module
     * before the module's globals are read. */
    pthread_mutex_lock(&lock);
    const struct module_element *existing = nb_handle_map_get(&modules, binary->number);
    const uint32_t index = existing != NULL ? existing->index : write_new(call, binary, whose, handle);
    pthread_mutex_unlock(&lock);
    return index;
}

uint32_t nb_capture_write_module(const struct nb_call *call, const struct nb_binary *binary,
                                 const char *kernel, CUfunction function)
{
    char whose[512];
    CUmodule handle = NULL;
    snprintf(whose, sizeof whose, "kernel %.300s", kernel);
    if (binary == NULL)
        return refuse(call, whose, "was loaded without the shim");
    const struct module_element *existing = nb_handle_map_get(&modules, binary->number);
    if (existing != NULL)
        return existing->index;
    if (NB_REAL(cuFuncGetModule)(&handle, function) != CUDA_SUCCESS)
        return refuse(call, whose, "has no module in the driver");
    return nb_capture_write_module_at(call, binary, whose, handle);
}

static void reset(void)
{
    pthread_mutex_lock(&modules.lock);
    nb_handle_map_forget(&modules);
    pthread_mutex_unlock(&modules.lock);
}

static void forget(void)
{
    nb_handle_map_forget(&loads);
    nb_handle_map_forget(&modules);
}

const struct nb_component nb_capture_module_component = {
    .locks = {&lock, &loads.lock, &modules.lock}, .forget = forget, .reset = reset};
