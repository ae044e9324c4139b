#include "inline/inline.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inline/arena.h"
#include "inline/guard.h"
#include "inline/mark.h"
#include "inline/sample.h"
#include "inline/session.h"
#include "inline/upload.h"
#include "inline/window.h"

/* Runs on the arena's stack, called by nb_gate_enter. */
int nb_inside(void *request) __attribute__((visibility("hidden")));

static int fail(char *error, const char *text, int result)
{
    if (result == 0)
        (void)snprintf(error, NB_INLINE_TEXT, "%s", text);
    else
        (void)snprintf(error, NB_INLINE_TEXT, "%s (CUDA error %d)", text, result);
    return -1;
}

/* ---- before the submission ----------------------------------------------------------------------------- */

static bool find_python(struct nb_python *python)
{
    const struct {
        const char *name;
        void *place;
    } wanted[] = {
        {"PyObject_CallNoArgs", &python->call},
        {"PyObject_CallOneArg", &python->call_with},
        {"Py_DecRef", &python->release},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *address = dlsym(RTLD_DEFAULT, wanted[i].name);
        if (address == NULL)
            return false;
        memcpy(wanted[i].place, &address, sizeof address);
    }
    return true;
}

/* Read a key for each case, and empty the file. */
static bool take_keys(struct nb_session *session, int file)
{
    for (uint32_t i = 0; i < session->cases; i++) {
        struct nb_seal_key *key = nb_arena_take(1, sizeof *key);
        const off_t place = (off_t)(i * sizeof *key);
        if (key == NULL || pread(file, key, sizeof *key, place) != (ssize_t)sizeof *key)
            return false;
        session->case_list[i].seal = key;
    }
    return ftruncate(file, 0) == 0 && close(file) == 0;
}

static struct nb_session *new_session(const struct nb_inline_opening *opening)
{
    struct nb_session *session = nb_arena_build() ? nb_arena_take(1, sizeof *session) : NULL;
    if (session == NULL)
        return NULL;
    session->case_list = nb_arena_take(opening->cases, sizeof *session->case_list);
    session->cases = opening->cases;
    session->samples = opening->samples;
    session->hold_ms = opening->hold_ms;
    session->channel = opening->channel;
    nb_arena_head()->session = session;
    return session->case_list != NULL ? session : NULL;
}

int nb_inline_open(const struct nb_inline_opening *opening, struct nb_inline_opened *opened, char *error)
{
    const char *step = "";
    if (nb_gate.head != 0 || opening->cases == 0 || opening->cases > NB_INLINE_CASES_MAX ||
        opening->samples == 0 || opening->samples >= NB_INLINE_SAMPLES_MAX)
        return fail(error,
                    "invalid order: a process has one session, of 1 to 256 cases and 1 to 1023 samples", 0);
    struct nb_session *session = new_session(opening);
    if (session == NULL)
        return fail(error, "too little host memory for the arena", 0);
    if (!take_keys(session, opening->seal))
        return fail(error, "the seal's keys cannot be read", 0);
    if (!find_python(&session->python))
        return fail(error, "Python's functions cannot be found; timing inline needs Python 3.10 or newer", 0);
    nb_mark_find(session);
    if (nb_driver_open(&session->driver, opening->driver, error) != 0)
        return -1;
    int result = nb_device_build(session, opening->device, &step);
    if (result != 0)
        return fail(error, step, result);
    result = nb_window_measure(session);
    if (result != 0)
        return fail(error, "the kernels do not work here", result);
    *opened = (struct nb_inline_opened){
        .overhead_us = session->overhead_us,
        .gap_us = session->gap_us,
        .arena = nb_gate.base,
        .arena_bytes = nb_gate.bytes,
        .joins_all = session->joins_all,
    };
    return 0;
}

/* Wipe the stack below the caller's frame, which may hold copies of keys. */
static void __attribute__((noinline)) wipe_stack(void)
{
    unsigned char below[128 << 10];
    nb_wipe(below, sizeof below);
}

int nb_inline_load(struct nb_inline_case *loading, char *error)
{
    const char *step = "";
    struct nb_session *session = nb_gate.head != 0 ? nb_arena_head()->session : NULL;
    if (session == NULL || session->cases_loaded == session->cases)
        return fail(error, "all announced cases are already loaded", 0);
    const int result = nb_upload(session, loading, &step);
    wipe_stack();
    return result == 0 ? 0 : fail(error, step, result);
}

int nb_inline_arm(struct nb_inline_armed *armed, char *error)
{
    struct nb_session *session = nb_gate.head != 0 ? nb_arena_head()->session : NULL;
    if (session == NULL || session->cases_loaded != session->cases)
        return fail(error, "not all cases are loaded", 0);
    void *driver = NULL;
    memcpy(&driver, &session->driver.cuInit, sizeof driver);
    nb_guard(driver, armed);
    return 0;
}

/* ---- with it ------------------------------------------------------------------------------------------- */

int nb_inline_run(struct nb_inline_running *running)
{
    return nb_gate_enter(running);
}

/* The order of input sets is a secret. */
static void shuffle(uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t other = (uint32_t)nb_draw(i), stored = order[i - 1];
        order[i - 1] = order[other];
        order[other] = stored;
    }
}

static int run_case(struct nb_session *session, const struct nb_case *stored,
                    const struct nb_inline_running *running)
{
    uint32_t order[NB_INLINE_SAMPLES_MAX];
    struct nb_sample sample = {
        .kept = stored, .call = running->call, .outputs = running->outputs, .asked = running};
    struct nb_result *result = &session->result;
    shuffle(order, stored->sets);
    session->primed = true;
    session->settles = false;
    for (uint32_t i = 0; i < stored->sets; i++) {
        struct nb_row *row = &result->rows[i];
        for (uint32_t j = 0; j < stored->count; j++)
            sample.places[j] = running->places[j];
        sample.set = order[i];
        sample.number = i;
        NB_TRY(nb_sample_run(session, &sample, row));
        if (i == 0 || (row->wrong != 0 && !session->settles)) { /* wrong by streams that do not wait? */
            row->flags |= NB_ROW_PROBE;
            session->settles = row->wrong != 0;
            session->primed = !session->settles && (row->flags & NB_ROW_UNPRIMED) == 0;
        }
        nb_wipe(&stored->keys[order[i]], sizeof stored->keys[order[i]]);
        result->rows_done = i + 1;
    }
    return 0;
}

static int send_result(struct nb_session *session, struct nb_case *stored)
{
    nb_seal(stored->seal, &session->result, &session->sealed);
    const ssize_t sent = write(session->channel, &session->sealed, sizeof session->sealed);
    return sent == (ssize_t)sizeof session->sealed ? 0 : 1000 * NB_STEP_RESULT;
}

int nb_inside(void *request)
{
    struct nb_session *session = nb_arena_head()->session;
    const struct nb_inline_running *running = request;
    const uint32_t number = running->case_number;
    CUcontext before = NULL;
    if (number >= session->cases || !session->case_list[number].ready)
        return 1000 * NB_STEP_ASKED;
    struct nb_case *stored = &session->case_list[number];
    stored->ready = false;
    session->result = (struct nb_result){
        .case_number = number,
        .rows_wanted = session->samples + 1,
        .overhead_us = session->overhead_us,
        .gap_us = session->gap_us,
    };
    (void)session->driver.cuCtxGetCurrent(&before);
    const int status = run_case(session, stored, running);
    session->result.stopped = (uint32_t)status;
    const int sent = send_result(session, stored);
    (void)session->driver.cuCtxSetCurrent(before);
    return status != 0 ? status : sent;
}
