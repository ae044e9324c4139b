#include "replay/capture/validate.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/base/error.h"
#include "replay/capture/decode.h"
#include "replay/capture/file.h"
#include "replay/capture/processes.h"
#include "replay/capture/reader.h"
#include "replay/capture/sandbox.h"
#include "replay/capture/tables.h"

/* Shared with the process, which may write anything here once hostile bytes have taken it over. */
struct answer {
    uint32_t is_complete;
    int32_t status;
    char error[NB_REPLAY_TEXT];
};

struct job {
    int descriptor, output;
    const struct nb_replay_limits *limits;
    const struct nb_codec *codec;
    struct answer *answer;
};

enum { INPUT, OUTPUT, LIFELINE, FIRST_UNUSED };

/* Moves the three descriptors of the process to 0, 1 and 2, and closes all others. */
static bool keep_descriptors(const struct job *job, int lifeline)
{
    const int input = fcntl(job->descriptor, F_DUPFD, FIRST_UNUSED);
    const int output = fcntl(job->output, F_DUPFD, FIRST_UNUSED);
    const int alive = fcntl(lifeline, F_DUPFD, FIRST_UNUSED);
    return dup2(input, INPUT) == INPUT && dup2(output, OUTPUT) == OUTPUT &&
           dup2(alive, LIFELINE) == LIFELINE && nb_sandbox_close_from(FIRST_UNUSED);
}

static bool write_all(const void *bytes, uint64_t count)
{
    const char *at = bytes;
    while (count > 0) {
        const ssize_t written = write(OUTPUT, at, count);
        if (written <= 0)
            return false;
        at += written;
        count -= (uint64_t)written;
    }
    return true;
}

static bool write_tables(const struct nb_reader_file *file)
{
    const struct nb_capture *header = &file->header;
    bool ok = write_all(header, sizeof *header) &&
              write_all(file->blobs, header->blob_count * sizeof *file->blobs) &&
              write_all(file->sections, header->section_count * sizeof *file->sections);
    for (uint32_t i = 0; ok && i < header->section_count; i++) {
        const struct nb_bytes table = nb_tables_section(file, i);
        ok = write_all(table.at, table.count);
    }
    return ok;
}

static int decode_tables(const struct nb_reader_file *file, const struct nb_codec *codec,
                         const uint8_t *stored, char *error)
{
    for (uint32_t i = 0; i < file->header.blob_count; i++) {
        if (file->places[i] == NB_NOT_DECODED)
            continue;
        const struct nb_blob *blob = &file->blobs[i];
        const enum nb_decode_outcome outcome =
            nb_decode_blob(codec, blob, stored + blob->offset, file->raw + file->places[i]);
        if (outcome != NB_DECODE_DONE)
            return nb_error(error, NB_REPLAY_BAD_CAPTURE, "blob %u %s", i, nb_decode_reason(outcome));
    }
    return NB_REPLAY_OK;
}

/* Everything that needs a system call comes before the sandbox. */
static int validate(const struct job *job, char *error)
{
    struct nb_reader reader;
    int status = nb_reader_begin(INPUT, true, job->limits, &reader, error);
    if (status != NB_REPLAY_OK)
        return status;
    struct nb_reader_file *file = reader.implementation;
    void *stored = mmap(NULL, file->bytes, PROT_READ, MAP_SHARED, INPUT, 0);
    void *raw = mmap(NULL, file->raw_bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stored == MAP_FAILED || raw == MAP_FAILED)
        return nb_error(error, NB_REPLAY_CANNOT, "no memory for the tables: %s", strerror(errno));
    file->raw = raw;
    if (!nb_sandbox_enter())
        return nb_error(error, NB_REPLAY_CANNOT, "%s", nb_no_sandbox);
    status = decode_tables(file, job->codec, stored, error);
    if (status == NB_REPLAY_OK)
        status = nb_reader_finish(&reader, job->limits, error);
    if (status == NB_REPLAY_OK && !write_tables(file))
        status = nb_error(error, NB_REPLAY_CANNOT, "no memory for the tables");
    return status;
}

static int validate_in_process(void *context, uint32_t index, int lifeline)
{
    (void)index;
    const struct job *job = context;
    struct answer *answer = job->answer;
    answer->status = keep_descriptors(job, lifeline)
                         ? validate(job, answer->error)
                         : nb_error(answer->error, NB_REPLAY_OURS, "cannot close the other descriptors");
    answer->is_complete = 1;
    return 0;
}

static int explain_end(const struct nb_process_ends *ends, char *error)
{
    const int status = ends->at[0].status;
    if (!ends->in_time)
        return nb_error(error, NB_REPLAY_BAD_CAPTURE, "its tables were not checked in %d s",
                        NB_DECODE_SECONDS);
    if (ends->at[0].is_known && WIFSIGNALED(status))
        return nb_error(error, NB_REPLAY_BAD_CAPTURE,
                        "its tables killed the reader's process (signal %d, %s)", WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    return nb_error(error, NB_REPLAY_BAD_CAPTURE, "its tables ended the reader's process");
}

static int run(struct job *job, char *error)
{
    struct nb_process_ends ends;
    const int status = nb_processes_run(1, validate_in_process, job, NB_DECODE_SECONDS, &ends, error);
    if (status != NB_REPLAY_OK)
        return status;
    struct answer *answer = job->answer;
    if (!ends.in_time || answer->is_complete != 1)
        return explain_end(&ends, error);
    if (answer->status == NB_REPLAY_OK)
        return NB_REPLAY_OK;
    answer->error[NB_REPLAY_TEXT - 1] = '\0';
    return nb_error(error, answer->status, "%s", answer->error);
}

NB_REPLAY_EXPORT int nb_capture_validate(int descriptor, int output, uint64_t table_bytes, uint32_t elements,
                                         char *error)
{
    struct nb_codec codec;
    int status = nb_codec_open(&codec, error);
    if (status != NB_REPLAY_OK)
        return status;
    struct answer *answer =
        mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answer == MAP_FAILED) {
        status = nb_error(error, NB_REPLAY_CANNOT, "no memory: %s", strerror(errno));
    } else {
        const struct nb_replay_limits limits = {
            .host_bytes = table_bytes, .device_bytes = UINT64_MAX, .elements = elements, .decoders = 1};
        struct job job = {descriptor, output, &limits, &codec, answer};
        status = run(&job, error);
        (void)munmap(answer, sizeof *answer);
    }
    nb_codec_close(&codec);
    return status;
}
