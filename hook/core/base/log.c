#include "core/base/log.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static struct iovec part(const char *text)
{
    union {
        const char *constant;
        void *plain; /* writev() does not write through it, but struct iovec has no const */
    } base = {text != NULL ? text : ""};
    return (struct iovec){base.plain, strlen(base.constant)};
}

void nb_log(const char *what, const char *subject, const char *then)
{
    const int saved = errno;
    const struct iovec line[] = {part("neutrino-bench: "), part(what), part(subject), part(then), part("\n")};
    /* Nobody is left to tell if standard error itself cannot be written. */
    const ssize_t written = writev(STDERR_FILENO, line, sizeof line / sizeof *line);
    (void)written;
    errno = saved;
}
