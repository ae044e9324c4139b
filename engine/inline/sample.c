#include "inline/sample.h"

#include <string.h>
#include <time.h>

#include "inline/arena.h"
#include "inline/mark.h"
#include "inline/upload.h"
#include "inline/window.h"

enum { ALIGNMENT = 16, SWEEP_THREADS = 256, SWEEP_BLOCKS_EACH = 8 };

#define AT(step, expression)                                                                                 \
    do {                                                                                                     \
        const int nb_at = (int)(expression);                                                                 \
        if (nb_at != 0)                                                                                      \
            return 1000 * (int)(step) + nb_at;                                                               \
    } while (0)

/* ---- what the submission says its memory is ------------------------------------------------------------ */

static bool meet(CUdeviceptr one, uint64_t bytes, CUdeviceptr other, uint64_t other_bytes)
{
    return bytes != 0 && other_bytes != 0 && one < other + other_bytes && other < one + bytes;
}

/* No buffer overlaps the loop's memory or another buffer: expected values compared with themselves would be
 * right. */
static bool are_sound(const struct nb_session *session, const struct nb_sample *sample)
{
    const struct nb_case *kept = sample->kept;
    for (uint32_t i = 0; i < kept->count; i++) {
        const struct nb_inline_buffer *buffer = &kept->buffers[i];
        const CUdeviceptr place = sample->places[i];
        const uint64_t alignment = buffer->is_read != 0 ? ALIGNMENT : nb_dtype_bytes(buffer->dtype);
        if (buffer->bytes == 0)
            continue;
        if (place == 0 || place % alignment != 0 || place + buffer->bytes < place)
            return false;
        for (uint32_t j = 0; j < session->extent_count; j++)
            if (meet(place, buffer->bytes, session->extents[j].begin, session->extents[j].bytes))
                return false;
        for (uint32_t j = 0; j < i; j++)
            if (meet(place, buffer->bytes, sample->places[j], kept->buffers[j].bytes))
                return false;
    }
    return true;
}

/* Inputs stay where they were. */
static void look_again(struct nb_sample *sample)
{
    for (uint32_t i = 0; i < sample->kept->count; i++)
        if (sample->kept->buffers[i].is_read == 0)
            sample->places[i] = sample->asked->places[i];
}

/* ---- before ------------------------------------------------------------------------------------------- */

static struct nb_move move_of(const struct nb_sample *sample, uint32_t index, uint64_t stream)
{
    const struct nb_inline_buffer *buffer = &sample->kept->buffers[index];
    return (struct nb_move){
        .to = sample->places[index],
        .bytes = buffer->bytes,
        .stream = stream,
        .key = sample->kept->keys[sample->set].inputs,
    };
}

static CUdeviceptr shadow_of(const struct nb_sample *sample, uint32_t index)
{
    return sample->kept->inputs + sample->set * sample->kept->inputs_stride +
           sample->kept->buffers[index].given;
}

/* Inputs with canaries in them, poison in outputs. */
static int give(const struct nb_session *session, const struct nb_sample *sample, uint64_t canaries)
{
    for (uint32_t i = 0; i < sample->kept->count; i++) {
        const struct nb_inline_buffer *buffer = &sample->kept->buffers[i];
        struct nb_move move = move_of(sample, i, buffer->is_read != 0 ? i : NB_STREAM_POISON + i);
        if (buffer->is_read != 0) {
            move.from = shadow_of(sample, i);
            move.canaries = buffer->is_constant != 0 ? 0 : canaries;
            NB_TRY(nb_move_all(session, session->functions.give, &move));
        } else {
            NB_TRY(nb_move_all(session, session->functions.noise, &move));
        }
    }
    return (int)session->driver.cuCtxResetPersistingL2Cache();
}

static int hold(const struct nb_session *session)
{
    CUdeviceptr release = session->signal_device + offsetof(struct nb_signal, release);
    CUdeviceptr gave_up = session->signal_device + offsetof(struct nb_signal, gave_up);
    uint64_t limit_ns = session->hold_ms * UINT64_C(1000000);
    void *parameters[] = {&release, &gave_up, &limit_ns};
    session->signal->release = 0;
    session->signal->gave_up = 0;
    return session->primed ? nb_launch(session, session->functions.hold, 1, 1, parameters) : 0;
}

/* Written lines evict all others from the L2 cache. They are dropped then, so that no sample pays for writing
 * them back. */
static int flush(const struct nb_session *session)
{
    CUdeviceptr scratch = session->scratch;
    uint64_t units = session->scratch_bytes / 16, lines = session->scratch_bytes / NB_LINE_BYTES;
    uint32_t value = (uint32_t)nb_draw(UINT32_MAX);
    const uint64_t blocks = (uint64_t)session->multiprocessors * SWEEP_BLOCKS_EACH;
    void *sweep[] = {&scratch, &units, &value}, *discard[] = {&scratch, &lines};
    NB_TRY(nb_launch(session, session->functions.sweep, blocks, SWEEP_THREADS, sweep));
    return nb_launch(session, session->functions.discard, blocks, SWEEP_THREADS, discard);
}

static int begin(const struct nb_session *session, const struct nb_sample *sample,
                 const struct nb_window *window)
{
    struct nb_restore restore = {.key = sample->kept->keys[sample->set].inputs};
    for (uint32_t i = 0; i < sample->kept->count; i++) {
        const struct nb_inline_buffer *buffer = &sample->kept->buffers[i];
        if (buffer->is_read != 0 && buffer->is_constant == 0 && buffer->bytes != 0)
            restore.buffers[restore.count++] =
                (struct nb_restored){sample->places[i], shadow_of(sample, i), buffer->bytes, i};
    }
    return nb_window_begin(session, window, &restore);
}

/* ---- behind ------------------------------------------------------------------------------------------- */

static int check(const struct nb_session *session, const struct nb_sample *sample, struct nb_window *window,
                 uint32_t index)
{
    const struct nb_inline_buffer *buffer = &sample->kept->buffers[index];
    if (buffer->is_checked == 0 || buffer->slots == 0)
        return 0;
    const uint64_t share =
        (uint64_t)NB_CHECK_THREADS * NB_BLOCK_BYTES / nb_dtype_bytes(buffer->expected_dtype);
    struct nb_check rules = {
        .key = sample->kept->keys[sample->set].expected,
        .actual = sample->places[index],
        .expected = sample->kept->expected + sample->set * sample->kept->expected_stride + buffer->expected,
        .slots = buffer->slots,
        .stream = index,
        .absolute = buffer->absolute,
        .relative = buffer->relative,
        .dtype = buffer->dtype,
        .expected_dtype = buffer->expected_dtype,
        .blocks = (uint32_t)((buffer->slots + share - 1) / share),
        .dimensions = buffer->dimensions,
    };
    memcpy(rules.shape, buffer->shape, sizeof rules.shape);
    memcpy(rules.strides, buffer->strides, sizeof rules.strides);
    return nb_window_check(session, window, &rules);
}

/* Check all outputs, beginning with a random one. */
static int check_all(const struct nb_session *session, const struct nb_sample *sample,
                     struct nb_window *window)
{
    const uint32_t count = sample->kept->count, first = (uint32_t)nb_draw(count);
    for (uint32_t i = 0; i < count; i++)
        NB_TRY(check(session, sample, window, (first + i) % count));
    return 0;
}

static int spoil(const struct nb_session *session, const struct nb_sample *sample)
{
    for (uint32_t i = 0; i < sample->kept->count; i++) {
        const struct nb_inline_buffer *buffer = &sample->kept->buffers[i];
        const struct nb_move move = move_of(sample, i, NB_STREAM_GARBAGE + i);
        if (buffer->is_read != 0 && buffer->is_constant == 0)
            NB_TRY(nb_move_all(session, session->functions.noise, &move));
    }
    return 0;
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Make the call, and locate its outputs: both are in its time. The submission runs within nb_gate_lend. */
static int call(struct nb_session *session, struct nb_sample *sample, void **returned)
{
    *returned = nb_gate_lend(session->python.call, sample->call, NULL);
    AT(NB_STEP_CALL, *returned == NULL);
    if (sample->outputs == NULL)
        return 0;
    void *outcome = nb_gate_lend(session->python.call_with, sample->outputs, *returned);
    AT(NB_STEP_OUTPUTS, outcome == NULL);
    (void)nb_gate_lend(session->python.release, outcome, NULL);
    look_again(sample);
    AT(NB_STEP_MEMORY, !are_sound(session, sample));
    return 0;
}

/* Host time from the call to the work queued behind it. If the queue is not held, the device waits for it
 * between the end event and the check. */
static int work(struct nb_session *session, struct nb_sample *sample, struct nb_window *window,
                void **returned, double *tail_us)
{
    const int status = call(session, sample, returned);
    const uint64_t began = now_ns();
    if (status != 0)
        return status;
    AT(NB_STEP_END, nb_window_end(session, window));
    AT(NB_STEP_CHECK, check_all(session, sample, window));
    *tail_us = (double)(now_ns() - began) / 1000.0;
    AT(NB_STEP_CHECK, spoil(session, sample));
    nb_mark_end(session, sample->number);
    return 0;
}

int nb_sample_run(struct nb_session *session, struct nb_sample *sample, struct nb_row *row)
{
    struct nb_window window;
    struct nb_seen seen;
    void *returned = NULL;
    double tail_us = 0;
    AT(NB_STEP_MEMORY, !are_sound(session, sample));
    AT(NB_STEP_SETTLE, session->driver.cuCtxSetCurrent(session->context));
    AT(NB_STEP_SETTLE, session->driver.cuCtxSynchronize());
    nb_mark_begin(session, sample->number);
    AT(NB_STEP_SETTLE, nb_window_draw(session, &window));
    AT(NB_STEP_INPUTS, give(session, sample, window.canaries));
    AT(NB_STEP_FLUSH, hold(session));
    AT(NB_STEP_FLUSH, flush(session));
    AT(NB_STEP_START, begin(session, sample, &window));
    if (session->settles)
        AT(NB_STEP_START, session->driver.cuCtxSynchronize());
    const int status = work(session, sample, &window, &returned, &tail_us);
    session->signal->release = 1;
    const int waited = (int)session->driver.cuCtxSynchronize();
    if (returned != NULL)
        (void)nb_gate_lend(session->python.release, returned, NULL);
    if (status != 0)
        return status;
    AT(NB_STEP_WAIT, waited);
    AT(NB_STEP_RESULT, nb_window_read(session, &window, &seen));
    const bool unprimed = !session->primed || session->signal->gave_up != 0;
    *row = (struct nb_row){
        .event_us = seen.event_us,
        .stamp_us = unprimed ? seen.stamp_us - tail_us : seen.stamp_us,
        .wrong = seen.wrong,
        .set = sample->set,
        .flags = (unprimed ? (uint32_t)NB_ROW_UNPRIMED : 0u) | (seen.altered ? (uint32_t)NB_ROW_ALTERED : 0u),
    };
    return 0;
}
