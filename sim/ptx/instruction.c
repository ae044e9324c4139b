/* Instructions to their decoded form. What is not understood to the last word is refused, here and now. */
#include <string.h>

#include "statement.h"

bool refuse(const struct statement *statement, const char *why)
{
    char text[160] = {0};
    size_t length = 0;
    const struct token *last = statement->modifier_count != 0
                                   ? statement->modifiers[statement->modifier_count - 1]
                                   : statement->base;
    length = (size_t)(last->text + last->length - statement->base->text);
    memcpy(text, statement->base->text, length < sizeof text - 1 ? length : sizeof text - 1);
    return fail(statement->parser, statement->base->line, "'%s' %s", text, why);
}

bool take(struct statement *statement, const char *modifier)
{
    for (unsigned i = 0; i < statement->modifier_count; i++)
        if ((statement->taken >> i & 1) == 0 && token_is(statement->modifiers[i], modifier)) {
            statement->taken |= 1u << i;
            return true;
        }
    return false;
}

int take_one(struct statement *statement, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (take(statement, words[i]))
            return i;
    return -1;
}

enum type take_type(struct statement *statement)
{
    for (unsigned i = 0; i < statement->modifier_count; i++) {
        const enum type type = type_of(statement->modifiers[i]);
        if ((statement->taken >> i & 1) == 0 && type != T_NONE) {
            statement->taken |= 1u << i;
            return type;
        }
    }
    return T_NONE;
}

enum rounding take_rounding(struct statement *statement)
{
    static const char *const words[] = {".rn", ".rz", ".rm", ".rp", NULL};
    return (enum rounding)(take_one(statement, words) + 1);
}

enum space take_space(struct statement *statement)
{
    static const struct {
        const char *word;
        enum space space;
    } spaces[] = {{".global", SPACE_GLOBAL},      {".shared", SPACE_SHARED},
                  {".shared::cta", SPACE_SHARED}, {".local", SPACE_LOCAL},
                  {".const", SPACE_CONST},        {".param", SPACE_PARAM},
                  {".param::entry", SPACE_PARAM}, {".param::func", SPACE_PARAM}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (take(statement, spaces[i].word))
            return spaces[i].space;
    return SPACE_GENERIC;
}

void take_hints(struct statement *statement)
{
    static const char *const hints[] = {".volatile",
                                        ".relaxed",
                                        ".acquire",
                                        ".release",
                                        ".acq_rel",
                                        ".sc",
                                        ".weak",
                                        ".gpu",
                                        ".cta",
                                        ".sys",
                                        ".cluster",
                                        ".ca",
                                        ".cg",
                                        ".cs",
                                        ".cv",
                                        ".lu",
                                        ".wb",
                                        ".wt",
                                        ".nc",
                                        ".uni",
                                        ".aligned",
                                        ".mmio",
                                        ".noftz",
                                        ".L1::evict_normal",
                                        ".L1::evict_unchanged",
                                        ".L1::evict_first",
                                        ".L1::evict_last",
                                        ".L1::no_allocate",
                                        ".L2::evict_last",
                                        ".L2::evict_normal",
                                        ".L2::evict_first",
                                        ".L2::64B",
                                        ".L2::128B",
                                        ".L2::256B",
                                        NULL};
    while (take_one(statement, hints) >= 0)
        ;
}

struct instruction *begin(struct statement *statement, enum operation operation, enum type type)
{
    struct instruction *instruction = emit(statement->parser, operation, statement->base->line);
    if (instruction == NULL)
        return NULL;
    instruction->guard = statement->guard;
    instruction->type = instruction->source = (uint8_t)type;
    return instruction;
}

static bool is_plain(const struct statement *statement, unsigned index)
{
    return index < statement->operand_count && statement->operands[index].form == FORM_PLAIN;
}

bool source(struct statement *statement, unsigned index, enum type type, struct operand *operand)
{
    if (!is_plain(statement, index))
        return refuse(statement, "lacks an operand");
    return read_operand(statement->parser, &statement->operands[index].atoms[0], type, operand);
}

bool destination(struct statement *statement, unsigned index, bool predicate, struct operand *operand)
{
    if (!is_plain(statement, index))
        return refuse(statement, "lacks a result");
    return write_operand(statement->parser, &statement->operands[index].atoms[0], predicate, operand);
}

/* A result and `count` sources, all of one type. */
static struct instruction *simple(struct statement *statement, enum operation operation, enum type type,
                                  unsigned count, enum type last)
{
    struct operand to, from[4] = {0};
    if (statement->operand_count != count + 1 || type == T_NONE) {
        refuse(statement, type == T_NONE ? "has no type" : "has another number of operands");
        return NULL;
    }
    for (unsigned i = 0; i < count; i++)
        if (!source(statement, i + 1, i + 1 == count && last != T_NONE ? last : type, &from[i]))
            return NULL;
    if (!destination(statement, 0, false, &to))
        return NULL;
    struct instruction *instruction = begin(statement, operation, type);
    if (instruction == NULL)
        return NULL;
    instruction->to[0] = to;
    memcpy(instruction->from, from, sizeof from);
    return instruction;
}

/* add, min, abs, sqrt ...: rounding, .ftz, .sat and what goes with one type. */
static bool decode_arithmetic(struct statement *statement, const struct row *row)
{
    const enum rounding rounding = take_rounding(statement);
    uint16_t flags = 0;
    take(statement, ".approx");
    take(statement, ".full");
    flags |= take(statement, ".ftz") ? FLAG_FLUSH : 0;
    flags |= take(statement, ".sat") ? FLAG_SATURATE : 0;
    flags |= take(statement, ".NaN") ? FLAG_PROPAGATE_NAN : 0;
    flags |= take(statement, ".cc") ? FLAG_CARRY_OUT : 0;
    enum operation operation = row->operation;
    if (flags & FLAG_CARRY_OUT)
        operation = operation == OP_ADD ? OP_ADD_CARRY : operation == OP_SUB ? OP_SUB_CARRY : operation;
    struct instruction *instruction =
        simple(statement, operation, take_type(statement), row->sources, T_NONE);
    if (instruction == NULL)
        return false;
    instruction->rounding = (uint8_t)rounding;
    instruction->flags = flags;
    return true;
}

/* addc, subc: the carry of lane flags comes in. */
static bool decode_carry(struct statement *statement, const struct row *row)
{
    const uint16_t out = take(statement, ".cc") ? FLAG_CARRY_OUT : 0;
    struct instruction *instruction = simple(statement, row->operation, take_type(statement), 2, T_NONE);
    if (instruction == NULL)
        return false;
    instruction->flags = FLAG_CARRY_IN | out;
    return true;
}

/* mul and mad: .lo, .hi, .wide for integers, plain for floats; madc. */
static bool decode_multiply(struct statement *statement, const struct row *row)
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

static bool decode_multiply24(struct statement *statement, const struct row *row)
{
    static const char *const halves[] = {".lo", ".hi", NULL};
    const int half = take_one(statement, halves);
    if (half < 0)
        return refuse(statement, "needs .lo or .hi");
    return simple(statement, (enum operation)((int)row->operation + half), take_type(statement), row->sources,
                  T_NONE) != NULL;
}

/* shl, shr: the amount is 32 bits wide whatever is shifted. */
static bool decode_shift(struct statement *statement, const struct row *row)
{
    return simple(statement, row->operation, take_type(statement), 2, T_U32) != NULL;
}

static bool decode_funnel(struct statement *statement, const struct row *row)
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
static bool decode_bits(struct statement *statement, const struct row *row)
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

static bool decode_lop3(struct statement *statement, const struct row *row)
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

static bool decode_prmt(struct statement *statement, const struct row *row)
{
    static const char *const modes[] = {".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16", NULL};
    const int mode = take_one(statement, modes);
    struct instruction *instruction = simple(statement, row->operation, take_type(statement), 3, T_NONE);
    if (instruction != NULL)
        instruction->variant = (uint8_t)(mode + 1);
    return instruction != NULL;
}

static bool decode_dp4a(struct statement *statement, const struct row *row)
{
    const enum type left = take_type(statement), right = take_type(statement);
    struct instruction *instruction = simple(statement, row->operation, T_B32, 3, T_NONE);
    if (instruction == NULL)
        return false;
    instruction->type = (uint8_t)left;
    instruction->source = (uint8_t)right;
    return true;
}

/* and, or, xor, not on predicates are masks of lanes, not registers. */
static bool decode_logic(struct statement *statement, const struct row *row)
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
static bool decode_compare(struct statement *statement, const struct row *row)
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
static bool decode_select(struct statement *statement, const struct row *row)
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

static bool decode_convert(struct statement *statement, const struct row *row)
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

static bool decode_vector_move(struct statement *statement, enum type type)
{
    const bool unpack = statement->operands[0].form == FORM_VECTOR;
    const struct written *vector = &statement->operands[unpack ? 0 : 1];
    if (statement->operand_count != 2 || vector->form != FORM_VECTOR ||
        statement->operands[unpack].form != FORM_PLAIN)
        return refuse(statement, "needs a vector and a register");
    const unsigned bytes = type_bytes(type) / vector->count;
    const enum type part = bytes == 1 ? T_B8 : bytes == 2 ? T_B16 : bytes == 4 ? T_B32 : T_NONE;
    struct operand many[4] = {0}, one;
    for (unsigned i = 0; i < vector->count; i++)
        if (unpack ? !write_operand(statement->parser, &vector->atoms[i], false, &many[i])
                   : !read_operand(statement->parser, &vector->atoms[i], part, &many[i]))
            return false;
    if (part == T_NONE ||
        (unpack ? !source(statement, 1, type, &one) : !destination(statement, 0, false, &one)))
        return refuse(statement, "does not fit its vector");
    struct instruction *instruction = begin(statement, unpack ? OP_UNPACK : OP_PACK, part);
    if (instruction == NULL)
        return false;
    instruction->vector = (uint8_t)vector->count;
    memcpy(unpack ? instruction->to : instruction->from, many, sizeof many);
    *(unpack ? instruction->from : instruction->to) = one;
    return true;
}

static bool decode_move(struct statement *statement, const struct row *row)
{
    const enum type type = take_type(statement);
    if (statement->operand_count == 2 &&
        (statement->operands[0].form == FORM_VECTOR || statement->operands[1].form == FORM_VECTOR))
        return decode_vector_move(statement, type);
    if (type != T_PRED)
        return simple(statement, row->operation, type, 1, T_NONE) != NULL;
    struct operand to, from;
    if (!source(statement, 1, T_PRED, &from) || !destination(statement, 0, true, &to))
        return false;
    struct instruction *instruction = begin(statement, OP_PRED_MOV, T_PRED);
    if (instruction == NULL)
        return false;
    instruction->to[0] = to;
    instruction->from[0] = from;
    return true;
}

/* cvta.global.u64 to generic, cvta.to.shared.u64 from it; isspacep asks. */
static bool decode_address(struct statement *statement, const struct row *row)
{
    const bool to = take(statement, ".to");
    const enum space space = take_space(statement);
    struct operand result, from;
    if (row->operation == OP_ISSPACEP) {
        if (!source(statement, 1, T_U64, &from) || !destination(statement, 0, true, &result))
            return false;
        struct instruction *instruction = begin(statement, OP_ISSPACEP, T_PRED);
        if (instruction == NULL)
            return false;
        instruction->space = (uint8_t)space;
        instruction->to[0] = result;
        instruction->from[0] = from;
        return true;
    }
    struct instruction *instruction =
        simple(statement, to ? OP_CVTA_TO : OP_CVTA, take_type(statement), 1, T_NONE);
    if (instruction != NULL)
        instruction->space = (uint8_t)space;
    return instruction != NULL;
}

static bool decode_testp(struct statement *statement, const struct row *row)
{
    static const char *const classes[] = {".finite", ".infinite",  ".number", ".notanumber",
                                          ".normal", ".subnormal", NULL};
    const int class = take_one(statement, classes);
    const enum type type = take_type(statement);
    struct operand to, from;
    if (class < 0 || !source(statement, 1, type, &from) || !destination(statement, 0, true, &to))
        return refuse(statement, "is not executed");
    struct instruction *instruction = begin(statement, row->operation, type);
    if (instruction == NULL)
        return false;
    instruction->variant = (uint8_t)class;
    instruction->to[0] = to;
    instruction->from[0] = from;
    return true;
}

/* shfl.sync.bfly.b32 d|p, a, b, c, mask; without .sync the mask is missing. */
static bool decode_shuffle(struct statement *statement, const struct row *row)
{
    static const char *const modes[] = {".up", ".down", ".bfly", ".idx", NULL};
    const bool sync = take(statement, ".sync");
    const int mode = take_one(statement, modes);
    struct operand to[2] = {0}, from[4] = {0};
    if (mode < 0 || take_type(statement) != T_B32 || statement->operand_count != (sync ? 5u : 4u))
        return refuse(statement, "is not executed");
    for (unsigned i = 0; i < (sync ? 4u : 3u); i++)
        if (!source(statement, i + 1, T_B32, &from[i]))
            return false;
    const struct written *written = &statement->operands[0];
    if (!write_operand(statement->parser, &written->atoms[0], false, &to[0]) ||
        (written->form == FORM_PAIR && !write_operand(statement->parser, &written->atoms[1], true, &to[1])))
        return false;
    struct instruction *instruction = begin(statement, row->operation, T_B32);
    if (instruction == NULL)
        return false;
    instruction->variant = (uint8_t)mode;
    memcpy(instruction->to, to, sizeof to);
    memcpy(instruction->from, from, sizeof from);
    return true;
}

/* vote, match, redux, activemask: one value from all lanes. from[1] is the mask of members. */
static bool decode_collective(struct statement *statement, const struct row *row)
{
    static const char *const votes[] = {".all", ".any", ".uni", ".ballot", NULL};
    static const char *const reductions[] = {".add", ".min", ".max", ".and", ".or", ".xor", NULL};
    const bool sync = take(statement, ".sync");
    const bool redux = row->operation == OP_REDUX, vote = row->operation == OP_VOTE;
    const int variant = redux ? take_one(statement, reductions) : take_one(statement, votes);
    const enum type type = take_type(statement);
    const enum type read = vote ? T_PRED : type;
    const bool to_predicate = vote && type == T_PRED;
    struct operand to[2] = {0}, from[2] = {0};
    const unsigned sources = row->operation == OP_ACTIVEMASK ? 0 : sync ? 2 : 1;
    if ((variant < 0 && sources != 0) || statement->operand_count != sources + 1)
        return refuse(statement, "is not executed");
    if ((sources > 0 && !source(statement, 1, read, &from[0])) ||
        (sources > 1 && !source(statement, 2, T_U32, &from[1])))
        return false;
    const struct written *written = &statement->operands[0];
    if (!write_operand(statement->parser, &written->atoms[0], to_predicate, &to[0]) ||
        (written->form == FORM_PAIR && !write_operand(statement->parser, &written->atoms[1], true, &to[1])))
        return false;
    struct instruction *instruction = begin(statement, row->operation, type);
    if (instruction == NULL)
        return false;
    instruction->variant = (uint8_t)(variant < 0 ? 0 : variant);
    memcpy(instruction->to, to, sizeof to);
    memcpy(instruction->from, from, sizeof from);
    return true;
}

/* bar.sync a{, b}; barrier.cta.sync; bar.red.popc.u32 d, a{, b}, p; bar.warp.sync mask. */
static bool decode_barrier(struct statement *statement, const struct row *row)
{
    static const char *const reductions[] = {".popc", ".and", ".or", NULL};
    take(statement, ".cta");
    if (take(statement, ".warp")) {
        struct operand mask;
        take(statement, ".sync");
        if (!source(statement, 0, T_U32, &mask))
            return false;
        struct instruction *instruction = begin(statement, OP_BAR_WARP, T_U32);
        if (instruction != NULL)
            instruction->from[1] = mask;
        return instruction != NULL;
    }
    const bool reduce = take(statement, ".red");
    const bool arrive = take(statement, ".arrive");
    take(statement, ".sync");
    const int reduction = reduce ? take_one(statement, reductions) : 0;
    const enum type type = reduce ? take_type(statement) : T_NONE;
    struct operand to = {0}, from[3] = {0};
    unsigned index = 0, last = statement->operand_count;
    if (reduction < 0 || last == 0 || (reduce && last < 3))
        return refuse(statement, "is not executed");
    if (reduce && (!destination(statement, index++, type == T_PRED, &to) ||
                   !source(statement, --last, T_PRED, &from[2])))
        return false;
    for (unsigned i = 0; index < last && i < 2; i++)
        if (!source(statement, index++, T_U32, &from[i]))
            return false;
    struct instruction *instruction = begin(statement, row->operation, type);
    if (instruction == NULL)
        return false;
    instruction->flags = (uint16_t)((arrive ? FLAG_ARRIVE : 0) | (reduce ? FLAG_REDUCE : 0));
    instruction->variant = (uint8_t)reduction;
    instruction->to[0] = to;
    memcpy(instruction->from, from, sizeof from);
    return true;
}

/* Instructions without operands that matter here: fences, prefetches, nanosleep, exit, ret, trap. */
static bool decode_plain(struct statement *statement, const struct row *row)
{
    static const char *const words[] = {".gl",
                                        ".cta",
                                        ".sys",
                                        ".gpu",
                                        ".sc",
                                        ".acq_rel",
                                        ".global",
                                        ".local",
                                        ".L1",
                                        ".L2",
                                        ".u32",
                                        ".uni",
                                        ".proxy",
                                        ".alias",
                                        ".async",
                                        ".tensormap",
                                        ".L2::evict_last",
                                        ".L2::evict_normal",
                                        NULL};
    while (take_one(statement, words) >= 0)
        ;
    return begin(statement, row->operation, T_NONE) != NULL;
}

static bool decode_branch(struct statement *statement, const struct row *row)
{
    struct operand index = {0};
    const bool indexed = take(statement, ".idx");
    take(statement, ".uni");
    const unsigned target = indexed ? 1 : 0;
    if (statement->operand_count != target + 1 || statement->operands[target].atoms[0].kind != ATOM_LABEL)
        return refuse(statement, "needs a label");
    if (indexed && !source(statement, 0, T_U32, &index))
        return false;
    const size_t label = find_label(statement->parser, statement->operands[target].atoms[0].token);
    struct instruction *instruction = begin(statement, indexed ? OP_BRX : row->operation, T_NONE);
    if (instruction == NULL || label == SIZE_MAX)
        return false;
    instruction->offset = (int64_t)label;
    instruction->from[0] = index;
    return true;
}

static const struct row rows[] = {
    {"abs", decode_arithmetic, OP_ABS, 1},
    {"activemask", decode_collective, OP_ACTIVEMASK, 0},
    {"add", decode_arithmetic, OP_ADD, 2},
    {"addc", decode_carry, OP_ADD_CARRY, 2},
    {"and", decode_logic, OP_AND, 2},
    {"atom", decode_atomic, OP_ATOM, 0},
    {"bar", decode_barrier, OP_BAR, 0},
    {"barrier", decode_barrier, OP_BAR, 0},
    {"bfe", decode_bits, OP_BFE, 3},
    {"bfi", decode_bits, OP_BFI, 4},
    {"bfind", decode_bits, OP_BFIND, 1},
    {"bra", decode_branch, OP_BRA, 0},
    {"brev", decode_bits, OP_BREV, 1},
    {"brkpt", decode_plain, OP_TRAP, 0},
    {"brx", decode_branch, OP_BRX, 0},
    {"call", decode_call, OP_CALL, 0},
    {"clz", decode_bits, OP_CLZ, 1},
    {"cnot", decode_logic, OP_CNOT, 1},
    {"copysign", decode_arithmetic, OP_COPYSIGN, 2},
    {"cos", decode_arithmetic, OP_COS, 1},
    {"cvt", decode_convert, OP_CVT, 1},
    {"cvta", decode_address, OP_CVTA, 1},
    {"discard", decode_plain, OP_NOP, 0},
    {"div", decode_arithmetic, OP_DIV, 2},
    {"dp4a", decode_dp4a, OP_DP4A, 3},
    {"ex2", decode_arithmetic, OP_EX2, 1},
    {"exit", decode_plain, OP_EXIT, 0},
    {"fence", decode_plain, OP_FENCE, 0},
    {"fma", decode_arithmetic, OP_FMA, 3},
    {"isspacep", decode_address, OP_ISSPACEP, 1},
    {"ld", decode_memory, OP_LD, 0},
    {"ldu", decode_memory, OP_LD, 0},
    {"lg2", decode_arithmetic, OP_LG2, 1},
    {"lop3", decode_lop3, OP_LOP3, 3},
    {"mad", decode_multiply, OP_MAD_LO, 3},
    {"mad24", decode_multiply24, OP_MAD24_LO, 3},
    {"madc", decode_multiply, OP_MAD_CARRY_LO, 3},
    {"match", decode_collective, OP_MATCH, 2},
    {"max", decode_arithmetic, OP_MAX, 2},
    {"membar", decode_plain, OP_FENCE, 0},
    {"min", decode_arithmetic, OP_MIN, 2},
    {"mov", decode_move, OP_MOV, 1},
    {"mul", decode_multiply, OP_MUL_LO, 2},
    {"mul24", decode_multiply24, OP_MUL24_LO, 2},
    {"nanosleep", decode_plain, OP_NOP, 0},
    {"neg", decode_arithmetic, OP_NEG, 1},
    {"not", decode_logic, OP_NOT, 1},
    {"or", decode_logic, OP_OR, 2},
    {"popc", decode_bits, OP_POPC, 1},
    {"prefetch", decode_plain, OP_NOP, 0},
    {"prefetchu", decode_plain, OP_NOP, 0},
    {"prmt", decode_prmt, OP_PRMT, 3},
    {"rcp", decode_arithmetic, OP_RCP, 1},
    {"red", decode_atomic, OP_ATOM, 0},
    {"redux", decode_collective, OP_REDUX, 2},
    {"rem", decode_arithmetic, OP_REM, 2},
    {"ret", decode_plain, OP_RET, 0},
    {"rsqrt", decode_arithmetic, OP_RSQRT, 1},
    {"sad", decode_arithmetic, OP_SAD, 3},
    {"selp", decode_select, OP_SELP, 3},
    {"set", decode_compare, OP_SET, 2},
    {"setp", decode_compare, OP_SETP, 2},
    {"shf", decode_funnel, OP_SHF_L, 3},
    {"shfl", decode_shuffle, OP_SHFL, 4},
    {"shl", decode_shift, OP_SHL, 2},
    {"shr", decode_shift, OP_SHR, 2},
    {"sin", decode_arithmetic, OP_SIN, 1},
    {"slct", decode_select, OP_SLCT, 3},
    {"sqrt", decode_arithmetic, OP_SQRT, 1},
    {"st", decode_memory, OP_ST, 0},
    {"sub", decode_arithmetic, OP_SUB, 2},
    {"subc", decode_carry, OP_SUB_CARRY, 2},
    {"tanh", decode_arithmetic, OP_TANH, 1},
    {"testp", decode_testp, OP_TESTP, 1},
    {"trap", decode_plain, OP_TRAP, 0},
    {"vote", decode_collective, OP_VOTE, 2},
    {"xor", decode_logic, OP_XOR, 2},
};

static bool parse_guard(struct statement *statement)
{
    struct parser *parser = statement->parser;
    if (!accept_text(parser, "@"))
        return true;
    const bool negated = accept_text(parser, "!");
    uint32_t index;
    const struct token *token = parser->at++;
    const struct name *name = find_name(parser, token, &index);
    if (name == NULL || name->kind != NAME_PREDICATE)
        return fail(parser, token->line, "'%.*s' is no predicate", (int)token->length, token->text);
    statement->guard = (struct operand){.kind = OPERAND_PREDICATE, .index = index, .negated = negated};
    return true;
}

static bool parse_operands(struct statement *statement)
{
    struct parser *parser = statement->parser;
    while (!accept_text(parser, ";")) {
        if (statement->operand_count == OPERANDS_MAX)
            return refuse(statement, "has too many operands");
        if (!parse_written(parser, &statement->operands[statement->operand_count++]))
            return false;
        if (!accept_text(parser, ",") && !token_is(parser->at, ";"))
            return expect_text(parser, ";");
    }
    return true;
}

bool parse_instruction(struct parser *parser)
{
    struct statement statement = {.parser = parser};
    if (!parse_guard(&statement))
        return false;
    statement.base = parser->at++;
    while (parser->at->kind == TOKEN_DIRECTIVE && parser->at->adjacent) {
        if (statement.modifier_count == MODIFIERS_MAX)
            return refuse(&statement, "has too many parts");
        statement.modifiers[statement.modifier_count++] = parser->at++;
    }
    const struct row *row = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (token_is(statement.base, rows[i].name))
            row = &rows[i];
    if (row == NULL || statement.base->kind != TOKEN_NAME)
        return refuse(&statement, "is not executed");
    /* A call's operands are lists, which it reads itself. */
    if (row->decode != decode_call && !parse_operands(&statement))
        return false;
    if (!row->decode(&statement, row))
        return refuse(&statement, "is not executed");
    take_hints(&statement);
    return statement.taken == (1u << statement.modifier_count) - 1 || refuse(&statement, "is not executed");
}
