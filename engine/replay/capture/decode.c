#include "replay/capture/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "replay/base/error.h"
#include "replay/replay.h"
#include "replay/capture/sandbox.h"

#ifndef NB_DECODE_SECONDS
#define NB_DECODE_SECONDS 60
#endif

/* What the decoders tell; shared with them, so nothing here is trusted further than for a message. */
struct board {
    _Atomic uint32_t next; /* blob that nobody has taken */
    struct {
        _Atomic uint32_t blob; /* 1 + the one at hand */
        _Atomic uint32_t outcome;
    } decoders[NB_DECODERS_MAX];
};

struct decoders {
    struct board *board;
    int ended[2]; /* a pipe: the read end hangs up when the last decoder has ended */
    uint32_t count;
    pid_t processes[NB_DECODERS_MAX];
};

_Noreturn static void leave(int status)
{
    for (;;)
        (void)syscall(SYS_exit, status); /* _exit is exit_group, which strict mode forbids */
}

/* In the forked process. Ends with 0 when no blob is left. */
_Noreturn static void decode_under_seccomp(const struct nb_decode_work *work, const struct nb_codec *codec,
                                           struct decoders *all, uint32_t self)
{
    struct board *board = all->board;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(all->ended[1], 0) != 0 || !nb_sandbox_close_from(1) || !nb_sandbox_enter()) {
        atomic_store(&board->decoders[self].outcome, NB_DECODE_NO_SANDBOX);
        leave(1);
    }
    for (;;) {
        const uint32_t i = atomic_fetch_add(&board->next, 1);
        if (i >= work->count)
            leave(0);
        atomic_store(&board->decoders[self].blob, i + 1);
        const struct nb_blob *blob = &work->blobs[i];
        const enum nb_decode_outcome outcome =
            nb_decode_blob(codec, blob, work->file + blob->offset, work->raw + work->places[i]);
        if (outcome != NB_DECODE_DONE) {
            atomic_store(&board->decoders[self].outcome, outcome);
            atomic_store(&board->next, work->count); /* the others need not go on */
            leave(1);
        }
    }
}

/* With every signal blocked, so that no handler of the caller's runs in a decoder. */
static bool start(const struct nb_decode_work *work, const struct nb_codec *codec, struct decoders *all,
                  uint32_t wanted)
{
    sigset_t every, before;
    sigfillset(&every);
    (void)pthread_sigmask(SIG_SETMASK, &every, &before);
    while (all->count < wanted) {
        const pid_t process = fork();
        if (process == 0)
            decode_under_seccomp(work, codec, all, all->count);
        if (process < 0)
            break;
        all->processes[all->count++] = process;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return all->count == wanted;
}

static int64_t milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether all ended by themselves in time. */
static bool await_end(int descriptor)
{
    const int64_t until = milliseconds() + NB_DECODE_SECONDS * 1000;
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

static int explain(const struct decoders *all, uint32_t index, int status, char *error)
{
    const uint32_t outcome = atomic_load(&all->board->decoders[index].outcome);
    const uint32_t blob = atomic_load(&all->board->decoders[index].blob);
    if (outcome == NB_DECODE_NO_SANDBOX)
        return nb_error(error, NB_REPLAY_CANNOT,
                        "this kernel refuses seccomp, without which a capture is not read; use one that has "
                        "CONFIG_SECCOMP_FILTER, and a container that allows it");
    if (blob == 0)
        return nb_error(error, NB_REPLAY_OURS, "a decoder ended before it began (wait status %#x)",
                        (unsigned)status);
    if (WIFSIGNALED(status))
        return nb_error(error, NB_REPLAY_BAD_CAPTURE, "blob %u killed its decoder (signal %d, %s)", blob - 1,
                        WTERMSIG(status), strsignal(WTERMSIG(status)));
    return nb_error(error, NB_REPLAY_BAD_CAPTURE, "blob %u %s", blob - 1, nb_decode_reason(outcome));
}

/* Every one is dead when this returns. The first that did not end well decides. */
static int reap(const struct decoders *all, bool in_time, char *error)
{
    int result = NB_REPLAY_OK;
    for (uint32_t i = 0; i < all->count; i++) {
        int status = 0;
        if (!in_time)
            (void)kill(all->processes[i], SIGKILL);
        pid_t ended;
        while ((ended = waitpid(all->processes[i], &status, 0)) < 0 && errno == EINTR)
            ;
        if (result != NB_REPLAY_OK || !in_time)
            continue;
        if (ended < 0) /* another thread took it: how it ended is not known */
            result = nb_error(error, NB_REPLAY_OURS, "a decoder was lost: %s", strerror(errno));
        else if (status != 0)
            result = explain(all, i, status, error);
    }
    if (!in_time)
        return nb_error(error, NB_REPLAY_BAD_CAPTURE, "its blobs were not decoded in %d s",
                        NB_DECODE_SECONDS);
    return result;
}

static int run(const struct nb_decode_work *work, const struct nb_codec *codec, uint32_t decoders,
               char *error)
{
    struct decoders all = {0};
    all.board = mmap(NULL, sizeof *all.board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all.board == MAP_FAILED || pipe2(all.ended, O_CLOEXEC) != 0) {
        const int result = nb_error(error, NB_REPLAY_OURS, "no decoders: %s", strerror(errno));
        if (all.board != MAP_FAILED)
            (void)munmap(all.board, sizeof *all.board);
        return result;
    }
    const bool started = start(work, codec, &all, decoders);
    const int why = errno;
    (void)close(all.ended[1]);
    const bool in_time = started && await_end(all.ended[0]);
    int result = reap(&all, in_time, error);
    if (!started)
        result = nb_error(error, NB_REPLAY_OURS, "no decoders: %s", strerror(why));
    (void)close(all.ended[0]);
    (void)munmap(all.board, sizeof *all.board);
    return result;
}

/* Where SIGCHLD is ignored, which a program inherits, nobody learns how a process ended. */
int nb_decode(const struct nb_decode_work *work, uint32_t decoders, char *error)
{
    struct nb_codec codec;
    const int status = nb_codec_open(&codec, error);
    if (status != NB_REPLAY_OK)
        return status;
    const struct sigaction told = {.sa_handler = SIG_DFL};
    struct sigaction before;
    (void)sigaction(SIGCHLD, &told, &before);
    const uint32_t useful = decoders < work->count ? decoders : work->count;
    const uint32_t wanted = useful == 0 ? 1 : useful < NB_DECODERS_MAX ? useful : NB_DECODERS_MAX;
    const int result = run(work, &codec, wanted, error);
    (void)sigaction(SIGCHLD, &before, NULL);
    nb_codec_close(&codec);
    return result;
}
