/* The HIP library that libcuda-over-hip.so stands on, opened at the first call. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/driver/hip.h"

static const struct {
    const char *name;
    size_t place; /* in struct nb_hip */
} functions[] = {
#define NB_ROW(function) {#function, offsetof(struct nb_hip, function)},
    NB_HIP_FUNCTIONS(NB_ROW)
#undef NB_ROW
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct nb_hip table;
static void *library;

/* Whatever the arguments are, as the shim has it (nb_absent). */
static int absent(void)
{
    return hipErrorNotSupported;
}

/* Where the caller does not say, the newest ABI that these sources know comes last: the header's is 5. */
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

static void fill(void)
{
    int (*const missing)(void) = absent;
    library = open_library();
    if (library == NULL)
        fprintf(stderr,
                "neutrino: no HIP library: %s; set NEUTRINO_BRIDGE_DRIVER to the path of a libamdhip64.so\n",
                dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *address = library != NULL ? dlsym(library, functions[i].name) : NULL;
        memcpy((char *)&table + functions[i].place, address != NULL ? (void *)&address : (void *)&missing,
               sizeof address);
    }
}

const struct nb_hip *nb_hip(void)
{
    pthread_once(&once, fill);
    return &table;
}

void *nb_hip_find(const char *name)
{
    pthread_once(&once, fill);
    return library != NULL ? dlsym(library, name) : NULL;
}
