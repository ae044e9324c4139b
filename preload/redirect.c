/* Redirects a dlopen of a GPU driver to the shim. All other calls stay unchanged. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../hook/core/base/filter.h"
#include "../hook/core/base/log.h"
#include "../hook/core/base/required.h"
#include "driver_name.h"

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

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != 0;
}

/* The environment has this library, but not the shim that it leads to. A program that looks for the driver
 * of another vendor than the shim's is not at fault. */
static struct request without_shim(const char *file, int flags, const struct driver *driver)
{
    static bool is_reported;
    if (nb_is_recording_required()) {
        nb_log(driver->shim, " is not set, but NEUTRINO_REQUIRE is, so this driver cannot be opened: ", file);
        /* No such file: the caller sees a dlopen() that fails. */
        return (struct request){"/NEUTRINO_REQUIRE is set, but the shim is not", (unsigned)flags};
    }
    if (!is_set(drivers[0].shim) && !is_set(drivers[1].shim) &&
        !__atomic_exchange_n(&is_reported, true, __ATOMIC_RELAXED))
        nb_log(
            driver->shim,
            " is not set, so the driver is opened without the shim; nothing is recorded: start "
            "the program by `neutrino-bench -- COMMAND`, or take its variables from `neutrino-bench env`: ",
            file);
    return (struct request){file, (unsigned)flags};
}

/* Does this path lead to the driver's file, by a link or as /proc/self/fd/N? The loader would return the
 * driver that the shim has opened, because it compares device and inode as well (glibc, elf/dl-load.c). */
static bool is_same_file(const char *path, const char *driver)
{
    struct stat asked, real;
    return driver != NULL && stat(path, &asked) == 0 && stat(driver, &real) == 0 &&
           asked.st_ino == real.st_ino && asked.st_dev == real.st_dev;
}

static bool is_driver(const char *file, const char *slash, const struct driver *driver)
{
    if (is_driver_name(slash != NULL ? slash + 1 : file, driver->name))
        return true;
    /* The loader searches its folders for a name without a slash. */
    return slash != NULL && is_same_file(file, getenv(driver->real));
}

static struct request decide(const char *file, int flags, const void *caller)
{
    const struct request as_asked = {file, (unsigned)flags};
    if (file == NULL)
        return as_asked;
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        if (!is_driver(file, slash, &drivers[i]))
            continue;
        /* A path without a file must still fail: programs try several paths. */
        if (slash != NULL && access(file, F_OK) != 0)
            return as_asked;
        const bool is_filtered = nb_filter_matches(caller);
        const char *target = getenv(is_filtered ? drivers[i].real : drivers[i].shim);
        if (target == NULL || *target == 0)
            return is_filtered ? as_asked : without_shim(file, flags, &drivers[i]);
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
