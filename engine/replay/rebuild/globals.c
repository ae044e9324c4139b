/* Globals of modules: their present addresses, and their recorded content. */
#include <stdlib.h>

#include "replay/base/engine.h"
#include "replay/rebuild/code.h"
#include "replay/state/staging.h"

struct place {
    uint64_t address;
    uint32_t global;
};

static int by_address(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static int sort(struct nb_replay *replay)
{
    const uint32_t count = replay->reader.global_count;
    struct place *places = nb_new(replay, count, sizeof *places);
    replay->code.sorted = nb_new(replay, count, sizeof *replay->code.sorted);
    if (count == 0 || places == NULL || replay->code.sorted == NULL) {
        free(places);
        return count == 0 ? NB_REPLAY_OK : NB_REPLAY_CANNOT;
    }
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place){replay->reader.globals[i].address, i};
    qsort(places, count, sizeof *places, by_address);
    for (uint32_t i = 0; i < count; i++)
        replay->code.sorted[i] = places[i].global;
    free(places);
    return NB_REPLAY_OK;
}

int nb_globals_plan(struct nb_replay *replay)
{
    uint64_t end = (replay->memory.shadow_bytes + 255) & ~UINT64_C(255);
    for (uint32_t i = 0; i < replay->reader.global_count; i++) {
        for (uint32_t copy = 0; copy < replay->code.copy_count; copy++)
            replay->code.copies[copy].globals[i].shadow = end;
        end += (replay->reader.globals[i].bytes + 255) & ~UINT64_C(255);
    }
    const uint64_t after = nb_unlisted_plan(replay, end);
    if (replay->reader.global_count != 0 || after != end)
        replay->memory.shadow_bytes = after;
    return sort(replay);
}

/* A global without recorded content keeps its initial value. */
int nb_globals_upload(struct nb_replay *replay)
{
    NB_TRY(nb_unlisted_keep(replay));
    for (uint32_t i = 0; i < replay->reader.global_count; i++) {
        const struct nb_capture_global *recorded = &replay->reader.globals[i];
        const struct nb_code_global *global = &replay->code.copies[0].globals[i];
        const CUdeviceptr shadow = replay->memory.shadow + global->shadow;
        if (recorded->before.bytes != 0)
            NB_TRY(nb_staging_put(replay, shadow, nb_reader_content(&replay->reader, recorded->before),
                                  recorded->before.bytes));
        else
            NB_TRY(NB_CALL(replay, cuMemcpyDtoDAsync_v2, shadow, global->address, (size_t)recorded->bytes,
                           replay->streams.timed));
    }
    return nb_staging_flush(replay);
}

int nb_globals_restore(struct nb_replay *replay, uint32_t copy, CUstream stream)
{
    NB_TRY(nb_unlisted_restore(replay, copy, stream)); /* first: its bytes may include captured ones */
    for (uint32_t i = 0; i < replay->reader.global_count; i++) {
        const struct nb_code_global *global = &replay->code.copies[copy].globals[i];
        NB_TRY(NB_CALL(replay, cuMemcpyDtoDAsync_v2, global->address, replay->memory.shadow + global->shadow,
                       (size_t)replay->reader.globals[i].bytes, stream));
    }
    return NB_REPLAY_OK;
}

CUdeviceptr nb_globals_at(const struct nb_replay *replay, uint32_t copy, uint64_t address, uint64_t bytes)
{
    uint32_t low = 0,
             high = replay->reader.global_count; /* the first global that begins behind the address */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (replay->reader.globals[replay->code.sorted[middle]].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const uint32_t index = replay->code.sorted[low - 1];
    const struct nb_capture_global *recorded = &replay->reader.globals[index];
    const uint64_t offset = address - recorded->address;
    if (offset >= recorded->bytes || bytes > recorded->bytes - offset)
        return 0;
    return replay->code.copies[copy].globals[index].address + offset;
}
