/* Modules. */
#include "hip/module.h"

#include "driver/core/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BYTES 1024u

static CUresult result_of(enum hip_code code)
{
    switch (code) {
    case HIP_CODE_TEXT:
        return CUDA_SUCCESS;
    case HIP_CODE_NOTHING:
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case HIP_CODE_NO_LIBRARY:
        return CUDA_ERROR_NOT_SUPPORTED;
    case HIP_CODE_NO_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    default:
        return CUDA_ERROR_INVALID_IMAGE;
    }
}

CUresult hip_image_text(const void *image, size_t bytes, struct hip_text *text)
{
    const char *reason;
    const enum hip_code code = hip_code_text(image, bytes, text, &reason);
    if (code == HIP_CODE_NO_LIBRARY)
        sim_print("the offload bundle is compressed; install %s", reason);
    else if (code != HIP_CODE_TEXT)
        sim_print("an image does not load: %s", reason);
    return result_of(code);
}

/* HIP has no error log parameter, so the driver's log goes to stderr. */
static hipError_t load(hipModule_t *module, const void *image, size_t bytes)
{
    struct hip_text text;
    char log[LOG_BYTES] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    HIP_READY();
    if (module == NULL || image == NULL)
        return hipErrorInvalidValue;
    CUresult result = hip_image_text(image, bytes, &text);
    if (result != CUDA_SUCCESS)
        return hip_result(result);
    result = cuModuleLoadDataEx((CUmodule *)module, text.text, 2, options, values);
    free(text.text);
    if (result != CUDA_SUCCESS)
        sim_print("an image does not load (%d): %.*s", (int)result, (int)strcspn(log, "\n"), log);
    return hip_result(result);
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image)
{
    return load(module, image, HIP_CODE_UNSIZED);
}

/* Options are ignored, as in AMD's runtime. */
hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned int numOptions,
                               hipJitOption *options, void **optionValues)
{
    (void)numOptions, (void)options, (void)optionValues;
    return load(module, image, HIP_CODE_UNSIZED);
}

static hipError_t read_file(FILE *file, char **image, size_t *bytes)
{
    if (fseek(file, 0, SEEK_END) != 0)
        return hipErrorFileNotFound;
    const long end = ftell(file);
    if (end < 0 || fseek(file, 0, SEEK_SET) != 0)
        return hipErrorFileNotFound;
    *image = malloc((size_t)end + 1);
    if (*image == NULL)
        return hipErrorOutOfMemory;
    *bytes = fread(*image, 1, (size_t)end, file);
    return hipSuccess;
}

hipError_t hipModuleLoad(hipModule_t *module, const char *fname)
{
    char *image;
    size_t bytes;
    HIP_READY();
    if (module == NULL || fname == NULL)
        return hipErrorInvalidValue;
    FILE *file = fopen(fname, "rbe");
    if (file == NULL)
        return hipErrorFileNotFound;
    hipError_t error = read_file(file, &image, &bytes);
    (void)fclose(file);
    if (error != hipSuccess)
        return error;
    error = load(module, image, bytes);
    free(image);
    return error;
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t *dptr, size_t *bytes, hipModule_t hmod, const char *name)
{
    CUdeviceptr at = 0;
    HIP_READY();
    const CUresult result = cuModuleGetGlobal(&at, bytes, (CUmodule)hmod, name);
    if (result == CUDA_SUCCESS && dptr != NULL)
        *dptr = (void *)(uintptr_t)at;
    return hip_result(result);
}
