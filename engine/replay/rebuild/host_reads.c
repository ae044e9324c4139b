#include "replay/rebuild/host_reads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/base/engine.h"

enum { ALIGNMENT = 256, SHOWN = 16 };

bool nb_is_host_read(const struct nb_capture_operation *operation)
{
    return operation->kind == NB_OPERATION_MEMCPY_DTOH && operation->as.read.content.bytes != 0;
}

/* The validator limits their number. */
static int find_copies(struct nb_replay *replay)
{
    struct nb_host_reads *reads = &replay->host_reads;
    for (uint32_t i = 0; i < replay->streams.stop; i++)
        reads->count += nb_is_host_read(&replay->reader.operations[i]);
    reads->operations = nb_new(replay, reads->count, sizeof *reads->operations);
    reads->places = nb_new(replay, reads->count, sizeof *reads->places);
    if (reads->count != 0 && (reads->operations == NULL || reads->places == NULL))
        return NB_REPLAY_OURS;
    uint32_t number = 0;
    for (uint32_t i = 0; i < replay->streams.stop; i++) {
        const struct nb_capture_operation *operation = &replay->reader.operations[i];
        if (!nb_is_host_read(operation))
            continue;
        reads->operations[number] = i;
        reads->places[number++] = reads->landing_bytes;
        reads->landing_bytes += (operation->as.read.content.bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return NB_REPLAY_OK;
}

int nb_host_reads_build(struct nb_replay *replay)
{
    struct nb_host_reads *reads = &replay->host_reads;
    uint64_t bytes = 0;
    NB_TRY(find_copies(replay));
    if (reads->count == 0)
        return NB_REPLAY_OK;
    NB_TRY(NB_CALL(replay, cuMemHostAlloc, (void **)&reads->landing, (size_t)reads->landing_bytes, 0));
    memset(reads->landing, 0, (size_t)reads->landing_bytes);
    for (uint32_t i = 0; i < reads->count; i++)
        bytes += replay->reader.operations[reads->operations[i]].as.read.content.bytes;
    nb_note(replay,
            "the host reads %llu bytes of device memory in %u copies; each sample repeats the copies and "
            "compares "
            "the bytes, but the time in which the device waited for the host is not in the samples",
            (unsigned long long)bytes, reads->count);
    return NB_REPLAY_OK;
}

static uint32_t number_of(const struct nb_host_reads *reads, uint32_t index)
{
    uint32_t low = 0, high = reads->count; /* the copy is in [low, high) */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (reads->operations[middle] <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void *nb_host_reads_place(const struct nb_replay *replay, uint32_t index)
{
    const struct nb_host_reads *reads = &replay->host_reads;
    return reads->landing + reads->places[number_of(reads, index)];
}

void nb_host_reads_reset(struct nb_replay *replay)
{
    const struct nb_host_reads *reads = &replay->host_reads;
    for (uint32_t i = 0; i < reads->count; i++) {
        const struct nb_content content = replay->reader.operations[reads->operations[i]].as.read.content;
        const uint8_t *recorded = nb_reader_content(&replay->reader, content);
        uint8_t *place = reads->landing + reads->places[i];
        for (uint64_t at = 0; at < content.bytes; at++)
            place[at] = (uint8_t)~recorded[at];
    }
}

static void write_hexadecimal(const uint8_t *bytes, uint64_t count, char into[2 * SHOWN + 1])
{
    for (uint64_t i = 0; i < count; i++)
        snprintf(into + 2 * i, 3, "%02x", bytes[i]);
}

int nb_host_reads_check(struct nb_replay *replay, uint32_t index)
{
    const struct nb_content content = replay->reader.operations[index].as.read.content;
    const uint8_t *recorded = nb_reader_content(&replay->reader, content);
    const uint8_t *actual = nb_host_reads_place(replay, index);
    char expected[2 * SHOWN + 1] = "", seen[2 * SHOWN + 1] = "";
    uint64_t at = 0;
    if (replay->options.ignore_reads != 0 || memcmp(recorded, actual, (size_t)content.bytes) == 0)
        return NB_REPLAY_OK;
    while (recorded[at] == actual[at])
        at++;
    const uint64_t shown = content.bytes - at < SHOWN ? content.bytes - at : SHOWN;
    write_hexadecimal(recorded + at, shown, expected);
    write_hexadecimal(actual + at, shown, seen);
    return nb_fail(replay, NB_REPLAY_OTHER_READ,
                   "of its %llu bytes, those from offset %llu on were %s when recorded, and are %s",
                   (unsigned long long)content.bytes, (unsigned long long)at, expected, seen);
}

void nb_host_reads_close(struct nb_replay *replay)
{
    if (replay->host_reads.landing != NULL && replay->gone == NB_REPLAY_OK)
        replay->driver.cuMemFreeHost(replay->host_reads.landing);
    free(replay->host_reads.operations);
    free(replay->host_reads.places);
}
