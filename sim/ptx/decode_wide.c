/* Decode instructions on 128 bits (.b128). A register of 128 bits is two of the engine's, the low half first;
 * as an operand it is a vector of these halves. */
#include "ptx/statement.h"

/* Reads the halves of operand `index` as sources, or as results. `_` gives unused registers. */
static bool take_halves(struct statement *statement, unsigned index, bool result, struct operand halves[2])
{
    const struct written *written = &statement->operands[index];
    const bool sink = result && written->form == FORM_PLAIN && written->atoms[0].kind == ATOM_SINK;
    if (!sink && (written->form != FORM_VECTOR || written->count != 2))
        return ptx_refuse(statement, "needs registers of 128 bits");
    for (unsigned i = 0; i < 2; i++) {
        const struct atom *atom = &written->atoms[sink ? 0 : i];
        if (result ? !ptx_write_operand(statement->parser, atom, false, &halves[i])
                   : !ptx_read_operand(statement->parser, atom, T_B64, &halves[i]))
            return false;
    }
    return true;
}

/* mov.b128 q, {low, high}; mov.b128 {low, high}, q; mov.b128 q, r; */
bool ptx_decode_wide_move(struct statement *statement, const struct row *row)
{
    struct operand to[2], from[2];
    ptx_take(statement, ".b128");
    if (statement->operand_count != 2 || (!statement->operands[0].wide && !statement->operands[1].wide))
        return ptx_refuse(statement, "needs a register of 128 bits");
    if (!take_halves(statement, 0, true, to) || !take_halves(statement, 1, false, from))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        struct instruction *instruction = ptx_begin_instruction(statement, row->operation, T_B64);
        if (instruction == NULL)
            return false;
        instruction->to[0] = to[i];
        instruction->from[0] = from[i];
    }
    return true;
}

/* ld.relaxed.gpu.global.b128 q, [p]; st.global.b128 [p], q; */
bool ptx_decode_wide_memory(struct statement *statement, const struct row *row)
{
    const bool store = row->operation == OP_ST;
    const bool is_strong = ptx_take_one(statement, ".volatile .relaxed .acquire .mmio") >= 0;
    const unsigned address = store ? 0 : 1;
    struct operand halves[2], base;
    ptx_take(statement, ".b128");
    ptx_take_hints(statement);
    if (!ptx_take_cache_hint(statement))
        return false;
    const enum space space = ptx_take_space(statement);
    if (statement->operand_count != 2 || statement->operands[address].form != FORM_ADDRESS ||
        space == SPACE_PARAM)
        return ptx_unsupported(statement);
    if (!take_halves(statement, 1 - address, !store, halves) ||
        !ptx_read_operand(statement->parser, &statement->operands[address].atoms[0], T_U64, &base))
        return false;
    struct instruction *instruction =
        ptx_begin_instruction(statement, store ? OP_ST_WIDE : OP_LD_WIDE, T_B64);
    if (instruction == NULL)
        return false;
    instruction->space = (uint8_t)space;
    instruction->flags = is_strong && !store ? FLAG_STRONG : 0;
    instruction->offset = statement->operands[address].offset;
    *(store ? instruction->to : instruction->from) = base; /* a store keeps its address in to[0] */
    for (unsigned i = 0; i < 2; i++)
        *(store ? &instruction->from[i] : &instruction->to[i]) = halves[i];
    return true;
}

/* atom.global.exch.b128 d, [a], b; atom.global.cas.b128 d, [a], b, c; Only the low halves of b and c are in
 * the instruction: the high half is the next register. */
bool ptx_decode_wide_atomic(struct statement *statement, const struct row *row)
{
    struct operand to[2], value[2], swap[2] = {0}, base;
    (void)row;
    ptx_take(statement, ".b128");
    ptx_take_hints(statement);
    if (!ptx_take_cache_hint(statement))
        return false;
    const enum space space = ptx_take_space(statement);
    const int operation = ptx_take_one(statement, ".exch .cas");
    const unsigned count = operation == 1 ? 4 : 3;
    if (operation < 0 || ptx_token_is(statement->base, "red") || statement->operand_count != count ||
        statement->operands[1].form != FORM_ADDRESS)
        return ptx_unsupported(statement);
    if (!statement->operands[2].wide || !statement->operands[count - 1].wide)
        return ptx_refuse(statement, "needs registers of 128 bits");
    if (!take_halves(statement, 0, true, to) || !take_halves(statement, 2, false, value) ||
        (count == 4 && !take_halves(statement, 3, false, swap)) ||
        !ptx_read_operand(statement->parser, &statement->operands[1].atoms[0], T_U64, &base))
        return false;
    struct instruction *instruction = ptx_begin_instruction(statement, OP_ATOM_WIDE, T_B64);
    if (instruction == NULL)
        return false;
    instruction->space = (uint8_t)space;
    instruction->variant = operation == 1 ? ATOM_CAS : ATOM_EXCH;
    instruction->offset = statement->operands[1].offset;
    instruction->to[0] = to[0];
    instruction->to[1] = to[1];
    instruction->from[0] = base;
    instruction->from[1] = value[0];
    instruction->from[2] = swap[0];
    return true;
}
