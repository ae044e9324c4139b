#include "driver/code/image.h"

#include "driver/code/header.h"
#include "driver/core/message.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPER_MAGIC 0x466243b1u
#define ELF_MAGIC     0x464c457fu

/* fatbinary_section.h, __fatBinC_Wrapper_t */
struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *filename_or_fatbins; /* of version 2: a NULL-terminated list of pointers to fat binaries */
};

static CUresult from_fatbin(const void *image, size_t bytes, struct sim_jit *jit, struct sim_text *text)
{
    const char *reason;
    const enum sim_fatbin result = sim_fatbin_text(image, bytes, jit->target, text, &reason);
    switch (result) {
    case SIM_FATBIN_TEXT:
        return CUDA_SUCCESS;
    case SIM_FATBIN_NO_LIBRARY:
        sim_jit_error(jit, "error   : the PTX in the fat binary is compressed; install %s", reason);
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        sim_jit_error(jit, "error   : %s", reason);
        return result == SIM_FATBIN_NOTHING     ? CUDA_ERROR_NO_BINARY_FOR_GPU
               : result == SIM_FATBIN_CORRUPT   ? CUDA_ERROR_UNKNOWN
               : result == SIM_FATBIN_NO_MEMORY ? CUDA_ERROR_OUT_OF_MEMORY
                                                : CUDA_ERROR_INVALID_IMAGE;
    }
}

/* The message comes once: a program may load many images. The file that the image is part of, if it is one,
 * is the program or a library, such as cuRAND. */
static void explain_machine_code(const void *image)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    Dl_info info;
    const bool known = dladdr(image, &info) != 0 && info.dli_fname != NULL;
    if (!atomic_flag_test_and_set(&said))
        sim_print("%.500s loads machine code or LTO IR, and this driver runs only PTX. Have nvcc or "
                  "NVRTC make PTX (-arch=compute_90); install numba-cuda without its [cu13] extra, which "
                  "brings a linker to machine code",
                  known ? info.dli_fname : "the program");
}

/* A program of several objects (nvcc -rdc=true) carries the code of each object. They are linked here if no
 * linked code fits the device. One may be the device runtime, whose functions the engine has itself. */
static CUresult from_objects(const void *const *fatbins, struct sim_jit *jit, struct sim_text *text)
{
    struct ptx_diagnostic diagnostic = {0};
    struct ptx_link *link = ptx_link_begin();
    enum ptx_link_status status = link == NULL ? PTX_LINK_MEMORY : PTX_LINKED;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; status == PTX_LINKED && result == CUDA_SUCCESS && fatbins[i] != NULL; i++) {
        char name[32];
        struct sim_text object;
        (void)snprintf(name, sizeof name, "object %zu", i + 1);
        const size_t bytes = sim_fatbin_bytes(fatbins[i]);
        result = from_fatbin(fatbins[i], bytes, jit, &object);
        if (result == CUDA_ERROR_NO_BINARY_FOR_GPU &&
            sim_fatbin_is_device_runtime(fatbins[i], bytes, jit->target)) {
            sim_jit_forget_errors(jit);
            result = CUDA_SUCCESS;
            continue;
        }
        if (result == CUDA_SUCCESS)
            result = sim_header_check(object.text, object.bytes, jit);
        if (result == CUDA_SUCCESS)
            status = ptx_link_add(link, object.text, object.bytes, name, &diagnostic);
        sim_image_release(&object);
    }
    if (result == CUDA_SUCCESS && status == PTX_LINKED)
        status = ptx_link_finish(link, &text->owned, &text->bytes, &diagnostic);
    text->text = text->owned;
    if (status == PTX_LINK_MEMORY)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    else if (status != PTX_LINKED)
        result = sim_jit_log_link_errors(jit, status, &diagnostic);
    if (link != NULL)
        ptx_link_end(link);
    return result;
}

/* The first four bytes. Reads no further than the end of a shorter text. */
static uint32_t magic_of(const unsigned char *image, size_t bytes)
{
    uint32_t magic = 0;
    for (size_t i = 0; i < 4 && i < bytes && image[i] != '\0'; i++)
        magic |= (uint32_t)image[i] << (8 * i);
    return magic;
}

static CUresult from_image(const void *image, size_t bytes, struct sim_jit *jit, struct sim_text *text)
{
    const uint32_t magic = magic_of(image, bytes);
    const bool unsized = bytes == SIM_IMAGE_UNSIZED;
    if (magic == WRAPPER_MAGIC && unsized) {
        struct wrapper wrapper;
        memcpy(&wrapper, image, sizeof wrapper);
        if (wrapper.data != NULL && magic_of(wrapper.data, SIM_IMAGE_UNSIZED) == SIM_FATBIN_MAGIC) {
            const CUresult result = from_fatbin(wrapper.data, sim_fatbin_bytes(wrapper.data), jit, text);
            if (result != CUDA_ERROR_NO_BINARY_FOR_GPU || wrapper.version != 2 ||
                wrapper.filename_or_fatbins == NULL)
                return result;
            sim_jit_forget_errors(jit);
            return from_objects(wrapper.filename_or_fatbins, jit, text);
        }
    } else if (magic == SIM_FATBIN_MAGIC) {
        return from_fatbin(image, unsized ? sim_fatbin_bytes(image) : bytes, jit, text);
    } else if (magic == ELF_MAGIC) {
        sim_jit_error(jit, "error   : the image is machine code (ELF), but this device runs only PTX");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    } else {
        text->text = image;
        text->bytes = strnlen(image, bytes);
        if (sim_header_is_ptx(text->text, text->bytes))
            return CUDA_SUCCESS;
    }
    sim_jit_error(jit, "error   : the binary format is not recognized: neither PTX, which begins with "
                       ".version, nor a fat binary");
    return CUDA_ERROR_INVALID_IMAGE;
}

CUresult sim_image_text(const void *image, size_t bytes, struct sim_jit *jit, struct sim_text *text)
{
    *text = (struct sim_text){NULL, 0, NULL};
    CUresult result = from_image(image, bytes, jit, text);
    /* Our runtime loads nvcc's wrapper with a log, and explains the result itself. */
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU &&
        (magic_of(image, bytes) != WRAPPER_MAGIC || jit->error.text == NULL))
        explain_machine_code(image);
    if (result == CUDA_SUCCESS)
        result = sim_header_check(text->text, text->bytes, jit);
    if (result != CUDA_SUCCESS)
        sim_image_release(text);
    return result;
}

void sim_image_release(struct sim_text *text)
{
    free(text->owned);
    *text = (struct sim_text){NULL, 0, NULL};
}

/* A file that cannot be opened is not found. For a file without a readable size, such as a folder, driver
 * 580.159 returns CUDA_ERROR_OUT_OF_MEMORY. */
CUresult sim_image_read(const char *path, void **image, size_t *size)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return CUDA_ERROR_FILE_NOT_FOUND;
    char *bytes = NULL;
    size_t used = 0;
    size_t capacity = 0;
    CUresult result = CUDA_SUCCESS;
    for (;;) {
        if (used + 1 >= capacity) {
            capacity = capacity == 0 ? 1u << 16 : capacity * 2;
            char *larger = realloc(bytes, capacity);
            if (larger == NULL) {
                result = CUDA_ERROR_OUT_OF_MEMORY;
                break;
            }
            bytes = larger;
        }
        const size_t got = fread(bytes + used, 1, capacity - used - 1, file);
        used += got;
        if (got == 0)
            break;
    }
    if (result == CUDA_SUCCESS && ferror(file))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    (void)fclose(file);
    if (result != CUDA_SUCCESS) {
        free(bytes);
        return result;
    }
    bytes[used] = '\0';
    *image = bytes;
    *size = used;
    return CUDA_SUCCESS;
}
