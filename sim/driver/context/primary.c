/* The primary context. The device has one, whose handle stays the same when it ends and begins again. */
#include "driver/context/life.h"
#include "driver/core/state.h"
#include "driver/device/device.h"

static struct {
    pthread_mutex_t lock;
    struct sim_context *context;
    unsigned retained;
    unsigned flags; /* for the next begin, and while it is active */
} primary = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool sim_primary_start(void)
{
    primary.context = sim_context_make(CU_CTX_SCHED_AUTO);
    if (primary.context == NULL)
        return false;
    atomic_store(&primary.context->ended, true);
    return sim_object_publish(primary.context);
}

bool sim_is_primary(const struct sim_context *context)
{
    return context == primary.context;
}

static bool is_active(void)
{
    return !atomic_load(&primary.context->ended);
}

/* Mapped host memory is always allowed: the context's flags say so, those of cuDevicePrimaryCtxGetState do
 * not. */
static void set_flags(unsigned flags)
{
    primary.flags = flags;
    atomic_store(&primary.context->flags, flags | CU_CTX_MAP_HOST);
}

static void finish(void)
{
    sim_context_end(primary.context);
    set_flags(CU_CTX_SCHED_AUTO);
}

static CUresult check_device(CUdevice dev)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    return dev == SIM_DEVICE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_primary_retain(struct sim_context **context)
{
    CUresult result = sim_process_error();
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&primary.lock);
    if (!is_active()) {
        set_flags(primary.flags);
        result = sim_context_begin(primary.context);
    } else {
        result = sim_context_error(primary.context);
    }
    if (result == CUDA_SUCCESS)
        primary.retained++;
    pthread_mutex_unlock(&primary.lock);
    *context = primary.context;
    return result;
}

/* References that a reset left are still to be released. */
CUresult sim_primary_release(void)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&primary.lock);
    if (primary.retained == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (--primary.retained == 0 && is_active())
        finish();
    pthread_mutex_unlock(&primary.lock);
    return result;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    struct sim_context *context;
    CUresult result = sim_check_initialized();
    if (result == CUDA_SUCCESS && pctx == NULL)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = check_device(dev);
    if (result == CUDA_SUCCESS)
        result = sim_primary_retain(&context);
    if (result == CUDA_SUCCESS)
        *pctx = (CUcontext)context;
    return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
    const CUresult result = check_device(dev);
    return result == CUDA_SUCCESS ? sim_primary_release() : result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    const CUresult result = check_device(dev);
    return result == CUDA_SUCCESS ? sim_primary_release() : result;
}

static CUresult reset(CUdevice dev)
{
    const CUresult result = check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&primary.lock);
    if (is_active())
        finish();
    pthread_mutex_unlock(&primary.lock);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
    return reset(dev);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    return reset(dev);
}

static CUresult set_state(CUdevice dev, unsigned flags, bool while_active)
{
    CUresult result = check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_context_flags_are_valid(flags) || (flags & CU_CTX_MAP_HOST) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&primary.lock);
    if (is_active() && !while_active)
        result = CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
    else
        set_flags(flags);
    pthread_mutex_unlock(&primary.lock);
    return result;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    return set_state(dev, flags, false);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    return set_state(dev, flags, true);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    CUresult result = sim_check_initialized();
    if (result == CUDA_SUCCESS && (flags == NULL || active == NULL))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = check_device(dev);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&primary.lock);
    *flags = primary.flags;
    *active = is_active();
    pthread_mutex_unlock(&primary.lock);
    return CUDA_SUCCESS;
}
