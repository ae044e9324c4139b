#include "inline/window.h"

#include <stdlib.h>

enum { RESTORE_THREADS = 256, PAIRS = 100, EMPTY_WINDOWS = 9 };

#define STAMP_US_MAX 1e9

int nb_window_draw(const struct nb_session *session, struct nb_window *window)
{
    const uint64_t places = session->noise_bytes / sizeof(uint64_t) / NB_CELLS;
    const uint64_t first = nb_draw(NB_EVENTS);
    if (!nb_random(&window->token, sizeof window->token) ||
        !nb_random(&window->canaries, sizeof window->canaries))
        return CUDA_ERROR_UNKNOWN;
    window->canaries |= 1; /* 0 means no canaries */
    window->right = 0;
    window->stamped = false;
    window->start = session->events[first];
    window->end = session->events[(first + 1 + nb_draw(NB_EVENTS - 1)) % NB_EVENTS];
    const uint64_t turn = nb_draw(NB_CELLS);
    for (uint64_t i = 0; i < NB_CELLS; i++) { /* one per quarter, assigned at random */
        const uint64_t place = (i + turn) % NB_CELLS * places + nb_draw(places);
        window->cells[i] = session->noise + place * sizeof(uint64_t);
        NB_TRY(session->driver.cuMemcpyDtoH_v2(&window->before[i], window->cells[i], sizeof(uint64_t)));
    }
    return 0;
}

int nb_window_begin(const struct nb_session *session, const struct nb_window *window,
                    struct nb_restore *restore)
{
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    const CUlaunchConfig config = {
        .gridDimX = session->multiprocessors,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = RESTORE_THREADS,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = session->shared_bytes,
        .attrs = &cooperative,
        .numAttrs = 1,
    };
    void *parameters[] = {restore};
    restore->canaries = window->canaries;
    restore->stamp = window->cells[NB_CELL_BEGAN];
    NB_TRY(session->driver.cuLaunchKernelEx(&config, session->functions.restore, parameters, NULL));
    return (int)session->driver.cuEventRecord(window->start, NULL);
}

int nb_window_end(const struct nb_session *session, const struct nb_window *window)
{
    if (session->joins_all) {
        NB_TRY(session->driver.cuCtxRecordEvent(session->context, session->joined));
        NB_TRY(session->driver.cuStreamWaitEvent(NULL, session->joined, 0));
    }
    return (int)session->driver.cuEventRecord(window->end, NULL);
}

int nb_window_check(const struct nb_session *session, struct nb_window *window, struct nb_check *check)
{
    CUlaunchAttribute early = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                               .value.programmaticStreamSerializationAllowed = 1};
    const CUlaunchConfig config = {
        .gridDimX = check->blocks,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = NB_CHECK_THREADS,
        .blockDimY = 1,
        .blockDimZ = 1,
        .attrs = &early,
        .numAttrs = session->early && !window->stamped ? 1 : 0,
    };
    void *parameters[] = {check};
    check->token = nb_token(window->token, check->stream); /* a different one for each output */
    check->order = nb_mix(check->token);
    check->tally = window->cells[NB_CELL_TALLY];
    check->wrong = window->cells[NB_CELL_WRONG];
    check->stamp = window->stamped ? 0 : window->cells[NB_CELL_ENDED];
    window->stamped = true;
    for (uint32_t block = 0; block < check->blocks; block++)
        window->right += nb_token(check->token, block);
    return (int)session->driver.cuLaunchKernelEx(&config, session->functions.check, parameters, NULL);
}

int nb_window_read(const struct nb_session *session, const struct nb_window *window, struct nb_seen *seen)
{
    uint64_t grown[NB_CELLS];
    NB_TRY(nb_elapsed(session, window->start, window->end, &seen->event_us));
    for (int i = 0; i < NB_CELLS; i++) {
        NB_TRY(session->driver.cuMemcpyDtoH_v2(&grown[i], window->cells[i], sizeof grown[i]));
        grown[i] -= window->before[i];
    }
    const bool agrees = grown[NB_CELL_TALLY] == window->right;
    seen->wrong = grown[NB_CELL_WRONG];
    seen->altered = agrees != (seen->wrong == 0);
    if (seen->wrong == 0 && !agrees)
        seen->wrong = 1;
    seen->stamp_us = seen->event_us;
    if (window->stamped)
        seen->stamp_us = (double)(int64_t)(grown[NB_CELL_ENDED] - grown[NB_CELL_BEGAN]) / 1000.0;
    if (!(seen->stamp_us >= 0 && seen->stamp_us < STAMP_US_MAX)) {
        seen->stamp_us = 0;
        seen->altered = true;
    }
    return 0;
}

static int compare(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

static int empty_window(struct nb_session *session, double *gap_us)
{
    struct nb_window window;
    struct nb_restore restore = {.count = 0};
    struct nb_check check = {.actual = session->noise, .expected = session->noise, .blocks = 1};
    struct nb_seen seen;
    NB_TRY(nb_window_draw(session, &window));
    NB_TRY(nb_window_begin(session, &window, &restore));
    NB_TRY(nb_window_end(session, &window));
    NB_TRY(nb_window_check(session, &window, &check));
    NB_TRY(session->driver.cuCtxSynchronize());
    NB_TRY(nb_window_read(session, &window, &seen));
    *gap_us = seen.stamp_us - seen.event_us;
    return seen.altered || seen.wrong != 0 ? CUDA_ERROR_UNKNOWN : 0;
}

int nb_window_measure(struct nb_session *session)
{
    double pairs[PAIRS], gaps[EMPTY_WINDOWS];
    for (int i = 0; i < PAIRS; i++) {
        NB_TRY(session->driver.cuEventRecord(session->events[0], NULL));
        NB_TRY(session->driver.cuEventRecord(session->events[1], NULL));
        NB_TRY(session->driver.cuCtxSynchronize());
        NB_TRY(nb_elapsed(session, session->events[0], session->events[1], &pairs[i]));
    }
    session->overhead_us = median(pairs, PAIRS);
    if (session->early && empty_window(session, &gaps[0]) != 0)
        session->early = false; /* a driver without programmatic launches */
    for (int i = 0; i < EMPTY_WINDOWS; i++)
        NB_TRY(empty_window(session, &gaps[i]));
    session->gap_us = median(gaps, EMPTY_WINDOWS);
    return 0;
}
