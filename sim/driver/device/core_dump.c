/* Core dump settings. The driver stores and returns them; core dumps are made by the operating system. */
#include "driver/context/context.h"
#include "driver/core/state.h"

#include <stdbool.h>
#include <string.h>

#if CUDA_VERSION >= 12010

#define TEXT_BYTES 1024

#if CUDA_VERSION < 12050
#define CU_COREDUMP_GENERATION_FLAGS  7
#define CU_COREDUMP_SKIP_ABORT        0x10u
#define CU_COREDUMP_LIGHTWEIGHT_FLAGS 0x2fu
#endif

/* Two settings are views of the flags: whether the host dumps too, and whether dumps are light. Per-context
 * settings are one set here, because there is one device. */
struct settings {
    bool on_exception;
    bool user_trigger;
    unsigned flags;
    char file[TEXT_BYTES];
    char pipe[TEXT_BYTES];
};

static struct settings of_context;
static struct settings of_process;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const unsigned light = (unsigned)CU_COREDUMP_LIGHTWEIGHT_FLAGS;
static const unsigned skip_abort = (unsigned)CU_COREDUMP_SKIP_ABORT;

/* 0: unknown setting. The pipe's settings exist for the whole process only. */
static size_t size_of(unsigned setting, bool global)
{
    switch (setting) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
    case CU_COREDUMP_TRIGGER_HOST:
    case CU_COREDUMP_LIGHTWEIGHT:
        return sizeof(bool);
    case CU_COREDUMP_ENABLE_USER_TRIGGER:
        return global ? sizeof(bool) : 0;
    case CU_COREDUMP_FILE:
        return TEXT_BYTES;
    case CU_COREDUMP_PIPE:
        return global ? TEXT_BYTES : 0;
    case CU_COREDUMP_GENERATION_FLAGS:
        return sizeof(unsigned);
    default:
        return 0;
    }
}

static void read_setting(const struct settings *settings, unsigned setting, void *value, size_t size)
{
    const bool host = (settings->flags & skip_abort) == 0;
    const bool is_light = (settings->flags & light) == light;
    switch (setting) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
        memcpy(value, &settings->on_exception, size);
        break;
    case CU_COREDUMP_TRIGGER_HOST:
        memcpy(value, &host, size);
        break;
    case CU_COREDUMP_LIGHTWEIGHT:
        memcpy(value, &is_light, size);
        break;
    case CU_COREDUMP_ENABLE_USER_TRIGGER:
        memcpy(value, &settings->user_trigger, size);
        break;
    case CU_COREDUMP_FILE:
        memcpy(value, settings->file, size);
        break;
    case CU_COREDUMP_PIPE:
        memcpy(value, settings->pipe, size);
        break;
    default:
        memcpy(value, &settings->flags, size);
        break;
    }
}

static void write_setting(struct settings *settings, unsigned setting, const void *value, size_t size)
{
    const bool on = *(const unsigned char *)value != 0;
    switch (setting) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
        settings->on_exception = on;
        break;
    case CU_COREDUMP_TRIGGER_HOST:
        settings->flags = on ? settings->flags & ~skip_abort : settings->flags | skip_abort;
        break;
    case CU_COREDUMP_LIGHTWEIGHT:
        settings->flags = on ? settings->flags | light : settings->flags & ~light;
        break;
    case CU_COREDUMP_ENABLE_USER_TRIGGER:
        settings->user_trigger = on;
        break;
    case CU_COREDUMP_FILE:
        memset(settings->file, 0, sizeof settings->file);
        memcpy(settings->file, value, size);
        break;
    case CU_COREDUMP_PIPE:
        memset(settings->pipe, 0, sizeof settings->pipe);
        memcpy(settings->pipe, value, size);
        break;
    default:
        memcpy(&settings->flags, value, sizeof settings->flags);
        break;
    }
}

static CUresult check(unsigned setting, bool global, const size_t *size)
{
    struct sim_context *context;
    const CUresult result = global ? sim_check_initialized() : sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return size == NULL || size_of(setting, global) == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static bool is_text(unsigned setting)
{
    return setting == CU_COREDUMP_FILE || setting == CU_COREDUMP_PIPE;
}

/* Text is cut to the caller's room. Other values need their exact size. */
static CUresult get(unsigned setting, void *value, size_t *size, bool global)
{
    const CUresult result = check(setting, global, size);
    if (result != CUDA_SUCCESS)
        return result;
    const size_t whole = size_of(setting, global);
    if (value == NULL) {
        *size = whole;
        return CUDA_SUCCESS;
    }
    if (!is_text(setting) && *size != whole)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    read_setting(global ? &of_process : &of_context, setting, value, *size < whole ? *size : whole);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

static CUresult set(unsigned setting, const void *value, size_t *size, bool global)
{
    const CUresult result = check(setting, global, size);
    if (result != CUDA_SUCCESS)
        return result;
    const size_t whole = size_of(setting, global);
    if (value == NULL) {
        *size = whole;
        return CUDA_SUCCESS;
    }
    if (is_text(setting) ? *size == 0 || *size >= whole : *size != whole)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    write_setting(global ? &of_process : &of_context, setting, value, *size);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

CUresult cuCoredumpGetAttribute(CUcoredumpSettings attrib, void *value, size_t *size)
{
    return get((unsigned)attrib, value, size, false);
}

CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size)
{
    return get((unsigned)attrib, value, size, true);
}

CUresult cuCoredumpSetAttribute(CUcoredumpSettings attrib, void *value, size_t *size)
{
    return set((unsigned)attrib, value, size, false);
}

CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size)
{
    return set((unsigned)attrib, value, size, true);
}

#endif
