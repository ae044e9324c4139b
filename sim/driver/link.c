/* cuLink*: on this device a link product is PTX text, which every loading call accepts. One input is the
 * usual case; several are joined if each stands for itself. */
#include "../ptx/ptx.h"
#include "context.h"
#include "image.h"
#include "jit.h"

#include <stdlib.h>
#include <string.h>

struct sim_link {
    struct sim_object object;
    struct sim_jit jit;
    char *text; /* NUL-terminated */
    size_t bytes;
};

static void dispose(struct sim_object *object)
{
    struct sim_link *link = (struct sim_link *)object;
    free(link->text);
    free(link);
}

static CUresult create(unsigned numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut)
{
    struct sim_context *context;
    struct sim_jit jit;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (stateOut == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_jit_options(&jit, numOptions, options, optionValues);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_link *link = calloc(1, sizeof(*link));
    if (link == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&link->object, SIM_LINK, context, dispose);
    link->jit = jit;
    if (!sim_object_publish(link)) {
        sim_object_release(link);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *stateOut = (CUlinkState)link;
    return CUDA_SUCCESS;
}

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
                      CUlinkState *stateOut)
{
    return create(numOptions, options, optionValues, stateOut);
}

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
                         CUlinkState *stateOut)
{
    return create(numOptions, options, optionValues, stateOut);
}

/* Position of the first directive after .version, .target and .address_size. */
static size_t header_end(const char *text, size_t bytes)
{
    size_t at = 0;
    size_t end = 0;
    while (at < bytes) {
        const char *newline = memchr(text + at, '\n', bytes - at);
        const size_t next = newline == NULL ? bytes : (size_t)(newline - text) + 1;
        size_t start = at;
        while (start < next && (text[start] == ' ' || text[start] == '\t'))
            start++;
        const size_t left = next - start;
        if ((left >= 8 && memcmp(text + start, ".version", 8) == 0) ||
            (left >= 7 && memcmp(text + start, ".target", 7) == 0) ||
            (left >= 13 && memcmp(text + start, ".address_size", 13) == 0))
            end = next;
        else if (left > 1 && memcmp(text + start, "//", 2) != 0)
            break;
        at = next;
    }
    return end;
}

static CUresult add(CUlinkState state, CUjitInputType type, const void *data, size_t size, const char *name)
{
    (void)name;
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_link *link = sim_object_find(state, SIM_LINK);
    if (link == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (data == NULL || size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_text image;
    if (type != CU_JIT_INPUT_FATBINARY && type != CU_JIT_INPUT_PTX)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    const CUresult found = sim_image_text(data, size, &link->jit, &image);
    if (found != CUDA_SUCCESS)
        return found;
    const char *text = image.text;
    size_t bytes = image.bytes;
    const size_t skipped = link->bytes == 0 ? 0 : header_end(text, bytes);
    char *longer = realloc(link->text, link->bytes + bytes - skipped + 2);
    if (longer == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(longer + link->bytes, text + skipped, bytes - skipped);
    link->text = longer;
    link->bytes += bytes - skipped;
    longer[link->bytes++] = '\n';
    longer[link->bytes] = '\0';
    sim_image_release(&image);
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                       unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    struct sim_jit jit;
    const CUresult result = sim_jit_options(&jit, numOptions, options, optionValues);
    return result == CUDA_SUCCESS ? add(state, type, data, size, name) : result;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                          unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    struct sim_jit jit;
    const CUresult result = sim_jit_options(&jit, numOptions, options, optionValues);
    return result == CUDA_SUCCESS ? add(state, type, data, size, name) : result;
}

static CUresult add_file(CUlinkState state, CUjitInputType type, const char *path)
{
    void *image;
    size_t bytes;
    if (path == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_image_read(path, &image, &bytes);
    if (result != CUDA_SUCCESS)
        return result;
    result = add(state, type, image, bytes, path);
    free(image);
    return result;
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions,
                       CUjit_option *options, void **optionValues)
{
    struct sim_jit jit;
    const CUresult result = sim_jit_options(&jit, numOptions, options, optionValues);
    return result == CUDA_SUCCESS ? add_file(state, type, path) : result;
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions,
                          CUjit_option *options, void **optionValues)
{
    struct sim_jit jit;
    const CUresult result = sim_jit_options(&jit, numOptions, options, optionValues);
    return result == CUDA_SUCCESS ? add_file(state, type, path) : result;
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_link *link = sim_object_find(state, SIM_LINK);
    if (link == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (cubinOut == NULL || link->bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct ptx_module *module;
    struct ptx_diagnostic diagnostic;
    if (ptx_module_parse(link->text, link->bytes, &module, &diagnostic) != 0) {
        sim_jit_refused(&link->jit, &diagnostic);
        return CUDA_ERROR_INVALID_PTX;
    }
    ptx_module_free(module);
    sim_jit_finish(&link->jit);
    *cubinOut = link->text;
    if (sizeOut != NULL)
        *sizeOut = link->bytes + 1;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_object_withdraw(state, SIM_LINK))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_release(state);
    return CUDA_SUCCESS;
}
