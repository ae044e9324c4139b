#include "cuda/capture/operation.h"

#include <stdatomic.h>

#include "cuda/capture/refuse.h"
#include "cuda/kernel/stream.h"

/* Pieces after the operation itself. */
#define PIECES_MAX 2u

static _Atomic uint64_t last_synchronize; /* number of operations up to it << 32 | its stream */

uint32_t nb_capture_append_operation(struct nb_capture_operation *operation, const struct nb_piece *data,
                                     unsigned count)
{
    uint64_t bytes = 0;
    struct nb_piece pieces[1 + PIECES_MAX] = {{operation, sizeof *operation}};
    if (operation->graph == 0 && operation->stream == NB_NOTHING &&
        operation->kind != NB_OPERATION_SYNCHRONIZE) {
        nb_capture_refuse_incomplete();
        return NB_NOTHING;
    }
    for (unsigned i = 0; i < count; i++) {
        pieces[i + 1] = data[i];
        bytes += data[i].bytes;
    }
    if (operation->kind == NB_OPERATION_KERNEL) {
        const uint64_t parameters = count > 0 ? data[0].bytes : 0;
        operation->as.launch.parameters = (struct nb_span){sizeof *operation, parameters};
        operation->as.launch.attributes =
            (struct nb_span){sizeof *operation + parameters, bytes - parameters};
    } else if (operation->kind == NB_OPERATION_MEMCPY_HTOD) {
        operation->as.copy.content = (struct nb_content){sizeof *operation, bytes};
    } else if (operation->kind == NB_OPERATION_MEMCPY_DTOH) {
        const uint64_t name = data[0].bytes;
        operation->as.read.call = (struct nb_span){sizeof *operation, name};
        operation->as.read.content = (struct nb_content){sizeof *operation + name, bytes - name};
    }
    return nb_raw_capture_append(NB_CAPTURE_OPERATION, pieces, count + 1);
}

/* Skip redundant joins: a join without operations before it, or directly after a join that includes it. */
static bool is_synchronize_needed(uint32_t stream)
{
    const uint32_t operations = nb_raw_capture_count(NB_CAPTURE_OPERATION);
    const uint64_t last = atomic_load(&last_synchronize);
    const uint32_t last_stream = (uint32_t)last;
    return operations != 0 &&
           (last >> 32 != operations || (last_stream != NB_NOTHING && last_stream != stream));
}

void nb_capture_synchronize(uint32_t stream)
{
    struct nb_capture_operation operation = {.kind = NB_OPERATION_SYNCHRONIZE, .stream = stream};
    if (!is_synchronize_needed(stream))
        return;
    const uint32_t index = nb_capture_append_operation(&operation, NULL, 0);
    atomic_store(&last_synchronize, (uint64_t)(index + 1) << 32 | stream);
}

bool nb_capture_begin_operation(const struct nb_call *call, CUstream stream)
{
    if (call->thread == NULL || nb_stream_is_captured(call, stream))
        return false;
    nb_region_before_operation(NULL);
    return nb_region_is_open();
}

static void reset(void)
{
    atomic_store(&last_synchronize, 0);
}

const struct nb_component nb_capture_operation_component = {.reset = reset};
