#include "core/region/region.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/log.h"
#include "core/process/attach.h"
#include "core/region/recording.h"
#include "core/region/region_about.h"
#include "core/region/selection.h"
#include "core/ring/ring.h"
#include "core/ring/session.h"
#include "core/wire/capture_format.h"
#include "core/wire/record.h"

/* How long a region waits to begin or end for launches that other threads have under way: a launch waits for
 * room in the driver's queue at most. */
#define SETTLE_SECONDS 1
/* Of a named range's shape: what a reader takes (docs/formats.md, the tables). */
#define RANK_MAX 4096
/* Earlier processes of this number that recorded to the same folder (exec, another pid namespace). */
#define NAMESAKES_MAX 1000

_Atomic uint32_t nb_region_state_now;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t something_changed = PTHREAD_COND_INITIALIZER; /* of the next two */
static uint32_t launches_under_way;
static bool changing; /* a thread begins or ends a region: the others wait before their next operation */
static struct nb_selection selection;
static char folder[PATH_MAX];
static const char *choice; /* NEUTRINO_REGION */
static uint32_t last_region;
static uint64_t lost_before;
static char driver_said[128];
static const struct nb_region_operations *operations;

static __thread const char *complaint __attribute__((tls_model("initial-exec")));

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
    const char *said = getenv("NEUTRINO_REGION");
    const int folder_length = snprintf(folder, sizeof folder, "%s", where);
    const int length = snprintf(text, sizeof text, "%s", said != NULL ? said : "program");
    choice = text;
    if (folder_length < 0 || (size_t)folder_length >= sizeof folder || length < 0 ||
        (size_t)length >= sizeof text || !nb_selection_parse(text, &selection)) {
        nb_log("NEUTRINO_REGION chooses no region, nothing is recorded: ", text,
               "; write program, launches=A:B, kernel=N:PATTERN or window=N");
        return;
    }
    set_state(NB_REGION_ARMED);
}

static bool open_recording(void)
{
    for (int i = 0; i < NAMESAKES_MAX; i++) {
        if (nb_recording_open(folder, ++last_region))
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* The region is over, whether the driver was well or not. */
static void close_recording(int status)
{
    if (atomic_load_explicit(&nb_session()->calls_lost, memory_order_relaxed) != lost_before)
        nb_region_refuse("calls of some threads were not seen: there are more threads than rings");
    nb_recording_end((uint32_t)status);
}

static const char *driver_error(int status, const char *when)
{
    snprintf(driver_said, sizeof driver_said,
             "the driver answered %d when the region %s; is a context current?", status, when);
    return driver_said;
}

/* Launches that are inside the driver belong to one side of what comes now: wait for them. */
static bool settle(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SETTLE_SECONDS;
    int status = 0;
    changing = true;
    while (launches_under_way != 0 && status == 0)
        status = pthread_cond_timedwait(&something_changed, &lock, &until);
    changing = false; /* the lock is ours until the region has begun or ended */
    pthread_cond_broadcast(&something_changed);
    return launches_under_way == 0;
}

/* Begin a region. NULL, or what went wrong. */
static const char *begin(const char *name)
{
    const bool settled = settle();
    if (!open_recording())
        return nb_recording_error();
    lost_before = atomic_load_explicit(&nb_session()->calls_lost, memory_order_relaxed);
    nb_region_write_about(name);
    const int status = operations->begin();
    if (status != 0) {
        close_recording(status);
        return driver_error(status, "began");
    }
    if (!settled)
        nb_region_refuse("a launch of another thread was still inside the driver when the region began");
    if (!nb_recording_flush())
        return nb_recording_error();
    nb_recording_share();
    set_state(NB_REGION_OPEN);
    return NULL;
}

static const char *end(void)
{
    if (!settle())
        nb_region_refuse("a launch of another thread was still inside the driver when the region ended");
    nb_recording_seize();
    set_state(NB_REGION_ARMED);
    const int status = operations->end();
    close_recording(status);
    if (status != 0)
        return driver_error(status, "ended");
    return nb_recording_error()[0] != 0 ? nb_recording_error() : NULL;
}

/* What a driver call has brought about: nobody asked, so nobody is answered. */
static void take(enum nb_step step)
{
    const char *what = NULL;
    if (step == NB_STEP_BEGIN && !nb_region_is_open())
        what = begin(choice);
    else if (step == NB_STEP_END && nb_region_is_open())
        what = end();
    if (what != NULL)
        nb_log("the region is not recorded: ", what, NULL);
}

/* With the lock, while no other thread begins or ends a region. */
static void lock_settled(void)
{
    pthread_mutex_lock(&lock);
    while (changing)
        pthread_cond_wait(&something_changed, &lock);
}

void nb_region_before_operation(const char *name)
{
    const int saved = errno;
    lock_settled();
    take(nb_selection_operation(&selection, name));
    launches_under_way += name != NULL;
    pthread_mutex_unlock(&lock);
    errno = saved;
}

void nb_region_after_launch(void)
{
    const int saved = errno;
    pthread_mutex_lock(&lock);
    if (launches_under_way > 0 && --launches_under_way == 0) {
        pthread_cond_broadcast(&something_changed);
        if (!changing && nb_selection_has_all_launches(&selection))
            take(NB_STEP_END);
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
}

void nb_region_before_timing_event(uint64_t stream)
{
    const int saved = errno;
    lock_settled();
    take(nb_selection_timing_event(&selection, stream));
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* In a forked child: no region is open, and its files are its own. */
static void forget(void)
{
    nb_selection_restart(&selection);
    last_region = 0;
    launches_under_way = 0;
    changing = false;
    something_changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    if (nb_region_wanted())
        set_state(NB_REGION_ARMED);
}

const struct nb_component nb_region_component = {
    .locks = {&lock}, .start = read_environment, .forget = forget};

/* What the program calls itself is no driver call: the hooks must not see what the driver does for us. */
static bool enter(uint32_t *state_before)
{
    if (nb_thread.state != NB_THREAD_READY && !nb_thread_attach(&nb_thread)) {
        complaint = nb_thread.state == NB_THREAD_LOST ? "this thread is not recorded: there are more threads "
                                                        "than rings"
                                                      : "this process is not recorded";
        return false;
    }
    if (!nb_region_wanted() || selection.kind != NB_SELECT_PROGRAM) {
        complaint = nb_region_wanted() ? "this recording's region is not chosen by the program"
                                       : "this process is observed, not recorded";
        return false;
    }
    *state_before = nb_thread.state;
    nb_thread.state = NB_THREAD_INSIDE;
    lock_settled();
    return true;
}

static int leave(uint32_t state_before, const char *what)
{
    pthread_mutex_unlock(&lock);
    nb_thread.state = state_before;
    complaint = what;
    return what != NULL ? -1 : 0;
}

int neutrino_region_begin(const char *name)
{
    const int saved = errno;
    uint32_t state;
    if (!enter(&state))
        return -1;
    const char *what =
        nb_region_is_open() ? "a region is open already; end it first" : begin(name != NULL ? name : "");
    errno = saved;
    return leave(state, what);
}

int neutrino_region_end(void)
{
    const int saved = errno;
    uint32_t state;
    if (!enter(&state))
        return -1;
    const char *what = nb_region_is_open() ? end() : "no region is open";
    errno = saved;
    return leave(state, what);
}

/* What a reader would refuse the whole capture for. */
static const char *why_no_range(uint32_t role, uint64_t address, uint64_t bytes, uint32_t rank)
{
    if (role < NB_CAPTURE_INPUT || role > NB_CAPTURE_STATE)
        return "a named range is an input, an output or state (1, 2, 3)";
    if (rank > RANK_MAX)
        return "a named range has more dimensions than can be";
    return operations->holds(address, bytes)
               ? NULL
               : "no allocation of the program and no module's variable holds all of the named range; name "
                 "device "
                 "memory that the program allocated, and that it still has";
}

int neutrino_region_range(const char *name, uint32_t role, uint64_t address, uint64_t bytes, const char *type,
                          const uint64_t *shape, uint32_t rank)
{
    uint32_t state;
    if (!enter(&state))
        return -1;
    if (!nb_region_is_open())
        return leave(state, "no region is open");
    const char *problem = why_no_range(role, address, bytes, shape != NULL ? rank : 0);
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
    const bool kept = nb_recording_append(NB_CAPTURE_RANGE, pieces, 4) != NB_NOTHING;
    return leave(state, kept ? NULL : nb_recording_error());
}

const char *neutrino_region_error(void)
{
    return complaint != NULL ? complaint : "";
}
