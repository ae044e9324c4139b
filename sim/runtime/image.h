/* What a vendor's start-up code registers: the code in its wrapper, and what its managed variables are.
 * image.c is CUDA's; sim/hip has HIP's. */
#ifndef NEUTRINO_SIM_RUNTIME_IMAGE_H
#define NEUTRINO_SIM_RUNTIME_IMAGE_H

#include "runtime/cudart.h"

/* As cuLibraryLoadData takes it. */
struct runtime_image {
    const void *data;
    void *owned; /* NULL: `data` is the program's */
};

CUresult runtime_image_open(const void *wrapper, struct runtime_image *image);
void runtime_image_close(struct runtime_image *image);

/* The caller hears a number only, so the reason goes to stderr, once an image. `symbol` was asked for. */
void runtime_image_refused(const char *symbol, CUresult result, const char *log);

/* After loading, for each managed variable: `host` is the address of the pointer that the program reads. */
CUresult runtime_image_managed(CUlibrary library, const char *name, const void *host);

#endif
