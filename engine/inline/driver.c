#include "inline/driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "inline/inline.h"

static const struct {
    const char *name;
    size_t place; /* in struct nb_driver */
    bool optional;
} functions[] = {
#define NB_ROW(function) {#function, offsetof(struct nb_driver, function), false},
    NB_DRIVER_FUNCTIONS(NB_ROW)
#undef NB_ROW
#define NB_ROW(function, parameters) {#function, offsetof(struct nb_driver, function), true},
        NB_DRIVER_OPTIONAL(NB_ROW)
#undef NB_ROW
};

typedef void *(*opener)(const char *, int);

/* libc's own dlopen: a shim's redirection would intercept the name. */
static opener own_dlopen(void)
{
    opener found = dlopen;
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *address = libc != NULL ? dlsym(libc, "dlopen") : NULL;
    if (address != NULL)
        memcpy(&found, &address, sizeof found);
    return found;
}

int nb_driver_open(struct nb_driver *driver, const char *path, char *error)
{
    void *library = own_dlopen()(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        (void)snprintf(error, NB_INLINE_TEXT, "no driver: %s", dlerror());
        return -1;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(library, functions[i].name);
        if (address == NULL && !functions[i].optional) {
            (void)snprintf(error, NB_INLINE_TEXT,
                           "%s has no %s; timing inline needs a driver for CUDA 12.0 or newer", path,
                           functions[i].name);
            return -1;
        }
        memcpy((char *)driver + functions[i].place, &address, sizeof address);
    }
    return 0;
}
