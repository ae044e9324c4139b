/* A library in a folder of its own, found through a RUNPATH of $ORIGIN, that opens a neighbour and the
 * driver: a dlopen hook that loses the caller finds neither. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "scale.h"

static void *by_symbol(const char *name, void *driver)
{
    return dlsym(driver, name);
}

__attribute__((visibility("default"))) int plugin_run(void)
{
    struct driver driver;
    void *neighbour = dlopen("libneighbour.so", RTLD_NOW);
    void *handle = dlopen("libcuda.so", RTLD_NOW);
    if (neighbour == NULL || handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    scale_fill(&driver, by_symbol, handle);
    scale_start(&driver);
    scale_run(&driver, 3);
    return ((int (*)(void))dlsym(neighbour, "neighbour_answer"))() != 42;
}
