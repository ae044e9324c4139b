/* Decode logic, comparisons and conversions. */
#include <string.h>

#include "ptx/statement.h"

/* and, or, xor, not: on predicates they work on lane masks instead of registers. */
bool ptx_decode_logic(struct statement *statement, const struct row *row)
{
    const enum type type = ptx_take_type(statement);
    if (type != T_PRED)
        return ptx_build_instruction(statement, row->operation, row->operands, type, type) != NULL;
    const char *operands = row->operands[2] != 0 ? "pbb" : "pb";
    struct instruction *instruction =
        ptx_build_instruction(statement, OP_PRED_LOGIC, operands, T_PRED, T_PRED);
    if (instruction != NULL)
        instruction->variant = (uint8_t)row->operation;
    return instruction != NULL;
}

/* setp.lt.and.f32 p|q, a, b, !c; set.lt.u32.f32 d, a, b; */
bool ptx_decode_compare(struct statement *statement, const struct row *row)
{
    static const uint8_t logics[] = {OP_AND, OP_OR, OP_XOR};
    const bool set = row->operation == OP_SET;
    const int comparison = ptx_take_one(
        statement, ".eq .ne .lt .le .gt .ge .lo .ls .hi .hs .equ .neu .ltu .leu .gtu .geu .num .nan");
    const int logic = ptx_take_one(statement, ".and .or .xor");
    const bool flush = ptx_take(statement, ".ftz");
    const enum type result = set ? ptx_take_type(statement) : T_PRED;
    const enum type type = ptx_take_type(statement);
    if (comparison < 0 || type == T_NONE)
        return ptx_unsupported(statement);
    const char *operands = logic >= 0 ? (set ? "Dssb" : "Pssb") : set ? "Dss" : "Pss";
    struct instruction *instruction =
        ptx_build_instruction(statement, row->operation, operands, result, type);
    if (instruction == NULL)
        return false;
    instruction->source = (uint8_t)type;
    instruction->variant = (uint8_t)comparison;
    instruction->logic = logic >= 0 ? logics[logic] : 0;
    instruction->flags = flush ? FLAG_FLUSH : 0;
    return true;
}

static bool is_pair(enum type type)
{
    return type == T_F16X2 || type == T_BF16X2 || type == T_E4M3X2 || type == T_E5M2X2;
}

/* cvt.rn.bf16x2.f32 d, high, low; cvt.rn.satfinite.e4m3x2.f32 d, high, low; cvt.rn.f16x2.e4m3x2 d, a;
 * cvt.rna.tf32.f32 d, a */
static bool decode_convert_pair(struct statement *statement, enum type type, enum type from,
                                enum rounding rounding, uint16_t flags)
{
    const bool tiny = type == T_E4M3X2 || type == T_E5M2X2;
    const bool from_tiny = from == T_E4M3X2 || from == T_E5M2X2;
    const bool known = type == T_TF32 ? from == T_F32
                       : tiny         ? from == T_F32 || from == T_F16X2 || from == T_BF16X2
                                      : from == T_F32 || (type == T_F16X2 && from_tiny);
    if (!known)
        return ptx_unsupported(statement);
    const char *operands = from == T_F32 && type != T_TF32 ? "dtt" : "dt";
    struct instruction *instruction = ptx_build_instruction(statement, OP_CVT_PAIR, operands, from, from);
    if (instruction == NULL)
        return false;
    instruction->type = (uint8_t)type;
    instruction->source = (uint8_t)from;
    instruction->rounding = (uint8_t)rounding;
    instruction->flags = flags;
    return true;
}

/* cvt.pack.sat.s16.s32 d, a, b; cvt.pack.sat.u8.s32.b32 d, a, b, c; */
static bool decode_pack(struct statement *statement)
{
    const enum type type = ptx_take_any_type(statement), from = ptx_take_type(statement),
                    last = ptx_take_type(statement);
    const bool bytes = type == T_U8 || type == T_S8, halves = type == T_U16 || type == T_S16;
    const bool nibbles = type == T_U4 || type == T_S4;
    if (from != T_S32 || (!bytes && !halves && !nibbles) || (last == T_B32) == halves)
        return ptx_unsupported(statement);
    struct instruction *instruction =
        ptx_build_instruction(statement, OP_CVT_PACK, halves ? "dtt" : "dttt", T_S32, T_S32);
    if (instruction == NULL)
        return false;
    instruction->type = (uint8_t)type;
    return true;
}

bool ptx_decode_convert(struct statement *statement, const struct row *row)
{
    static const struct flag_word words[] = {{".ftz", FLAG_FLUSH},
                                             {".sat", FLAG_SATURATE},
                                             {".relu", FLAG_RELU},
                                             {".satfinite", FLAG_FINITE},
                                             {0}};
    const int to_integer = ptx_take_one(statement, ".rni .rzi .rmi .rpi");
    enum rounding rounding = ptx_take_rounding(statement);
    uint16_t flags = ptx_take_flags(statement, words);
    if (ptx_take(statement, ".pack"))
        return decode_pack(statement);
    const enum type type = ptx_take_any_type(statement), from = ptx_take_any_type(statement);
    if (from == T_NONE)
        return ptx_refuse(statement, "needs two types");
    if (is_pair(type) || type == T_TF32)
        return decode_convert_pair(statement, type, from, rounding, flags);
    if (type > T_F64 || from > T_F64)
        return ptx_unsupported(statement);
    struct instruction *instruction = ptx_build_instruction(statement, row->operation, "ds", type, from);
    if (instruction == NULL)
        return false;
    if (to_integer >= 0) {
        rounding = (enum rounding)(to_integer + 1);
        flags |= FLAG_INTEGER_ROUND;
    }
    instruction->source = (uint8_t)from;
    instruction->rounding = (uint8_t)rounding;
    instruction->flags = flags;
    return true;
}
