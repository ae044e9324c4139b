/* Code that hipcc's start-up code registers (sim/runtime/image.h): a wrapper around an offload bundle. */
#include "hip/module.h" /* HIP's header before CUDA's, see hip.h */

#include "driver/core/message.h"
#include "runtime/image.h"

#include <stdlib.h>
#include <string.h>

#define WRAPPER_MAGIC 0x48495046u /* "HIPF": clang's CGCUDANV.cpp, HIPFatMagic */

struct wrapper {
    uint32_t magic, version;
    const void *binary;
    void *unused;
};

CUresult runtime_image_open(const void *registered, struct runtime_image *image)
{
    struct wrapper wrapper;
    struct hip_text text;
    memcpy(&wrapper, registered, sizeof wrapper);
    if (wrapper.magic != WRAPPER_MAGIC || wrapper.version != 1 || wrapper.binary == NULL)
        return CUDA_ERROR_INVALID_IMAGE;
    const CUresult result = hip_image_text(wrapper.binary, HIP_CODE_UNSIZED, &text);
    if (result == CUDA_SUCCESS)
        *image = (struct runtime_image){text.text, text.text};
    return result;
}

void runtime_image_close(struct runtime_image *image)
{
    free(image->owned);
}

void runtime_image_report_refusal(const char *symbol, CUresult result, const char *log)
{
    sim_print("%s: its code does not load (%d)%s%.*s", symbol, (int)result, log[0] == '\0' ? "" : ": ",
              (int)strcspn(log, "\n"), log);
}

/* Host and device each have a pointer under the variable's name; both must be equal. */
CUresult runtime_image_managed(CUlibrary library, const char *name, const void *host)
{
    CUdeviceptr pointer;
    size_t bytes;
    const CUresult result = cuLibraryGetGlobal(&pointer, &bytes, library, name);
    if (result != CUDA_SUCCESS)
        return result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result; /* no kernel reads it */
    return bytes == sizeof(void *) ? cuMemcpyHtoD(pointer, host, bytes) : CUDA_ERROR_INVALID_IMAGE;
}
