#include "replay/state/recorded.h"

#include <string.h>

#include "replay/base/engine.h"
#include "replay/rebuild/code.h"
#include "replay/rebuild/memory.h"
#include "replay/sample/loop.h"
#include "replay/state/vault.h"

/* Copies the parts of runs that lie in `bytes` from `address` on over `into`. */
static void lay_over(const struct nb_reader *reader, const struct nb_capture_run *runs, uint32_t count,
                     uint64_t address, uint64_t bytes, uint8_t *into)
{
    uint32_t low = 0, high = count; /* the first run that ends after the address */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (runs[middle].address + runs[middle].bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && runs[low].address < address + bytes; low++) {
        const struct nb_capture_run *run = &runs[low];
        const uint64_t begin = run->address > address ? run->address : address;
        const uint64_t run_end = run->address + run->bytes, end_here = address + bytes;
        const uint64_t end = run_end < end_here ? run_end : end_here;
        const uint8_t *content = nb_reader_content(reader, run->content);
        if (run->content.bytes == 0)
            memset(into + (begin - address), 0, (size_t)(end - begin));
        else
            memcpy(into + (begin - address), content + (begin - run->address), (size_t)(end - begin));
    }
}

void nb_recorded_outcome(const struct nb_reader *reader, uint64_t address, uint64_t bytes, uint8_t *into)
{
    memset(into, 0, (size_t)bytes);
    lay_over(reader, reader->before, reader->before_count, address, bytes, into);
    lay_over(reader, reader->after, reader->after_count, address, bytes, into);
}

int nb_recorded_run(struct nb_replay *replay)
{
    struct nb_memory *memory = &replay->memory;
    NB_TRY(nb_memory_switch(replay, 0));
    NB_TRY(nb_vault_open(replay));
    NB_TRY(nb_memory_restore(replay, memory->current, replay->streams.timed));
    NB_TRY(nb_temporaries_fill(replay));
    NB_TRY(nb_globals_restore(replay, 0, replay->streams.timed));
    memory->sets[memory->current].stale = true;
    return nb_loop_run(replay, 0);
}

static bool is_kept(const struct nb_reader *reader, uint64_t address, uint64_t bytes)
{
    for (uint32_t i = 0; i < reader->allocation_count; i++) {
        const uint64_t offset = address - reader->allocations[i].address;
        const uint32_t known =
            reader->allocations[i].flags & (NB_CAPTURE_ALLOCATED_AFTER | NB_CAPTURE_ALLOCATED_AFTER_UNKNOWN);
        if (known == NB_CAPTURE_ALLOCATED_AFTER && address >= reader->allocations[i].address &&
            offset < reader->allocations[i].bytes && bytes <= reader->allocations[i].bytes - offset)
            return true;
    }
    return false;
}

/* Recorded content of a global, or NULL. */
static const uint8_t *content_of_global(const struct nb_reader *reader, uint64_t address, uint64_t bytes)
{
    for (uint32_t i = 0; i < reader->global_count; i++) {
        const struct nb_capture_global *global = &reader->globals[i];
        const struct nb_content content = global->after.bytes != 0 ? global->after : global->before;
        const uint64_t offset = address - global->address;
        if (address >= global->address && offset < content.bytes && bytes <= content.bytes - offset)
            return (const uint8_t *)nb_reader_content(reader, content) + offset;
    }
    return NULL;
}

NB_REPLAY_EXPORT int nb_replay_recorded(struct nb_replay *replay, uint64_t address, void *data,
                                        uint64_t bytes, uint32_t *known, char *error)
{
    NB_TRY(nb_begin(replay, error));
    const uint8_t *content = content_of_global(&replay->reader, address, bytes);
    *known = 1;
    if (nb_reader_has_allocation(&replay->reader, NB_CAPTURE_ALLOCATED_BEFORE_UNKNOWN))
        *known = 0;
    else if (content != NULL)
        memcpy(data, content, (size_t)bytes);
    else if (is_kept(&replay->reader, address, bytes))
        nb_recorded_outcome(&replay->reader, address, bytes, data);
    else
        *known = 0;
    return NB_REPLAY_OK;
}
