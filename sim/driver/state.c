#include "state.h"

#include "context.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum state { STATE_NEW, STATE_READY, STATE_FORKED };

static atomic_int state;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t sim_setting(const char *name, uint64_t fallback)
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
    return (int)sim_setting("SIM_DRIVER_VERSION", CUDA_VERSION);
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

static CUresult initialize(void)
{
    if (!sim_context_start())
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (pthread_atfork(NULL, NULL, after_fork) != 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    atomic_store(&state, STATE_READY);
    return CUDA_SUCCESS;
}

CUresult cuInit(unsigned int Flags)
{
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    switch (atomic_load(&state)) {
    case STATE_READY:
        return CUDA_SUCCESS;
    case STATE_FORKED:
        return CUDA_ERROR_NOT_INITIALIZED;
    default:
        break;
    }
    pthread_mutex_lock(&init_lock);
    const CUresult result = atomic_load(&state) == STATE_READY ? CUDA_SUCCESS : initialize();
    pthread_mutex_unlock(&init_lock);
    return result;
}

CUresult cuDriverGetVersion(int *driverVersion)
{
    if (driverVersion == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = sim_driver_version();
    return CUDA_SUCCESS;
}
