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
    if (type == T_PRED)
        return build(statement, OP_PRED_MOV, "pb", T_PRED, T_PRED) != NULL;
    return build(statement, row->operation, "dt", type, type) != NULL;
}

/* cvta.global.u64 to generic, cvta.to.shared.u64 from it; isspacep asks. */
bool decode_address(struct statement *statement, const struct row *row)
{
    const bool asks = row->operation == OP_ISSPACEP, to = take(statement, ".to");
    const enum space space = take_space(statement);
    const enum type type = asks ? T_PRED : take_type(statement);
    struct instruction *instruction =
        build(statement, to && !asks ? OP_CVTA_TO : row->operation, asks ? "pl" : "dt", type, type);
    if (instruction != NULL)
        instruction->space = (uint8_t)space;
    return instruction != NULL;
}

/* shfl.sync.bfly.b32 d|p, a, b, c, mask; without .sync the mask is missing. */
bool decode_shuffle(struct statement *statement, const struct row *row)
{
    const bool sync = take(statement, ".sync");
    const int mode = take_one(statement, ".up .down .bfly .idx");
    if (mode < 0 || take_type(statement) != T_B32)
        return unsupported(statement);
    struct instruction *instruction = build(statement, row->operation, sync ? "Dtttt" : "Dttt", T_B32, T_B32);
    if (instruction != NULL)
        instruction->variant = (uint8_t)mode;
    return instruction != NULL;
}

/* vote, match, redux, activemask: one value from all lanes. from[1] is the mask of members. */
bool decode_collective(struct statement *statement, const struct row *row)
{
    const bool sync = take(statement, ".sync");
    const bool redux = row->operation == OP_REDUX, vote = row->operation == OP_VOTE;
    const int variant =
        take_one(statement, redux ? ".add .min .max .and .or .xor" : ".all .any .uni .ballot");
    const enum type type = take_type(statement);
    /* A ballot gives a number; the other votes give a predicate. */
    if (vote && type != (variant == VOTE_BALLOT ? T_B32 : T_PRED))
        return unsupported(statement);
    const char *operands = sync ? "Dtu" : "Dt";
    if (row->operation == OP_ACTIVEMASK)
        operands = "D";
    else if (vote)
        operands = type == T_PRED ? (sync ? "Pbu" : "Pb") : sync ? "Dbu" : "Db";
    if (variant < 0 && operands[1] != 0)
        return unsupported(statement);
    struct instruction *instruction = build(statement, row->operation, operands, type, type);
    if (instruction != NULL)
        instruction->variant = (uint8_t)(variant < 0 ? 0 : variant);
    return instruction != NULL;
}

/* A cluster is one block. Arriving there is not waited for; who waits, waits for all. */
static bool decode_cluster_barrier(struct statement *statement)
{
    const bool wait = take(statement, ".wait");
    statement->parser->module->uses_cluster = true;
    take_hints(statement);
    if (!wait && !take(statement, ".arrive"))
        return unsupported(statement);
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
    const int reduction = reduce ? take_one(statement, ".popc .and .or") : 0;
    const enum type type = reduce ? take_type(statement) : T_NONE;
    struct operand to = {0}, from[3] = {0};
    unsigned index = 0, last = statement->operand_count;
    if (reduction < 0 || last == 0 || (reduce && last < 3))
        return unsupported(statement);
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
    take_all(statement,
             ".gl .cta .sys .gpu .sc .acq_rel .global .local .L1 .L2 .u32 .uni .proxy .alias .async "
             ".tensormap .L2::evict_last .L2::evict_normal .mbarrier_init .release .acquire .relaxed "
             ".cluster .proxy::alias .proxy::async .proxy::async.global .proxy::tensormap::generic .global "
             ".shared::cta .shared::cluster .sync_restrict::shared::cta .sync_restrict::shared::cluster .inc "
             ".dec .sync .aligned .launch_dependents .wait");
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
