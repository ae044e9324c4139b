/* The shadow: recorded memory content on the device, from which each sample is restored.
 *
 * Neighbouring contents are one piece, small gaps included, so that restoring takes few large copies. */
#include <stdlib.h>
#include <string.h>

#include "replay/base/engine.h"
#include "replay/rebuild/memory.h"
#include "replay/state/staging.h"

#define GAP (256u << 10) /* zeros between two contents that are copied rather than set */

static struct nb_piece *add_piece(struct nb_replay *replay, struct nb_piece piece)
{
    struct nb_memory *memory = &replay->memory;
    if (memory->piece_count == memory->piece_room) {
        const uint32_t room = memory->piece_room == 0 ? 64 : 2 * memory->piece_room;
        struct nb_piece *grown = realloc(memory->pieces, room * sizeof *grown);
        if (grown == NULL) {
            nb_fail(replay, NB_REPLAY_CANNOT, "out of host memory");
            return NULL;
        }
        memory->pieces = grown;
        memory->piece_room = room;
    }
    memory->pieces[memory->piece_count] = piece;
    return &memory->pieces[memory->piece_count++];
}

/* Plan the pieces of one range; its content begins with run `*run`. */
static int plan_range(struct nb_replay *replay, uint32_t index, uint32_t *run)
{
    struct nb_memory *memory = &replay->memory;
    const struct nb_range *range = &memory->ranges[index];
    struct nb_piece *content = NULL;
    uint64_t offset = 0; /* the part before this offset is planned */
    for (; *run < replay->reader.before_count; ++*run) {
        const struct nb_capture_run *next = &replay->reader.before[*run];
        if (next->address - range->address >= range->bytes)
            break;
        const uint64_t begin = next->address - range->address;
        if (content == NULL || begin - offset > GAP) {
            if (begin != offset &&
                add_piece(replay, (struct nb_piece){index, offset, begin - offset, NB_NOWHERE}) == NULL)
                return NB_REPLAY_CANNOT;
            content = add_piece(replay, (struct nb_piece){index, begin, 0, memory->shadow_bytes});
            if (content == NULL)
                return NB_REPLAY_CANNOT;
        }
        const uint64_t grown = begin + next->bytes - content->offset;
        memory->shadow_bytes += grown - content->bytes;
        content->bytes = grown;
        offset = begin + next->bytes;
    }
    if (offset != range->bytes &&
        add_piece(replay, (struct nb_piece){index, offset, range->bytes - offset, NB_NOWHERE}) == NULL)
        return NB_REPLAY_CANNOT;
    return NB_REPLAY_OK;
}

int nb_memory_plan(struct nb_replay *replay)
{
    uint32_t run = 0;
    for (uint32_t i = 0; i < replay->memory.range_count; i++)
        NB_TRY(plan_range(replay, i, &run));
    if (run != replay->reader.before_count)
        return nb_fail(replay, NB_REPLAY_BAD_CAPTURE, "content at 0x%llx lies in no allocation",
                       (unsigned long long)replay->reader.before[run].address);
    return NB_REPLAY_OK;
}

int nb_memory_upload(struct nb_replay *replay)
{
    const struct nb_memory *memory = &replay->memory;
    uint32_t run = 0;
    for (uint32_t i = 0; i < memory->piece_count; i++) {
        const struct nb_piece *piece = &memory->pieces[i];
        const uint64_t begin = memory->ranges[piece->range].address + piece->offset;
        for (; piece->shadow != NB_NOWHERE && run < replay->reader.before_count; run++) {
            const struct nb_capture_run *next = &replay->reader.before[run];
            if (next->address - begin >= piece->bytes)
                break;
            NB_TRY(nb_staging_put(replay, memory->shadow + piece->shadow + (next->address - begin),
                                  nb_reader_content(&replay->reader, next->content), next->bytes));
        }
    }
    return nb_staging_flush(replay);
}

CUdeviceptr nb_memory_base(const struct nb_memory *memory, uint32_t set, uint32_t range)
{
    return memory->set_count == 1 ? memory->ranges[range].address
                                  : memory->sets[set].alias + memory->ranges[range].start;
}

int nb_memory_restore(struct nb_replay *replay, uint32_t set, CUstream stream)
{
    const struct nb_memory *memory = &replay->memory;
    for (uint32_t i = 0; i < memory->piece_count; i++) {
        const struct nb_piece *piece = &memory->pieces[i];
        const CUdeviceptr to = nb_memory_base(memory, set, piece->range) + piece->offset;
        if (piece->shadow == NB_NOWHERE)
            NB_TRY(NB_CALL(replay, cuMemsetD8Async, to, 0, (size_t)piece->bytes, stream));
        else
            NB_TRY(NB_CALL(replay, cuMemcpyDtoDAsync_v2, to, memory->shadow + piece->shadow,
                           (size_t)piece->bytes, stream));
    }
    return NB_REPLAY_OK;
}
