/* Opens the HIP library below libcuda-over-hip.so at the first call. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/driver/hip.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library;

/* Stands for a missing function, whatever its parameters, like nb_absent in the shim. */
static int absent(void)
{
    return hipErrorNotSupported;
}

/* The ABI of the headers in use (5) comes first, newer ones follow. */
static void *open_library(void)
{
    static const char *const names[] = {"libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7",
                                        "libamdhip64.so"};
    const char *named = getenv("NEUTRINO_BRIDGE_DRIVER");
    if (named != NULL && *named != 0)
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    void *opened = NULL;
    for (size_t i = 0; opened == NULL && i < sizeof names / sizeof *names; i++)
        opened = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return opened;
}

static void open_once(void)
{
    library = open_library();
    if (library == NULL)
        fprintf(stderr,
                "neutrino: no HIP library: %s; set NEUTRINO_BRIDGE_DRIVER to the path of a libamdhip64.so\n",
                dlerror());
}

void *nb_hip_find(const char *name)
{
    pthread_once(&once, open_once);
    return library != NULL ? dlsym(library, name) : NULL;
}

void *nb_hip_function(const char *name)
{
    int (*const missing)(void) = absent;
    void *function = nb_hip_find(name);
    if (function == NULL)
        memcpy(&function, &missing, sizeof function);
    return function;
}
