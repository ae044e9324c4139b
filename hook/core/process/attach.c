#include "core/process/attach.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/required.h"
#include "core/driver/driver.h"
#include "core/driver/slots.h"
#include "core/process/component.h"
#include "core/process/process.h"
#include "core/ring/session.h"

enum { UNKNOWN, ATTACHED, ALONE };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t thread_key;
static atomic_int state = UNKNOWN;
static bool has_fork_handlers; /* under the lock */

static void close_ring_at_thread_end(void *unused)
{
    (void)unused;
    nb_ring_close(&nb_thread, true);
}

static void before_fork(void)
{
    nb_components_lock();
    pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&lock);
    nb_components_unlock();
}

/* The child is another process: it gets a ring and a process record of its own. Its parent's handles are
 * forgotten; the driver refuses them there too. A session that a wrapper shares with all processes of its
 * command stays mapped. A session that `serve` gave to the parent is the parent's alone: the child asks for
 * its own at its first driver call. */
static void after_fork_in_child(void)
{
    nb_ring_close(&nb_thread, false);
    nb_thread.state = NB_THREAD_NEW;
    nb_components_forget();
    nb_process_forget();
    after_fork_in_parent();
    if (atomic_load(&state) != ATTACHED)
        return;
    if (nb_session_is_shared()) {
        nb_process_identify();
    } else {
        nb_session_close();
        atomic_store(&state, UNKNOWN);
    }
}

static bool make_thread_key(void)
{
    static bool is_made; /* a forked child keeps its parent's key */
    if (!is_made && pthread_key_create(&thread_key, close_ring_at_thread_end) != 0) {
        nb_log("the program uses all thread-specific keys, so nothing is recorded here", NULL, NULL);
        return false;
    }
    is_made = true;
    return true;
}

static int attach_process(void)
{
    if (!has_fork_handlers) { /* first, because waiting for the supervisor takes time, and others may fork */
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        has_fork_handlers = true;
    }
    nb_process_identify();
    if (nb_session_open() && make_thread_key()) {
        nb_components_start();
        return ATTACHED;
    }
    memset(nb_guarded, 0, nb_export_count); /* no session, no policy */
    if (nb_is_recording_required())
        nb_driver_refuse();
    return ALONE;
}

/* Open the session, once in a process. */
static void find_session(void)
{
    if (atomic_load_explicit(&state, memory_order_acquire) == UNKNOWN) {
        pthread_mutex_lock(&lock);
        if (atomic_load_explicit(&state, memory_order_relaxed) == UNKNOWN)
            atomic_store_explicit(&state, attach_process(), memory_order_release);
        pthread_mutex_unlock(&lock);
    }
}

/* A thread that attaches already may come here through a function of libc that the program replaced. */
void nb_process_attach(void)
{
    if (nb_thread.state != NB_THREAD_NEW)
        return;
    const int saved = errno;
    nb_thread.state = NB_THREAD_INSIDE;
    find_session();
    nb_thread.state = NB_THREAD_NEW;
    errno = saved;
}

/* Open the session and the driver. False, now and later, if no supervisor records this process. */
static bool is_process_attached(void)
{
    find_session();
    nb_resolve_all(); /* without the lock: opening a driver runs its constructors */
    return atomic_load_explicit(&state, memory_order_acquire) == ATTACHED;
}

static bool attach(struct nb_thread *thread)
{
    if (!is_process_attached()) {
        thread->state = NB_THREAD_OFF;
        return false;
    }
    if (!nb_ring_open(thread, nb_process_identity())) {
        thread->state = NB_THREAD_LOST;
        return false;
    }
    pthread_setspecific(thread_key, &nb_thread);
    nb_process_introduce(thread);
    return true;
}

bool nb_thread_attach(struct nb_thread *thread)
{
    if (thread->state == NB_THREAD_LOST)
        atomic_fetch_add_explicit(&nb_session()->calls_lost, 1, memory_order_relaxed);
    if (thread->state != NB_THREAD_NEW)
        return false;
    const int saved = errno;
    thread->state = NB_THREAD_INSIDE; /* attaching calls libc, which may call what the shim hooks */
    const bool attached = attach(thread);
    if (thread->state == NB_THREAD_LOST)
        atomic_fetch_add_explicit(&nb_session()->calls_lost, 1, memory_order_relaxed);
    errno = saved;
    return attached;
}
