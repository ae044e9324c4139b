#include "driver/core/log.h"

#include "driver/core/state.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* "The maximum size of the buffer is 25600 bytes": the manual at cuLogsDumpToMemory. */
#define LINE_BYTES 200
#define LINES      (25600 / LINE_BYTES)

/* Lines are numbered from 0. The newest LINES are kept. */
static struct {
    pthread_mutex_t lock;
    char lines[LINES][LINE_BYTES];
    unsigned next;
} logs = {.lock = PTHREAD_MUTEX_INITIALIZER};

#if CUDA_VERSION >= 12090

struct listener {
    struct listener *next;
    CUlogsCallback callback;
    void *data;
};

static struct listener *listeners;

/* Call the callbacks without the lock, because they may call the driver. */
static void tell(char *message)
{
    struct listener called[8];
    size_t count = 0;
    pthread_mutex_lock(&logs.lock);
    for (const struct listener *l = listeners; l != NULL && count < sizeof called / sizeof *called;
         l = l->next)
        called[count++] = *l;
    pthread_mutex_unlock(&logs.lock);
    for (size_t i = 0; i < count; i++)
        called[i].callback(called[i].data, CU_LOG_LEVEL_ERROR, message, strlen(message));
}

#else

static void tell(char *message)
{
    (void)message;
}

#endif

void sim_log_error(const char *format, ...)
{
    const int saved = errno;
    char message[LINE_BYTES - 64];
    struct timespec now;
    struct tm parts;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    pthread_mutex_lock(&logs.lock);
    (void)snprintf(logs.lines[logs.next++ % LINES], LINE_BYTES, "[%02d:%02d:%02d.%03ld][%lu][CUDA][E] %s\n",
                   parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1000000,
                   (unsigned long)pthread_self(), message);
    pthread_mutex_unlock(&logs.lock);
    tell(message);
    errno = saved;
}

CUresult sim_log_refusal(CUresult result, const char *call)
{
    static const char prefix[] = "sim_"; /* names.h adds this prefix to function names, and so to __func__ */
    const char *name = NULL;
    if (strncmp(call, prefix, sizeof prefix - 1) == 0)
        call += sizeof prefix - 1;
    (void)cuGetErrorName(result, &name);
    sim_log_error("Returning %d (%s) from %s", (int)result, name == NULL ? "unknown" : name, call);
    return result;
}

#if CUDA_VERSION >= 12090

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData,
                                CUlogsCallbackHandle *callback_out)
{
    if (callbackFunc == NULL)
        return sim_log_refusal(CUDA_ERROR_INVALID_VALUE, __func__);
    struct listener *made = malloc(sizeof(*made));
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&logs.lock);
    *made = (struct listener){listeners, callbackFunc, userData};
    listeners = made;
    pthread_mutex_unlock(&logs.lock);
    if (callback_out != NULL)
        *callback_out = (CUlogsCallbackHandle)made;
    return CUDA_SUCCESS;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
    struct listener *found = NULL;
    pthread_mutex_lock(&logs.lock);
    for (struct listener **link = &listeners; *link != NULL; link = &(*link)->next)
        if (*link == (struct listener *)callback) {
            found = *link;
            *link = found->next;
            break;
        }
    pthread_mutex_unlock(&logs.lock);
    free(found);
    return found == NULL ? sim_log_refusal(CUDA_ERROR_INVALID_VALUE, __func__) : CUDA_SUCCESS;
}

CUresult cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags)
{
    (void)flags; /* any flags are accepted, as on an H200 */
    if (iterator_out == NULL)
        return sim_log_refusal(CUDA_ERROR_INVALID_VALUE, __func__);
    pthread_mutex_lock(&logs.lock);
    *iterator_out = logs.next;
    pthread_mutex_unlock(&logs.lock);
    return CUDA_SUCCESS;
}

/* The oldest kept line that the iterator has not returned yet. Called with the lock held. */
static unsigned first_line(const CUlogIterator *iterator)
{
    const unsigned oldest = logs.next < LINES ? 0 : logs.next - LINES;
    return iterator == NULL || *iterator < oldest ? oldest : *iterator < logs.next ? *iterator : logs.next;
}

CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned int flags)
{
    (void)flags;
    FILE *file = pathToFile == NULL ? NULL : fopen(pathToFile, "we");
    if (file == NULL)
        return sim_log_refusal(CUDA_ERROR_INVALID_VALUE, __func__);
    bool written = true;
    pthread_mutex_lock(&logs.lock);
    for (unsigned i = first_line(iterator); i < logs.next; i++)
        written = fputs(logs.lines[i % LINES], file) >= 0 && written;
    if (iterator != NULL)
        *iterator = logs.next;
    pthread_mutex_unlock(&logs.lock);
    return fclose(file) == 0 && written ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static const char shortened[] =
    "The provided buffer is not large enough to hold all messages. Some messages will be missing\n";

/* Write the newest lines that fit. If older lines do not fit, a note comes first. */
static bool dump(unsigned first, char *buffer, size_t size, size_t *used)
{
    size_t bytes = 1;
    size_t room = size;
    unsigned from = logs.next;
    for (unsigned i = first; i < logs.next; i++)
        bytes += strlen(logs.lines[i % LINES]);
    const bool all = bytes <= size;
    *used = 0;
    if (!all && size <= sizeof shortened)
        return false;
    if (!all)
        room -= sizeof shortened - 1;
    while (from > first && strlen(logs.lines[(from - 1) % LINES]) < room)
        room -= strlen(logs.lines[--from % LINES]);
    if (!all && from == logs.next)
        return false;
    if (!all)
        *used = (size_t)(stpcpy(buffer, shortened) - buffer);
    for (unsigned i = from; i < logs.next; i++)
        *used = (size_t)(stpcpy(buffer + *used, logs.lines[i % LINES]) - buffer);
    buffer[*used] = '\0';
    return true;
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags)
{
    (void)flags;
    if (buffer == NULL || size == NULL || *size == 0)
        return sim_log_refusal(CUDA_ERROR_INVALID_VALUE, __func__);
    pthread_mutex_lock(&logs.lock);
    const bool fits = dump(first_line(iterator), buffer, *size, size);
    if (fits && iterator != NULL)
        *iterator = logs.next;
    pthread_mutex_unlock(&logs.lock);
    return fits ? CUDA_SUCCESS : sim_log_refusal(CUDA_ERROR_INVALID_VALUE, __func__);
}

#endif
