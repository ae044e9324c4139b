/* Functions: their headers, their statements, the labels that branches name. */
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

bool skip_line(struct parser *parser)
{
    const uint32_t line = parser->at->line;
    while (parser->at->kind != TOKEN_END && parser->at->line == line)
        next_token(parser);
    return true;
}

bool skip_braces(struct parser *parser)
{
    int depth = 0;
    while (parser->at->kind != TOKEN_END) {
        depth += token_is(parser->at, "{") ? 1 : token_is(parser->at, "}") ? -1 : 0;
        next_token(parser);
        if (depth == 0 && token_is(parser->at - 1, "}"))
            return true;
    }
    return fail(parser, parser->at->line, "a brace that is not closed");
}

bool skip_statement(struct parser *parser)
{
    while (parser->at->kind != TOKEN_END && !token_is(parser->at, ";"))
        next_token(parser);
    return expect_text(parser, ";");
}

static bool parse_branch_targets(struct parser *parser, size_t label)
{
    struct ptx_module *module = parser->module;
    struct table *tables = grow(module->tables, module->table_count, &module->table_room, sizeof *tables);
    if (tables == NULL)
        return fail_memory(parser);
    module->tables = tables;
    struct table *table = &tables[module->table_count];
    *table = (struct table){0, NULL};
    parser->labels[label].table = (int64_t)module->table_count++;
    size_t room = 0;
    do {
        int64_t *targets = grow(table->targets, table->count, &room, sizeof *targets);
        if (targets == NULL)
            return fail_memory(parser);
        table->targets = targets;
        const size_t target = find_label(parser, next_token(parser));
        if (target == SIZE_MAX)
            return false;
        targets[table->count++] = (int64_t)target; /* a label's number until the function ends */
    } while (accept_text(parser, ","));
    return expect_text(parser, ";");
}

static bool parse_label(struct parser *parser)
{
    const size_t label = find_label(parser, parser->at);
    parser->at += 2;
    if (label == SIZE_MAX)
        return false;
    if (accept_text(parser, ".branchtargets"))
        return parse_branch_targets(parser, label);
    /* What an indirect call may reach: the callee's own parameters say that when it is made. */
    if (token_is(parser->at, ".callprototype") || token_is(parser->at, ".calltargets"))
        return skip_statement(parser);
    if (parser->labels[label].target >= 0)
        return fail(parser, parser->at->line, "label %.*s twice", (int)parser->labels[label].name->length,
                    parser->labels[label].name->text);
    parser->labels[label].target = (int64_t)parser->module->code_count;
    return true;
}

static bool parse_statement(struct parser *parser)
{
    if (accept_text(parser, ".reg"))
        return parse_registers(parser);
    if (accept_text(parser, ".param"))
        return parse_frame_variable(parser, NAME_FRAME);
    if (accept_text(parser, ".local"))
        return parse_frame_variable(parser, NAME_LOCAL);
    if (variable_space(parser->at) != SPACE_GENERIC)
        return parse_variables(parser, false);
    if (token_is(parser->at, ".loc") || token_is(parser->at, ".file"))
        return skip_line(parser);
    if (token_is(parser->at, ".pragma"))
        return skip_statement(parser);
    if (parser->at->kind == TOKEN_NAME && token_is(parser->at + 1, ":"))
        return parse_label(parser);
    return parse_instruction(parser);
}

static bool parse_body(struct parser *parser)
{
    size_t scopes[NESTING_MAX];
    int depth = 0;
    do {
        if (accept_text(parser, "{")) {
            if (depth == NESTING_MAX)
                return fail(parser, parser->at->line, "blocks nest deeper than %d", NESTING_MAX);
            scopes[depth++] = parser->name_count;
        } else if (accept_text(parser, "}")) {
            parser->name_count = scopes[--depth]; /* the block's names are no longer known */
        } else if (parser->at->kind == TOKEN_END) {
            return fail(parser, parser->at->line, "the text ends inside a function");
        } else if (!accept_text(parser, ";") && !parse_statement(parser)) {
            return false;
        }
    } while (depth > 0);
    return true;
}

static bool resolve_label(struct parser *parser, int64_t *reference)
{
    const struct label *label = &parser->labels[*reference];
    if (label->target < 0)
        return fail(parser, label->name->line, "no label %.*s", (int)label->name->length, label->name->text);
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
                return fail(parser, instruction->line, "brx.idx without .branchtargets");
        }
    }
    return true;
}

static bool parse_function_attributes(struct parser *parser, struct ptx_kernel *function)
{
    while (parser->at->kind == TOKEN_DIRECTIVE) {
        const bool threads = token_is(parser->at, ".maxntid") || token_is(parser->at, ".reqntid");
        const bool numbers = threads || token_is(parser->at, ".minnctapersm") ||
                             token_is(parser->at, ".maxnreg") || token_is(parser->at, ".maxnctapersm") ||
                             token_is(parser->at, ".maxclusterrank");
        if (!numbers) {
            if (!accept_text(parser, ".noreturn") && !accept_text(parser, ".explicitcluster"))
                return token_is(parser->at, ".pragma")
                           ? skip_statement(parser)
                           : fail(parser, parser->at->line, "'%.*s' is not executed", (int)parser->at->length,
                                  parser->at->text);
            continue;
        }
        const bool required = token_is(next_token(parser), ".reqntid");
        uint64_t product = 1, value;
        unsigned axis = 0;
        if (required)
            function->required_threads[1] = function->required_threads[2] = 1;
        do {
            if (!parse_integer(parser, &value))
                return false;
            if (required && axis < 3)
                function->required_threads[axis++] = value < 4096 ? (uint32_t)value : 4096;
            product *= value < 4096 ? value : 4096;
        } while (accept_text(parser, ","));
        if (threads)
            function->max_threads = product < 1024 ? (uint32_t)product : 1024;
    }
    return true;
}

static struct ptx_kernel *add_function(struct parser *parser, const struct token *name, bool entry)
{
    struct ptx_module *module = parser->module;
    const int64_t known = find_function(parser, name);
    if (known >= 0) {
        parser->function_index = (uint32_t)known;
        return module->functions[known];
    }
    struct ptx_kernel **functions =
        grow(module->functions, module->function_count, &module->function_room, sizeof *functions);
    struct ptx_kernel *function = calloc(1, sizeof *function);
    if (functions != NULL)
        module->functions = functions;
    if (functions == NULL || function == NULL || (function->name = token_copy(name)) == NULL) {
        free(function);
        fail_memory(parser);
        return NULL;
    }
    function->module = module;
    function->entry = entry;
    parser->function_index = (uint32_t)module->function_count;
    functions[module->function_count++] = function;
    return function;
}

/* The name follows the results, which are parsed into a function of no name first. */
bool parse_function(struct parser *parser, bool entry)
{
    struct ptx_kernel scratch = {0};
    parser->name_count = parser->label_count = 0;
    parser->function = &scratch;
    bool good = entry || parse_parameters(parser, &scratch.results, &scratch.result_count, false);
    const struct token *token = next_token(parser);
    /* A name with % could not be told from a register. */
    good = good && ((token->kind == TOKEN_NAME && token->text[0] != '%') ||
                    fail(parser, token->line, "expected a function's name"));
    good = good && parse_parameters(parser, &scratch.parameters, &scratch.parameter_count, entry);
    good = good && parse_function_attributes(parser, &scratch);
    struct ptx_kernel *function = good ? add_function(parser, token, entry) : NULL;
    const bool again = function != NULL && function->defined;
    if (function == NULL || again) {
        free(scratch.parameters);
        free(scratch.results);
        if (again && accept_text(parser, ";"))
            return true; /* declared once more */
        return again ? fail(parser, token->line, "function %s twice", function->name) : false;
    }
    free(function->parameters);
    free(function->results);
    scratch.name = function->name;
    scratch.module = parser->module;
    scratch.entry = entry;
    *function = scratch;
    parser->function = function;
    if (accept_text(parser, ";"))
        return true;
    function->defined = true;
    function->begin = (uint32_t)parser->module->code_count;
    if (!token_is(parser->at, "{"))
        return expect_text(parser, "{");
    if (!parse_body(parser))
        return false;
    /* A label may stand at the very end, and a text may fall off it: both return. */
    if (emit(parser, entry ? OP_EXIT : OP_RET, parser->at->line) == NULL)
        return false;
    function->end = (uint32_t)parser->module->code_count;
    return resolve_labels(parser, function);
}
