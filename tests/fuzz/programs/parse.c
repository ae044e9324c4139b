/* Target: the PTX parser, which accepts a text or refuses it with a reason. */
#include <string.h>

#include "ptx/ptx.h"
#include "target.h"

const enum style target_style = STYLE_HOSTILE;
const char *const target_outcomes[OUTCOMES] = {"accepted", "refused"};

/* Calls all queries on a module. */
static void ask(const struct ptx_module *module)
{
    struct ptx_kernel_attributes attributes;
    const size_t count = ptx_module_kernel_count(module);
    for (size_t i = 0; i < count; i++) {
        const struct ptx_kernel *kernel = ptx_module_kernel(module, i);
        if (kernel == NULL || ptx_module_find_kernel(module, ptx_kernel_name(kernel)) != kernel)
            finding("kernel %zu of %zu is not found", i, count);
        ptx_kernel_attributes(kernel, &attributes);
        const size_t parameters = ptx_kernel_parameter_count(kernel),
                     room = ptx_kernel_parameter_bytes(kernel);
        for (size_t j = 0; j < parameters; j++) {
            size_t offset, bytes;
            ptx_kernel_parameter(kernel, j, &offset, &bytes);
            if (offset > room || bytes > room - offset)
                finding("parameter %zu of %s lies outside the parameters", j, ptx_kernel_name(kernel));
        }
    }
    for (size_t i = 0; i < ptx_module_global_count(module); i++)
        if (strlen(ptx_variable_name(ptx_module_global(module, i))) == 0)
            finding("global %zu has no name", i);
}

unsigned target_take(const unsigned char *bytes, size_t size)
{
    struct ptx_module *module = NULL;
    struct ptx_diagnostic diagnostic = {0};
    ptx_accept_unsupported(true); /* as the driver does */
    const int result = ptx_module_parse((const char *)bytes, size, &module, &diagnostic);
    if (memchr(diagnostic.text, 0, sizeof diagnostic.text) == NULL)
        finding("a reason without an end");
    if (result != 0 && (module != NULL || diagnostic.text[0] == 0))
        finding("refused %s", module != NULL ? "with a module" : "without a reason");
    if (result == 0)
        ask(module);
    ptx_module_free(module);
    return result == 0 ? 0 : 1;
}
