/* cuInit: the order in which the parts of the driver start. */
#include "driver/context/context.h"
#include "driver/core/api.h"
#include "driver/core/inject.h"
#include "driver/core/state.h"
#include "driver/core/thread.h"
#include "driver/device/model.h"
#include "driver/memory/memory.h"
#include "driver/stream/stamp.h"
#include "ptx/ptx.h"

#include <pthread.h>

static CUresult start(void)
{
    CUresult result = sim_inject_start();
    if (result == CUDA_SUCCESS)
        result = sim_model_select();
    if (result == CUDA_SUCCESS)
        result = sim_environment_read();
    ptx_accept_unsupported(!sim_environment()->unsupported_at_load);
    if (result == CUDA_SUCCESS && !(sim_thread_start() && sim_memory_start() && sim_primary_start()))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        sim_stamp_start();
    return result == CUDA_SUCCESS ? sim_set_initialized() : result;
}

CUresult cuInit(unsigned int Flags)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_check_initialized();
    if (result == CUDA_SUCCESS || sim_is_forked())
        return result;
    pthread_mutex_lock(&lock);
    result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        result = start();
    pthread_mutex_unlock(&lock);
    return result;
}
