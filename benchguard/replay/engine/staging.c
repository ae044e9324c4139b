#include "staging.h"

#include <string.h>

#include "engine.h"

int nb_staging_build(struct nb_replay *replay)
{
    struct nb_staging *staging = &replay->staging;
    NB_TRY(NB_CALL(replay, cuMemHostAlloc, (void **)&staging->host, 2 * (size_t)NB_STAGING_BYTES, 0));
    for (int half = 0; half < 2; half++) {
        NB_TRY(NB_CALL(replay, cuEventCreate, &staging->free[half], CU_EVENT_DISABLE_TIMING));
        NB_TRY(NB_CALL(replay, cuEventRecord, staging->free[half], replay->streams.timed));
    }
    return NB_REPLAY_OK;
}

static uint8_t *half_of(const struct nb_staging *staging)
{
    return staging->host + staging->half * (size_t)NB_STAGING_BYTES;
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

/* Queue what is there and go on in the other half, when the device has read what that held before. */
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
        if (staging->end == NB_STAGING_BYTES) {
            NB_TRY(turn(replay));
            staging->target = target;
        }
        const size_t room = NB_STAGING_BYTES - staging->end;
        const size_t part = bytes < room ? (size_t)bytes : room;
        memcpy(half_of(staging) + staging->end, from, part);
        staging->end += part;
        from += part;
        target += part;
        bytes -= part;
    }
    return NB_REPLAY_OK;
}

int nb_staging_get(struct nb_replay *replay, CUdeviceptr source, uint64_t bytes, const uint8_t **data)
{
    struct nb_staging *staging = &replay->staging;
    NB_TRY(turn(replay));
    NB_TRY(NB_CALL(replay, cuMemcpyDtoHAsync_v2, half_of(staging), source, (size_t)bytes,
                   replay->streams.timed));
    NB_TRY(nb_wait(replay, replay->streams.timed, NB_OWN_WORK_MS, "copying from the device"));
    *data = half_of(staging);
    return NB_REPLAY_OK;
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
