/* Redirects a dlopen of a GPU driver to the shim. All other calls stay unchanged. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../hook/core/base/filter.h"

/* Read by dlopen.S, after the decision function has returned. */
void *next_dlopen __attribute__((visibility("hidden")));
void *next_dlmopen __attribute__((visibility("hidden")));

/* Returned in rax:rdx. */
struct request {
    const char *file;
    unsigned long flags;
};

struct request redirect_dlopen(const char *file, int flags, const void *caller)
    __attribute__((visibility("hidden")));
struct request redirect_dlmopen(const char *file, int flags, const void *caller)
    __attribute__((visibility("hidden")));

static const struct driver {
    const char *name; /* the part before ".so" */
    const char *shim; /* environment variables with paths */
    const char *real;
} drivers[] = {{"libcuda", "NEUTRINO_SHIM", "NEUTRINO_DRIVER"},
               {"libamdhip64", "NEUTRINO_HIP_SHIM", "NEUTRINO_HIP_DRIVER"}};

/* <name>.so, <name>.so.1, <name>.so.580.159.04, <name>.so.5.2.21153 */
static bool is_driver(const char *base, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(base, name, length) != 0 || strncmp(base + length, ".so", 3) != 0)
        return false;
    const char *version = base + length + 3;
    return *version == 0 || (*version == '.' && strspn(version, ".0123456789") == strlen(version));
}

static struct request decide(const char *file, int flags, const void *caller)
{
    const struct request as_asked = {file, (unsigned)flags};
    if (file == NULL)
        return as_asked;
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        if (!is_driver(slash != NULL ? slash + 1 : file, drivers[i].name))
            continue;
        const char *target = getenv(nb_filter_matches(caller) ? drivers[i].real : drivers[i].shim);
        /* A path without a file must still fail: programs try several paths. */
        if (target == NULL || *target == 0 || (slash != NULL && access(file, F_OK) != 0))
            return as_asked;
        /* With DEEPBIND the shim's own calls of libc, and the driver's, would bypass all other hooks. */
        return (struct request){target, (unsigned)flags & ~(unsigned)RTLD_DEEPBIND};
    }
    return as_asked;
}

/* Two threads may both look the function up; they find the same address. */
static void find_next(void **next, const char *name)
{
    if (__atomic_load_n(next, __ATOMIC_RELAXED) == NULL)
        __atomic_store_n(next, dlsym(RTLD_NEXT, name), __ATOMIC_RELAXED);
}

struct request redirect_dlopen(const char *file, int flags, const void *caller)
{
    const int saved = errno;
    find_next(&next_dlopen, "dlopen");
    const struct request request = decide(file, flags, caller);
    errno = saved;
    return request;
}

struct request redirect_dlmopen(const char *file, int flags, const void *caller)
{
    const int saved = errno;
    find_next(&next_dlmopen, "dlmopen");
    const struct request request = decide(file, flags, caller);
    errno = saved;
    return request;
}
