/* Loads, stores and atomics: the instructions that name memory. */
#include <string.h>

#include "ptx/statement.h"

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
    if (!take_cache_hint(statement))
        return false;
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

struct atomic_words {
    enum space space;
    int operation;
    enum type type;
    struct operand base;
    int64_t offset;
};

static bool emit_atomic(struct statement *statement, const struct atomic_words *words, struct operand to,
                        struct operand value, struct operand swap)
{
    struct instruction *instruction = begin(statement, OP_ATOM, words->type);
    if (instruction == NULL)
        return false;
    instruction->space = (uint8_t)words->space;
    instruction->variant = (uint8_t)words->operation;
    instruction->offset = words->offset;
    instruction->to[0] = to;
    instruction->from[0] = words->base;
    instruction->from[1] = value;
    instruction->from[2] = swap;
    return true;
}

/* atom.global.v4.f32.add d, [a], b: not atomic as a whole, so one element after the other. The address is
 * kept, as a result may overwrite it. */
static bool decode_atomic_vector(struct statement *statement, struct atomic_words *words, unsigned count,
                                 bool reduce)
{
    struct operand to[4] = {0}, values[4] = {0};
    const struct operand kept = {.kind = OPERAND_REGISTER, .index = new_register(statement->parser)};
    const unsigned value = reduce ? 1 : 2;
    if (words->operation > ATOM_MAX || !type_is_float(words->type) || statement->operand_count != value + 1 ||
        !elements(statement, value, count, true, words->type, values) ||
        (!reduce && !elements(statement, 0, count, false, words->type, to)))
        return unsupported(statement);
    struct instruction *keep = begin(statement, OP_MOV, T_U64);
    if (keep == NULL)
        return false;
    keep->to[0] = kept;
    keep->from[0] = words->base;
    words->base = kept;
    for (unsigned i = 0; i < count; i++, words->offset += type_bytes(words->type))
        if (!emit_atomic(statement, words, to[i], values[i], (struct operand){0}))
            return false;
    return true;
}

bool decode_atomic(struct statement *statement, const struct row *row)
{
    const bool reduce = token_is(statement->base, "red");
    struct atomic_words words;
    (void)row;
    take_hints(statement);
    if (!take_cache_hint(statement))
        return false;
    words.space = take_space(statement);
    words.operation = take_one(statement, ".add .min .max .and .or .xor .inc .dec .exch .cas");
    const unsigned vector = take_vector(statement);
    words.type = take_type(statement);
    const unsigned address = reduce ? 0 : 1, values = words.operation == ATOM_CAS ? 2 : 1;
    struct operand to = {0}, from[2] = {0};
    if (words.operation < 0 || words.type == T_NONE || statement->operand_count != address + 1 + values ||
        statement->operands[address].form != FORM_ADDRESS)
        return unsupported(statement);
    if (type_bytes(words.type) < 4 && words.type != T_F16 && words.type != T_BF16 && words.type != T_B16)
        return refuse(statement, "has a type that is not executed");
    words.offset = statement->operands[address].offset;
    if (!read_operand(statement->parser, &statement->operands[address].atoms[0], T_U64, &words.base))
        return false;
    if (vector > 1)
        return decode_atomic_vector(statement, &words, vector, reduce);
    for (unsigned i = 0; i < values; i++)
        if (!source(statement, address + 1 + i, words.type, &from[i]))
            return false;
    if (!reduce && !destination(statement, 0, false, &to))
        return false;
    return emit_atomic(statement, &words, to, from[0], from[1]);
}
