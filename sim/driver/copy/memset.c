/* Memset. Asynchronous for device memory. For memory that the host shares, the calls without Async in their
 * name wait (driver API, "API synchronization behavior"). */
#include "driver/context/context.h"
#include "driver/memory/memory.h"
#include "driver/stream/stream.h"

#include <string.h>

static bool is_host_memory(uint64_t address)
{
    struct sim_range range;
    return sim_range_find(address, &range) &&
           (range.kind == SIM_MEMORY_HOST || range.kind == SIM_MEMORY_REGISTERED ||
            range.kind == SIM_MEMORY_MANAGED);
}

static void fill_row(unsigned char *row, const struct sim_set *set)
{
    if (set->element_bytes == 1) {
        memset(row, (int)(set->value & 0xff), set->width);
        return;
    }
    for (size_t x = 0; x < set->width; x++)
        memcpy(row + x * set->element_bytes, &set->value, set->element_bytes);
}

static void run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                struct sim_work *work)
{
    const struct sim_set *set = &work->set;
    (void)stream, (void)number;
    for (size_t y = 0; y < set->height; y++) {
        const uint64_t row = set->destination + y * set->pitch;
        if (!sim_range_accessible(row, set->width * set->element_bytes)) {
            sim_context_set_fault(context, CUDA_ERROR_ILLEGAL_ADDRESS);
            return;
        }
        fill_row((unsigned char *)(uintptr_t)row, set);
    }
}

const struct sim_work_class sim_memset_work = {.run = run};

static CUresult set(const struct sim_set *wanted, CUstream hStream, bool per_thread, bool wait)
{
    struct sim_context *context;
    struct sim_stream *stream;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    const size_t row = wanted->width * wanted->element_bytes;
    if (wanted->destination % wanted->element_bytes != 0 ||
        wanted->width > SIZE_MAX / wanted->element_bytes ||
        (wanted->height > 1 && (wanted->pitch < row || wanted->pitch % wanted->element_bytes != 0)))
        return CUDA_ERROR_INVALID_VALUE;
    /* Captured addresses need not be valid yet. */
    const size_t checked = sim_stream_is_capturing(stream) ? 0 : wanted->height;
    for (size_t y = 0; y < checked && row != 0; y++)
        if (!sim_range_accessible(wanted->destination + y * wanted->pitch, row))
            return CUDA_ERROR_INVALID_VALUE;
    struct sim_work work = {.kind = SIM_WORK_SET, .set = *wanted};
    const bool waits = wait && !sim_stream_is_capturing(stream) && is_host_memory(wanted->destination);
    result = sim_stream_submit(stream, &work, NULL);
    if (result != CUDA_SUCCESS || !waits)
        return result;
    return per_thread ? cuStreamSynchronize_ptsz(NULL) : cuStreamSynchronize(NULL);
}

/* `stream` is NULL for the calls without a stream. */
static CUresult row(CUdeviceptr to, unsigned value, unsigned bytes, size_t count, const CUstream *stream,
                    bool per_thread)
{
    return set(&(struct sim_set){to, 0, value, bytes, count, 1}, stream == NULL ? NULL : *stream, per_thread,
               stream == NULL);
}

static CUresult plane(CUdeviceptr to, size_t pitch, unsigned value, unsigned bytes, size_t width,
                      size_t height, const CUstream *stream, bool per_thread)
{
    return set(&(struct sim_set){to, pitch, value, bytes, width, height}, stream == NULL ? NULL : *stream,
               per_thread, stream == NULL);
}

#define MEMSET_ROW(bits, type)                                                                               \
    CUresult cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count)                                  \
    {                                                                                                        \
        return row(to, value, bits / 8, count, NULL, false);                                                 \
    }                                                                                                        \
    CUresult cuMemsetD##bits##_v2_ptds(CUdeviceptr to, type value, size_t count)                             \
    {                                                                                                        \
        return row(to, value, bits / 8, count, NULL, true);                                                  \
    }                                                                                                        \
    CUresult cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream)               \
    {                                                                                                        \
        return row(to, value, bits / 8, count, &stream, false);                                              \
    }                                                                                                        \
    CUresult cuMemsetD##bits##Async_ptsz(CUdeviceptr to, type value, size_t count, CUstream stream)          \
    {                                                                                                        \
        return row(to, value, bits / 8, count, &stream, true);                                               \
    }

#define MEMSET_PLANE(bits, type)                                                                             \
    CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height)   \
    {                                                                                                        \
        return plane(to, pitch, value, bits / 8, width, height, NULL, false);                                \
    }                                                                                                        \
    CUresult cuMemsetD2D##bits##_v2_ptds(CUdeviceptr to, size_t pitch, type value, size_t width,             \
                                         size_t height)                                                      \
    {                                                                                                        \
        return plane(to, pitch, value, bits / 8, width, height, NULL, true);                                 \
    }                                                                                                        \
    CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, \
                                      CUstream stream)                                                       \
    {                                                                                                        \
        return plane(to, pitch, value, bits / 8, width, height, &stream, false);                             \
    }                                                                                                        \
    CUresult cuMemsetD2D##bits##Async_ptsz(CUdeviceptr to, size_t pitch, type value, size_t width,           \
                                           size_t height, CUstream stream)                                   \
    {                                                                                                        \
        return plane(to, pitch, value, bits / 8, width, height, &stream, true);                              \
    }

MEMSET_ROW(8, unsigned char)
MEMSET_ROW(16, unsigned short)
MEMSET_ROW(32, unsigned int)
MEMSET_PLANE(8, unsigned char)
MEMSET_PLANE(16, unsigned short)
MEMSET_PLANE(32, unsigned int)
