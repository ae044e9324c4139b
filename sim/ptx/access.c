/* Loads, stores, atomics and calls: the instructions that name memory. */
#include <stdlib.h>
#include <string.h>

#include "statement.h"

static unsigned take_vector(struct statement *statement)
{
    return take(statement, ".v4") ? 4 : take(statement, ".v2") ? 2 : 1;
}

/* The elements of a vector, or the one register, as sources or results. */
static bool elements(struct statement *statement, unsigned index, unsigned count, bool store, enum type type,
                     struct operand *operands)
{
    const struct written *written = &statement->operands[index];
    if (written->count != count || (count > 1) != (written->form == FORM_VECTOR))
        return refuse(statement, "has another number of elements");
    for (unsigned i = 0; i < count; i++)
        if (store ? !read_operand(statement->parser, &written->atoms[i], type, &operands[i])
                  : !write_operand(statement->parser, &written->atoms[i], false, &operands[i]))
            return false;
    return true;
}

/* A variable of the frame or of the kernel's parameters, at a place known now. */
static bool decode_variable(struct statement *statement, bool store, enum type type, unsigned count,
                            const struct atom *atom, int64_t offset, const struct operand *operands)
{
    const bool parameter = atom->kind == ATOM_PARAMETER;
    const uint64_t bytes = (uint64_t)type_bytes(type) * count;
    if (offset < 0 || (uint64_t)offset + bytes > atom->bytes || (parameter && store))
        return refuse(statement,
                      parameter && store ? "writes to a kernel's parameter" : "is outside its variable");
    struct instruction *instruction = begin(statement,
                                            parameter ? OP_LD_PARAM
                                            : store   ? OP_ST_FRAME
                                                      : OP_LD_FRAME,
                                            type);
    if (instruction == NULL)
        return false;
    instruction->vector = (uint8_t)count;
    instruction->offset = atom->index + offset;
    memcpy(store ? instruction->from : instruction->to, operands, 4 * sizeof *operands);
    return true;
}

bool decode_memory(struct statement *statement, const struct row *row)
{
    const bool store = row->operation == OP_ST;
    take_hints(statement);
    const enum space space = take_space(statement);
    const unsigned count = take_vector(statement);
    const enum type type = take_type(statement);
    const unsigned address = store ? 0 : 1;
    struct operand operands[4] = {0}, base;
    if (type == T_NONE || type == T_PRED || statement->operand_count != 2 ||
        statement->operands[address].form != FORM_ADDRESS)
        return refuse(statement, "needs an address");
    const struct atom *atom = &statement->operands[address].atoms[0];
    const int64_t offset = statement->operands[address].offset;
    if (!elements(statement, 1 - address, count, store, type, operands))
        return false;
    if (space == SPACE_PARAM && (atom->kind == ATOM_PARAMETER || atom->kind == ATOM_FRAME))
        return decode_variable(statement, store, type, count, atom, offset, operands);
    if (!read_operand(statement->parser, atom, T_U64, &base))
        return false;
    struct instruction *instruction = begin(statement, row->operation, type);
    if (instruction == NULL)
        return false;
    instruction->space = (uint8_t)(space == SPACE_PARAM ? SPACE_GENERIC : space);
    instruction->vector = (uint8_t)count;
    instruction->offset = offset;
    memcpy(store ? instruction->from : instruction->to, operands, sizeof operands);
    *(store ? instruction->to : instruction->from) = base; /* a store's address is in to[0] */
    return true;
}

bool decode_atomic(struct statement *statement, const struct row *row)
{
    static const char *const words[] = {".add", ".min", ".max",  ".and", ".or", ".xor",
                                        ".inc", ".dec", ".exch", ".cas", NULL};
    const bool reduce = token_is(statement->base, "red");
    take_hints(statement);
    const enum space space = take_space(statement);
    const int operation = take_one(statement, words);
    const enum type type = take_type(statement);
    const unsigned address = reduce ? 0 : 1, values = operation == ATOM_CAS ? 2 : 1;
    struct operand to = {0}, base, from[2] = {0};
    if (operation < 0 || type == T_NONE || statement->operand_count != address + 1 + values ||
        statement->operands[address].form != FORM_ADDRESS)
        return refuse(statement, "is not executed");
    if (type_bytes(type) < 4 && type != T_F16 && type != T_BF16 && type != T_B16)
        return refuse(statement, "has a type that is not executed");
    if (!read_operand(statement->parser, &statement->operands[address].atoms[0], T_U64, &base))
        return false;
    for (unsigned i = 0; i < values; i++)
        if (!source(statement, address + 1 + i, type, &from[i]))
            return false;
    if (!reduce && !destination(statement, 0, false, &to))
        return false;
    struct instruction *instruction = begin(statement, row->operation, type);
    if (instruction == NULL)
        return false;
    instruction->space = (uint8_t)space;
    instruction->variant = (uint8_t)operation;
    instruction->offset = statement->operands[address].offset;
    instruction->to[0] = to;
    instruction->from[0] = base;
    instruction->from[1] = from[0];
    instruction->from[2] = from[1];
    return true;
}

/* (a, b): .param variables that were declared before the call. */
static bool parse_list(struct statement *statement, struct slot **slots, uint32_t *count)
{
    struct parser *parser = statement->parser;
    size_t room = 0;
    if (!expect_text(parser, "("))
        return false;
    while (!accept_text(parser, ")")) {
        struct written written;
        if (!parse_written(parser, &written))
            return false;
        if (written.form != FORM_PLAIN || written.atoms[0].kind != ATOM_FRAME)
            return refuse(statement, "passes what is no .param variable");
        struct slot *grown = grow(*slots, *count, &room, sizeof *grown);
        if (grown == NULL)
            return refuse(statement, "needs more memory than there is");
        *slots = grown;
        grown[(*count)++] = (struct slot){written.atoms[0].index, written.atoms[0].bytes};
        if (!accept_text(parser, ",") && !token_is(parser->at, ")"))
            return expect_text(parser, ")");
    }
    return true;
}

static int builtin_of(const struct token *name)
{
    return token_is(name, "vprintf")        ? BUILTIN_VPRINTF
           : token_is(name, "__assertfail") ? BUILTIN_ASSERT_FAIL
                                            : -1;
}

bool decode_call(struct statement *statement, const struct row *row)
{
    struct parser *parser = statement->parser;
    struct ptx_module *module = parser->module;
    struct call *calls = grow(module->calls, module->call_count, &module->call_room, sizeof *calls);
    if (calls == NULL)
        return refuse(statement, "needs more memory than there is");
    module->calls = calls;
    struct call *call = &calls[module->call_count++]; /* the module's from here on, to be freed with it */
    *call = (struct call){.caller = parser->function_index};
    take(statement, ".uni");
    if (token_is(parser->at, "(") &&
        (!parse_list(statement, &call->results, &call->result_count) || !expect_text(parser, ",")))
        return false;
    const struct token *name = next_token(parser);
    if (accept_text(parser, ",") && !parse_list(statement, &call->arguments, &call->argument_count))
        return false;
    if (!expect_text(parser, ";"))
        return false;
    const int builtin = builtin_of(name);
    const int64_t function = find_function(parser, name);
    if (builtin < 0 && function < 0)
        return refuse(statement, "calls what is no function");
    if (builtin >= 0 &&
        (call->argument_count < 2 || call->arguments[0].bytes != 8 || call->arguments[1].bytes != 8))
        return refuse(statement, "does not fit the function that it calls");
    call->function = builtin < 0 ? (uint32_t)function : CALL_BUILTIN;
    parser->function->calls = true;
    struct instruction *instruction = begin(statement, builtin < 0 ? row->operation : OP_BUILTIN, T_NONE);
    if (instruction == NULL)
        return false;
    instruction->variant = (uint8_t)(builtin < 0 ? 0 : builtin);
    instruction->offset = (int64_t)(module->call_count - 1);
    return true;
}
