/* Decode direct and indirect calls, and calls of the device runtime. */
#include "ptx/runtime.h"
#include "ptx/statement.h"

/* Parses (a, b), a list of .param variables declared before the call. */
static bool parse_list(struct statement *statement, struct slot **slots, uint32_t *count)
{
    struct parser *parser = statement->parser;
    size_t room = 0;
    if (!ptx_expect_text(parser, "("))
        return false;
    while (!ptx_accept_text(parser, ")")) {
        struct written written;
        if (!ptx_parse_written(parser, &written))
            return false;
        if (written.form != FORM_PLAIN || written.atoms[0].kind != ATOM_FRAME)
            return ptx_refuse(statement, "passes an argument that is not a .param variable");
        struct slot *grown = ptx_grow(*slots, *count, &room, sizeof *grown);
        if (grown == NULL)
            return ptx_refuse(statement, "does not fit in memory");
        *slots = grown;
        grown[(*count)++] = (struct slot){written.atoms[0].index, written.atoms[0].bytes};
        if (!ptx_accept_text(parser, ",") && !ptx_token_is(parser->at, ")"))
            return ptx_expect_text(parser, ")");
    }
    return true;
}

static const struct ptx_builtin *builtin_of(const struct parser *parser, const struct token *name)
{
    const int64_t known = ptx_find_function(parser, name);
    const bool defined = known >= 0 && parser->module->functions[known]->defined;
    return defined ? NULL : ptx_find_builtin(name->text, name->length);
}

static bool fits_builtin(const struct call *call, const struct ptx_builtin *builtin)
{
    bool fits =
        call->argument_count == builtin->count &&
        (builtin->result == 0 || (call->result_count == 1 && call->results[0].bytes == builtin->result));
    for (uint32_t i = 0; fits && i < call->argument_count && i < sizeof builtin->arguments; i++)
        fits = builtin->arguments[i] == 0 || call->arguments[i].bytes == builtin->arguments[i];
    return fits;
}

/* call (result), %rd1, (argument), prototype; */
static bool decode_indirect_call(struct statement *statement, struct call *call, const struct token *name)
{
    struct parser *parser = statement->parser;
    const size_t index = (size_t)(call - parser->module->calls);
    struct atom atom = {.kind = ATOM_REGISTER, .token = name};
    struct operand target;
    const struct name *known = ptx_find_name(parser, name, &atom.index);
    if (known == NULL || known->kind != NAME_REGISTER)
        return ptx_fail(parser, name->line, "'%.*s' is not a register that holds a function",
                        (int)name->length, name->text);
    ptx_accept_text(parser, ",");
    if (parser->at->kind == TOKEN_NAME)
        next_token(parser); /* the label of a prototype or of a list of targets */
    if (!ptx_expect_text(parser, ";") || !ptx_read_operand(parser, &atom, T_U64, &target))
        return false;
    call->function = CALL_INDIRECT;
    parser->function->calls = true;
    struct instruction *instruction = ptx_begin_instruction(statement, OP_CALL, T_U64);
    if (instruction == NULL)
        return false;
    instruction->from[0] = target;
    instruction->offset = (int64_t)index;
    return true;
}

bool ptx_decode_call(struct statement *statement, const struct row *row)
{
    struct parser *parser = statement->parser;
    struct ptx_module *module = parser->module;
    struct call *calls = ptx_grow(module->calls, module->call_count, &module->call_room, sizeof *calls);
    if (calls == NULL)
        return ptx_refuse(statement, "does not fit in memory");
    module->calls = calls;
    struct call *call = &calls[module->call_count++]; /* owned by the module from here on */
    uint32_t number;
    *call = (struct call){.caller = parser->function_index};
    ptx_take(statement, ".uni");
    if (ptx_token_is(parser->at, "(") &&
        (!parse_list(statement, &call->results, &call->result_count) || !ptx_expect_text(parser, ",")))
        return false;
    const struct token *name = next_token(parser);
    if (ptx_accept_text(parser, ",") && ptx_token_is(parser->at, "(") &&
        !parse_list(statement, &call->arguments, &call->argument_count))
        return false;
    if (ptx_find_name(parser, name, &number) != NULL)
        return decode_indirect_call(statement, call, name);
    if (!ptx_expect_text(parser, ";"))
        return false;
    const struct ptx_builtin *builtin = builtin_of(parser, name);
    const int64_t function = ptx_find_function(parser, name);
    if (builtin == NULL && function < 0)
        return ptx_refuse(statement, "calls an undeclared function");
    if (builtin != NULL && !fits_builtin(call, builtin))
        return ptx_refuse(statement, "does not fit the function that it calls");
    call->function = builtin == NULL ? (uint32_t)function : CALL_BUILTIN;
    parser->function->calls |= builtin == NULL; /* a builtin needs no stack */
    struct instruction *instruction =
        ptx_begin_instruction(statement, builtin == NULL ? row->operation : OP_BUILTIN, T_NONE);
    if (instruction == NULL)
        return false;
    instruction->variant = builtin == NULL ? 0 : builtin->builtin;
    instruction->offset = (int64_t)(module->call_count - 1);
    return true;
}
