/* A kernel that calls a function of the device runtime which the engine lacks, itself or through other
 * functions, cannot run. The other kernels of the module can. */
#include <string.h>

#include "ptx/parser.h"
#include "ptx/runtime.h"

static bool is_lacking(const struct ptx_module *module, const struct call *call)
{
    if (call->function >= CALL_INDIRECT)
        return false;
    const struct ptx_kernel *callee = module->functions[call->function];
    return !callee->defined && ptx_runtime_lacks(callee->name, strlen(callee->name));
}

static bool refuse(struct parser *parser, struct ptx_kernel *function, const char *why)
{
    if (function->refusal == NULL && (function->refusal = strdup(why)) == NULL)
        return ptx_fail_memory(parser);
    function->lacks_runtime = true;
    return true;
}

/* A caller of a function that cannot run cannot run either. */
static bool refuse_callers(struct parser *parser)
{
    const struct ptx_module *module = parser->module;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < module->call_count; i++) {
            const struct call *call = &module->calls[i];
            if (call->function >= CALL_INDIRECT || !module->functions[call->function]->lacks_runtime ||
                module->functions[call->caller]->lacks_runtime)
                continue;
            if (!refuse(parser, module->functions[call->caller], module->functions[call->function]->refusal))
                return false;
            again = true;
        }
    }
    return true;
}

bool ptx_set_aside_callers(struct parser *parser)
{
    const struct ptx_module *module = parser->module;
    for (size_t i = 0; i < module->code_count; i++) {
        struct instruction *instruction = &module->code[i];
        if (instruction->operation != OP_CALL || !is_lacking(module, &module->calls[instruction->offset]))
            continue;
        const struct call *call = &module->calls[instruction->offset];
        struct ptx_kernel *caller = module->functions[call->caller];
        (void)ptx_fail(parser, instruction->line,
                       "%s %.200s calls %.80s, and the CPU driver lacks that function of the device runtime",
                       caller->entry ? "kernel" : "function", caller->name,
                       module->functions[call->function]->name);
        if (!ptx_accepts_unsupported() || !refuse(parser, caller, parser->diagnostic->text))
            return false;
        *parser->diagnostic = (struct ptx_diagnostic){0};
        instruction->operation = OP_UNSUPPORTED; /* a function pointer may lead here */
    }
    return refuse_callers(parser);
}
