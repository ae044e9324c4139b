#include "replay/rebuild/context_limits.h"

#include "replay/base/engine.h"

/* Limits that a capture may set. Other limits (persisting lines, fetch granularity) belong to the
 * measurement. `lasting`: memory of this limit keeps its content from launch to launch, so that an adversary
 * gets no more of it than every context has. */
static const struct {
    CUlimit limit;
    uint64_t most;
    bool lasting;
} allowed[] = {
    {CU_LIMIT_STACK_SIZE, 512u << 10, false},
    {CU_LIMIT_PRINTF_FIFO_SIZE, 256u << 20, true},
    {CU_LIMIT_MALLOC_HEAP_SIZE, UINT64_C(8) << 30, true},
    {CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 24, false},
    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 1u << 20, false},
};

static int set_limit(struct nb_replay *replay, const struct nb_capture_limit *captured, uint64_t most,
                     bool lasting)
{
    size_t value = 0;
    const CUlimit limit = (CUlimit)captured->limit;
    const bool is_known = replay->driver.cuCtxGetLimit(&value, limit) == CUDA_SUCCESS;
    if (is_known && value == captured->value)
        return NB_REPLAY_OK;
    if (is_known && lasting && replay->options.strict != 0 && captured->value > value) {
        nb_note(replay, "limit %u of the captured context was %llu; the replay leaves it at %zu",
                captured->limit, (unsigned long long)captured->value, value);
        return NB_REPLAY_OK;
    }
    if (captured->value > most)
        return nb_fail(replay, NB_REPLAY_CANNOT,
                       "limit %u of the captured context was %llu; a replay gives at most %llu",
                       captured->limit, (unsigned long long)captured->value, (unsigned long long)most);
    return NB_CALL(replay, cuCtxSetLimit, limit, (size_t)captured->value);
}

/* Persisting L2 lines would be warm when the next sample begins. Some devices have none. */
static int set_no_persisting(struct nb_replay *replay)
{
    const CUresult result = replay->driver.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
    if (result == CUDA_ERROR_UNSUPPORTED_LIMIT || !replay->persists)
        return NB_REPLAY_OK;
    return nb_called(replay, result, "cuCtxSetLimit");
}

int nb_limits_set(struct nb_replay *replay)
{
    const struct nb_reader *reader = &replay->reader;
    if (replay->options.strict != 0)
        NB_TRY(set_no_persisting(replay));
    for (uint32_t i = 0; i < reader->limit_count; i++)
        for (size_t j = 0; j < sizeof allowed / sizeof allowed[0]; j++)
            if (reader->limits[i].limit == (uint32_t)allowed[j].limit)
                NB_TRY(set_limit(replay, &reader->limits[i], allowed[j].most, allowed[j].lasting));
    return NB_REPLAY_OK;
}
