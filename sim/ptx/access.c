/* Decode loads, stores and atomics. */
#include <string.h>

#include "ptx/statement.h"

static unsigned take_vector(struct statement *statement)
{
    return ptx_take(statement, ".v4") ? 4 : ptx_take(statement, ".v2") ? 2 : 1;
}

/* Reads the elements of a vector, or one register, as sources (`store`) or as results. */
static bool elements(struct statement *statement, unsigned index, unsigned count, bool store, enum type type,
                     struct operand *operands)
{
    const struct written *written = &statement->operands[index];
    if (written->count != count || (count > 1) != (written->form == FORM_VECTOR))
        return ptx_refuse(statement, "has the wrong number of elements");
    for (unsigned i = 0; i < count; i++)
        if (store ? !ptx_read_operand(statement->parser, &written->atoms[i], type, &operands[i])
                  : !ptx_write_operand(statement->parser, &written->atoms[i], false, &operands[i]))
            return false;
    return true;
}

/* Decodes an access to a .param variable of the frame or of the kernel, whose offset is known at parse time.
 */
static bool decode_variable(struct statement *statement, bool store, enum type type, unsigned count,
                            const struct atom *atom, int64_t offset, const struct operand *operands)
{
    const bool parameter = atom->kind == ATOM_PARAMETER;
    const uint64_t bytes = (uint64_t)ptx_type_bytes(type) * count;
    if (offset < 0 || (uint64_t)offset + bytes > atom->bytes || (parameter && store))
        return ptx_refuse(statement,
                          parameter && store ? "writes to a kernel's parameter" : "is outside its variable");
    struct instruction *instruction = ptx_begin_instruction(statement,
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

bool ptx_decode_memory(struct statement *statement, const struct row *row)
{
    if (ptx_has(statement, ".b128"))
        return ptx_decode_wide_memory(statement, row);
    const bool store = row->operation == OP_ST;
    const bool is_strong = ptx_take_one(statement, ".volatile .relaxed .acquire .release .mmio") >= 0;
    ptx_take_hints(statement);
    if (!ptx_take_cache_hint(statement))
        return false;
    const enum space space = ptx_take_space(statement);
    const unsigned count = take_vector(statement);
    const enum type type = ptx_take_type(statement);
    const unsigned address = store ? 0 : 1;
    struct operand operands[4] = {0}, base;
    if (type == T_NONE || type == T_PRED || statement->operand_count != 2 ||
        statement->operands[address].form != FORM_ADDRESS)
        return ptx_refuse(statement, "needs an address");
    const struct atom *atom = &statement->operands[address].atoms[0];
    const int64_t offset = statement->operands[address].offset;
    if (!elements(statement, 1 - address, count, store, type, operands))
        return false;
    if (space == SPACE_PARAM && (atom->kind == ATOM_PARAMETER || atom->kind == ATOM_FRAME))
        return decode_variable(statement, store, type, count, atom, offset, operands);
    if (!ptx_read_operand(statement->parser, atom, T_U64, &base))
        return false;
    struct instruction *instruction = ptx_begin_instruction(statement, row->operation, type);
    if (instruction == NULL)
        return false;
    instruction->space = (uint8_t)(space == SPACE_PARAM ? SPACE_GENERIC : space);
    instruction->vector = (uint8_t)count;
    instruction->flags = is_strong ? FLAG_STRONG : 0;
    instruction->offset = offset;
    memcpy(store ? instruction->from : instruction->to, operands, sizeof operands);
    *(store ? instruction->to : instruction->from) = base; /* a store keeps its address in to[0] */
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
    struct instruction *instruction = ptx_begin_instruction(statement, OP_ATOM, words->type);
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

/* atom.global.v4.f32.add d, [a], b: the ISA makes each element atomic, not the vector, so this emits one
 * instruction per element. It copies the address first: a result may overwrite its register. */
static bool decode_atomic_vector(struct statement *statement, struct atomic_words *words, unsigned count,
                                 bool reduce)
{
    struct operand to[4] = {0}, values[4] = {0};
    const struct operand kept = {.kind = OPERAND_REGISTER, .index = ptx_new_register(statement->parser)};
    const unsigned value = reduce ? 1 : 2;
    if (words->operation > ATOM_MAX || !ptx_type_is_float(words->type) ||
        statement->operand_count != value + 1 ||
        !elements(statement, value, count, true, words->type, values) ||
        (!reduce && !elements(statement, 0, count, false, words->type, to)))
        return ptx_unsupported(statement);
    struct instruction *keep = ptx_begin_instruction(statement, OP_MOV, T_U64);
    if (keep == NULL)
        return false;
    keep->to[0] = kept;
    keep->from[0] = words->base;
    words->base = kept;
    for (unsigned i = 0; i < count; i++, words->offset += ptx_type_bytes(words->type))
        if (!emit_atomic(statement, words, to[i], values[i], (struct operand){0}))
            return false;
    return true;
}

bool ptx_decode_atomic(struct statement *statement, const struct row *row)
{
    const bool reduce = ptx_token_is(statement->base, "red");
    struct atomic_words words;
    if (ptx_has(statement, ".b128"))
        return ptx_decode_wide_atomic(statement, row);
    ptx_take_hints(statement);
    if (!ptx_take_cache_hint(statement))
        return false;
    words.space = ptx_take_space(statement);
    words.operation = ptx_take_one(statement, ".add .min .max .and .or .xor .inc .dec .exch .cas");
    const unsigned vector = take_vector(statement);
    words.type = ptx_take_type(statement);
    const unsigned address = reduce ? 0 : 1, values = words.operation == ATOM_CAS ? 2 : 1;
    struct operand to = {0}, from[2] = {0};
    if (words.operation < 0 || words.type == T_NONE || statement->operand_count != address + 1 + values ||
        statement->operands[address].form != FORM_ADDRESS)
        return ptx_unsupported(statement);
    if (ptx_type_bytes(words.type) < 4 && words.type != T_F16 && words.type != T_BF16 && words.type != T_B16)
        return ptx_refuse(statement, "has an unsupported type");
    words.offset = statement->operands[address].offset;
    if (!ptx_read_operand(statement->parser, &statement->operands[address].atoms[0], T_U64, &words.base))
        return false;
    if (vector > 1)
        return decode_atomic_vector(statement, &words, vector, reduce);
    for (unsigned i = 0; i < values; i++)
        if (!ptx_read_source(statement, address + 1 + i, words.type, &from[i]))
            return false;
    if (!reduce && !ptx_read_result(statement, 0, false, &to))
        return false;
    return emit_atomic(statement, &words, to, from[0], from[1]);
}
