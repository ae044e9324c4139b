/* Loads modules, and finds their kernels and globals by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/jit_options.h"
#include "replay/base/engine.h"
#include "replay/rebuild/code.h"

/* ---- modules ------------------------------------------------------------------------------------------- */

enum { OPTIONS_MAX = 24, LOG_BYTES = 2048 };

struct load_options {
    CUjit_option names[OPTIONS_MAX + 2];
    void *values[OPTIONS_MAX + 2];
    unsigned count;
    char log[LOG_BYTES];
};

static void add_option(struct load_options *options, CUjit_option name, uint64_t value)
{
    options->names[options->count] = name;
    memcpy(&options->values[options->count], &value, sizeof value);
    options->count++;
}

static void collect_options(const struct nb_reader *reader, struct nb_span span, struct load_options *options)
{
    options->count = 0;
    options->log[0] = '\0';
    struct nb_capture_option option;
    for (uint64_t at = 0; at + sizeof option <= span.bytes && options->count < OPTIONS_MAX;
         at += sizeof option) {
        memcpy(&option, reader->data + span.offset + at, sizeof option);
        if (nb_jit_option_changes_code(option.option))
            add_option(options, (CUjit_option)option.option, option.value);
    }
    add_option(options, CU_JIT_ERROR_LOG_BUFFER, (uint64_t)(uintptr_t)options->log);
    add_option(options, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, sizeof options->log);
}

static int load_failed(struct nb_replay *replay, uint32_t image, CUresult result, const char *call, char *log)
{
    const bool other = result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_PTX ||
                       result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    log[strcspn(log, "\r\n")] = '\0';
    const struct nb_capture_device *device = replay->reader.device;
    return nb_fail(replay, other ? NB_REPLAY_CANNOT : NB_REPLAY_FAILED,
                   "%s of image %u: %s (%d); it was recorded for compute capability %u.%u%s%s", call, image,
                   nb_driver_name(&replay->driver, result), (int)result, device->compute_major,
                   device->compute_minor, log[0] != '\0' ? ": " : "", log);
}

/* Drivers take an address without a size, so text must end with a NUL: pass a copy that does. */
static int load(struct nb_replay *replay, uint32_t index, struct nb_code_module *module)
{
    const struct nb_reader *reader = &replay->reader;
    const struct nb_capture_module *recorded = &reader->modules[index];
    const struct nb_content content = reader->images[recorded->image].content;
    struct load_options options;
    collect_options(reader, recorded->options, &options);
    uint8_t *image = nb_new(replay, content.bytes + 64, 1);
    if (image == NULL)
        return NB_REPLAY_CANNOT;
    if (content.bytes != 0)
        memcpy(image, nb_reader_content(reader, content), (size_t)content.bytes);
    const bool library = recorded->kind == NB_CAPTURE_MODULE_LIBRARY;
    const CUresult result =
        library ? replay->driver.cuLibraryLoadData(&module->library, image, options.names, options.values,
                                                   options.count, NULL, NULL, 0)
                : replay->driver.cuModuleLoadDataEx(&module->module, image, options.count, options.names,
                                                    options.values);
    free(image);
    if (result != CUDA_SUCCESS)
        return load_failed(replay, recorded->image, result,
                           library ? "cuLibraryLoadData" : "cuModuleLoadDataEx", options.log);
    return NB_REPLAY_OK;
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* A name ended by NUL; the caller frees it. */
static char *name_of(struct nb_replay *replay, struct nb_span span)
{
    char *name = nb_new(replay, span.bytes + 1, 1);
    if (name != NULL && span.bytes != 0)
        memcpy(name, replay->reader.data + span.offset, (size_t)span.bytes);
    return name;
}

static int not_found(struct nb_replay *replay, const char *what, struct nb_span name, CUresult result)
{
    char printable[160];
    nb_reader_text(&replay->reader, name, printable, sizeof printable);
    return nb_fail(replay, NB_REPLAY_BAD_CAPTURE, "%s %s is not in its image: %s (%d)", what, printable,
                   nb_driver_name(&replay->driver, result), (int)result);
}

static CUresult get_function(const struct nb_driver *driver, const struct nb_code_module *module,
                             const char *name, CUfunction *function)
{
    if (module->library == NULL)
        return driver->cuModuleGetFunction(function, module->module, name);
    CUkernel kernel = NULL;
    const CUresult result = driver->cuLibraryGetKernel(&kernel, module->library, name);
    return result != CUDA_SUCCESS ? result : driver->cuKernelGetFunction(function, kernel);
}

/* Attributes that a kernel was compiled with cannot be set again (a required cluster size:
 * CUDA_ERROR_NOT_PERMITTED). */
static int apply_setting(struct nb_replay *replay, CUfunction function,
                         const struct nb_capture_setting *setting)
{
    const CUfunction_attribute attribute = (CUfunction_attribute)setting->attribute;
    int value = 0;
    if (replay->driver.cuFuncGetAttribute(&value, attribute, function) == CUDA_SUCCESS &&
        value == setting->value)
        return NB_REPLAY_OK;
    return NB_CALL(replay, cuFuncSetAttribute, function, attribute, setting->value);
}

int nb_code_apply_settings(struct nb_replay *replay, CUfunction function, uint32_t kernel)
{
    const struct nb_span span = replay->reader.kernels[kernel].attributes;
    struct nb_capture_setting setting;
    for (uint64_t at = 0; at + sizeof setting <= span.bytes; at += sizeof setting) {
        memcpy(&setting, replay->reader.data + span.offset + at, sizeof setting);
        NB_TRY(apply_setting(replay, function, &setting));
    }
    return NB_REPLAY_OK;
}

static int find_kernel(struct nb_replay *replay, struct nb_code_copy *copy, uint32_t index)
{
    const struct nb_capture_kernel *recorded = &replay->reader.kernels[index];
    CUfunction *function = &copy->kernels[index].function;
    char *name = name_of(replay, recorded->name);
    if (name == NULL)
        return NB_REPLAY_CANNOT;
    const CUresult result = get_function(&replay->driver, &copy->modules[recorded->module], name, function);
    free(name);
    if (result != CUDA_SUCCESS)
        return not_found(replay, "kernel", recorded->name, result);
    if (replay->driver.cuFuncLoad != NULL) /* now: loading during a sample would wait for the held stream */
        NB_TRY(NB_CALL(replay, cuFuncLoad, *function));
    return nb_code_apply_settings(replay, *function, index);
}

CUresult nb_code_find_global(struct nb_replay *replay, const struct nb_code_module *module, const char *name,
                             CUdeviceptr *address, size_t *bytes)
{
    return module->library != NULL
               ? replay->driver.cuLibraryGetGlobal(address, bytes, module->library, name)
               : replay->driver.cuModuleGetGlobal_v2(address, bytes, module->module, name);
}

static int find_global(struct nb_replay *replay, struct nb_code_copy *copy, uint32_t index)
{
    const struct nb_capture_global *recorded = &replay->reader.globals[index];
    struct nb_code_global *global = &copy->globals[index];
    size_t bytes = 0;
    char *name = name_of(replay, recorded->name);
    if (name == NULL)
        return NB_REPLAY_CANNOT;
    const CUresult result =
        nb_code_find_global(replay, &copy->modules[recorded->module], name, &global->address, &bytes);
    free(name);
    if (result != CUDA_SUCCESS)
        return not_found(replay, "global", recorded->name, result);
    if (bytes != recorded->bytes)
        return nb_fail(replay, NB_REPLAY_BAD_CAPTURE, "global %u has %zu bytes here and %llu in the capture",
                       index, bytes, (unsigned long long)recorded->bytes);
    global->bytes = bytes;
    return NB_REPLAY_OK;
}

/* ---- the same function with other settings ------------------------------------------------------------- */

struct use {
    CUfunction function;
    uint32_t kernel;
};

static int by_function(const void *left, const void *right)
{
    const struct use *a = left, *b = right;
    const uintptr_t x = (uintptr_t)a->function, y = (uintptr_t)b->function;
    return (x > y) - (x < y);
}

static int find_shared(struct nb_replay *replay, struct nb_code_copy *copy)
{
    const uint32_t count = replay->reader.kernel_count;
    struct use *uses = nb_new(replay, count, sizeof *uses);
    if (uses == NULL && count != 0)
        return NB_REPLAY_CANNOT;
    for (uint32_t i = 0; i < count; i++)
        uses[i] = (struct use){copy->kernels[i].function, i};
    if (count != 0)
        qsort(uses, count, sizeof *uses, by_function);
    for (uint32_t i = 1; i < count; i++)
        if (uses[i].function == uses[i - 1].function)
            copy->kernels[uses[i].kernel].shared = copy->kernels[uses[i - 1].kernel].shared = true;
    free(uses);
    return NB_REPLAY_OK;
}

static int load_copy(struct nb_replay *replay, struct nb_code_copy *copy)
{
    const struct nb_reader *reader = &replay->reader;
    copy->modules = nb_new(replay, reader->module_count, sizeof *copy->modules);
    copy->kernels = nb_new(replay, reader->kernel_count, sizeof *copy->kernels);
    copy->globals = nb_new(replay, reader->global_count, sizeof *copy->globals);
    if ((copy->modules == NULL && reader->module_count != 0) ||
        (copy->kernels == NULL && reader->kernel_count != 0) ||
        (copy->globals == NULL && reader->global_count != 0))
        return NB_REPLAY_CANNOT;
    for (uint32_t i = 0; i < reader->module_count; i++)
        NB_TRY(load(replay, i, &copy->modules[i]));
    for (uint32_t i = 0; i < reader->kernel_count; i++)
        NB_TRY(find_kernel(replay, copy, i));
    for (uint32_t i = 0; i < reader->global_count; i++)
        NB_TRY(find_global(replay, copy, i));
    NB_TRY(nb_unlisted_find(replay, copy));
    return find_shared(replay, copy);
}

int nb_code_load(struct nb_replay *replay, uint32_t copy_count)
{
    struct nb_code *code = &replay->code;
    code->copies = nb_new(replay, copy_count, sizeof *code->copies);
    if (code->copies == NULL)
        return NB_REPLAY_CANNOT;
    code->copy_count = copy_count;
    for (uint32_t i = 0; i < copy_count; i++)
        NB_TRY(load_copy(replay, &code->copies[i]));
    return NB_REPLAY_OK;
}

void nb_code_close(struct nb_replay *replay)
{
    struct nb_code *code = &replay->code;
    for (uint32_t i = 0; i < code->copy_count; i++) {
        struct nb_code_copy *copy = &code->copies[i];
        for (uint32_t j = 0; copy->modules != NULL && j < replay->reader.module_count; j++) {
            if (replay->gone != NB_REPLAY_OK)
                break;
            if (copy->modules[j].library != NULL)
                replay->driver.cuLibraryUnload(copy->modules[j].library);
            if (copy->modules[j].module != NULL)
                replay->driver.cuModuleUnload(copy->modules[j].module);
        }
        free(copy->modules);
        free(copy->kernels);
        free(copy->globals);
        free(copy->unlisted);
    }
    free(code->copies);
    free(code->sorted);
}
