/* Logic, comparisons, selections and conversions. */
#include <string.h>

#include "statement.h"

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

bool decode_convert(struct statement *statement, const struct row *row)
{
    static const char *const integer[] = {".rni", ".rzi", ".rmi", ".rpi", NULL};
    const int to_integer = take_one(statement, integer);
    enum rounding rounding = take_rounding(statement);
    uint16_t flags = take(statement, ".ftz") ? FLAG_FLUSH : 0;
    flags |= take(statement, ".sat") ? FLAG_SATURATE : 0;
    const enum type type = take_type(statement), from = take_type(statement);
    if (from == T_NONE)
        return refuse(statement, "needs two types");
    if (type == T_F16X2 || type == T_BF16X2) {
        struct instruction *pair = simple(statement, row->operation, type, 2, T_NONE);
        if (pair == NULL || from != T_F32)
            return refuse(statement, "is not executed");
        pair->source = T_F32;
        pair->rounding = (uint8_t)rounding;
        return true;
    }
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
