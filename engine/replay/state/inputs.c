#include "replay/state/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "replay/base/engine.h"
#include "replay/rebuild/code.h"
#include "replay/rebuild/memory.h"
#include "replay/sample/utility.h"
#include "replay/state/staging.h"
#include "replay/state/vault.h"

/* splitmix64 */
uint64_t nb_inputs_noise(struct nb_replay *replay)
{
    uint64_t z = replay->inputs.noise += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Fills an output with another pattern in each sample, never zeros, so that bytes that a sample does not
 * write are detected. With `strict` the pattern is not one repeated byte: an adversary could write bytes
 * equal to it. */
static int poison(struct nb_replay *replay, CUdeviceptr to, uint64_t bytes, CUstream stream)
{
    if (replay->inputs.trial != 0)
        return NB_CALL(replay, cuMemsetD8Async, to, replay->inputs.trial, (size_t)bytes, stream);
    const uint64_t noise = nb_inputs_noise(replay);
    if (replay->options.strict != 0)
        return nb_utility_noise(replay, to, bytes, (uint32_t)noise);
    return NB_CALL(replay, cuMemsetD8Async, to, (unsigned char)(noise | 1), (size_t)bytes, stream);
}

int nb_inputs_check(struct nb_replay *replay, uint32_t set)
{
    if (set == NB_NOTHING || set < replay->inputs.set_count)
        return NB_REPLAY_OK;
    return nb_fail(replay, NB_REPLAY_OURS, "input set %u does not exist", set);
}

static bool has(const struct nb_inputs *inputs, uint32_t set, const struct nb_capture_allocation *memory)
{
    for (uint32_t i = 0; i < inputs->count && set != NB_NOTHING; i++) {
        const struct nb_input *input = &inputs->inputs[i];
        if (input->set == set && input->address == memory->address && input->bytes >= memory->bytes)
            return true;
    }
    return false;
}

int nb_inputs_check_unknown(struct nb_replay *replay, uint32_t set)
{
    const struct nb_reader *reader = &replay->reader;
    if (set != NB_NOTHING && replay->inputs.is_complete[set] != 0)
        return NB_REPLAY_OK;
    for (uint32_t i = 0; i < reader->allocation_count; i++) {
        const struct nb_capture_allocation *each = &reader->allocations[i];
        if ((each->flags & NB_CAPTURE_ALLOCATED_BEFORE_UNKNOWN) != 0 && !has(&replay->inputs, set, each))
            return nb_fail(
                replay, NB_REPLAY_CANNOT,
                "the capture has no memory from before the region for %llu bytes at 0x%llx, and no "
                "input set gives them; record it again",
                (unsigned long long)each->bytes, (unsigned long long)each->address);
    }
    if (set != NB_NOTHING)
        replay->inputs.is_complete[set] = 1;
    return NB_REPLAY_OK;
}

static bool lies_in_one(const struct nb_replay *replay, uint64_t address, uint64_t bytes)
{
    const struct nb_reader *reader = &replay->reader;
    if (nb_globals_at(replay, 0, address, bytes) != 0)
        return true;
    for (uint32_t i = 0; i < reader->allocation_count; i++) {
        const uint64_t offset = address - reader->allocations[i].address;
        if (address >= reader->allocations[i].address && offset < reader->allocations[i].bytes &&
            bytes <= reader->allocations[i].bytes - offset)
            return true;
    }
    return false;
}

static int check_place(struct nb_replay *replay, uint64_t address, uint64_t bytes)
{
    if (bytes != 0 && lies_in_one(replay, address, bytes))
        return NB_REPLAY_OK;
    return nb_fail(replay, NB_REPLAY_CANNOT,
                   "%llu bytes at 0x%llx are not within one allocation or global of the capture",
                   (unsigned long long)bytes, (unsigned long long)address);
}

/* Make room for one more element; `*room` doubles. */
static int grow(struct nb_replay *replay, void **array, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room)
        return NB_REPLAY_OK;
    const uint32_t new_room = *room == 0 ? 16 : 2 * *room;
    void *grown = realloc(*array, new_room * bytes);
    if (grown == NULL)
        return nb_fail(replay, NB_REPLAY_CANNOT, "out of host memory");
    *array = grown;
    *room = new_room;
    return NB_REPLAY_OK;
}

/* Find an input that the set has already, or make a new one, of zeros. */
static int take_input(struct nb_replay *replay, uint32_t set, uint64_t address, uint64_t bytes,
                      struct nb_input **found)
{
    struct nb_inputs *inputs = &replay->inputs;
    for (uint32_t i = 0; set < inputs->set_count && i < inputs->count; i++) {
        *found = &inputs->inputs[i];
        if ((*found)->set == set && (*found)->address == address && (*found)->bytes == bytes)
            return NB_REPLAY_OK;
    }
    NB_TRY(grow(replay, (void **)&inputs->inputs, inputs->count, &inputs->room, sizeof *inputs->inputs));
    *found = &inputs->inputs[inputs->count++];
    **found = (struct nb_input){.set = set, .address = address, .bytes = bytes};
    if (set >= inputs->set_count)
        inputs->set_count = set + 1;
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_input(struct nb_replay *replay, uint32_t set, uint64_t address,
                                     const void *data, uint64_t bytes, char *error)
{
    NB_TRY(nb_begin(replay, error));
    NB_TRY(check_place(replay, address, bytes));
    if (set >= NB_INPUT_SETS_MAX)
        return nb_fail(replay, NB_REPLAY_CANNOT, "input set %u is too many; give at most %u sets", set,
                       NB_INPUT_SETS_MAX);
    NB_TRY(nb_vault_open(replay));
    struct nb_input *input = NULL;
    NB_TRY(take_input(replay, set, address, bytes, &input));
    input->zeros = data == NULL;
    if (input->zeros)
        return NB_REPLAY_OK;
    if (input->content == 0)
        NB_TRY(nb_vault_take(replay, bytes, &input->content));
    NB_TRY(nb_staging_put(replay, input->content, data, bytes));
    NB_TRY(nb_staging_flush(replay));
    return nb_wait(replay, replay->streams.timed, NB_OWN_WORK_MS, "copying an input");
}

NB_REPLAY_EXPORT int nb_replay_output(struct nb_replay *replay, uint64_t address, uint64_t bytes, char *error)
{
    NB_TRY(nb_begin(replay, error));
    struct nb_inputs *inputs = &replay->inputs;
    NB_TRY(check_place(replay, address, bytes));
    NB_TRY(grow(replay, (void **)&inputs->outputs, inputs->output_count, &inputs->output_room,
                sizeof *inputs->outputs));
    inputs->outputs[inputs->output_count++] = (struct nb_output){.address = address, .bytes = bytes};
    return NB_REPLAY_OK;
}

/* Poison outputs first, so that memory that is both input and output begins as the input. `at` returns the
 * address in the target, or 0 for memory elsewhere. */
static int write_all(struct nb_replay *replay, uint32_t set,
                     CUdeviceptr (*at)(const struct nb_replay *, uint32_t, uint64_t, uint64_t),
                     uint32_t where, CUstream stream)
{
    const struct nb_inputs *inputs = &replay->inputs;
    for (uint32_t i = 0; i < inputs->output_count; i++) {
        const struct nb_output *output = &inputs->outputs[i];
        const bool is_poisoned =
            inputs->trial == 0 || inputs->trial_output == NB_NOTHING || inputs->trial_output == i;
        const CUdeviceptr to = at(replay, where, output->address, output->bytes);
        if (to != 0 && is_poisoned)
            NB_TRY(poison(replay, to, output->bytes, stream));
    }
    for (uint32_t i = 0; i < inputs->count && set != NB_NOTHING; i++) {
        const struct nb_input *input = &inputs->inputs[i];
        const CUdeviceptr to = input->set == set ? at(replay, where, input->address, input->bytes) : 0;
        if (to != 0 && input->zeros)
            NB_TRY(NB_CALL(replay, cuMemsetD8Async, to, 0, (size_t)input->bytes, stream));
        else if (to != 0)
            NB_TRY(NB_CALL(replay, cuMemcpyDtoDAsync_v2, to, input->content, (size_t)input->bytes, stream));
    }
    return NB_REPLAY_OK;
}

int nb_inputs_write_memory(struct nb_replay *replay, uint32_t inputs, uint32_t set, CUstream stream)
{
    return write_all(replay, inputs, nb_memory_at, set, stream);
}

int nb_inputs_write_globals(struct nb_replay *replay, uint32_t inputs, uint32_t copy, CUstream stream)
{
    return write_all(replay, inputs, nb_globals_at, copy, stream);
}

void nb_inputs_close(struct nb_replay *replay)
{
    free(replay->inputs.inputs);
    free(replay->inputs.outputs);
}
