#include "core/region/raw_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Size of the buffer for elements. A launch then costs a copy instead of three system calls. */
#define BUFFER_BYTES (1u << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_open;    /* open, not ended, no error */
static bool is_seized;  /* only `owner` may append */
static bool has_missed; /* another thread tried to append */
static pthread_t owner;
static char path[PATH_MAX];
static char error[PATH_MAX + 160];
static unsigned char *buffer;
static size_t buffer_bytes;
static uint32_t counts[NB_CAPTURE_END + 1];

static bool set_error(const char *what, int number)
{
    is_open = false;
    snprintf(error, sizeof error, "cannot %s %s: %s", what, path, strerror(number));
    errno = number;
    return false;
}

static bool write_all(int descriptor, const unsigned char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(descriptor, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written < 0 ? errno : ENOSPC;
            return false;
        }
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

/* Writing beyond the limit of ulimit -f would end the process with SIGXFSZ. The file is the shim's, so
 * block the signal and remove it before the program can see it. */
static bool write_quietly(int descriptor, const void *bytes, size_t count)
{
    static const struct timespec at_once;
    sigset_t limit, before;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    const bool whole = write_all(descriptor, bytes, count);
    const int saved = errno;
    if (!whole && saved == EFBIG && sigismember(&before, SIGXFSZ) == 0)
        sigtimedwait(&limit, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return whole;
}

static bool write_out(const void *bytes, size_t count, int flags)
{
    const int descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (descriptor < 0)
        return set_error(flags & O_CREAT ? "make" : "open again", errno);
    const bool whole = write_quietly(descriptor, bytes, count);
    const int saved = errno;
    close(descriptor);
    return whole || set_error("write to", saved);
}

static bool flush_buffer(void)
{
    const size_t count = buffer_bytes;
    buffer_bytes = 0;
    return count == 0 || write_out(buffer, count, 0);
}

static bool buffer_write(const void *bytes, size_t count)
{
    if (count > BUFFER_BYTES - buffer_bytes && !flush_buffer())
        return false;
    if (count > BUFFER_BYTES)
        return write_out(bytes, count, 0);
    if (count > 0)
        memcpy(buffer + buffer_bytes, bytes, count);
    buffer_bytes += count;
    return true;
}

static bool open_file(const char *folder, uint32_t region)
{
    const struct nb_raw_capture header = {.magic = NB_RAW_CAPTURE_MAGIC,
                                          .version = NB_RAW_CAPTURE_VERSION,
                                          .process = (uint32_t)getpid(),
                                          .region = region};
    const int length = snprintf(path, sizeof path, "%s/%ld-%u.nrec", folder, (long)getpid(), region);
    if (length < 0 || (size_t)length >= sizeof path)
        return set_error("make", ENAMETOOLONG);
    if (buffer == NULL && (buffer = malloc(BUFFER_BYTES)) == NULL)
        return set_error("make", ENOMEM);
    error[0] = 0;
    buffer_bytes = 0;
    memset(counts, 0, sizeof counts);
    is_seized = true;
    owner = pthread_self();
    has_missed = false;
    is_open = write_out(&header, sizeof header, O_CREAT | O_EXCL);
    return is_open;
}

bool nb_raw_capture_open(const char *folder, uint32_t region)
{
    pthread_mutex_lock(&lock);
    const bool opened = open_file(folder, region);
    pthread_mutex_unlock(&lock);
    return opened;
}

static bool append(enum nb_capture_kind kind, const struct nb_piece *pieces, unsigned count)
{
    static const unsigned char zeros[8];
    uint64_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += pieces[i].bytes;
    const size_t padding = (size_t)(-bytes & 7);
    const struct nb_element head = {.kind = kind, .bytes = bytes + padding};
    bool whole = buffer_write(&head, sizeof head);
    for (unsigned i = 0; whole && i < count; i++)
        whole = buffer_write(pieces[i].start, pieces[i].bytes);
    return whole && buffer_write(zeros, padding);
}

void nb_raw_capture_share(void)
{
    pthread_mutex_lock(&lock);
    is_seized = false;
    pthread_mutex_unlock(&lock);
}

void nb_raw_capture_seize(void)
{
    pthread_mutex_lock(&lock);
    is_seized = true;
    owner = pthread_self();
    has_missed = false;
    pthread_mutex_unlock(&lock);
}

void nb_raw_capture_miss(void)
{
    pthread_mutex_lock(&lock);
    has_missed = true;
    pthread_mutex_unlock(&lock);
}

uint32_t nb_raw_capture_append(enum nb_capture_kind kind, const struct nb_piece *pieces, unsigned count)
{
    uint32_t index = NB_NOTHING;
    const int saved = errno;
    pthread_mutex_lock(&lock);
    if (is_seized && !pthread_equal(owner, pthread_self()))
        has_missed = true;
    else if (is_open && append(kind, pieces, count))
        index = counts[kind]++;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return index;
}

uint32_t nb_raw_capture_count(enum nb_capture_kind kind)
{
    pthread_mutex_lock(&lock);
    const uint32_t count = counts[kind];
    pthread_mutex_unlock(&lock);
    return count;
}

bool nb_raw_capture_flush(void)
{
    pthread_mutex_lock(&lock);
    const bool whole = is_open && flush_buffer();
    pthread_mutex_unlock(&lock);
    return whole;
}

static bool append_missed_refusal(void)
{
    static const char reason[] = "another thread submitted work while the region ended";
    const struct nb_capture_refusal refusal = {.operation = counts[NB_CAPTURE_OPERATION],
                                               .call = {sizeof refusal, 0},
                                               .reason = {sizeof refusal, sizeof reason - 1}};
    const struct nb_piece pieces[] = {{&refusal, sizeof refusal}, {reason, sizeof reason - 1}};
    return append(NB_CAPTURE_REFUSAL, pieces, 2);
}

bool nb_raw_capture_end(uint32_t status)
{
    pthread_mutex_lock(&lock);
    const struct nb_capture_end end = {.status = status, .operations = counts[NB_CAPTURE_OPERATION]};
    const struct nb_piece piece = {&end, sizeof end};
    const bool whole = is_open && (!has_missed || append_missed_refusal()) &&
                       append(NB_CAPTURE_END, &piece, 1) && flush_buffer();
    is_open = false;
    pthread_mutex_unlock(&lock);
    return whole;
}

const char *nb_raw_capture_error(void)
{
    return error;
}

/* In a forked child: the file is the parent's. */
static void forget(void)
{
    is_open = false;
    is_seized = false;
    buffer_bytes = 0;
}

const struct nb_component nb_raw_capture_component = {.locks = {&lock}, .forget = forget};
