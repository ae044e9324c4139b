#include "replay/capture/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "replay/base/error.h"
#include "replay/replay.h"

struct processes {
    int ended[2]; /* a pipe: its read end hangs up when the last process has ended */
    uint32_t count;
    pid_t ids[NB_PROCESSES_MAX];
};

/* Held while a process forks: handlers that libraries registered with pthread_atfork are not made for two
 * threads at once. That of OpenBLAS, which numpy loads, joins its threads twice then, and hangs or crashes.
 */
static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;

/* Signals are blocked so that no handler of the caller's program runs in a forked process. */
static bool start(struct processes *all, uint32_t process_count, nb_process_body *body, void *work)
{
    sigset_t every, before;
    sigfillset(&every);
    (void)pthread_sigmask(SIG_SETMASK, &every, &before);
    while (all->count < process_count) {
        (void)pthread_mutex_lock(&forking);
        const pid_t id = fork();
        if (id != 0)
            (void)pthread_mutex_unlock(&forking);
        if (id == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            const int status = body(work, all->count, all->ended[1]);
            /* seccomp's strict mode forbids exit_group, and so _exit. Not in a function that does not return:
             * before a call of one AddressSanitizer makes a system call that strict mode forbids too. */
            for (;;)
                (void)syscall(SYS_exit, status);
        }
        if (id < 0)
            break;
        all->ids[all->count++] = id;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return all->count == process_count;
}

static int64_t milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool await_hangup(int descriptor, uint32_t seconds)
{
    const int64_t until = milliseconds() + (int64_t)seconds * 1000;
    for (;;) {
        const int64_t left = until - milliseconds();
        struct pollfd ended = {.fd = descriptor};
        const int ready = left > 0 ? poll(&ended, 1, (int)left) : 0;
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

static void reap(const struct processes *all, struct nb_process_ends *ends)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (!ends->in_time)
            (void)kill(all->ids[i], SIGKILL);
        pid_t id;
        while ((id = waitpid(all->ids[i], &ends->at[i].status, 0)) < 0 && errno == EINTR)
            ;
        ends->at[i].is_known = id > 0; /* otherwise another thread of the program took the status */
    }
}

/* Programs inherit an ignored SIGCHLD, with which the kernel discards exit statuses. */
static bool children_are_discarded(const struct sigaction *action)
{
    return action->sa_handler == SIG_IGN || (action->sa_flags & SA_NOCLDWAIT) != 0;
}

int nb_processes_run(uint32_t count, nb_process_body *body, void *work, uint32_t seconds,
                     struct nb_process_ends *ends, char *error)
{
    struct processes all = {0};
    *ends = (struct nb_process_ends){0};
    if (pipe2(all.ended, O_CLOEXEC) != 0)
        return nb_error(error, NB_REPLAY_OURS, "cannot start a process: %s", strerror(errno));
    const struct sigaction default_action = {.sa_handler = SIG_DFL};
    struct sigaction before;
    (void)sigaction(SIGCHLD, NULL, &before);
    if (children_are_discarded(&before))
        (void)sigaction(SIGCHLD, &default_action, NULL);
    const bool started = start(&all, count, body, work);
    const int why = errno;
    (void)close(all.ended[1]);
    ends->in_time = started && await_hangup(all.ended[0], seconds);
    reap(&all, ends);
    if (children_are_discarded(&before))
        (void)sigaction(SIGCHLD, &before, NULL);
    (void)close(all.ended[0]);
    return started ? NB_REPLAY_OK
                   : nb_error(error, NB_REPLAY_OURS, "cannot start a process: %s", strerror(why));
}
