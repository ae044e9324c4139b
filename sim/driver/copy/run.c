/* Running copies on a stream's worker. */
#include "driver/context/context.h"
#include "driver/copy/copy.h"
#include "driver/memory/array.h"
#include "driver/memory/range.h"

#include <stdlib.h>
#include <string.h>

/* Check again: the memory may have been freed, or its access changed, since the call. */
static bool is_still_accessible(const struct sim_copy *copy, uint64_t to, uint64_t from)
{
    return (copy->destination_type != CU_MEMORYTYPE_DEVICE || sim_range_accessible(to, copy->width)) &&
           (copy->source_type != CU_MEMORYTYPE_DEVICE || sim_range_readable(from, copy->width));
}

static void run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                struct sim_work *work)
{
    const struct sim_copy *copy = &work->copy;
    (void)stream, (void)number;
    if (copy->width == 0)
        return;
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++) {
            const uint64_t to = copy->destination + z * copy->destination_slice + y * copy->destination_pitch;
            const uint64_t from = copy->source + z * copy->source_slice + y * copy->source_pitch;
            if (!is_still_accessible(copy, to, from)) {
                sim_context_set_fault(context, CUDA_ERROR_ILLEGAL_ADDRESS);
                return;
            }
            memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, copy->width);
        }
}

bool sim_copy_stage(struct sim_copy *copy)
{
    if (copy->width == 0)
        return true;
    copy->staging = malloc(copy->width);
    if (copy->staging == NULL)
        return false;
    memcpy(copy->staging, (const void *)(uintptr_t)copy->source, copy->width);
    copy->source = (uint64_t)(uintptr_t)copy->staging;
    copy->source_type = CU_MEMORYTYPE_HOST;
    return true;
}

static CUresult clone_work(struct sim_work *made, const struct sim_work *work, bool published)
{
    const struct sim_copy *copy = &work->copy;
    (void)published;
    if (copy->staging != NULL) {
        void *staging = malloc(copy->width);
        if (staging == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        made->copy.staging = memcpy(staging, copy->staging, copy->width);
        made->copy.source = (uint64_t)(uintptr_t)staging;
    }
    if (copy->source_array != NULL)
        sim_object_retain(copy->source_array);
    if (copy->destination_array != NULL)
        sim_object_retain(copy->destination_array);
    return CUDA_SUCCESS;
}

void sim_copy_clear(struct sim_copy *copy)
{
    free(copy->staging);
    sim_object_release(copy->source_array);
    sim_object_release(copy->destination_array);
    copy->staging = NULL;
    copy->source_array = copy->destination_array = NULL;
}

static void clear(struct sim_work *work)
{
    sim_copy_clear(&work->copy);
}

const struct sim_work_class sim_copy_work = {.run = run, .clone = clone_work, .clear = clear};
