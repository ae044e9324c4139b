/* Parse a module from text to a form that can be placed in memory and run. */
#include "ptx/parser.h"
#include "ptx/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_version(struct parser *parser)
{
    /* The lexer reads 8.7 as a float, so take its digits from the text. */
    const struct token *token = next_token(parser);
    unsigned major = 0, minor = 0;
    char copy[16] = {0};
    memcpy(copy, token->text, token->length < sizeof copy - 1 ? token->length : sizeof copy - 1);
    if (sscanf(copy, "%u.%u", &major, &minor) != 2 || major > 99 || minor > 9)
        return ptx_fail(parser, token->line, "'%s' is not a PTX version", copy);
    parser->module->version = major * 10 + minor;
    return true;
}

static bool parse_target(struct parser *parser)
{
    char copy[16] = {0};
    const struct token *token = next_token(parser);
    memcpy(copy, token->text, token->length < sizeof copy - 1 ? token->length : sizeof copy - 1);
    if (sscanf(copy, "sm_%u", &parser->module->target) != 1)
        return ptx_fail(parser, token->line, "'%s' is not a target", copy);
    while (ptx_accept_text(parser, ","))
        next_token(parser);
    return true;
}

bool ptx_parse_top_level(struct parser *parser)
{
    bool external = false;
    while (ptx_token_is(parser->at, ".visible") || ptx_token_is(parser->at, ".weak") ||
           ptx_token_is(parser->at, ".extern") || ptx_token_is(parser->at, ".common")) {
        external = external || ptx_token_is(parser->at, ".extern");
        next_token(parser);
    }
    if (ptx_accept_text(parser, ".version"))
        return parse_version(parser);
    if (ptx_accept_text(parser, ".target"))
        return parse_target(parser);
    if (ptx_accept_text(parser, ".address_size")) {
        uint64_t bits;
        return ptx_parse_integer(parser, &bits) &&
               (bits == 64 ||
                ptx_fail(parser, parser->at->line, "addresses of %llu bits", (unsigned long long)bits));
    }
    if (ptx_accept_text(parser, ".entry"))
        return ptx_parse_function(parser, true);
    if (ptx_accept_text(parser, ".func"))
        return ptx_parse_function(parser, false);
    if (ptx_variable_space(parser->at) != SPACE_GENERIC)
        return ptx_parse_variables(parser, external);
    if (ptx_token_is(parser->at, ".file") || ptx_token_is(parser->at, ".loc"))
        return ptx_skip_line(parser);
    if (ptx_accept_text(parser, ".section")) {
        next_token(parser);
        return ptx_skip_braces(parser);
    }
    if (ptx_token_is(parser->at, ".pragma"))
        return ptx_skip_statement(parser);
    return ptx_fail(parser, parser->at->line, "unexpected '%.*s'", (int)parser->at->length, parser->at->text);
}

static uint32_t align(uint64_t value, uint32_t alignment)
{
    return (uint32_t)((value + alignment - 1) / alignment * alignment);
}

/* Places shared variables that several functions use first. Variables of a single function follow,
 * overlapping those of other functions, so that only the variables that a kernel uses count against its
 * limit. */
static bool place_shared(struct parser *parser)
{
    struct ptx_module *module = parser->module;
    uint64_t common = 0;
    for (int own = 0; own < 2; own++)
        for (size_t i = 0; i < module->variable_count; i++) {
            struct ptx_variable *variable = module->variables[i];
            if (variable->space != SPACE_SHARED || variable->external)
                continue;
            const bool is_own = variable->user != 0 && variable->user != UINT32_MAX &&
                                module->functions[variable->user - 1]->entry;
            if (is_own != (own == 1))
                continue;
            uint32_t *total = is_own ? &module->functions[variable->user - 1]->shared_bytes : NULL;
            const uint64_t start = align(is_own ? common + *total : common, variable->alignment);
            variable->address = start;
            if (start + variable->bytes > INT32_MAX)
                return ptx_fail(parser, 0, "more than 2 GiB of shared variables");
            if (is_own)
                *total = (uint32_t)(start + variable->bytes - common);
            else
                common = start + variable->bytes;
        }
    module->common_shared_bytes = (uint32_t)common;
    for (size_t i = 0; i < module->fixup_count; i++) {
        const struct fixup *fixup = &module->fixups[i];
        const struct ptx_variable *variable = module->variables[fixup->variable];
        for (int lane = 0; lane < LANES; lane++)
            module->constants[fixup->constant * LANES + (size_t)lane] =
                variable->address + (uint64_t)fixup->addend;
    }
    return true;
}

static bool check_calls(struct parser *parser)
{
    const struct ptx_module *module = parser->module;
    for (size_t i = 0; i < module->call_count; i++) {
        const struct call *call = &module->calls[i];
        if (call->function >= CALL_INDIRECT)
            continue;
        const struct ptx_kernel *callee = module->functions[call->function];
        /* A caller may expect a result that the callee does not return: NVIDIA's linker accepts this; the
         * value is undefined. */
        bool fits = call->argument_count == callee->parameter_count &&
                    (call->result_count == callee->result_count || callee->result_count == 0);
        for (uint32_t j = 0; fits && j < call->argument_count; j++)
            fits = call->arguments[j].bytes <= callee->parameters[j].bytes;
        for (uint32_t j = 0; fits && j < callee->result_count; j++)
            fits = call->results[j].bytes <= callee->results[j].bytes;
        if (!callee->defined && (parser->partial || ptx_runtime_lacks(callee->name, strlen(callee->name))))
            continue;
        if (!callee->defined || callee->entry)
            return ptx_fail(parser, 0, "function %s is called but not defined", callee->name);
        if (!fits)
            return ptx_fail(parser, 0, "a call of %s does not fit its parameters", callee->name);
    }
    return true;
}

/* Parts that are skipped (debug sections, .loc, .pragma) could open a bracket that nothing closes. ptxas
 * refuses them, and readers of a text that count brackets would take the globals behind them for a
 * function's. */
static bool check_brackets(struct parser *parser)
{
    static const char opening[] = "{([", closing[] = "})]";
    char open[2 * NESTING_MAX];
    size_t depth = 0;
    for (const struct token *token = parser->at; token->kind != TOKEN_END; token++) {
        const char *const opens = token->kind == TOKEN_MARK ? strchr(opening, token->mark) : NULL;
        const char *const closes = token->kind == TOKEN_MARK ? strchr(closing, token->mark) : NULL;
        if (opens != NULL && depth == sizeof open)
            return ptx_fail(parser, token->line, "brackets nest deeper than %zu", sizeof open);
        if (opens != NULL)
            open[depth++] = closing[opens - opening];
        else if (closes != NULL && (depth == 0 || open[--depth] != token->mark))
            return ptx_fail(parser, token->line, "'%c' closes nothing", token->mark);
    }
    return depth == 0 || ptx_fail(parser, parser->at->line, "the text ends before a '%c'", open[depth - 1]);
}

static bool keep_text(struct parser *parser, const char *text, size_t bytes)
{
    parser->module->text = malloc(bytes + 1);
    if (parser->module->text == NULL)
        return ptx_fail_memory(parser);
    memcpy(parser->module->text, text, bytes);
    parser->module->text_bytes = bytes;
    return true;
}

/* Defines the functions of the device runtime that the module declares and does not define. */
static bool add_runtime(struct parser *parser)
{
    bool good = true;
    for (size_t i = 0; good && i < parser->module->function_count; i++) {
        const struct ptx_kernel *function = parser->module->functions[i];
        const char *text =
            function->defined ? NULL : ptx_runtime_text(function->name, strlen(function->name));
        if (text == NULL)
            continue;
        struct token *tokens = ptx_lex(text, strlen(text), parser->diagnostic);
        const struct token *at = parser->at;
        parser->at = tokens;
        good = tokens != NULL && ptx_parse_top_level(parser);
        parser->at = at;
        free(tokens);
    }
    return good;
}

int ptx_parse_module(const char *text, size_t bytes, bool partial, struct ptx_module **module,
                     struct ptx_diagnostic *diagnostic)
{
    struct ptx_diagnostic own = {0};
    struct token *tokens = ptx_lex(text, bytes, &own);
    struct parser parser = {
        .at = tokens, .diagnostic = &own, .module = calloc(1, sizeof **module), .partial = partial};
    bool good = tokens != NULL && parser.module != NULL && check_brackets(&parser);
    while (good && parser.at->kind != TOKEN_END)
        good = ptx_parse_top_level(&parser);
    good = good && (partial || (add_runtime(&parser) && ptx_set_aside_callers(&parser))) &&
           (parser.module->version != 0 || ptx_fail(&parser, 1, "no .version directive: this is not PTX")) &&
           check_calls(&parser) && place_shared(&parser) && keep_text(&parser, text, bytes);
    free(parser.names);
    free(parser.labels);
    free(tokens);
    if (good) {
        ptx_bind_runners(parser.module);
        ptx_mark_waiting_loops(parser.module);
    } else {
        ptx_module_free(parser.module);
        parser.module = NULL;
        if (diagnostic != NULL)
            *diagnostic = own;
    }
    *module = parser.module;
    return good ? 0 : -1;
}

int ptx_module_parse(const char *text, size_t bytes, struct ptx_module **module,
                     struct ptx_diagnostic *diagnostic)
{
    return ptx_parse_module(text, bytes, false, module, diagnostic);
}
