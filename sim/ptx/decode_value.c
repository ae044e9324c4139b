/* Logic, comparisons, selections and conversions. */
#include <string.h>

#include "ptx/statement.h"

/* and, or, xor, not on predicates are masks of lanes, not registers. */
bool decode_logic(struct statement *statement, const struct row *row)
{
    const enum type type = take_type(statement);
    if (type != T_PRED)
        return simple(statement, row->operation, type, row->sources, T_NONE) != NULL;
    struct operand to, from[2] = {0};
    if (statement->operand_count != row->sources + 1 || !destination(statement, 0, true, &to))
        return refuse(statement, "has another number of operands");
    for (unsigned i = 0; i < row->sources; i++)
        if (!source(statement, i + 1, T_PRED, &from[i]))
            return false;
    struct instruction *instruction = begin(statement, OP_PRED_LOGIC, T_PRED);
    if (instruction == NULL)
        return false;
    instruction->variant = (uint8_t)row->operation;
    instruction->to[0] = to;
    memcpy(instruction->from, from, sizeof from);
    return true;
}

static int take_comparison(struct statement *statement)
{
    static const char *const words[] = {".eq",  ".ne",  ".lt",  ".le",  ".gt",  ".ge",  ".lo",
                                        ".ls",  ".hi",  ".hs",  ".equ", ".neu", ".ltu", ".leu",
                                        ".gtu", ".geu", ".num", ".nan", NULL};
    return take_one(statement, words);
}

/* setp.lt.and.f32 p|q, a, b, !c; set.lt.u32.f32 d, a, b; */
bool decode_compare(struct statement *statement, const struct row *row)
{
    static const char *const words[] = {".and", ".or", ".xor", NULL};
    static const uint8_t logics[] = {OP_AND, OP_OR, OP_XOR};
    const bool set = row->operation == OP_SET;
    const int comparison = take_comparison(statement);
    const int logic = take_one(statement, words);
    const bool flush = take(statement, ".ftz");
    const enum type result = set ? take_type(statement) : T_PRED;
    const enum type type = take_type(statement);
    struct operand to[2] = {0}, from[3] = {0};
    if (comparison < 0 || type == T_NONE || statement->operand_count != (logic >= 0 ? 4u : 3u))
        return refuse(statement, "is no comparison that is known");
    if (!source(statement, 1, type, &from[0]) || !source(statement, 2, type, &from[1]) ||
        (logic >= 0 && !source(statement, 3, T_PRED, &from[2])))
        return false;
    const struct written *written = &statement->operands[0];
    if (!write_operand(statement->parser, &written->atoms[0], !set, &to[0]) ||
        (written->form == FORM_PAIR && !write_operand(statement->parser, &written->atoms[1], true, &to[1])))
        return false;
    struct instruction *instruction = begin(statement, row->operation, result);
    if (instruction == NULL)
        return false;
    instruction->source = (uint8_t)type;
    instruction->variant = (uint8_t)comparison;
    instruction->logic = logic >= 0 ? logics[logic] : 0;
    instruction->flags = flush ? FLAG_FLUSH : 0;
    memcpy(instruction->to, to, sizeof to);
    memcpy(instruction->from, from, sizeof from);
    return true;
}

/* selp chooses by a predicate, slct by a number's sign. */
bool decode_select(struct statement *statement, const struct row *row)
{
    const bool flush = take(statement, ".ftz");
    const enum type type = take_type(statement);
    const enum type chooser = row->operation == OP_SELP ? T_PRED : take_type(statement);
    struct instruction *instruction = simple(statement, row->operation, type, 3, chooser);
    if (instruction == NULL)
        return false;
    instruction->source = (uint8_t)chooser;
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
        return refuse(statement, "is not executed");
    const unsigned sources = from == T_F32 && type != T_TF32 ? 2 : 1;
    struct instruction *instruction = simple(statement, OP_CVT_PAIR, from, sources, T_NONE);
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
    const enum type type = take_any_type(statement), from = take_type(statement), last = take_type(statement);
    const bool bytes = type == T_U8 || type == T_S8, halves = type == T_U16 || type == T_S16;
    const bool nibbles = type == T_U4 || type == T_S4;
    if (from != T_S32 || (!bytes && !halves && !nibbles) || (last == T_B32) == halves)
        return refuse(statement, "is not executed");
    struct instruction *instruction = simple(statement, OP_CVT_PACK, T_S32, halves ? 2 : 3, T_NONE);
    if (instruction == NULL)
        return false;
    instruction->type = (uint8_t)type;
    return true;
}

bool decode_convert(struct statement *statement, const struct row *row)
{
    static const char *const integer[] = {".rni", ".rzi", ".rmi", ".rpi", NULL};
    const int to_integer = take_one(statement, integer);
    enum rounding rounding = take_rounding(statement);
    uint16_t flags = take(statement, ".ftz") ? FLAG_FLUSH : 0;
    flags |= take(statement, ".sat") ? FLAG_SATURATE : 0;
    flags |= take(statement, ".relu") ? FLAG_RELU : 0;
    flags |= take(statement, ".satfinite") ? FLAG_FINITE : 0;
    if (take(statement, ".pack"))
        return decode_pack(statement);
    const enum type type = take_any_type(statement), from = take_any_type(statement);
    if (from == T_NONE)
        return refuse(statement, "needs two types");
    if (is_pair(type) || type == T_TF32)
        return decode_convert_pair(statement, type, from, rounding, flags);
    if (type > T_F64 || from > T_F64)
        return refuse(statement, "is not executed");
    struct instruction *instruction = simple(statement, row->operation, type, 1, from);
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
