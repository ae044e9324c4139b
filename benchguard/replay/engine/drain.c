#include "drain.h"

#include "engine.h"

/* Pieces that the device has been asked for and not brought: the others are emptied meanwhile. */
enum { ON_THEIR_WAY = NB_CREW_COPIES / 2 };

struct fetch {
    CUdeviceptr source;
    uint8_t *into;
    uint64_t bytes;
    uint64_t first, end; /* numbers of the crew's copies, one a piece */
};

static int build(struct nb_replay *replay)
{
    struct nb_drain *drain = &replay->drain;
    if (!drain->manned)
        nb_crew_start(&drain->crew);
    drain->manned = true;
    for (uint32_t i = 0; i < NB_CREW_COPIES; i++)
        if (drain->landed[i] == NULL)
            NB_TRY(NB_CALL(replay, cuEventCreate, &drain->landed[i], CU_EVENT_DISABLE_TIMING));
    if (drain->host != NULL)
        return NB_REPLAY_OK;
    return NB_CALL(replay, cuMemHostAlloc, (void **)&drain->host, NB_CREW_COPIES * (size_t)NB_DRAIN_PIECE, 0);
}

static uint8_t *piece_of(const struct nb_drain *drain, uint64_t number)
{
    return drain->host + number % NB_CREW_COPIES * NB_DRAIN_PIECE;
}

static uint64_t offset_of(const struct fetch *fetch, uint64_t number)
{
    return (number - fetch->first) * NB_DRAIN_PIECE;
}

static size_t bytes_of(const struct fetch *fetch, uint64_t number)
{
    const uint64_t left = fetch->bytes - offset_of(fetch, number);
    return left < NB_DRAIN_PIECE ? (size_t)left : NB_DRAIN_PIECE;
}

static int ask_for(struct nb_replay *replay, const struct fetch *fetch, uint64_t number)
{
    struct nb_drain *drain = &replay->drain;
    nb_crew_make_room(&drain->crew, number);
    NB_TRY(NB_CALL(replay, cuMemcpyDtoHAsync_v2, piece_of(drain, number),
                   fetch->source + offset_of(fetch, number), bytes_of(fetch, number), replay->streams.timed));
    return NB_CALL(replay, cuEventRecord, drain->landed[number % NB_CREW_COPIES], replay->streams.timed);
}

static int bring(struct nb_replay *replay, const struct fetch *fetch)
{
    struct nb_drain *drain = &replay->drain;
    uint64_t asked = fetch->first;
    for (uint64_t number = fetch->first; number < fetch->end; number++) {
        for (; asked < fetch->end && asked < number + ON_THEIR_WAY; asked++)
            NB_TRY(ask_for(replay, fetch, asked));
        NB_TRY(nb_wait_event(replay, drain->landed[number % NB_CREW_COPIES], NB_OWN_WORK_MS,
                             "copying from the device"));
        nb_crew_give(&drain->crew, &(const struct nb_crew_copy){.to = fetch->into + offset_of(fetch, number),
                                                                .from = piece_of(drain, number),
                                                                .bytes = bytes_of(fetch, number)});
    }
    return NB_REPLAY_OK;
}

int nb_drain_fetch(struct nb_replay *replay, CUdeviceptr source, uint64_t bytes, void *into)
{
    struct nb_drain *drain = &replay->drain;
    NB_TRY(build(replay));
    NB_TRY(nb_staging_flush(replay));
    const uint64_t first = nb_crew_next(&drain->crew);
    const struct fetch fetch = {.source = source,
                                .into = into,
                                .bytes = bytes,
                                .first = first,
                                .end = first + (bytes + NB_DRAIN_PIECE - 1) / NB_DRAIN_PIECE};
    const int status = bring(replay, &fetch);
    nb_crew_settle(&drain->crew); /* also where it failed: the caller's memory is written to until then */
    return status;
}

void nb_drain_scrub(struct nb_replay *replay)
{
    struct nb_drain *drain = &replay->drain;
    if (drain->host == NULL)
        return;
    for (uint32_t i = 0; i < NB_CREW_COPIES; i++) {
        const uint64_t number = nb_crew_next(&drain->crew);
        nb_crew_make_room(&drain->crew, number);
        nb_crew_give(&drain->crew,
                     &(const struct nb_crew_copy){.to = piece_of(drain, number), .bytes = NB_DRAIN_PIECE});
    }
    nb_crew_settle(&drain->crew);
}

void nb_drain_close(struct nb_replay *replay)
{
    struct nb_drain *drain = &replay->drain;
    if (drain->manned)
        nb_crew_dismiss(&drain->crew);
    if (replay->gone != NB_REPLAY_OK)
        return;
    for (uint32_t i = 0; i < NB_CREW_COPIES; i++)
        if (drain->landed[i] != NULL)
            replay->driver.cuEventDestroy_v2(drain->landed[i]);
    if (drain->host != NULL)
        replay->driver.cuMemFreeHost(drain->host);
}
