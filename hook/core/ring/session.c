#include "core/ring/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/required.h"
#include "core/ring/serve.h"

/* The whole file is mapped and its descriptor closed at once. A program may close descriptors that it did
 * not open; its next file would then have the shim's number, and the shim must never write to it. */
static struct nb_session *session;
static bool is_shared;
static uint64_t mapped_bytes; /* ends before the image store if the address space is limited */

struct nb_session *nb_session(void)
{
    return session;
}

bool nb_session_is_shared(void)
{
    return is_shared;
}

/* Only a wrapper's session has a nonce in the environment: `serve` hands its descriptor over itself. */
static bool is_nonce_valid(const struct nb_session *header)
{
    static const char digits[] = "0123456789abcdef";
    const char *expected = getenv("NEUTRINO_NONCE");
    if (expected == NULL || strlen(expected) != 2 * sizeof header->nonce)
        return false;
    for (size_t i = 0; i < sizeof header->nonce; i++)
        if (expected[2 * i] != digits[header->nonce[i] >> 4] ||
            expected[2 * i + 1] != digits[header->nonce[i] & 15])
            return false;
    return true;
}

static bool is_header_valid(const struct nb_session *header, uint64_t file_bytes)
{
    if (header->magic != NB_SESSION_MAGIC || header->version != NB_FORMAT_VERSION)
        return false;
    if (is_shared && !is_nonce_valid(header))
        return false;
    const uint64_t ring_bytes = header->ring_bytes;
    if (ring_bytes < NB_RECORD_MAX || ring_bytes > UINT32_MAX || (ring_bytes & (ring_bytes - 1)) != 0)
        return false;
    const uint64_t rings_end = NB_PAGE + header->ring_count * (NB_PAGE + ring_bytes);
    return header->image_offset >= rings_end && header->image_offset <= file_bytes &&
           header->image_bytes <= file_bytes - header->image_offset;
}

static bool map_descriptor(int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || status.st_size < (off_t)NB_PAGE)
        return false;
    const uint64_t file_bytes = (uint64_t)status.st_size;
    struct nb_session *header = mmap(NULL, NB_PAGE, PROT_READ, MAP_SHARED, descriptor, 0);
    if (header == MAP_FAILED)
        return false;
    const bool fits = is_header_valid(header, file_bytes);
    const uint64_t sizes[] = {file_bytes, fits ? header->image_offset : 0};
    munmap(header, NB_PAGE);
    for (size_t i = 0; fits && i < sizeof sizes / sizeof *sizes; i++) {
        void *mapping =
            mmap(NULL, sizes[i], PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
        if (mapping == MAP_FAILED)
            continue;
        madvise(mapping, sizes[i], MADV_DONTDUMP);
        session = mapping;
        mapped_bytes = sizes[i];
        return true;
    }
    return false;
}

/* The program's log would be missing without a word. */
static void report_unrecorded(const char *what, const char *subject)
{
    static const char recorded[] = "; nothing is recorded: start the program by `neutrino-bench -- COMMAND`, "
                                   "or start `neutrino-bench serve` and take its variables from "
                                   "`neutrino-bench env`";
    static const char required[] = "; NEUTRINO_REQUIRE is set, so driver calls fail: start the program by "
                                   "`neutrino-bench -- COMMAND`, or start `neutrino-bench serve`";
    nb_log(what, subject, nb_is_recording_required() ? required : recorded);
}

static bool open_served(const char *path)
{
    char why[NB_PAGE];
    const int descriptor = nb_serve_ask(path, why, 512);
    if (descriptor < 0) {
        const size_t length = strlen(why);
        snprintf(why + length, sizeof why - length, " (%s)", path);
        report_unrecorded("`neutrino-bench serve` gives no session: ", why);
        return false;
    }
    is_shared = false;
    const bool is_mapped = map_descriptor(descriptor);
    close(descriptor);
    if (!is_mapped)
        report_unrecorded("cannot map the session of `neutrino-bench serve`: ", path);
    return is_mapped;
}

static bool open_shared(const char *where)
{
    char *path = NULL;
    const long inherited = strtol(where, &path, 10);
    if (path == where || *path != ':' || inherited < 0 || inherited > INT_MAX) {
        report_unrecorded("NEUTRINO_RING is not DESCRIPTOR:PATH: ", where);
        return false;
    }
    is_shared = true;
    if (map_descriptor((int)inherited))
        return true;
    const int opened = open(path + 1, O_RDWR | O_CLOEXEC);
    const bool mapped = opened >= 0 && map_descriptor(opened);
    if (opened >= 0)
        close(opened);
    if (!mapped)
        report_unrecorded("cannot reach the supervisor's memory: ", path + 1);
    return mapped;
}

bool nb_session_open(void)
{
    const char *served = getenv("NEUTRINO_SERVE"), *shared = getenv("NEUTRINO_RING");
    if (served != NULL && *served != 0)
        return open_served(served);
    if (shared != NULL && *shared != 0)
        return open_shared(shared);
    report_unrecorded("the shim is loaded, but no supervisor is named by NEUTRINO_RING or NEUTRINO_SERVE",
                      NULL);
    return false;
}

void nb_session_close(void)
{
    munmap(session, mapped_bytes);
    session = NULL;
}

struct nb_ring *nb_session_ring(uint32_t index)
{
    const uint64_t offset = NB_PAGE + index * (NB_PAGE + session->ring_bytes);
    return (struct nb_ring *)((char *)session + offset);
}

bool nb_session_has_images(void)
{
    return mapped_bytes > session->image_offset || session->image_bytes == 0;
}

uint64_t nb_session_store_image(const void *image, uint64_t bytes)
{
    const uint64_t room = mapped_bytes > session->image_offset ? session->image_bytes : 0;
    const uint64_t rounded =
        (bytes + NB_PAGE - 1) / NB_PAGE * NB_PAGE; /* whole pages, so that each can be freed */
    if (rounded < bytes || rounded > room)
        return UINT64_MAX;
    const uint64_t at = atomic_fetch_add_explicit(&session->image_next, rounded, memory_order_relaxed);
    if (at > room || rounded > room - at)
        return UINT64_MAX;
    memcpy((char *)session + session->image_offset + at, image, bytes);
    return at;
}
