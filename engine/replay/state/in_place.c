/* Finds outputs that the region updates in place. The recorded program should name them as state. */
#include <stdlib.h>
#include <string.h>

#include "replay/base/engine.h"
#include "replay/rebuild/code.h"
#include "replay/rebuild/memory.h"
#include "replay/sample/cold.h"
#include "replay/sample/loop.h"
#include "replay/state/recorded.h"
#include "replay/state/staging.h"

enum {
    COMPARED_BYTES = 4 << 20,
    SUSPECTS_MAX = 16,
    NOISE_FACTOR = 4 /* the dependent bytes must outnumber the unsteady bytes by this factor */
};

/* An output that poison changed: its bytes after two runs without poison. */
struct suspect {
    uint32_t output;
    uint8_t *clean;
    uint64_t unsteady; /* bytes that differ between the two runs (atomics, races) */
};

static uint64_t compared_bytes(const struct nb_output *output)
{
    return output->bytes < COMPARED_BYTES ? output->bytes : COMPARED_BYTES;
}

static int fetch(struct nb_replay *replay, const struct nb_output *output, uint8_t *into)
{
    const uint64_t bytes = compared_bytes(output);
    const CUdeviceptr global = nb_globals_at(replay, replay->code.current, output->address, output->bytes);
    return nb_staging_fetch(replay, global != 0 ? global : output->address, bytes, into);
}

/* Poison bytes of the trials. They make small floats of any width and small integers: an update does not
 * vanish by rounding, as it would in the large numbers of random bytes. */
static const uint8_t trials[] = {0x01, 0x3b};
enum { TRIALS = sizeof trials };

static int run_poisoned(struct nb_replay *replay, uint8_t trial, uint32_t output)
{
    const uint32_t copy = replay->code.current;
    replay->inputs.trial = trial;
    replay->inputs.trial_output = output;
    const int status = nb_cold_restore(replay, copy, NB_NOTHING);
    replay->inputs.trial = 0;
    return status != NB_REPLAY_OK ? status : nb_loop_run(replay, copy);
}

static bool is_given(const struct nb_inputs *inputs, const struct nb_output *output)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        const struct nb_input *input = &inputs->inputs[i];
        if (input->address < output->address + output->bytes &&
            output->address < input->address + input->bytes)
            return true;
    }
    return false;
}

/* Whether the region wrote other bytes than when it was recorded. Bytes that still hold the poison were not
 * written. */
static bool is_otherwise(const struct nb_output *output, const uint8_t *recorded, const uint8_t *actual)
{
    for (uint64_t i = 0; i < compared_bytes(output); i++)
        if (actual[i] != recorded[i] && actual[i] != trials[0])
            return true;
    return false;
}

static int find_suspects(struct nb_replay *replay, struct suspect *suspects, uint32_t *count, uint8_t *room)
{
    const struct nb_inputs *inputs = &replay->inputs;
    uint8_t *recorded = room, *actual = room + COMPARED_BYTES;
    NB_TRY(run_poisoned(replay, trials[0], NB_NOTHING));
    for (uint32_t i = 0; i < inputs->output_count && *count < SUSPECTS_MAX; i++) {
        const struct nb_output *output = &inputs->outputs[i];
        if (is_given(inputs, output))
            continue;
        NB_TRY(fetch(replay, output, actual));
        const bool in_memory = nb_memory_at(replay, 0, output->address, output->bytes) != 0;
        if (in_memory)
            nb_recorded_outcome(&replay->reader, output->address, compared_bytes(output), recorded);
        if (!in_memory || is_otherwise(output, recorded, actual))
            suspects[(*count)++].output = i;
    }
    return NB_REPLAY_OK;
}

/* Two runs without poison: their outcome, and how much of it is unsteady. */
static int run_clean(struct nb_replay *replay, struct suspect *suspects, uint32_t count, uint8_t *again)
{
    for (int run = 0; run < 2; run++) {
        NB_TRY(nb_recorded_run(replay));
        for (uint32_t i = 0; i < count; i++) {
            struct suspect *suspect = &suspects[i];
            const struct nb_output *output = &replay->inputs.outputs[suspect->output];
            if (run == 0 && (suspect->clean = nb_new(replay, compared_bytes(output), 1)) == NULL)
                return NB_REPLAY_CANNOT;
            NB_TRY(fetch(replay, output, run == 0 ? suspect->clean : again));
            for (uint64_t at = 0; run == 1 && at < compared_bytes(output); at++)
                suspect->unsteady += suspect->clean[at] != again[at];
        }
    }
    return NB_REPLAY_OK;
}

/* Runs with this output alone poisoned. A byte depends on the poison if every run wrote it, and no run wrote
 * what the clean runs did. */
static int is_in_place(struct nb_replay *replay, const struct suspect *suspect, uint8_t *room, bool *result)
{
    const struct nb_output *output = &replay->inputs.outputs[suspect->output];
    uint8_t *dependent = room, *actual = room + COMPARED_BYTES;
    uint64_t count = 0;
    memset(dependent, 1, COMPARED_BYTES);
    for (int trial = 0; trial < TRIALS; trial++) {
        NB_TRY(run_poisoned(replay, trials[trial], suspect->output));
        NB_TRY(fetch(replay, output, actual));
        count = 0;
        for (uint64_t at = 0; at < compared_bytes(output); at++) {
            dependent[at] &= actual[at] != suspect->clean[at] && actual[at] != trials[trial];
            count += dependent[at];
        }
    }
    *result = count > NOISE_FACTOR * suspect->unsteady;
    return NB_REPLAY_OK;
}

static int find(struct nb_replay *replay, struct suspect *suspects, uint8_t *room, uint32_t *output)
{
    uint32_t count = 0;
    NB_TRY(find_suspects(replay, suspects, &count, room));
    if (count != 0)
        NB_TRY(run_clean(replay, suspects, count, room));
    int status = NB_REPLAY_OK;
    for (uint32_t i = 0; status == NB_REPLAY_OK && *output == NB_NOTHING && i < count; i++) {
        bool in_place = false;
        status = is_in_place(replay, &suspects[i], room, &in_place);
        if (in_place)
            *output = suspects[i].output;
    }
    return status;
}

NB_REPLAY_EXPORT int nb_replay_find_in_place(struct nb_replay *replay, uint32_t *output, char *error)
{
    NB_TRY(nb_begin(replay, error));
    *output = NB_NOTHING;
    const bool lacks_inputs = nb_reader_has_allocation(&replay->reader, NB_CAPTURE_ALLOCATED_BEFORE_UNKNOWN);
    if (replay->options.strict != 0 || replay->inputs.output_count == 0 || lacks_inputs)
        return NB_REPLAY_OK;
    struct suspect suspects[SUSPECTS_MAX] = {0};
    uint8_t *room = nb_new(replay, 2 * (uint64_t)COMPARED_BYTES, 1);
    const int status = room != NULL ? find(replay, suspects, room, output) : NB_REPLAY_CANNOT;
    for (uint32_t i = 0; i < SUSPECTS_MAX; i++)
        free(suspects[i].clean);
    free(room);
    return status;
}
