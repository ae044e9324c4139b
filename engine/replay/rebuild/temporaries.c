/* Memory that is allocated and freed within the region. Its content before the region is undefined. */
#include <stdlib.h>

#include "replay/base/engine.h"
#include "replay/rebuild/memory.h"
#include "replay/sample/utility.h"
#include "replay/state/inputs.h"

static int by_address(const void *left, const void *right)
{
    const struct nb_temporary *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

/* The allocations that existed when the region began, or the others. */
static uint32_t list(const struct nb_reader *reader, bool before, struct nb_temporary *into)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < reader->allocation_count; i++) {
        const struct nb_capture_allocation *allocation = &reader->allocations[i];
        if (((allocation->flags & NB_CAPTURE_ALLOCATED_BEFORE) != 0) == before)
            into[count++] = (struct nb_temporary){allocation->address, allocation->bytes};
    }
    if (count != 0)
        qsort(into, count, sizeof *into, by_address);
    return count;
}

/* An address may be allocated again: content of the earlier allocation stays. Both lists are sorted, so an
 * earlier allocation that ends before one temporary ends before the next ones too. */
static uint32_t subtract(const struct nb_temporary *new, uint32_t new_count,
                         const struct nb_temporary *captured, uint32_t kept_count, struct nb_temporary *into)
{
    uint32_t count = 0, first = 0;
    uint64_t filled = 0; /* new ones may overlap, too */
    for (uint32_t i = 0; i < new_count; i++) {
        uint64_t at = new[i].address > filled ? new[i].address : filled;
        const uint64_t end = new[i].address + new[i].bytes;
        while (first < kept_count && captured[first].address + captured[first].bytes <= at)
            first++;
        for (uint32_t j = first; at < end; j++) {
            const bool meets = j < kept_count && captured[j].address < end;
            const uint64_t until = meets ? captured[j].address : end;
            if (until > at)
                into[count++] = (struct nb_temporary){at, until - at};
            const uint64_t next = meets ? captured[j].address + captured[j].bytes : end;
            at = next > at ? next : at;
        }
        filled = at > filled ? at : filled;
    }
    return count;
}

int nb_temporaries_plan(struct nb_replay *replay)
{
    struct nb_memory *memory = &replay->memory;
    const uint64_t room = (uint64_t)replay->reader.allocation_count;
    if (replay->options.strict == 0 || room == 0)
        return NB_REPLAY_OK;
    struct nb_temporary *new = nb_new(replay, room, sizeof *new),
                        *captured = nb_new(replay, room, sizeof *captured);
    memory->temporaries = nb_new(replay, 2 * room, sizeof *memory->temporaries);
    const bool has_memory = new != NULL && captured != NULL && memory->temporaries != NULL;
    if (has_memory) {
        const uint32_t new_count = list(&replay->reader, false, new);
        const uint32_t kept_count = list(&replay->reader, true, captured);
        memory->temporary_count = subtract(new, new_count, captured, kept_count, memory->temporaries);
    }
    free(new);
    free(captured);
    return has_memory ? NB_REPLAY_OK : NB_REPLAY_CANNOT;
}

int nb_temporaries_fill(struct nb_replay *replay)
{
    const struct nb_memory *memory = &replay->memory;
    for (uint32_t i = 0; i < memory->temporary_count; i++)
        NB_TRY(nb_utility_noise(replay, memory->temporaries[i].address, memory->temporaries[i].bytes,
                                (uint32_t)nb_inputs_noise(replay)));
    return NB_REPLAY_OK;
}
