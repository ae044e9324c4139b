#include "driver/memory/shareable.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* memfd_create(2), fcntl(2); the C library's headers before 2.27 lack these. */
#define MEMFD_FLAGS (1u | 2u) /* MFD_CLOEXEC | MFD_ALLOW_SEALING */
#define ADD_SEALS   1033
#define GET_SEALS   1034
#define SEALS       (1 | 2 | 4) /* F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW */

int sim_shareable_make(const char *name, size_t bytes)
{
    const int descriptor = (int)syscall(SYS_memfd_create, name, MEMFD_FLAGS);
    if (descriptor >= 0 &&
        (ftruncate(descriptor, (off_t)bytes) != 0 || fcntl(descriptor, ADD_SEALS, SEALS) != 0)) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

static int is_named(int descriptor, const char *name)
{
    char path[64];
    char found[128];
    char wanted[128];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    (void)snprintf(wanted, sizeof wanted, "/memfd:%s (deleted)", name);
    const ssize_t length = readlink(path, found, sizeof found - 1);
    if (length < 0)
        return 0;
    found[length] = '\0';
    return strcmp(found, wanted) == 0;
}

int sim_shareable_open(int descriptor, const char *name, size_t *bytes)
{
    struct stat status;
    const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return -1;
    if (!is_named(own, name) || (fcntl(own, GET_SEALS) & SEALS) != SEALS || fstat(own, &status) != 0) {
        close(own);
        return -1;
    }
    *bytes = (size_t)status.st_size;
    return own;
}
