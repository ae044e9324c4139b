#include "driver/code/jit.h"

#include "driver/core/message.h"
#include "driver/device/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static CUresult set_target(struct sim_jit *jit, unsigned value)
{
    /* CUjit_target of all headers. The bits above this number distinguish sm_90a and sm_100f from their
     * plain targets. */
    static const unsigned char known[] = {30, 32, 35, 37, 50, 52,  53,  60,  61,  62,  70,  72, 75,
                                          80, 86, 87, 89, 90, 100, 101, 103, 107, 110, 120, 121};
    const unsigned target = value & 0xffff;
    if (value >> 16 > 2 || target > UINT8_MAX || memchr(known, (int)target, sizeof known) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    jit->target = target;
    return target > sim_model_target() ? CUDA_ERROR_INVALID_SOURCE : CUDA_SUCCESS;
}

/* A driver accepts both options of a log or neither (580.159). */
static bool begin_log(struct sim_jit_log *log, bool sized)
{
    if ((log->text == NULL) == sized)
        return false;
    if (log->room != 0)
        log->text[0] = '\0';
    if (log->size != NULL)
        *log->size = NULL;
    return true;
}

CUresult sim_jit_options(struct sim_jit *jit, unsigned count, const CUjit_option *options, void **values)
{
    CUresult result = CUDA_SUCCESS;
    *jit = (struct sim_jit){.begun_ns = now_ns(), .target = sim_model_target()};
    if (count != 0 && (options == NULL || values == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const unsigned value = (unsigned)(uintptr_t)values[i];
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            jit->error.text = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error.room = value;
            jit->error.size = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            jit->info.text = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info.room = value;
            jit->info.size = &values[i];
            break;
        case CU_JIT_WALL_TIME:
            jit->wall_time = &values[i];
            break;
        case CU_JIT_LOG_VERBOSE:
            jit->verbose = value != 0;
            break;
        case CU_JIT_TARGET:
            result = set_target(jit, value);
            break;
        default: /* an option of the compiler: the engine has only one way to compile */
            if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
                result = CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (result == CUDA_SUCCESS &&
        (!begin_log(&jit->error, jit->error.size != NULL) || !begin_log(&jit->info, jit->info.size != NULL)))
        result = CUDA_ERROR_INVALID_VALUE;
    return result;
}

__attribute__((format(printf, 2, 0))) static void append(struct sim_jit_log *log, const char *format,
                                                         va_list arguments)
{
    if (log->text == NULL || log->room == 0)
        return;
    if (log->used != 0 && log->used + 1 < log->room)
        log->text[log->used++] = '\n';
    const size_t left = log->room - log->used;
    const int length = vsnprintf(log->text + log->used, left, format, arguments);
    if (length > 0)
        log->used += (size_t)length < left ? (size_t)length : left - 1;
    if (log->size != NULL)
        *log->size = (void *)(uintptr_t)(log->used != 0 ? log->used + 1 : 0);
}

void sim_jit_error(struct sim_jit *jit, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(&jit->error, format, arguments);
    va_end(arguments);
    if (jit->first_error[0] != '\0')
        return;
    va_start(arguments, format);
    (void)vsnprintf(jit->first_error, sizeof jit->first_error, format, arguments);
    va_end(arguments);
}

void sim_jit_forget_errors(struct sim_jit *jit)
{
    jit->error.used = 0;
    jit->first_error[0] = '\0';
    (void)begin_log(&jit->error, jit->error.text != NULL);
}

void sim_jit_info(struct sim_jit *jit, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(&jit->info, format, arguments);
    va_end(arguments);
}

void sim_jit_log_refusal(struct sim_jit *jit, const struct ptx_diagnostic *diagnostic)
{
    char line[32];
    const char *text = diagnostic->text;
    const size_t length = (size_t)snprintf(line, sizeof line, "line %u: ", diagnostic->line);
    if (strncmp(text, line, length) == 0)
        text += length; /* the prefix of the line has the same words */
    if (diagnostic->line != 0)
        sim_jit_error(jit, "ptxas application ptx input, line %u; error   : %s", diagnostic->line, text);
    else
        sim_jit_error(jit, "ptxas fatal   : %s", text);
    sim_jit_error(jit, "ptxas fatal   : Ptx assembly aborted due to errors");
}

CUresult sim_jit_log_link_errors(struct sim_jit *jit, enum ptx_link_status status,
                                 const struct ptx_diagnostic *diagnostic)
{
    if (status == PTX_LINK_TEXT) {
        sim_jit_log_refusal(jit, diagnostic);
        return CUDA_ERROR_INVALID_PTX;
    }
    for (const char *line = diagnostic->text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        sim_jit_error(jit, "error   : %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    return CUDA_ERROR_INVALID_SOURCE;
}

void sim_jit_describe(struct sim_jit *jit, const struct ptx_module *module)
{
    size_t bytes = 0;
    if (!jit->verbose)
        return;
    for (size_t i = 0; i < ptx_module_global_count(module); i++)
        bytes += ptx_variable_bytes(ptx_module_global(module, i));
    sim_jit_info(jit, "ptxas info    : %zu bytes gmem", bytes);
    for (size_t i = 0; i < ptx_module_kernel_count(module); i++) {
        const struct ptx_kernel *kernel = ptx_module_kernel(module, i);
        struct ptx_kernel_attributes known;
        ptx_kernel_attributes(kernel, &known);
        sim_jit_info(jit, "ptxas info    : Compiling entry function '%s' for 'sm_%u'",
                     ptx_kernel_name(kernel), jit->target);
        sim_jit_info(jit, "ptxas info    : Used %u registers, %u bytes smem", known.registers,
                     known.shared_bytes);
    }
}

void sim_jit_finish(const struct sim_jit *jit, CUresult result)
{
    const float milliseconds = (float)(now_ns() - jit->begun_ns) / 1e6f;
    if (jit->error.text == NULL && (result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_NOT_SUPPORTED ||
                                    result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION))
        sim_print("cannot load an image (%d): %s", (int)result, jit->first_error);
    if (jit->wall_time == NULL)
        return;
    *jit->wall_time = NULL;
    memcpy(jit->wall_time, &milliseconds, sizeof milliseconds);
}
