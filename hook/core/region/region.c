#include "core/region/region.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/log.h"
#include "core/base/vector.h"
#include "core/process/attach.h"
#include "core/region/raw_capture.h"
#include "core/region/region_about.h"
#include "core/region/selection.h"
#include "core/ring/ring.h"
#include "core/ring/session.h"
#include "core/wire/capture_format.h"
#include "core/wire/record.h"

/* Time that a region waits, when it begins or ends, for launches of other threads that are inside the
 * driver. Such a launch only waits for room in the driver's queue. */
#define SETTLE_SECONDS 1
/* Largest rank of a named range that readers accept (docs/formats.md, the tables). */
#define RANK_MAX 4096
/* Earlier processes with the same pid that used the same folder (exec, another pid namespace). */
#define NAMESAKES_MAX 1000
/* CUDA_ERROR_INVALID_CONTEXT and hipErrorInvalidContext. */
#define NO_CONTEXT 201

_Atomic uint32_t nb_region_state_now;

struct given_range {
    uint64_t address, bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t state_changed =
    PTHREAD_COND_INITIALIZER; /* signals changes of the next two variables */
static uint32_t running_launches;
static bool is_changing; /* a thread begins or ends a region; others wait before their next operation */
static struct nb_selection selection;
static char folder[PATH_MAX];
static const char *selection_text; /* value of NEUTRINO_REGION */
static uint32_t last_region;
static bool stores_after = true;
static struct nb_vector given_ranges = NB_VECTOR_INITIALIZER(struct given_range);
static uint64_t calls_lost_before;
static char driver_error_text[128];
static const struct nb_region_operations *operations;

static __thread const char *thread_error __attribute__((tls_model("initial-exec")));

static void set_state(enum nb_region_state state)
{
    atomic_store_explicit(&nb_region_state_now, state, memory_order_release);
}

void nb_region_install(const struct nb_region_operations *installed)
{
    operations = installed;
}

static void read_environment(void)
{
    const char *where = getenv("NEUTRINO_CAPTURE");
    static char text[NB_STRING_MAX]; /* a copy: the program may change its environment */
    if (where == NULL || *where == 0)
        return;
    const char *text_of_selection = getenv("NEUTRINO_REGION");
    const int folder_length = snprintf(folder, sizeof folder, "%s", where);
    const int length =
        snprintf(text, sizeof text, "%s", text_of_selection != NULL ? text_of_selection : "program");
    selection_text = text;
    if (folder_length < 0 || (size_t)folder_length >= sizeof folder || length < 0 ||
        (size_t)length >= sizeof text || !nb_selection_parse(text, &selection)) {
        nb_log("NEUTRINO_REGION is invalid, so no region is recorded: ", text,
               "; write program, launches=A:B, kernel=N:PATTERN or window=N");
        return;
    }
    set_state(NB_REGION_ARMED);
}

static bool open_raw_capture(void)
{
    for (int i = 0; i < NAMESAKES_MAX; i++) {
        if (nb_raw_capture_open(folder, ++last_region))
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* End the file, with the driver's status. */
static void close_raw_capture(int status)
{
    if (atomic_load_explicit(&nb_session()->calls_lost, memory_order_relaxed) != calls_lost_before)
        nb_region_refuse("some threads' calls were not observed: the program has more threads than rings");
    nb_raw_capture_end((uint32_t)status);
}

static const char *describe_driver_error(int status, const char *when)
{
    const char *advice = status == NO_CONTEXT ? "make a context current first" : "a kernel may have faulted";
    snprintf(driver_error_text, sizeof driver_error_text,
             "the driver returned error %d when the region %s; %s", status, when, advice);
    return driver_error_text;
}

/* A launch inside the driver must belong either before or after this point: wait until all have returned. */
static bool settle(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SETTLE_SECONDS;
    int status = 0;
    is_changing = true;
    while (running_launches != 0 && status == 0)
        status = pthread_cond_timedwait(&state_changed, &lock, &until);
    is_changing = false; /* this thread keeps the lock until the region has begun or ended */
    pthread_cond_broadcast(&state_changed);
    return running_launches == 0;
}

/* Begin a region. Returns NULL, or a text that says what failed. */
static const char *begin(const char *name)
{
    const bool settled = settle();
    if (!open_raw_capture())
        return nb_raw_capture_error();
    calls_lost_before = atomic_load_explicit(&nb_session()->calls_lost, memory_order_relaxed);
    nb_region_write_about(name);
    const int status = operations->begin(stores_after);
    if (status != 0) {
        close_raw_capture(status);
        return describe_driver_error(status, "began");
    }
    if (!settled)
        nb_region_refuse("another thread's launch was still inside the driver when the region began");
    if (!nb_raw_capture_flush())
        return nb_raw_capture_error();
    nb_raw_capture_share();
    set_state(NB_REGION_OPEN);
    return NULL;
}

static const char *end(void)
{
    if (!settle())
        nb_region_refuse("another thread's launch was still inside the driver when the region ended");
    nb_raw_capture_seize();
    set_state(NB_REGION_ARMED);
    const int status = operations->end(stores_after);
    close_raw_capture(status);
    if (status != 0)
        return describe_driver_error(status, "ended");
    return nb_raw_capture_error()[0] != 0 ? nb_raw_capture_error() : NULL;
}

/* Begin or end the region as a driver call requires. No caller could receive an error: log it. */
static void apply_step(enum nb_step step)
{
    const char *problem = NULL;
    if (step == NB_STEP_BEGIN && !nb_region_is_open())
        problem = begin(selection_text);
    else if (step == NB_STEP_END && nb_region_is_open())
        problem = end();
    if (problem != NULL)
        nb_log("the region is not recorded: ", problem, NULL);
}

/* Take the lock when no other thread is beginning or ending a region. */
static void lock_settled(void)
{
    pthread_mutex_lock(&lock);
    while (is_changing)
        pthread_cond_wait(&state_changed, &lock);
}

void nb_region_before_operation(const char *name)
{
    const int saved = errno;
    lock_settled();
    apply_step(nb_selection_operation(&selection, name));
    running_launches += name != NULL;
    pthread_mutex_unlock(&lock);
    errno = saved;
}

void nb_region_after_launch(void)
{
    const int saved = errno;
    pthread_mutex_lock(&lock);
    if (running_launches > 0 && --running_launches == 0) {
        pthread_cond_broadcast(&state_changed);
        if (!is_changing && nb_selection_has_all_launches(&selection))
            apply_step(NB_STEP_END);
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
}

void nb_region_before_timing_event(uint64_t stream)
{
    const int saved = errno;
    lock_settled();
    apply_step(nb_selection_timing_event(&selection, stream));
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* In a forked child: no region is open, and its files are its own. */
static void forget(void)
{
    nb_selection_restart(&selection);
    last_region = 0;
    running_launches = 0;
    is_changing = false;
    state_changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    if (nb_capture_enabled())
        set_state(NB_REGION_ARMED);
}

const struct nb_component nb_region_component = {
    .locks = {&lock}, .start = read_environment, .forget = forget};

/* A region function is not a driver call: mark the thread as inside one, so that the hooks ignore the
 * shim's own driver calls. */
static bool enter(uint32_t *state_before)
{
    if (nb_thread.state != NB_THREAD_READY && !nb_thread_attach(&nb_thread)) {
        thread_error = nb_thread.state == NB_THREAD_LOST
                           ? "this thread is not observed: the program has more threads than rings"
                           : "this process does not run under neutrino-bench";
        return false;
    }
    if (!nb_capture_enabled() || selection.kind != NB_SELECT_PROGRAM) {
        thread_error = nb_capture_enabled()
                           ? "the command line already selects the region; run `record` without a selection"
                           : "this process is only observed; run it with `neutrino-bench record`";
        return false;
    }
    *state_before = nb_thread.state;
    nb_thread.state = NB_THREAD_INSIDE;
    lock_settled();
    return true;
}

static int leave(uint32_t state_before, const char *problem)
{
    pthread_mutex_unlock(&lock);
    nb_thread.state = state_before;
    thread_error = problem;
    return problem != NULL ? -1 : 0;
}

int neutrino_region_begin(const char *name)
{
    const int saved = errno;
    uint32_t state;
    if (!enter(&state))
        return -1;
    const char *problem =
        nb_region_is_open() ? "a region is already open; end it first" : begin(name != NULL ? name : "");
    errno = saved;
    return leave(state, problem);
}

int neutrino_region_memory_after(int stored)
{
    uint32_t state;
    if (!enter(&state))
        return -1;
    if (nb_region_is_open())
        return leave(state, "a region is already open; end it first");
    stores_after = stored != 0;
    return leave(state, NULL);
}

bool nb_region_is_given(uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < given_ranges.count; i++) {
        const struct given_range *range = nb_vector_item(&given_ranges, i);
        if (address >= range->address && bytes <= range->bytes &&
            address - range->address <= range->bytes - bytes)
            return true;
    }
    return false;
}

int neutrino_region_given(const uint64_t *addresses, const uint64_t *bytes, uint32_t count)
{
    uint32_t state;
    if (!enter(&state))
        return -1;
    if (nb_region_is_open())
        return leave(state, "a region is already open; end it first");
    const char *problem = NULL;
    given_ranges.count = 0;
    for (uint32_t i = 0; i < count && problem == NULL; i++) {
        const struct given_range range = {addresses[i], bytes[i]};
        if (!nb_vector_append(&given_ranges, &range))
            problem = "not enough memory to keep the ranges whose content is given";
    }
    return leave(state, problem);
}

int neutrino_region_end(void)
{
    const int saved = errno;
    uint32_t state;
    if (!enter(&state))
        return -1;
    const char *problem = nb_region_is_open() ? end() : "no region is open";
    errno = saved;
    return leave(state, problem);
}

/* Return why a reader would reject a capture with this range, or NULL. */
static const char *find_range_problem(uint32_t role, uint64_t address, uint64_t bytes, uint32_t rank)
{
    if (role < NB_CAPTURE_INPUT || role > NB_CAPTURE_STATE)
        return "the role of a named range must be input, output or state (1, 2, 3)";
    if (rank > RANK_MAX)
        return "a named range has too many dimensions";
    return operations->holds(address, bytes) ? NULL
                                             : "the named range is outside the program's device memory; name "
                                               "memory that the program allocated and has not freed";
}

int neutrino_region_range(const char *name, uint32_t role, uint64_t address, uint64_t bytes, const char *type,
                          const uint64_t *shape, uint32_t rank)
{
    uint32_t state;
    if (!enter(&state))
        return -1;
    if (!nb_region_is_open())
        return leave(state, "no region is open");
    const char *problem = find_range_problem(role, address, bytes, shape != NULL ? rank : 0);
    if (problem != NULL)
        return leave(state, problem);
    const size_t name_bytes = name != NULL ? strnlen(name, NB_STRING_MAX) : 0;
    const size_t type_bytes = type != NULL ? strnlen(type, NB_STRING_MAX) : 0;
    const size_t shape_bytes = shape != NULL ? rank * sizeof *shape : 0;
    struct nb_capture_range range = {.address = address, .bytes = bytes, .role = role};
    range.shape = (struct nb_span){sizeof range, shape_bytes};
    range.name = (struct nb_span){sizeof range + shape_bytes, name_bytes};
    range.type = (struct nb_span){sizeof range + shape_bytes + name_bytes, type_bytes};
    const struct nb_piece pieces[] = {
        {&range, sizeof range}, {shape, shape_bytes}, {name, name_bytes}, {type, type_bytes}};
    const bool appended = nb_raw_capture_append(NB_CAPTURE_RANGE, pieces, 4) != NB_NOTHING;
    return leave(state, appended ? NULL : nb_raw_capture_error());
}

const char *neutrino_region_error(void)
{
    return thread_error != NULL ? thread_error : "";
}
