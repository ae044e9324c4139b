/* Limits of a context. Settable limits and rounding are as on an H200. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/device/model.h"

#define STACK_STEP       16u
#define STACK_MAX        (512u << 10)
#define PRINTF_MIN       (512u << 10)
#define PRINTF_MAX       (2ull << 30)
#define PRINTF_EACH      (64u << 10) /* default, per multiprocessor */
#define HEAP_MIN         (4u << 20)
#define PENDING_MIN      32u
#define PENDING_MAX_EACH 4539u /* per multiprocessor */
#define FETCH_MAX        128u
#define L2_BYTES         (8u << 20) /* CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE */

static size_t round_up(size_t value, size_t step)
{
    return (value + step - 1) / step * step;
}

static size_t clamp(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

void sim_limits_reset(struct sim_context *context)
{
    const size_t printf_bytes = (size_t)PRINTF_EACH * sim_multiprocessors();
    const size_t limits[SIM_LIMITS] = {
        [CU_LIMIT_STACK_SIZE] = 1024,
        [CU_LIMIT_PRINTF_FIFO_SIZE] = printf_bytes < 1u << 20 ? 1u << 20 : printf_bytes,
        [CU_LIMIT_MALLOC_HEAP_SIZE] = 8u << 20,
        [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
        [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
        [CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = L2_BYTES / 16 * 3,
    };
    for (size_t i = 0; i < SIM_LIMITS; i++)
        atomic_store(&context->limits[i], limits[i]);
}

/* Nested launches have no depth limit since compute capability 9.0. The last limit is for graphics. */
static bool is_unsupported(unsigned limit)
{
    return limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH || limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE + 2;
}

static CUresult round_limit(unsigned limit, size_t *value)
{
    const size_t persisting_step = L2_BYTES / 16;
    switch (limit) {
    case CU_LIMIT_STACK_SIZE:
        if (*value > STACK_MAX)
            return CUDA_ERROR_INVALID_VALUE;
        *value = round_up(*value, STACK_STEP);
        return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
        *value = clamp(*value, PRINTF_MIN, PRINTF_MAX);
        return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
        *value = clamp(*value, HEAP_MIN, sim_device_memory() / 8);
        return CUDA_SUCCESS;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
        *value = clamp(*value, PENDING_MIN, (size_t)PENDING_MAX_EACH * sim_multiprocessors());
        return CUDA_SUCCESS;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        return *value <= FETCH_MAX ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        if (*value > persisting_step * 10)
            return CUDA_ERROR_INVALID_VALUE;
        *value = round_up(*value, persisting_step);
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_PERMITTED; /* "can only be queried": cuda.h at CUlimit */
    }
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct sim_context *context;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_capture_check_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_unsupported((unsigned)limit))
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    result = round_limit((unsigned)limit, &value);
    if (result == CUDA_SUCCESS)
        atomic_store(&context->limits[limit], value);
    return result;
}

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pvalue == NULL || (unsigned)limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_unsupported((unsigned)limit))
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    if ((unsigned)limit ==
        CU_LIMIT_PERSISTING_L2_CACHE_SIZE + 1) /* shared memory of kernels: cuda.h does not name this limit */
        *pvalue = (size_t)sim_model()->block_shared_optin;
    else
        *pvalue = (unsigned)limit < SIM_LIMITS ? atomic_load(&context->limits[limit]) : 0;
    return CUDA_SUCCESS;
}
