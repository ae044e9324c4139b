#include "cuda/kernel/function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/driver/slots.h"
#include "core/image/code_object.h"
#include "core/image/image.h"
#include "core/image/layout.h"
#include "core/maps/binmap.h"
#include "core/process/call.h"
#include "cuda/kernel/handle.h"
#include "real.h"
#include "surface.h"

struct search {
    CUfunction handle;
    const char *name;
};

static int is_function_of(const void *value, const void *argument)
{
    const struct nb_function *candidate = value;
    const struct search *search = argument;
    CUfunction function = NULL;
    return candidate->kind == NB_FUNCTION_KERNEL && strcmp(candidate->name, search->name) == 0 &&
           NB_REAL(cuKernelGetFunction)(&function, (CUkernel)candidate->handle) == CUDA_SUCCESS &&
           function == search->handle;
}

/* Return the image of a function, through its module. The driver makes functions of library kernels by
 * itself (graph nodes of driver 580 refer to them); find those through the kernel of the same name. */
static const struct nb_binary *find_binary(CUfunction handle, const char *name)
{
    CUmodule module = NULL;
    const struct search search = {handle, name};
    if (NB_REAL(cuFuncGetModule)(&module, handle) == CUDA_SUCCESS && nb_binmap_get(nb_handle(module)) != NULL)
        return nb_binmap_get(nb_handle(module));
    const struct nb_function *kernel = nb_handle_map_find(&nb_functions, is_function_of, &search);
    return kernel != NULL ? kernel->binary : NULL;
}

/* Add a handle that the program received past every hook: from an export table, a graph node, or a
 * function newer than the shim's header. The driver may still know its name. cuFuncGetName refuses a
 * CUkernel, and cuKernelGetName refuses a CUfunction (driver 580). */
static struct nb_function *add_unknown_handle(CUfunction handle)
{
    const char *name = NULL;
    CUlibrary library = NULL;
    if (NB_REAL(cuFuncGetName)(&name, handle) == CUDA_SUCCESS && name != NULL)
        return nb_funcmap_set(nb_handle(handle), NB_FUNCTION, find_binary(handle, name), name);
    if (NB_REAL(cuKernelGetName)(&name, (CUkernel)handle) != CUDA_SUCCESS || name == NULL)
        name = "";
    else
        NB_REAL(cuKernelGetLibrary)(&library, (CUkernel)handle);
    return nb_funcmap_set(nb_handle(handle), NB_FUNCTION_KERNEL, nb_binmap_get(nb_handle(library)), name);
}

static CUresult parameter_info(const struct nb_function *function, size_t index, size_t *offset, size_t *size)
{
    if (function->kind == NB_FUNCTION_KERNEL)
        return NB_REAL(cuKernelGetParamInfo)((CUkernel)function->handle, index, offset, size);
    return NB_REAL(cuFuncGetParamInfo)((CUfunction)function->handle, index, offset, size);
}

static void query_layout(const struct nb_function *function, struct nb_kernel_facts *facts,
                         struct nb_parameter *layout)
{
    CUresult result = CUDA_SUCCESS;
    uint32_t count = 0;
    while (count < NB_LAYOUT_MAX) {
        size_t offset = 0, size = 0;
        result = parameter_info(function, count, &offset, &size);
        if (result != CUDA_SUCCESS)
            break;
        layout[count++] = (struct nb_parameter){(uint32_t)offset, (uint32_t)size};
    }
    /* INVALID_VALUE marks the end of the list; any other error means that the driver does not know the
     * layout. */
    if (count > 0 || result == CUDA_ERROR_INVALID_VALUE) {
        facts->parameter_count = count;
        facts->layout_source = NB_LAYOUT_DRIVER;
    }
}

static void read_layout(const struct nb_function *function, struct nb_kernel_facts *facts,
                        struct nb_parameter *layout)
{
    const struct nb_binary *binary = function->binary;
    if (binary == NULL || binary->kept == NULL)
        return;
    const struct nb_extent elf = nb_image_elf(binary->kept, binary->bytes);
    int count = elf.start != NULL ? nb_layout_from_elf(elf.start, elf.bytes, function->name, layout) : -1;
    if (count < 0)
        count = nb_layout_from_code_object(binary->kept, binary->bytes, function->name, layout);
    if (count >= 0) {
        facts->parameter_count = (uint32_t)count;
        facts->layout_source = NB_LAYOUT_IMAGE;
    }
}

static void query_attributes(const struct nb_function *function, struct nb_kernel_facts *facts)
{
    CUfunction handle = (CUfunction)function->handle;
    if (function->kind == NB_FUNCTION_KERNEL &&
        NB_REAL(cuKernelGetFunction)(&handle, (CUkernel)function->handle) != CUDA_SUCCESS)
        return;
    const struct {
        CUfunction_attribute attribute;
        uint32_t *fact;
    } queried[] = {{CU_FUNC_ATTRIBUTE_NUM_REGS, &facts->registers},
                   {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &facts->static_shared_bytes},
                   {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &facts->local_bytes},
                   {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &facts->constant_bytes},
                   {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &facts->max_threads},
                   {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &facts->binary_version}};
    for (size_t i = 0; i < sizeof queried / sizeof *queried; i++) {
        int value = 0;
        if (NB_REAL(cuFuncGetAttribute)(&value, queried[i].attribute, handle) == CUDA_SUCCESS && value > 0)
            *queried[i].fact = (uint32_t)value;
    }
}

const struct nb_description *nb_describe(struct nb_thread *thread, CUfunction handle)
{
    const struct nb_description *known_description = nb_find_description(handle);
    if (known_description != NULL)
        return known_description;
    const int saved = errno;
    struct nb_function *function = nb_funcmap_get(nb_handle(handle));
    if (function == NULL)
        function = add_unknown_handle(handle);
    struct nb_parameter *layout = calloc(NB_LAYOUT_MAX, sizeof *layout);
    struct nb_kernel_facts facts = {.layout = layout};
    const struct nb_description *description = NULL;
    if (function != NULL && layout != NULL) {
        query_layout(function, &facts, layout);
        if (facts.layout_source == NB_LAYOUT_UNKNOWN)
            read_layout(function, &facts, layout);
        query_attributes(function, &facts);
        description = nb_funcmap_describe(thread, function, &facts);
    }
    free(layout);
    errno = saved;
    return description;
}
