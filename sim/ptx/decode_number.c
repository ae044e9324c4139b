/* Arithmetic, shifts and bits. */
#include <string.h>

#include "ptx/statement.h"

static bool needs_float(enum operation operation)
{
    return operation == OP_FMA || operation == OP_COPYSIGN || (operation >= OP_SQRT && operation <= OP_TANH);
}

/* add, min, abs, sqrt ...: rounding, .ftz, .sat and what goes with one type. */
bool decode_arithmetic(struct statement *statement, const struct row *row)
{
    const enum rounding rounding = take_rounding(statement);
    uint16_t flags = 0;
    take(statement, ".approx");
    take(statement, ".full");
    flags |= take(statement, ".ftz") ? FLAG_FLUSH : 0;
    flags |= take(statement, ".sat") ? FLAG_SATURATE : 0;
    flags |= take(statement, ".NaN") ? FLAG_PROPAGATE_NAN : 0;
    flags |= take(statement, ".cc") ? FLAG_CARRY_OUT : 0;
    flags |= take(statement, ".relu") ? FLAG_RELU : 0;
    flags |= take(statement, ".xorsign") && take(statement, ".abs") ? FLAG_XOR_SIGN : 0;
    enum operation operation = row->operation;
    if (flags & FLAG_CARRY_OUT)
        operation = operation == OP_ADD ? OP_ADD_CARRY : operation == OP_SUB ? OP_SUB_CARRY : operation;
    const enum type type = take_any_type(statement);
    if (type == T_S16X2 || type == T_U16X2) {
        const bool known = operation == OP_ADD || operation == OP_MIN || operation == OP_MAX;
        operation = known ? OP_PACKED : OP_NOP;
    }
    if ((type > T_F64 && operation != OP_PACKED) || (needs_float(operation) && !type_is_float(type)))
        return refuse(statement, "has a type that is not executed");
    struct instruction *instruction = simple(statement, operation, type, row->sources, T_NONE);
    if (instruction == NULL)
        return false;
    instruction->variant = (uint8_t)row->operation;
    instruction->rounding = (uint8_t)rounding;
    instruction->flags = flags;
    return true;
}

/* addc, subc: the carry of lane flags comes in. */
bool decode_carry(struct statement *statement, const struct row *row)
{
    const uint16_t out = take(statement, ".cc") ? FLAG_CARRY_OUT : 0;
    struct instruction *instruction = simple(statement, row->operation, take_type(statement), 2, T_NONE);
    if (instruction == NULL)
        return false;
    instruction->flags = FLAG_CARRY_IN | out;
    return true;
}

/* mul and mad: .lo, .hi, .wide for integers, plain for floats; madc. */
bool decode_multiply(struct statement *statement, const struct row *row)
{
    static const char *const halves[] = {".lo", ".hi", ".wide", NULL};
    const bool mad = row->sources == 3;
    const int half = take_one(statement, halves);
    const enum rounding rounding = take_rounding(statement);
    uint16_t flags = take(statement, ".ftz") ? FLAG_FLUSH : 0;
    flags |= take(statement, ".sat") ? FLAG_SATURATE : 0;
    flags |= take(statement, ".cc") ? FLAG_CARRY_OUT : 0;
    flags |= token_is(statement->base, "madc") ? FLAG_CARRY_IN : 0;
    const enum type type = take_type(statement);
    enum operation operation = mad ? OP_FMA : OP_MUL_LO;
    enum type last = T_NONE;
    if (!type_is_float(type)) {
        if (half < 0)
            return refuse(statement, "needs .lo, .hi or .wide");
        operation = (enum operation)((mad ? OP_MAD_LO : OP_MUL_LO) + half);
        if (flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT))
            operation = half == 1 ? OP_MAD_CARRY_HI : OP_MAD_CARRY_LO;
        if (half == 2 && mad)
            last = type == T_U16 ? T_U32 : type == T_S16 ? T_S32 : type == T_U32 ? T_U64 : T_S64;
    }
    struct instruction *instruction = simple(statement, operation, type, row->sources, last);
    if (instruction == NULL)
        return false;
    instruction->rounding = (uint8_t)rounding;
    instruction->flags = flags;
    return true;
}

bool decode_multiply24(struct statement *statement, const struct row *row)
{
    static const char *const halves[] = {".lo", ".hi", NULL};
    const int half = take_one(statement, halves);
    if (half < 0)
        return refuse(statement, "needs .lo or .hi");
    return simple(statement, (enum operation)((int)row->operation + half), take_type(statement), row->sources,
                  T_NONE) != NULL;
}

/* shl, shr: the amount is 32 bits wide whatever is shifted. */
bool decode_shift(struct statement *statement, const struct row *row)
{
    return simple(statement, row->operation, take_type(statement), 2, T_U32) != NULL;
}

bool decode_funnel(struct statement *statement, const struct row *row)
{
    (void)row;
    static const char *const directions[] = {".l", ".r", NULL};
    const int direction = take_one(statement, directions);
    const bool clamp = take(statement, ".clamp");
    take(statement, ".wrap");
    struct instruction *instruction = direction >= 0 ? simple(statement, direction == 0 ? OP_SHF_L : OP_SHF_R,
                                                              take_type(statement), 3, T_U32)
                                                     : NULL;
    if (instruction == NULL)
        return refuse(statement, "needs .l or .r");
    instruction->flags = clamp ? FLAG_CLAMP : 0;
    return true;
}

/* bfe, bfi: position and length are 32 bits wide; clz, popc: so is the result. */
bool decode_bits(struct statement *statement, const struct row *row)
{
    const enum type type = take_type(statement);
    struct operand to, from[4] = {0};
    const unsigned numbers = row->operation == OP_BFE || row->operation == OP_BFI ? 2 : 0;
    if (statement->operand_count != row->sources + 1)
        return refuse(statement, "has another number of operands");
    for (unsigned i = 0; i < row->sources; i++)
        if (!source(statement, i + 1, i + numbers >= row->sources ? T_U32 : type, &from[i]))
            return false;
    if (!destination(statement, 0, false, &to))
        return false;
    struct instruction *instruction = begin(statement, row->operation, type);
    if (instruction == NULL)
        return false;
    instruction->flags = take(statement, ".shiftamt") ? FLAG_CLAMP : 0;
    instruction->to[0] = to;
    memcpy(instruction->from, from, sizeof from);
    return true;
}

bool decode_lop3(struct statement *statement, const struct row *row)
{
    (void)row;
    if (statement->operand_count != 5 || statement->operands[4].atoms[0].kind != ATOM_INTEGER)
        return refuse(statement, "needs three sources and a table");
    const uint64_t table = statement->operands[4].atoms[0].bits;
    statement->operand_count = 4;
    struct instruction *instruction = simple(statement, OP_LOP3, take_type(statement), 3, T_NONE);
    if (instruction != NULL)
        instruction->variant = (uint8_t)table;
    return instruction != NULL;
}

bool decode_prmt(struct statement *statement, const struct row *row)
{
    static const char *const modes[] = {".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16", NULL};
    const int mode = take_one(statement, modes);
    struct instruction *instruction = simple(statement, row->operation, take_type(statement), 3, T_NONE);
    if (instruction != NULL)
        instruction->variant = (uint8_t)(mode + 1);
    return instruction != NULL;
}
