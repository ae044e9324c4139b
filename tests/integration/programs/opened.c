/* opened soname|deepbind|namespace|FILE: the driver is opened at run time, its functions come from dlsym.
 * opened by-name FILE: they come from cuGetProcAddress.
 * opened descriptor FILE: the driver is opened as /proc/self/fd/N. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>

#include "scale.h"

static void *open_driver(const char *how)
{
    if (strcmp(how, "soname") == 0)
        return dlopen("libcuda.so.1", RTLD_NOW);
    if (strcmp(how, "deepbind") == 0)
        return dlopen("libcuda.so.1", RTLD_NOW | RTLD_DEEPBIND);
    if (strcmp(how, "namespace") == 0)
        return dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
    return dlopen(how, RTLD_NOW | RTLD_LOCAL);
}

static void *by_symbol(const char *name, void *driver)
{
    return dlsym(driver, name);
}

static void *open_descriptor(const char *file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", open(file, O_RDONLY | O_CLOEXEC));
    return open_driver(path);
}

typedef CUresult (*get_proc_address)(const char *, void **, int, cuuint64_t,
                                     CUdriverProcAddressQueryResult *);

static void *by_name(const char *name, void *context)
{
    /* cuGetProcAddress takes names without a version's suffix. */
    char base[64];
    void *address = NULL;
    snprintf(base, sizeof base, "%s", name);
    char *suffix = strstr(base, "_v2");
    if (suffix != NULL)
        *suffix = 0;
    /* At 12000: some of these have another signature at 13000. */
    CHECK(((get_proc_address)context)(base, &address, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    return address;
}

int main(int argc, char **argv)
{
    const int named = argc > 2 && strcmp(argv[1], "by-name") == 0;
    const int described = argc > 2 && strcmp(argv[1], "descriptor") == 0;
    void *handle = described ? open_descriptor(argv[2]) : open_driver(argv[named ? 2 : 1]);
    struct driver driver;
    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    if (named)
        scale_fill(&driver, by_name, dlsym(handle, "cuGetProcAddress_v2"));
    else
        scale_fill(&driver, by_symbol, handle);
    scale_start(&driver);
    scale_run(&driver, 3);
    puts("right");
    return 0;
}
