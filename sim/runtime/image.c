#include "runtime/image.h"

#include <stdio.h>
#include <string.h>

CUresult runtime_image_open(const void *wrapper, struct runtime_image *image)
{
    *image = (struct runtime_image){wrapper, NULL}; /* the driver accepts nvcc's wrapper */
    return CUDA_SUCCESS;
}

void runtime_image_close(struct runtime_image *image)
{
    (void)image;
}

void runtime_image_report_refusal(const char *symbol, CUresult result, const char *log)
{
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
        (void)fprintf(
            stderr,
            "CUDA runtime (neutrino): %s: the program contains no PTX for this device; compile it with "
            "nvcc -arch=sm_75, which keeps PTX beside the machine code\n",
            symbol);
    else
        (void)fprintf(stderr, "CUDA runtime (neutrino): %s: cannot load its code (%d)%s%.*s\n", symbol,
                      (int)result, log[0] == '\0' ? "" : ": ", (int)strcspn(log, "\n"), log);
}

/* __cudaInitModule asks the driver for the addresses. */
CUresult runtime_image_managed(CUlibrary library, const char *name, const void *host)
{
    (void)library, (void)name, (void)host;
    return CUDA_SUCCESS;
}
