#include "runtime/driver.h"

#include <dlfcn.h>
#include <driver_types.h>
#include <pthread.h>
#include <stdio.h>

static struct runtime_driver driver;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* Called through pointers of other types: on x86-64 a function ignores excess arguments. */
static CUresult no_driver(void)
{
    return (CUresult)cudaErrorInsufficientDriver;
}

static CUresult no_function(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

static void *find(void *library, const char *name)
{
    if (library == NULL)
        return (void *)no_driver;
    void *function = dlsym(library, name);
    return function == NULL ? (void *)no_function : function;
}

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        (void)fprintf(stderr, "CUDA runtime (neutrino): %s; install a driver, or name one with --driver\n",
                      dlerror());
#define DRIVER_FIND(function) driver.function = (__typeof__(driver.function))find(library, TEXT(function));
    DRIVER_FUNCTIONS(DRIVER_FIND)
#undef DRIVER_FIND
}

const struct runtime_driver *runtime_driver(void)
{
    (void)pthread_once(&opened, open_driver);
    return &driver;
}
