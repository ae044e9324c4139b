/* Moves, addresses, what lanes tell each other, barriers and branches. */
#include <string.h>

#include "ptx/statement.h"

static bool decode_vector_move(struct statement *statement, enum type type)
{
    const bool unpack = statement->operands[0].form == FORM_VECTOR;
    const struct written *vector = &statement->operands[unpack ? 0 : 1];
    if (statement->operand_count != 2 || vector->form != FORM_VECTOR || vector->count > 4 ||
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

bool decode_move(struct statement *statement, const struct row *row)
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
bool decode_address(struct statement *statement, const struct row *row)
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

bool decode_testp(struct statement *statement, const struct row *row)
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
bool decode_shuffle(struct statement *statement, const struct row *row)
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
bool decode_collective(struct statement *statement, const struct row *row)
{
    static const char *const votes[] = {".all", ".any", ".uni", ".ballot", NULL};
    static const char *const reductions[] = {".add", ".min", ".max", ".and", ".or", ".xor", NULL};
    const bool sync = take(statement, ".sync");
    const bool redux = row->operation == OP_REDUX, vote = row->operation == OP_VOTE;
    const int variant = redux ? take_one(statement, reductions) : take_one(statement, votes);
    const enum type type = take_type(statement);
    const enum type read = vote ? T_PRED : type;
    const bool to_predicate = vote && type == T_PRED;
    /* Only a ballot is a number, which variant 3 of the words above is; the other votes are predicates. */
    if (vote && (type != (variant == VOTE_BALLOT ? T_B32 : T_PRED)))
        return refuse(statement, "is not executed");
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

/* A cluster is one block. Arriving there is not waited for; who waits, waits for all. */
static bool decode_cluster_barrier(struct statement *statement)
{
    const bool wait = take(statement, ".wait");
    statement->parser->module->uses_cluster = true;
    take_hints(statement);
    if (!wait && !take(statement, ".arrive"))
        return refuse(statement, "is not executed");
    struct instruction *instruction = begin(statement, wait ? OP_BAR : OP_NOP, T_NONE);
    const uint32_t number = wait ? add_constant(statement->parser, BARRIER_CLUSTER) : 0;
    if (instruction == NULL || number == UINT32_MAX)
        return false;
    instruction->from[0] = (struct operand){.kind = OPERAND_CONSTANT, .index = number};
    instruction->vector = 1; /* its number is one that programs cannot name */
    return true;
}

/* bar.sync a{, b}; barrier.cta.sync; bar.red.popc.u32 d, a{, b}, p; bar.warp.sync mask. */
bool decode_barrier(struct statement *statement, const struct row *row)
{
    static const char *const reductions[] = {".popc", ".and", ".or", NULL};
    take(statement, ".cta");
    if (take(statement, ".cluster"))
        return decode_cluster_barrier(statement);
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
bool decode_plain(struct statement *statement, const struct row *row)
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
                                        ".mbarrier_init",
                                        ".release",
                                        ".acquire",
                                        ".relaxed",
                                        ".cluster",
                                        ".proxy::alias",
                                        ".proxy::async",
                                        ".proxy::async.global",
                                        ".proxy::tensormap::generic",
                                        ".global",
                                        ".shared::cta",
                                        ".shared::cluster",
                                        ".sync_restrict::shared::cta",
                                        ".sync_restrict::shared::cluster",
                                        ".inc",
                                        ".dec",
                                        ".sync",
                                        ".aligned",
                                        ".launch_dependents",
                                        ".wait",
                                        NULL};
    while (take_one(statement, words) >= 0)
        ;
    return begin(statement, row->operation, T_NONE) != NULL;
}

bool decode_branch(struct statement *statement, const struct row *row)
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
