#include "core/base/log.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static struct iovec make_part(const char *text)
{
    union {
        const char *constant;
        void *plain; /* writev() does not write through this pointer, but struct iovec lacks const */
    } base = {text != NULL ? text : ""};
    return (struct iovec){base.plain, strlen(base.constant)};
}

void nb_log(const char *what, const char *subject, const char *then)
{
    const int saved = errno;
    const struct iovec line[] = {make_part("neutrino-bench: "), make_part(what), make_part(subject),
                                 make_part(then), make_part("\n")};
    /* If standard error cannot be written, no channel is left for the message. */
    const ssize_t written = writev(STDERR_FILENO, line, sizeof line / sizeof *line);
    (void)written;
    errno = saved;
}
