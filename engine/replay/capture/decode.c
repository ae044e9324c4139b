#include "replay/capture/decode.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/base/error.h"
#include "replay/capture/processes.h"
#include "replay/capture/sandbox.h"
#include "replay/replay.h"

/* Shared with the decoders, which may write anything here: read only for messages. */
struct board {
    _Atomic uint32_t next; /* first blob that no decoder has taken */
    struct {
        _Atomic uint32_t blob; /* 1 + the blob at hand */
        _Atomic uint32_t outcome;
    } decoders[NB_PROCESSES_MAX];
};

struct job {
    const struct nb_decode_work *work;
    const struct nb_codec *codec;
    struct board *board;
};

static int decode_under_seccomp(void *context, uint32_t self, int lifeline)
{
    const struct job *job = context;
    const struct nb_decode_work *work = job->work;
    struct board *board = job->board;
    if (dup2(lifeline, 0) != 0 || !nb_sandbox_close_from(1) || !nb_sandbox_enter()) {
        atomic_store(&board->decoders[self].outcome, NB_DECODE_NO_SANDBOX);
        return 1;
    }
    for (;;) {
        const uint32_t i = atomic_fetch_add(&board->next, 1);
        if (i >= work->count)
            return 0;
        atomic_store(&board->decoders[self].blob, i + 1);
        const struct nb_blob *blob = &work->blobs[i];
        const enum nb_decode_outcome outcome =
            nb_decode_blob(job->codec, blob, work->file + blob->offset, work->raw + work->places[i]);
        if (outcome != NB_DECODE_DONE) {
            atomic_store(&board->decoders[self].outcome, outcome);
            atomic_store(&board->next, work->count); /* the other decoders can stop */
            return 1;
        }
    }
}

static int explain(const struct board *board, uint32_t index, int status, char *error)
{
    const uint32_t outcome = atomic_load(&board->decoders[index].outcome);
    const uint32_t blob = atomic_load(&board->decoders[index].blob);
    const char *damaged = "the capture is damaged: record it again";
    if (outcome == NB_DECODE_NO_SANDBOX)
        return nb_error(error, NB_REPLAY_CANNOT, "%s", nb_no_sandbox);
    if (blob == 0)
        return nb_error(error, NB_REPLAY_OURS, "a decoder ended before it began (wait status %#x)",
                        (unsigned)status);
    if (WIFSIGNALED(status))
        return nb_error(error, NB_REPLAY_BAD_CAPTURE, "blob %u killed its decoder (signal %d, %s); %s",
                        blob - 1, WTERMSIG(status), strsignal(WTERMSIG(status)), damaged);
    return nb_error(error, NB_REPLAY_BAD_CAPTURE, "blob %u %s; %s", blob - 1, nb_decode_reason(outcome),
                    damaged);
}

/* Every blob was decoded only if every decoder is known to have ended with 0. */
static int check_ends(const struct board *board, uint32_t count, const struct nb_process_ends *ends,
                      char *error)
{
    if (!ends->in_time)
        return nb_error(error, NB_REPLAY_BAD_CAPTURE, "its blobs were not decoded in %d s",
                        NB_DECODE_SECONDS);
    for (uint32_t i = 0; i < count; i++) {
        if (!ends->at[i].is_known)
            return nb_error(error, NB_REPLAY_OURS, "the exit status of a decoder was lost");
        if (ends->at[i].status != 0)
            return explain(board, i, ends->at[i].status, error);
    }
    return NB_REPLAY_OK;
}

int nb_decode(const struct nb_decode_work *work, uint32_t decoders, char *error)
{
    struct nb_codec codec;
    int status = nb_codec_open(&codec, error);
    if (status != NB_REPLAY_OK)
        return status;
    const uint32_t useful = decoders < work->count ? decoders : work->count;
    const uint32_t count = useful == 0 ? 1 : useful < NB_PROCESSES_MAX ? useful : NB_PROCESSES_MAX;
    struct board *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED) {
        status = nb_error(error, NB_REPLAY_OURS, "cannot map memory for decoders: %s", strerror(errno));
    } else {
        struct job job = {work, &codec, board};
        struct nb_process_ends ends;
        status = nb_processes_run(count, decode_under_seccomp, &job, NB_DECODE_SECONDS, &ends, error);
        if (status == NB_REPLAY_OK)
            status = check_ends(board, count, &ends, error);
        (void)munmap(board, sizeof *board);
    }
    nb_codec_close(&codec);
    return status;
}
