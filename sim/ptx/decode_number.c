/* Decode arithmetic. */
#include <string.h>

#include "ptx/statement.h"

static bool needs_float(enum operation operation)
{
    return operation == OP_FMA || operation == OP_COPYSIGN || (operation >= OP_SQRT && operation <= OP_TANH);
}

/* add, min, abs, sqrt ...: all operands have one type. */
bool ptx_decode_arithmetic(struct statement *statement, const struct row *row)
{
    static const struct flag_word words[] = {{".ftz", FLAG_FLUSH},         {".sat", FLAG_SATURATE},
                                             {".NaN", FLAG_PROPAGATE_NAN}, {".cc", FLAG_CARRY_OUT},
                                             {".relu", FLAG_RELU},         {0}};
    const enum rounding rounding = ptx_take_rounding(statement);
    ptx_take_all(statement, ".approx .full");
    uint16_t flags = ptx_take_flags(statement, words);
    flags |= ptx_take(statement, ".xorsign") && ptx_take(statement, ".abs") ? FLAG_XOR_SIGN : 0;
    enum operation operation = row->operation;
    if (flags & FLAG_CARRY_OUT)
        operation = operation == OP_ADD ? OP_ADD_CARRY : operation == OP_SUB ? OP_SUB_CARRY : operation;
    const enum type type = ptx_take_any_type(statement);
    if (type == T_S16X2 || type == T_U16X2) {
        const bool known = operation == OP_ADD || operation == OP_MIN || operation == OP_MAX;
        operation = known ? OP_PACKED : OP_NOP;
    }
    if ((type > T_F64 && operation != OP_PACKED) || (needs_float(operation) && !ptx_type_is_float(type)))
        return ptx_refuse(statement, "has an unsupported type");
    struct instruction *instruction = ptx_build_instruction(statement, operation, row->operands, type, type);
    if (instruction == NULL)
        return false;
    instruction->variant = (uint8_t)row->operation;
    instruction->rounding = (uint8_t)rounding;
    instruction->flags = flags;
    return true;
}

/* mul, mad and madc: integers need .lo, .hi or .wide. */
bool ptx_decode_multiply(struct statement *statement, const struct row *row)
{
    static const struct flag_word words[] = {
        {".ftz", FLAG_FLUSH}, {".sat", FLAG_SATURATE}, {".cc", FLAG_CARRY_OUT}, {0}};
    const bool mad = strlen(row->operands) == 4;
    const int half = ptx_take_one(statement, ".lo .hi .wide");
    const enum rounding rounding = ptx_take_rounding(statement);
    uint16_t flags = ptx_take_flags(statement, words);
    flags |= ptx_token_is(statement->base, "madc") ? FLAG_CARRY_IN : 0;
    const enum type type = ptx_take_type(statement);
    enum operation operation = mad ? OP_FMA : OP_MUL_LO;
    enum type last = type;
    if (!ptx_type_is_float(type)) {
        if (half < 0)
            return ptx_refuse(statement, "needs .lo, .hi or .wide");
        operation = (enum operation)((mad ? OP_MAD_LO : OP_MUL_LO) + half);
        if (flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT))
            operation = half == 1 ? OP_MAD_CARRY_HI : OP_MAD_CARRY_LO;
        if (half == 2 && mad)
            last = type == T_U16 ? T_U32 : type == T_S16 ? T_S32 : type == T_U32 ? T_U64 : T_S64;
    }
    struct instruction *instruction =
        ptx_build_instruction(statement, operation, mad ? "dtts" : "dtt", type, last);
    if (instruction == NULL)
        return false;
    instruction->rounding = (uint8_t)rounding;
    instruction->flags = flags;
    return true;
}
