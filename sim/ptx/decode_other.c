/* Decode moves, addresses, exchange between lanes, barriers and branches. */
#include <string.h>

#include "ptx/statement.h"

static bool decode_vector_move(struct statement *statement, enum type type)
{
    const bool unpack = statement->operands[0].form == FORM_VECTOR;
    const struct written *vector = &statement->operands[unpack ? 0 : 1];
    if (statement->operand_count != 2 || vector->form != FORM_VECTOR || vector->count > 4 ||
        statement->operands[unpack].form != FORM_PLAIN)
        return ptx_refuse(statement, "needs a vector and a register");
    const unsigned bytes = ptx_type_bytes(type) / vector->count;
    const enum type part = bytes == 1 ? T_B8 : bytes == 2 ? T_B16 : bytes == 4 ? T_B32 : T_NONE;
    struct operand many[4] = {0}, one;
    for (unsigned i = 0; i < vector->count; i++)
        if (unpack ? !ptx_write_operand(statement->parser, &vector->atoms[i], false, &many[i])
                   : !ptx_read_operand(statement->parser, &vector->atoms[i], part, &many[i]))
            return false;
    if (part == T_NONE ||
        (unpack ? !ptx_read_source(statement, 1, type, &one) : !ptx_read_result(statement, 0, false, &one)))
        return ptx_refuse(statement, "does not fit its vector");
    struct instruction *instruction = ptx_begin_instruction(statement, unpack ? OP_UNPACK : OP_PACK, part);
    if (instruction == NULL)
        return false;
    instruction->vector = (uint8_t)vector->count;
    memcpy(unpack ? instruction->to : instruction->from, many, sizeof many);
    *(unpack ? instruction->from : instruction->to) = one;
    return true;
}

bool ptx_decode_move(struct statement *statement, const struct row *row)
{
    if (ptx_has(statement, ".b128"))
        return ptx_decode_wide_move(statement, row);
    const enum type type = ptx_take_type(statement);
    if (statement->operand_count == 2 &&
        (statement->operands[0].form == FORM_VECTOR || statement->operands[1].form == FORM_VECTOR))
        return decode_vector_move(statement, type);
    if (type == T_PRED)
        return ptx_build_instruction(statement, OP_PRED_MOV, "pb", T_PRED, T_PRED) != NULL;
    return ptx_build_instruction(statement, row->operation, "dt", type, type) != NULL;
}

/* cvta.global.u64 converts to a generic address, cvta.to.shared.u64 from one; isspacep tests for a space. */
bool ptx_decode_address(struct statement *statement, const struct row *row)
{
    const bool asks = row->operation == OP_ISSPACEP, to = ptx_take(statement, ".to");
    const enum space space = ptx_take_space(statement);
    const enum type type = asks ? T_PRED : ptx_take_type(statement);
    struct instruction *instruction = ptx_build_instruction(
        statement, to && !asks ? OP_CVTA_TO : row->operation, asks ? "pl" : "dt", type, type);
    if (instruction != NULL)
        instruction->space = (uint8_t)space;
    return instruction != NULL;
}

/* shfl.sync.bfly.b32 d|p, a, b, c, mask; without .sync the mask operand is absent. */
bool ptx_decode_shuffle(struct statement *statement, const struct row *row)
{
    const bool sync = ptx_take(statement, ".sync");
    const int mode = ptx_take_one(statement, ".up .down .bfly .idx");
    if (mode < 0 || ptx_take_type(statement) != T_B32)
        return ptx_unsupported(statement);
    struct instruction *instruction =
        ptx_build_instruction(statement, row->operation, sync ? "Dtttt" : "Dttt", T_B32, T_B32);
    if (instruction != NULL)
        instruction->variant = (uint8_t)mode;
    return instruction != NULL;
}

/* vote, match, redux, activemask. from[1] is the member mask. */
bool ptx_decode_collective(struct statement *statement, const struct row *row)
{
    const bool sync = ptx_take(statement, ".sync");
    const bool redux = row->operation == OP_REDUX, vote = row->operation == OP_VOTE;
    const int variant =
        ptx_take_one(statement, redux ? ".add .min .max .and .or .xor" : ".all .any .uni .ballot");
    const enum type type = ptx_take_type(statement);
    /* A ballot gives a number; the other votes give a predicate. */
    if (vote && type != (variant == VOTE_BALLOT ? T_B32 : T_PRED))
        return ptx_unsupported(statement);
    const char *operands = sync ? "Dtu" : "Dt";
    if (row->operation == OP_ACTIVEMASK)
        operands = "D";
    else if (vote)
        operands = type == T_PRED ? (sync ? "Pbu" : "Pb") : sync ? "Dbu" : "Db";
    if (variant < 0 && operands[1] != 0)
        return ptx_unsupported(statement);
    struct instruction *instruction = ptx_build_instruction(statement, row->operation, operands, type, type);
    if (instruction != NULL)
        instruction->variant = (uint8_t)(variant < 0 ? 0 : variant);
    return instruction != NULL;
}

/* A cluster is one block here. barrier.cluster.arrive does nothing; barrier.cluster.wait is a block barrier.
 */
static bool decode_cluster_barrier(struct statement *statement)
{
    const bool wait = ptx_take(statement, ".wait");
    statement->parser->module->uses_cluster = true;
    ptx_take_hints(statement);
    if (!wait && !ptx_take(statement, ".arrive"))
        return ptx_unsupported(statement);
    struct instruction *instruction = ptx_begin_instruction(statement, wait ? OP_BAR : OP_NOP, T_NONE);
    const uint32_t number = wait ? ptx_add_constant(statement->parser, BARRIER_CLUSTER) : 0;
    if (instruction == NULL || number == UINT32_MAX)
        return false;
    instruction->from[0] = (struct operand){.kind = OPERAND_CONSTANT, .index = number};
    instruction->vector = 1; /* a barrier number that programs cannot name */
    return true;
}

/* bar.sync a{, b}; barrier.cta.sync; bar.red.popc.u32 d, a{, b}, p; bar.warp.sync mask. */
bool ptx_decode_barrier(struct statement *statement, const struct row *row)
{
    ptx_take(statement, ".cta");
    if (ptx_take(statement, ".cluster"))
        return decode_cluster_barrier(statement);
    if (ptx_take(statement, ".warp")) {
        struct operand mask;
        ptx_take(statement, ".sync");
        if (!ptx_read_source(statement, 0, T_U32, &mask))
            return false;
        struct instruction *instruction = ptx_begin_instruction(statement, OP_BAR_WARP, T_U32);
        if (instruction != NULL)
            instruction->from[1] = mask;
        return instruction != NULL;
    }
    const bool reduce = ptx_take(statement, ".red");
    const bool arrive = ptx_take(statement, ".arrive");
    ptx_take(statement, ".sync");
    const int reduction = reduce ? ptx_take_one(statement, ".popc .and .or") : 0;
    const enum type type = reduce ? ptx_take_type(statement) : T_NONE;
    struct operand to = {0}, from[3] = {0};
    unsigned index = 0, last = statement->operand_count;
    if (reduction < 0 || last == 0 || (reduce && last < 3))
        return ptx_unsupported(statement);
    if (reduce && (!ptx_read_result(statement, index++, type == T_PRED, &to) ||
                   !ptx_read_source(statement, --last, T_PRED, &from[2])))
        return false;
    for (unsigned i = 0; index < last && i < 2; i++)
        if (!ptx_read_source(statement, index++, T_U32, &from[i]))
            return false;
    struct instruction *instruction = ptx_begin_instruction(statement, row->operation, type);
    if (instruction == NULL)
        return false;
    instruction->flags = (uint16_t)((arrive ? FLAG_ARRIVE : 0) | (reduce ? FLAG_REDUCE : 0));
    instruction->variant = (uint8_t)reduction;
    instruction->to[0] = to;
    memcpy(instruction->from, from, sizeof from);
    return true;
}

/* Instructions whose operands are ignored: fences, prefetches, nanosleep, exit, ret, trap. */
bool ptx_decode_plain(struct statement *statement, const struct row *row)
{
    ptx_take_all(
        statement,
        ".gl .cta .sys .gpu .sc .acq_rel .global .local .L1 .L2 .u32 .uni .proxy .alias .async "
        ".tensormap .L2::evict_last .L2::evict_normal .mbarrier_init .release .acquire .relaxed "
        ".cluster .proxy::alias .proxy::async .proxy::async.global .proxy::tensormap::generic .global "
        ".shared::cta .shared::cluster .sync_restrict::shared::cta .sync_restrict::shared::cluster .inc "
        ".dec .sync .aligned .launch_dependents .wait");
    return ptx_begin_instruction(statement, row->operation, T_NONE) != NULL;
}

bool ptx_decode_branch(struct statement *statement, const struct row *row)
{
    struct operand index = {0};
    const bool indexed = ptx_take(statement, ".idx");
    ptx_take(statement, ".uni");
    const unsigned target = indexed ? 1 : 0;
    if (statement->operand_count != target + 1 || statement->operands[target].atoms[0].kind != ATOM_LABEL)
        return ptx_refuse(statement, "needs a label");
    if (indexed && !ptx_read_source(statement, 0, T_U32, &index))
        return false;
    const size_t label = ptx_find_label(statement->parser, statement->operands[target].atoms[0].token);
    struct instruction *instruction =
        ptx_begin_instruction(statement, indexed ? OP_BRX : row->operation, T_NONE);
    if (instruction == NULL || label == SIZE_MAX)
        return false;
    instruction->offset = (int64_t)label;
    instruction->from[0] = index;
    return true;
}
