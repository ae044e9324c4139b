#include "replay/state/staging.h"

#include <string.h>

#include "replay/base/engine.h"
#include "replay/state/copier.h"

int nb_staging_build(struct nb_replay *replay)
{
    struct nb_staging *staging = &replay->staging;
    staging->half_bytes = replay->options.guard != 0 ? NB_STAGING_GUARDED : NB_STAGING_BYTES;
    NB_TRY(NB_CALL(replay, cuMemHostAlloc, (void **)&staging->host, 2 * staging->half_bytes, 0));
    for (int half = 0; half < 2; half++) {
        NB_TRY(NB_CALL(replay, cuEventCreate, &staging->free[half], CU_EVENT_DISABLE_TIMING));
        NB_TRY(NB_CALL(replay, cuEventRecord, staging->free[half], replay->streams.timed));
    }
    return NB_REPLAY_OK;
}

static uint8_t *half_of(const struct nb_staging *staging)
{
    return staging->host + staging->half * staging->half_bytes;
}

int nb_staging_flush(struct nb_replay *replay)
{
    struct nb_staging *staging = &replay->staging;
    const size_t bytes = staging->end - staging->begin;
    if (bytes != 0)
        NB_TRY(NB_CALL(replay, cuMemcpyHtoDAsync_v2, staging->target, half_of(staging) + staging->begin,
                       bytes, replay->streams.timed));
    staging->begin = staging->end;
    return NB_REPLAY_OK;
}

/* Queue the filled half, and continue in the other half after the device has read it. */
static int turn(struct nb_replay *replay)
{
    struct nb_staging *staging = &replay->staging;
    NB_TRY(nb_staging_flush(replay));
    NB_TRY(NB_CALL(replay, cuEventRecord, staging->free[staging->half], replay->streams.timed));
    staging->half ^= 1;
    staging->begin = staging->end = 0;
    return nb_wait_event(replay, staging->free[staging->half], NB_OWN_WORK_MS, "copying to the device");
}

int nb_staging_put(struct nb_replay *replay, CUdeviceptr target, const void *data, uint64_t bytes)
{
    struct nb_staging *staging = &replay->staging;
    const uint8_t *from = data;
    while (bytes != 0) {
        if (target != staging->target + (staging->end - staging->begin)) {
            NB_TRY(nb_staging_flush(replay));
            staging->target = target;
        }
        if (staging->end == staging->half_bytes) {
            NB_TRY(turn(replay));
            staging->target = target;
        }
        const size_t room = staging->half_bytes - staging->end;
        const size_t part = bytes < room ? (size_t)bytes : room;
        nb_copier_copy(&replay->copier, half_of(staging) + staging->end, from, part);
        staging->end += part;
        from += part;
        target += part;
        bytes -= part;
    }
    return NB_REPLAY_OK;
}

/* The device fills one half while the host empties the other. The caller's memory is not used directly:
 * kernels can access registered memory, and for other memory a driver copies through its own pages. */
int nb_staging_fetch(struct nb_replay *replay, CUdeviceptr source, uint64_t bytes, void *into)
{
    struct nb_staging *staging = &replay->staging;
    uint8_t *to = into, *fetched = NULL;
    size_t got_bytes = 0;
    NB_TRY(turn(replay));
    for (uint64_t remaining = bytes; remaining != 0 || got_bytes != 0;) {
        uint8_t *const half = half_of(staging);
        const size_t part = remaining < staging->half_bytes ? (size_t)remaining : staging->half_bytes;
        if (part != 0) {
            NB_TRY(NB_CALL(replay, cuMemcpyDtoHAsync_v2, half, source, part, replay->streams.timed));
            NB_TRY(NB_CALL(replay, cuEventRecord, staging->free[staging->half], replay->streams.timed));
        }
        if (got_bytes != 0)
            nb_copier_copy(&replay->copier, to, fetched, got_bytes);
        to += got_bytes;
        if (part != 0)
            NB_TRY(nb_wait_event(replay, staging->free[staging->half], NB_OWN_WORK_MS,
                                 "copying from the device"));
        fetched = half;
        got_bytes = part;
        source += part;
        remaining -= part;
        staging->half ^= 1;
    }
    return NB_REPLAY_OK;
}

void nb_staging_scrub(struct nb_replay *replay)
{
    struct nb_staging *staging = &replay->staging;
    memset(staging->host, 0, 2 * staging->half_bytes);
}

void nb_staging_close(struct nb_replay *replay)
{
    const struct nb_staging *staging = &replay->staging;
    if (replay->gone != NB_REPLAY_OK)
        return;
    for (int half = 0; half < 2; half++)
        if (staging->free[half] != NULL)
            replay->driver.cuEventDestroy_v2(staging->free[half]);
    if (staging->host != NULL)
        replay->driver.cuMemFreeHost(staging->host);
}
