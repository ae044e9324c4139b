#include "driver/core/state.h"

#include "driver/core/inject.h"
#include "driver/core/message.h"
#include "driver/device/model.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum state { STATE_NEW, STATE_READY, STATE_FORKED };

static atomic_int state;

static struct sim_environment environment;

/* An unsigned number. `fallback` if the variable is unset or not a number. */
static uint64_t setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    if (text == NULL || *text == '\0')
        return fallback;
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 0);
    return errno == 0 && *end == '\0' ? value : fallback;
}

int sim_driver_version(void)
{
    const int injected = sim_inject_version();
    return injected != 0 ? injected : (int)setting("SIM_DRIVER_VERSION", CUDA_VERSION);
}

static void after_fork(void)
{
    atomic_store(&state, STATE_FORKED);
}

CUresult sim_check_initialized(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == STATE_READY ? CUDA_SUCCESS
                                                                             : CUDA_ERROR_NOT_INITIALIZED;
}

bool sim_is_forked(void)
{
    return atomic_load(&state) == STATE_FORKED;
}

CUresult sim_set_initialized(void)
{
    if (pthread_atfork(NULL, NULL, after_fork) != 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    atomic_store(&state, STATE_READY);
    return CUDA_SUCCESS;
}

const struct sim_environment *sim_environment(void)
{
    return &environment;
}

/* A variable with two valid values. `is_second` is false for the first value and for an unset variable. */
static CUresult choice(const char *name, const char *first, const char *second, bool *is_second)
{
    const char *text = getenv(name);
    *is_second = text != NULL && strcmp(text, second) == 0;
    if (text == NULL || *text == '\0' || *is_second || strcmp(text, first) == 0)
        return CUDA_SUCCESS;
    sim_print("%s=%.64s: unknown value; use %s or %s", name, text, first, second);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_environment_read(void)
{
    const char *path = getenv("SIM_LAUNCH_LOG"), *counts = getenv("SIM_COUNTS");
    environment = (struct sim_environment){
        .kernel_timeout_ns = setting("SIM_KERNEL_TIMEOUT_MS", 0) * 1000000u,
        .workers = (unsigned)setting("SIM_WORKERS", 0),
        .memory_bytes = (size_t)setting("SIM_MEMORY_BYTES", sim_model()->memory_bytes),
        .launch_log = path == NULL || *path == '\0' ? NULL : strdup(path),
        .counts = counts == NULL || *counts == '\0' ? NULL : strdup(counts)};
    if ((path != NULL && *path != '\0' && environment.launch_log == NULL) ||
        (counts != NULL && *counts != '\0' && environment.counts == NULL))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = choice("SIM_UNSUPPORTED", "launch", "load", &environment.unsupported_at_load);
    if (result == CUDA_SUCCESS)
        result = choice("SIM_MEMORY_CHECK", "pages", "exact", &environment.exact_memory);
    return result != CUDA_SUCCESS
               ? result
               : choice("SIM_FAULT_SCOPE", "process", "context", &environment.faults_end_contexts);
}

CUresult cuDriverGetVersion(int *driverVersion)
{
    if (driverVersion == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = sim_driver_version();
    return CUDA_SUCCESS;
}
