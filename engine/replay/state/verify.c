/* Compares memory after a replay with recorded memory, byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "replay/base/engine.h"
#include "replay/rebuild/code.h"
#include "replay/rebuild/memory.h"
#include "replay/state/recorded.h"
#include "replay/state/staging.h"
#include "replay/state/vault.h"

/* One allocation or global after two replays. */
struct subject {
    uint64_t address;
    uint64_t bytes;
    uint32_t global;
    uint64_t hash[2];
    struct nb_replay_difference found[2];
};

/* FNV-1a by words, which suffices to tell two replays apart. */
static uint64_t hash(uint64_t state, const uint8_t *data, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, data + i, bytes - i < 8 ? (size_t)(bytes - i) : 8);
        state = (state ^ word) * UINT64_C(0x100000001b3);
        state ^= state >> 29;
    }
    return state;
}

static void compare(struct subject *subject, int run, uint64_t offset, const uint8_t *expected,
                    const uint8_t *actual, uint64_t bytes)
{
    struct nb_replay_difference *found = &subject->found[run];
    subject->hash[run] = hash(subject->hash[run], actual, bytes);
    if (memcmp(expected, actual, (size_t)bytes) == 0)
        return;
    for (uint64_t i = 0; i < bytes; i++) {
        if (expected[i] == actual[i])
            continue;
        if (found->differing++ == 0) {
            const size_t sample_bytes =
                bytes - i < sizeof found->expected ? (size_t)(bytes - i) : sizeof found->expected;
            found->first_offset = offset + i;
            memcpy(found->expected, expected + i, sample_bytes);
            memcpy(found->actual, actual + i, sample_bytes);
        }
    }
}

/* Two buffers for a piece of memory. */
struct pages {
    uint8_t *expected, *actual;
};

static int compare_memory(struct nb_replay *replay, struct subject *subject, int run,
                          const struct pages *pages)
{
    for (uint64_t offset = 0; offset < subject->bytes; offset += NB_STAGING_BYTES) {
        const uint64_t remaining = subject->bytes - offset;
        const uint64_t bytes = remaining < NB_STAGING_BYTES ? remaining : NB_STAGING_BYTES;
        NB_TRY(nb_staging_fetch(replay, subject->address + offset, bytes, pages->actual));
        nb_recorded_outcome(&replay->reader, subject->address + offset, bytes, pages->expected);
        compare(subject, run, offset, pages->expected, pages->actual, bytes);
    }
    return NB_REPLAY_OK;
}

/* A global without recorded content is only compared between the two replays. */
static int compare_global(struct nb_replay *replay, struct subject *subject, int run, uint8_t *actual)
{
    const struct nb_capture_global *recorded = &replay->reader.globals[subject->global];
    const struct nb_content content = recorded->after.bytes != 0 ? recorded->after : recorded->before;
    const CUdeviceptr here = replay->code.copies[0].globals[subject->global].address;
    for (uint64_t offset = 0; offset < subject->bytes; offset += NB_STAGING_BYTES) {
        const uint64_t remaining = subject->bytes - offset;
        const uint64_t bytes = remaining < NB_STAGING_BYTES ? remaining : NB_STAGING_BYTES;
        NB_TRY(nb_staging_fetch(replay, here + offset, bytes, actual));
        const uint8_t *expected = content.bytes != 0
                                      ? (const uint8_t *)nb_reader_content(&replay->reader, content) + offset
                                      : actual;
        compare(subject, run, offset, expected, actual, bytes);
    }
    return NB_REPLAY_OK;
}

static uint32_t list_subjects(const struct nb_replay *replay, struct subject *subjects)
{
    const struct nb_reader *reader = &replay->reader;
    uint32_t count = 0;
    for (uint32_t i = 0; i < reader->allocation_count; i++)
        if ((reader->allocations[i].flags & NB_CAPTURE_ALLOCATED_AFTER) != 0)
            subjects[count++] = (struct subject){.address = reader->allocations[i].address,
                                                 .bytes = reader->allocations[i].bytes,
                                                 .global = NB_NOTHING};
    for (uint32_t i = 0; i < reader->global_count; i++)
        subjects[count++] = (struct subject){
            .address = reader->globals[i].address, .bytes = reader->globals[i].bytes, .global = i};
    return count;
}

/* The difference of the first replay, or of the second if the first has none. */
static bool summarise(const struct subject *subject, struct nb_replay_difference *difference)
{
    *difference = subject->found[subject->found[0].differing == 0];
    difference->address = subject->address;
    difference->bytes = subject->bytes;
    difference->global = subject->global;
    difference->again = subject->hash[0] != subject->hash[1];
    return difference->differing != 0 || difference->again != 0;
}

static int run_and_compare(struct nb_replay *replay, struct subject *subjects, uint32_t count,
                           const struct pages *pages)
{
    for (int run = 0; run < 2; run++) {
        NB_TRY(nb_recorded_run(replay));
        for (uint32_t i = 0; i < count; i++)
            NB_TRY(subjects[i].global == NB_NOTHING
                       ? compare_memory(replay, &subjects[i], run, pages)
                       : compare_global(replay, &subjects[i], run, pages->actual));
    }
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_verify(struct nb_replay *replay, struct nb_replay_difference *differences,
                                      uint32_t room, uint32_t *count, char *error)
{
    NB_TRY(nb_begin(replay, error));
    *count = 0;
    if (nb_reader_has_allocation(&replay->reader, NB_CAPTURE_ALLOCATED_AFTER_UNKNOWN))
        return nb_fail(
            replay, NB_REPLAY_CANNOT,
            "the capture has no memory from after the region; record it again, or leave out --verify");
    const uint64_t most = (uint64_t)replay->reader.allocation_count + replay->reader.global_count;
    struct subject *subjects = nb_new(replay, most + 1, sizeof *subjects);
    const struct pages pages = {nb_new(replay, NB_STAGING_BYTES, 1), nb_new(replay, NB_STAGING_BYTES, 1)};
    const bool has_memory = subjects != NULL && pages.expected != NULL && pages.actual != NULL;
    int status = !has_memory ? NB_REPLAY_CANNOT : NB_REPLAY_OK;
    const uint32_t subject_count = status == NB_REPLAY_OK ? list_subjects(replay, subjects) : 0;
    if (status == NB_REPLAY_OK)
        status = run_and_compare(replay, subjects, subject_count, &pages);
    for (uint32_t i = 0; status == NB_REPLAY_OK && i < subject_count; i++) {
        struct nb_replay_difference difference;
        if (!summarise(&subjects[i], &difference))
            continue;
        if (*count < room)
            differences[*count] = difference;
        ++*count;
    }
    free(subjects);
    free(pages.expected);
    free(pages.actual);
    return status;
}
