#include "jit.h"

#include <stdint.h>
#include <string.h>

CUresult sim_jit_options(struct sim_jit_log *log, unsigned count, const CUjit_option *options, void **values)
{
    *log = (struct sim_jit_log){0};
    if (count != 0 && (options == NULL || values == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            log->error = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->error_bytes = (size_t)(uint32_t)(uintptr_t)values[i];
            log->error_size = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            log->info_size = &values[i];
            break;
        case CU_JIT_WALL_TIME:
            log->wall_time = &values[i];
            break;
        default: /* how to compile: the engine compiles in one way */
            if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
                return CUDA_ERROR_INVALID_VALUE;
        }
    return CUDA_SUCCESS;
}

void sim_jit_report(const struct sim_jit_log *log, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text);
    if (log->error == NULL || log->error_bytes == 0)
        length = 0;
    else if (length >= log->error_bytes)
        length = log->error_bytes - 1;
    if (log->error != NULL && log->error_bytes != 0) {
        if (length != 0)
            memcpy(log->error, text, length);
        log->error[length] = '\0';
    }
    if (log->error_size != NULL)
        *log->error_size = (void *)(uintptr_t)length;
    if (log->info_size != NULL)
        *log->info_size = NULL;
    if (log->wall_time != NULL)
        memset(log->wall_time, 0, sizeof(float)); /* an option value holds the float's bytes */
}
