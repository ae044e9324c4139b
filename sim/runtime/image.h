/* The vendor-specific part of registration: the code in its wrapper, and managed variables. image.c is
 * CUDA's; sim/hip has HIP's. */
#ifndef NEUTRINO_SIM_RUNTIME_IMAGE_H
#define NEUTRINO_SIM_RUNTIME_IMAGE_H

#include "runtime/cudart.h"

/* An image for cuLibraryLoadData. */
struct runtime_image {
    const void *data;
    void *owned; /* NULL: the program owns `data` */
};

CUresult runtime_image_open(const void *wrapper, struct runtime_image *image);
void runtime_image_close(struct runtime_image *image);

/* Report on stderr, once per image, why it could not be loaded: the caller only gets a number. `symbol` is
 * the requested one. */
void runtime_image_report_refusal(const char *symbol, CUresult result, const char *log);

/* Called for each managed variable after loading. `host` is the address of the pointer that the program
 * reads. */
CUresult runtime_image_managed(CUlibrary library, const char *name, const void *host);

#endif
