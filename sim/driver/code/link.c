/* cuLink*. The product of a link is PTX text here, which every loading call accepts.
 *
 * Results are those of driver 580.159: an unreadable input is refused when it is added, and the other inputs
 * still link; a symbol with two definitions fails the whole link. */
#include "driver/code/image.h"
#include "driver/code/jit.h"
#include "driver/context/context.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

struct sim_link {
    struct sim_object object;
    struct sim_jit jit;
    struct ptx_link *texts;
    CUresult result; /* the result of cuLinkComplete; CUDA_SUCCESS: no input has failed so far */
    bool complete;
    char *product;
};

static void dispose(struct sim_object *object)
{
    struct sim_link *link = (struct sim_link *)object;
    if (link->texts != NULL)
        ptx_link_end(link->texts);
    free(link->product);
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
    link->texts = ptx_link_begin();
    if (link->texts == NULL || !sim_object_publish(link)) {
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

static CUresult add_text(struct sim_link *link, const void *data, size_t bytes, const char *name)
{
    struct sim_text text;
    struct ptx_diagnostic diagnostic = {0};
    CUresult result = sim_image_text(data, bytes, &link->jit, &text);
    if (result != CUDA_SUCCESS)
        return result;
    const enum ptx_link_status status =
        ptx_link_add(link->texts, text.text, text.bytes, name == NULL ? "input" : name, &diagnostic);
    if (status == PTX_LINK_MEMORY)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    else if (status != PTX_LINKED)
        result = sim_jit_log_link_errors(&link->jit, status, &diagnostic);
    if (status == PTX_LINK_SYMBOL)
        link->result = result;
    sim_image_release(&text);
    return result;
}

static bool starts_with(const void *data, size_t bytes, const char *magic)
{
    return bytes >= strlen(magic) && memcmp(data, magic, strlen(magic)) == 0;
}

/* libcudadevrt.a is accepted and ignored: the engine has the supported functions itself. The other functions
 * stay undefined. */
static bool is_device_runtime(const void *data, size_t bytes, const char *name)
{
    return data != NULL && name != NULL && strstr(name, "cudadevrt") != NULL &&
           starts_with(data, bytes, "!<arch>\n");
}

/* Refuse machine code and its containers. */
static CUresult refuse(struct sim_link *link, CUjitInputType type, const void *data, size_t bytes,
                       const char *name)
{
    const bool elf = starts_with(data, bytes, "\177ELF"), archive = starts_with(data, bytes, "!<arch>\n");
    CUresult result = CUDA_ERROR_INVALID_IMAGE;
    if (type == CU_JIT_INPUT_NVVM) {
        sim_jit_error(&link->jit, "fatal   : '%s': this driver cannot compile LTO-IR", name);
        return link->result = CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    }
    if (type == CU_JIT_INPUT_CUBIN) {
        result = elf ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_IMAGE;
        link->result = result;
    } else if (type == CU_JIT_INPUT_OBJECT ? elf : archive) {
        result = CUDA_ERROR_NOT_SUPPORTED;
    }
    if (result == CUDA_ERROR_INVALID_IMAGE)
        sim_jit_error(&link->jit, "error   : '%s': contents do not match the declared input type", name);
    else
        sim_jit_error(&link->jit, "error   : '%s': this device links only PTX", name);
    return result;
}

static CUresult add(CUlinkState state, CUjitInputType type, const void *data, size_t size, const char *name)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_link *link = sim_object_find(state, SIM_LINK);
    if (link == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (type == CU_JIT_INPUT_LIBRARY && is_device_runtime(data, size, name))
        return CUDA_SUCCESS;
    if (data == NULL || size == 0 || (unsigned)type >= CU_JIT_NUM_INPUT_TYPES || link->complete)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY)
        return add_text(link, data, size, name);
    return refuse(link, type, data, size, name == NULL ? "input" : name);
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

static CUresult complete(struct sim_link *link, size_t *bytes)
{
    struct ptx_diagnostic diagnostic = {0};
    struct ptx_module *module;
    if (link->result != CUDA_SUCCESS)
        return link->result;
    const enum ptx_link_status status = ptx_link_finish(link->texts, &link->product, bytes, &diagnostic);
    if (status == PTX_LINK_MEMORY)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (status != PTX_LINKED)
        return sim_jit_log_link_errors(&link->jit, status, &diagnostic);
    if (ptx_module_parse(link->product, *bytes, &module, &diagnostic) != 0) {
        sim_jit_log_refusal(&link->jit, &diagnostic);
        return CUDA_ERROR_INVALID_SOURCE;
    }
    sim_jit_describe(&link->jit, module);
    ptx_module_free(module);
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    struct sim_context *context;
    size_t bytes = 0;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_link *link = sim_object_find(state, SIM_LINK);
    if (link == NULL || link->complete)
        return CUDA_ERROR_INVALID_HANDLE;
    if (cubinOut == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = complete(link, &bytes);
    sim_jit_finish(&link->jit, result);
    link->complete = result == CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) {
        free(link->product);
        link->product = NULL;
        return result;
    }
    *cubinOut = link->product;
    if (sizeOut != NULL)
        *sizeOut = bytes + 1; /* with the NUL, which ends a text when it is loaded */
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
