/* Parse functions: headers, statements and labels. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

bool ptx_skip_line(struct parser *parser)
{
    const uint32_t line = parser->at->line;
    while (parser->at->kind != TOKEN_END && parser->at->line == line)
        next_token(parser);
    return true;
}

bool ptx_skip_braces(struct parser *parser)
{
    int depth = 0;
    while (parser->at->kind != TOKEN_END) {
        depth += ptx_token_is(parser->at, "{") ? 1 : ptx_token_is(parser->at, "}") ? -1 : 0;
        next_token(parser);
        if (depth == 0 && ptx_token_is(parser->at - 1, "}"))
            return true;
    }
    return ptx_fail(parser, parser->at->line, "unclosed brace");
}

bool ptx_skip_statement(struct parser *parser)
{
    while (parser->at->kind != TOKEN_END && !ptx_token_is(parser->at, ";"))
        next_token(parser);
    return ptx_expect_text(parser, ";");
}

static bool parse_branch_targets(struct parser *parser, size_t label)
{
    struct ptx_module *module = parser->module;
    struct table *tables = ptx_grow(module->tables, module->table_count, &module->table_room, sizeof *tables);
    if (tables == NULL)
        return ptx_fail_memory(parser);
    module->tables = tables;
    struct table *table = &tables[module->table_count];
    *table = (struct table){0, NULL};
    parser->labels[label].table = (int64_t)module->table_count++;
    size_t room = 0;
    do {
        int64_t *targets = ptx_grow(table->targets, table->count, &room, sizeof *targets);
        if (targets == NULL)
            return ptx_fail_memory(parser);
        table->targets = targets;
        const size_t target = ptx_find_label(parser, next_token(parser));
        if (target == SIZE_MAX)
            return false;
        targets[table->count++] = (int64_t)target; /* label number; resolved at the function's end */
    } while (ptx_accept_text(parser, ","));
    return ptx_expect_text(parser, ";");
}

static bool parse_label(struct parser *parser)
{
    const size_t label = ptx_find_label(parser, parser->at);
    parser->at += 2;
    if (label == SIZE_MAX)
        return false;
    if (ptx_accept_text(parser, ".branchtargets"))
        return parse_branch_targets(parser, label);
    /* .calltargets and .callprototype are skipped: the engine checks the callee's parameters at the call. */
    if (ptx_token_is(parser->at, ".callprototype") || ptx_token_is(parser->at, ".calltargets"))
        return ptx_skip_statement(parser);
    if (parser->labels[label].target >= 0)
        return ptx_fail(parser, parser->at->line, "label %.*s is defined twice",
                        (int)parser->labels[label].name->length, parser->labels[label].name->text);
    parser->labels[label].target = (int64_t)parser->module->code_count;
    return true;
}

static bool parse_statement(struct parser *parser)
{
    if (ptx_accept_text(parser, ".reg"))
        return ptx_parse_registers(parser);
    if (ptx_accept_text(parser, ".param"))
        return ptx_parse_frame_variable(parser, NAME_FRAME);
    if (ptx_accept_text(parser, ".local"))
        return ptx_parse_frame_variable(parser, NAME_LOCAL);
    if (ptx_variable_space(parser->at) != SPACE_GENERIC)
        return ptx_parse_variables(parser, false);
    if (ptx_token_is(parser->at, ".loc") || ptx_token_is(parser->at, ".file"))
        return ptx_skip_line(parser);
    if (ptx_token_is(parser->at, ".pragma"))
        return ptx_skip_statement(parser);
    if (parser->at->kind == TOKEN_NAME && ptx_token_is(parser->at + 1, ":"))
        return parse_label(parser);
    return ptx_parse_instruction(parser);
}

static bool parse_body(struct parser *parser)
{
    size_t scopes[NESTING_MAX];
    int depth = 0;
    do {
        if (ptx_accept_text(parser, "{")) {
            if (depth == NESTING_MAX)
                return ptx_fail(parser, parser->at->line, "blocks nest deeper than %d", NESTING_MAX);
            scopes[depth++] = parser->name_count;
        } else if (ptx_accept_text(parser, "}")) {
            parser->name_count = scopes[--depth]; /* the block's names go out of scope */
        } else if (parser->at->kind == TOKEN_END) {
            return ptx_fail(parser, parser->at->line, "the text ends inside a function");
        } else if (!ptx_accept_text(parser, ";") && !parse_statement(parser)) {
            return false;
        }
    } while (depth > 0);
    return true;
}

static bool resolve_label(struct parser *parser, int64_t *reference)
{
    const struct label *label = &parser->labels[*reference];
    if (label->target < 0)
        return ptx_fail(parser, label->name->line, "label %.*s is not defined", (int)label->name->length,
                        label->name->text);
    *reference = label->target;
    return true;
}

static bool resolve_labels(struct parser *parser, const struct ptx_kernel *function)
{
    for (size_t i = 0; i < parser->label_count; i++) {
        if (parser->labels[i].table < 0)
            continue;
        const struct table *table = &parser->module->tables[parser->labels[i].table];
        for (uint32_t j = 0; j < table->count; j++)
            if (!resolve_label(parser, &table->targets[j]))
                return false;
    }
    for (uint32_t i = function->begin; i < function->end; i++) {
        struct instruction *instruction = &parser->module->code[i];
        if (instruction->operation == OP_BRA && !resolve_label(parser, &instruction->offset))
            return false;
        if (instruction->operation == OP_BRX) {
            instruction->offset = parser->labels[instruction->offset].table;
            if (instruction->offset < 0)
                return ptx_fail(parser, instruction->line, "brx.idx needs a .branchtargets list");
        }
    }
    return true;
}

static bool parse_function_attributes(struct parser *parser, struct ptx_kernel *function)
{
    while (parser->at->kind == TOKEN_DIRECTIVE) {
        const bool threads = ptx_token_is(parser->at, ".maxntid") || ptx_token_is(parser->at, ".reqntid");
        const bool numbers =
            threads || ptx_token_is(parser->at, ".minnctapersm") || ptx_token_is(parser->at, ".maxnreg") ||
            ptx_token_is(parser->at, ".maxnctapersm") || ptx_token_is(parser->at, ".maxclusterrank") ||
            ptx_token_is(parser->at, ".reqnctapercluster");
        if (!numbers) {
            if (!ptx_accept_text(parser, ".noreturn") && !ptx_accept_text(parser, ".explicitcluster"))
                return ptx_token_is(parser->at, ".pragma")
                           ? ptx_skip_statement(parser)
                           : ptx_fail(parser, parser->at->line, "unsupported directive '%.*s'",
                                      (int)parser->at->length, parser->at->text);
            continue;
        }
        uint32_t *const required = ptx_token_is(parser->at, ".reqntid") ? function->required_threads
                                   : ptx_token_is(parser->at, ".reqnctapercluster")
                                       ? function->required_cluster
                                       : NULL;
        uint64_t product = 1, value;
        unsigned axis = 0;
        (void)next_token(parser);
        if (required != NULL)
            required[1] = required[2] = 1;
        do {
            if (!ptx_parse_integer(parser, &value))
                return false;
            if (required != NULL && axis < 3)
                required[axis++] = value < 4096 ? (uint32_t)value : 4096;
            product *= value < 4096 ? value : 4096;
        } while (ptx_accept_text(parser, ","));
        if (threads)
            function->max_threads = product < 1024 ? (uint32_t)product : 1024;
    }
    return true;
}

static struct ptx_kernel *add_function(struct parser *parser, const struct token *name, bool entry)
{
    struct ptx_module *module = parser->module;
    const int64_t known = ptx_find_function(parser, name);
    if (known >= 0) {
        parser->function_index = (uint32_t)known;
        return module->functions[known];
    }
    struct ptx_kernel **functions =
        ptx_grow(module->functions, module->function_count, &module->function_room, sizeof *functions);
    struct ptx_kernel *function = calloc(1, sizeof *function);
    if (functions != NULL)
        module->functions = functions;
    if (functions == NULL || function == NULL || (function->name = ptx_token_copy(name)) == NULL) {
        free(function);
        ptx_fail_memory(parser);
        return NULL;
    }
    function->module = module;
    function->entry = entry;
    parser->function_index = (uint32_t)module->function_count;
    functions[module->function_count++] = function;
    return function;
}

static atomic_bool accepts_unsupported;

void ptx_accept_unsupported(bool yes)
{
    atomic_store(&accepts_unsupported, yes);
}

bool ptx_accepts_unsupported(void)
{
    return atomic_load(&accepts_unsupported);
}

/* Replaces the body, which begins at `body` and has an unsupported instruction, by one that says so. Returns
 * false, with the function's name in the diagnostic, if the module is refused. */
static bool set_aside(struct parser *parser, struct ptx_kernel *function, const struct token *body,
                      size_t accesses)
{
    if (!parser->met_unsupported || !ptx_accepts_unsupported()) {
        char *text = parser->diagnostic->text;
        const size_t length = strlen(text), room = sizeof parser->diagnostic->text - length;
        (void)snprintf(text + length, room, " in %s %s", function->entry ? "kernel" : "function",
                       function->name);
        return false;
    }
    const uint32_t line = parser->diagnostic->line;
    function->refusal = strdup(parser->diagnostic->text);
    if (function->refusal == NULL)
        return false;
    parser->met_unsupported = false;
    *parser->diagnostic = (struct ptx_diagnostic){0};
    parser->module->code_count = function->begin;
    parser->module->access_count = accesses;
    parser->label_count = 0;
    parser->at = body;
    return ptx_skip_braces(parser) && ptx_emit(parser, OP_UNSUPPORTED, line) != NULL;
}

/* The results precede the name, so they are parsed into an unnamed function first. */
bool ptx_parse_function(struct parser *parser, bool entry)
{
    struct ptx_kernel scratch = {0};
    parser->name_count = parser->label_count = 0;
    parser->function = &scratch;
    bool good = entry || ptx_parse_parameters(parser, &scratch.results, &scratch.result_count, false);
    const struct token *token = next_token(parser);
    /* A name with % would look like a register. */
    good = good && ((token->kind == TOKEN_NAME && token->text[0] != '%') ||
                    ptx_fail(parser, token->line, "expected a function's name"));
    good = good && ptx_parse_parameters(parser, &scratch.parameters, &scratch.parameter_count, entry);
    good = good && parse_function_attributes(parser, &scratch);
    struct ptx_kernel *function = good ? add_function(parser, token, entry) : NULL;
    const bool again = function != NULL && function->defined;
    if (function == NULL || again) {
        free(scratch.parameters);
        free(scratch.results);
        if (again && ptx_accept_text(parser, ";"))
            return true; /* a repeated declaration */
        return again ? ptx_fail(parser, token->line, "function %s is defined twice", function->name) : false;
    }
    free(function->parameters);
    free(function->results);
    scratch.name = function->name;
    scratch.module = parser->module;
    scratch.entry = entry;
    *function = scratch;
    parser->function = function;
    if (ptx_accept_text(parser, ";"))
        return true;
    function->defined = true;
    function->begin = (uint32_t)parser->module->code_count;
    if (!ptx_token_is(parser->at, "{"))
        return ptx_expect_text(parser, "{");
    const struct token *body = parser->at;
    const size_t accesses = parser->module->access_count;
    if (!parse_body(parser) && !set_aside(parser, function, body, accesses))
        return false;
    /* Code may fall off the end of a function, and a label may stand there: return. */
    if (ptx_emit(parser, entry ? OP_EXIT : OP_RET, parser->at->line) == NULL)
        return false;
    function->end = (uint32_t)parser->module->code_count;
    return resolve_labels(parser, function);
}
