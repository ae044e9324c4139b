/* One replay: the state that all parts of the engine share, and their helpers for errors, memory and waiting.
 */
#ifndef NEUTRINO_ENGINE_H
#define NEUTRINO_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"
#include "replay/capture/reader.h"
#include "replay/rebuild/code_state.h"
#include "replay/rebuild/host_reads_state.h"
#include "replay/rebuild/memory_state.h"
#include "replay/rebuild/operations_state.h"
#include "replay/rebuild/streams_state.h"
#include "replay/replay.h"
#include "replay/sample/cold_state.h"
#include "replay/sample/priority_state.h"
#include "replay/sample/utility_state.h"
#include "replay/state/copier_state.h"
#include "replay/state/inputs_state.h"
#include "replay/state/staging_state.h"
#include "replay/state/vault_state.h"

enum { NB_NOTES_MAX = 8, NB_NOTE_BYTES = 256 };

struct nb_replay {
    struct nb_reader reader;
    struct nb_replay_options options;
    char *error; /* for the call in progress; NB_REPLAY_TEXT bytes */
    int gone;    /* the status with which the context was lost; no driver call may follow */
    bool opened;
    bool prepared;
    bool warm; /* the operations ran once, so that nothing is loaded lazily any more */

    struct nb_driver driver;
    CUdevice device;
    CUcontext context;
    bool persists; /* the device has persisting L2 lines */
    struct nb_replay_device facts;

    struct nb_copier copier;
    struct nb_staging staging;
    struct nb_vault vault;
    struct nb_memory memory;
    struct nb_code code;
    struct nb_streams streams;
    struct nb_operations operations;
    struct nb_host_reads host_reads;
    struct nb_inputs inputs;
    struct nb_utility utility;
    struct nb_cold_state cold;
    struct nb_priority priority;
    char (*refusals)[NB_REPLAY_TEXT];
    uint32_t refusal_count; /* of those that prevent a replay */
    char notes[NB_NOTES_MAX][NB_NOTE_BYTES];
    uint32_t note_count;
    uint64_t samples; /* taken so far */
};

/* Write the error line and return `status`. A status that loses the context is remembered. */
int nb_fail(struct nb_replay *replay, int status, const char *format, ...)
    __attribute__((visibility("hidden"), format(printf, 3, 4)));

/* nb_driver_status; a status that loses the context is remembered. */
int nb_called(struct nb_replay *replay, CUresult result, const char *call)
    __attribute__((visibility("hidden")));

/* Begin a call of replay.h that needs the rebuilt state. */
int nb_begin(struct nb_replay *replay, char *error) __attribute__((visibility("hidden")));

#define NB_CALL(replay, function, ...) nb_called(replay, (replay)->driver.function(__VA_ARGS__), #function)

#define NB_TRY(expression)                                                                                   \
    do {                                                                                                     \
        const int nb_try = (expression);                                                                     \
        if (nb_try != NB_REPLAY_OK)                                                                          \
            return nb_try;                                                                                   \
    } while (0)

/* Zeroed host memory for `count` elements; NULL for a count of 0, or after writing an error line. */
void *nb_new(struct nb_replay *replay, uint64_t count, size_t bytes) __attribute__((visibility("hidden")));

/* Wait at most `timeout_ms` for all work of a stream. `doing` completes "... did not end in 5000 ms". */
int nb_wait(struct nb_replay *replay, CUstream stream, uint32_t timeout_ms, const char *doing)
    __attribute__((visibility("hidden")));

int nb_wait_event(struct nb_replay *replay, CUevent event, uint32_t timeout_ms, const char *doing)
    __attribute__((visibility("hidden")));

/* Time limit for the engine's own work, whatever limit a sample has. */
enum { NB_OWN_WORK_MS = 60000 };

/* Add a note on a deviation from the recorded state. Notes beyond NB_NOTES_MAX are dropped. */
void nb_note(struct nb_replay *replay, const char *format, ...)
    __attribute__((visibility("hidden"), format(printf, 2, 3)));

#endif
