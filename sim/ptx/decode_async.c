/* Decode cp.async and mbarrier. */
#include <string.h>

#include "ptx/statement.h"

/* .L2::cache_hint adds a cache policy as the last operand. The policy is read and ignored. */
bool ptx_take_cache_hint(struct statement *statement)
{
    if (!ptx_take(statement, ".L2::cache_hint"))
        return true;
    struct operand policy;
    if (statement->operand_count == 0 ||
        !ptx_read_source(statement, statement->operand_count - 1, T_B64, &policy))
        return ptx_refuse(statement, "lacks its cache policy");
    statement->operand_count--;
    return true;
}

/* createpolicy.fractional.L2::evict_first.b64 policy, 1.0; */
bool ptx_decode_policy(struct statement *statement, const struct row *row)
{
    struct operand to;
    ptx_take_all(statement, ".fractional .range .global .cvt .L2 .L2::evict_first .L2::evict_last "
                            ".L2::evict_normal .L2::evict_unchanged");
    if (ptx_take_type(statement) != T_B64 || !ptx_read_result(statement, 0, false, &to))
        return ptx_unsupported(statement);
    struct instruction *instruction = ptx_begin_instruction(statement, row->operation, T_B64);
    if (instruction == NULL)
        return false;
    instruction->variant = SPECIAL_ZERO;
    instruction->to[0] = to;
    return true;
}

static bool read_address(struct statement *statement, unsigned index, struct operand *operand)
{
    if (index >= statement->operand_count || statement->operands[index].form != FORM_ADDRESS)
        return ptx_refuse(statement, "needs an address");
    return ptx_read_operand(statement->parser, &statement->operands[index].atoms[0], T_U64, operand);
}

/* cp.async.mbarrier.arrive.noinc.shared.b64 [bar]: arrives at once, since copies are synchronous here.
 * Without .noinc the pending count is first raised by one, so the instruction has no effect. */
static bool decode_copy_arrive(struct statement *statement)
{
    struct operand barrier;
    const bool expected = ptx_take(statement, ".noinc");
    ptx_take(statement, ".arrive");
    const enum space space = ptx_take_space(statement);
    if (ptx_take_type(statement) != T_B64 || !read_address(statement, 0, &barrier))
        return ptx_unsupported(statement);
    struct instruction *instruction =
        ptx_begin_instruction(statement, expected ? OP_MBARRIER : OP_NOP, T_B64);
    if (instruction == NULL)
        return false;
    instruction->variant = MBARRIER_ARRIVE;
    instruction->space = (uint8_t)space;
    instruction->offset = statement->operands[0].offset;
    instruction->from[0] = barrier;
    return true;
}

/* An instruction has one offset field, so the destination's offset goes into `list`. */
static bool set_offsets(struct statement *statement, struct instruction *instruction)
{
    const int64_t offset = statement->operands[0].offset;
    if (offset < INT32_MIN || offset > INT32_MAX)
        return ptx_refuse(statement, "is outside its variable");
    instruction->list = (uint32_t)(int32_t)offset;
    instruction->offset = statement->operands[1].offset;
    return true;
}

/* cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [bar]; and
 * cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes; copies at once. The first one then takes
 * its bytes from those that the barrier waits for. */
static bool decode_copy_bulk(struct statement *statement)
{
    struct operand to, from, bytes, barrier = {0};
    if (ptx_take(statement, ".prefetch")) /* of the L2 cache: no effect */
        return ptx_take(statement, ".L2") && ptx_take(statement, ".global")
                   ? ptx_begin_instruction(statement, OP_NOP, T_NONE) != NULL
                   : ptx_unsupported(statement);
    const bool global = ptx_take(statement, ".global");
    const bool shared = ptx_take(statement, ".shared::cta"),
               cluster = ptx_take(statement, ".shared::cluster");
    const bool counted = ptx_take(statement, ".mbarrier::complete_tx::bytes");
    const bool known = counted ? (int)global + shared + cluster == 2
                               : ptx_take(statement, ".bulk_group") && global && shared && !cluster;
    if (!known || !ptx_take_cache_hint(statement))
        return ptx_unsupported(statement);
    if (statement->operand_count != (counted ? 4 : 3))
        return ptx_refuse(statement, counted ? "needs two addresses, a size and an mbarrier"
                                             : "needs two addresses and a size");
    if (!read_address(statement, 0, &to) || !read_address(statement, 1, &from) ||
        !ptx_read_source(statement, 2, T_U32, &bytes) || (counted && !read_address(statement, 3, &barrier)))
        return false;
    struct instruction *copy = ptx_begin_instruction(statement, OP_COPY_BULK, T_B32);
    if (copy == NULL)
        return false;
    copy->space = counted ? SPACE_SHARED : SPACE_GLOBAL;
    copy->source = (counted && global) ? SPACE_GLOBAL : SPACE_SHARED;
    copy->to[0] = to;
    copy->from[0] = from;
    copy->from[1] = bytes;
    if (!set_offsets(statement, copy))
        return false;
    if (!counted)
        return true;
    struct instruction *completion = ptx_begin_instruction(statement, OP_MBARRIER, T_B64);
    if (completion == NULL)
        return false;
    completion->variant = MBARRIER_COMPLETE;
    completion->space = SPACE_SHARED;
    completion->offset = statement->operands[3].offset;
    completion->from[0] = barrier;
    completion->from[1] = bytes;
    return true;
}

/* cp.async.ca.shared.global [to], [from], 16{, 12}; and the instructions that wait for copies, which do
 * nothing here. */
bool ptx_decode_copy_async(struct statement *statement, const struct row *row)
{
    if (!ptx_take(statement, ".async"))
        return ptx_unsupported(statement);
    const bool bulk = ptx_take(statement, ".bulk");
    if (bulk)
        ptx_take(statement, ".read");
    if (ptx_take_one(statement, ".commit_group .wait_group .wait_all") >= 0)
        return ptx_begin_instruction(statement, OP_NOP, T_NONE) != NULL;
    if (bulk)
        return decode_copy_bulk(statement);
    if (ptx_take(statement, ".mbarrier"))
        return decode_copy_arrive(statement);
    ptx_take_hints(statement);
    struct operand to, from, size = {0};
    const bool spaces = ptx_take(statement, ".global") &&
                        (ptx_take(statement, ".shared") || ptx_take(statement, ".shared::cta"));
    ptx_take(statement, ".ca");
    ptx_take(statement, ".cg");
    if (!spaces || !ptx_take_cache_hint(statement))
        return ptx_unsupported(statement);
    if ((statement->operand_count != 3 && statement->operand_count != 4) ||
        statement->operands[2].atoms[0].kind != ATOM_INTEGER)
        return ptx_refuse(statement, "needs its size");
    const uint64_t bytes = statement->operands[2].atoms[0].bits;
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return ptx_refuse(statement, "copies 4, 8 or 16 bytes");
    if (!read_address(statement, 0, &to) || !read_address(statement, 1, &from) ||
        (statement->operand_count == 4 && !ptx_read_source(statement, 3, T_U32, &size)))
        return false;
    struct instruction *instruction = ptx_begin_instruction(statement, row->operation, T_B32);
    if (instruction == NULL)
        return false;
    instruction->vector = (uint8_t)bytes;
    instruction->to[0] = to;
    instruction->from[0] = from;
    instruction->from[1] = size;
    return set_offsets(statement, instruction);
}

static int take_mbarrier(struct statement *statement)
{
    if (ptx_take(statement, ".init"))
        return MBARRIER_INIT;
    if (ptx_take(statement, ".inval"))
        return MBARRIER_INVALIDATE;
    if (ptx_take(statement, ".pending_count"))
        return MBARRIER_PENDING;
    if (ptx_take(statement, ".complete_tx"))
        return MBARRIER_COMPLETE;
    const bool arrive = ptx_take(statement, ".arrive"), drop = ptx_take(statement, ".arrive_drop");
    ptx_take(statement, ".noComplete");
    if (ptx_take(statement, ".expect_tx"))
        return arrive ? MBARRIER_ARRIVE_EXPECT : drop ? -1 : MBARRIER_EXPECT;
    if (arrive || drop)
        return arrive ? MBARRIER_ARRIVE : MBARRIER_ARRIVE_DROP;
    if (!ptx_take(statement, ".test_wait") && !ptx_take(statement, ".try_wait"))
        return -1;
    return ptx_take(statement, ".parity") ? MBARRIER_TEST_PARITY : MBARRIER_TEST;
}

/* mbarrier.init.shared.b64 [bar], count; mbarrier.arrive.shared.b64 state, [bar]{, count};
 * mbarrier.test_wait.shared.b64 p, [bar], state; mbarrier.try_wait.parity.shared.b64 p, [bar], parity{, ns};
 */
bool ptx_decode_mbarrier(struct statement *statement, const struct row *row)
{
    const int variant = take_mbarrier(statement);
    ptx_take_hints(statement);
    const enum space space = ptx_take_space(statement);
    const bool tests = variant == MBARRIER_TEST || variant == MBARRIER_TEST_PARITY;
    const bool arrives = variant >= MBARRIER_ARRIVE && variant <= MBARRIER_ARRIVE_EXPECT;
    const bool counts = variant == MBARRIER_PENDING;
    struct operand to = {0}, barrier = {0}, value = {0};
    unsigned at = tests || arrives || counts ? 1 : 0;
    /* Arriving at a remote barrier returns no state. The only block of a cluster here is this one. */
    if (arrives && statement->operand_count != 0 && statement->operands[0].form == FORM_ADDRESS)
        at = 0;
    if (variant < 0 || ptx_take_type(statement) != T_B64 || statement->operand_count <= at)
        return ptx_unsupported(statement);
    if ((at == 1 && !ptx_read_result(statement, 0, tests, &to)) ||
        (counts ? !ptx_read_source(statement, 1, T_B64, &value) : !read_address(statement, at, &barrier)))
        return false;
    const enum type type = variant == MBARRIER_TEST ? T_B64 : T_U32;
    if (!counts && statement->operand_count > at + 1 && !ptx_read_source(statement, at + 1, type, &value))
        return false;
    struct instruction *instruction = ptx_begin_instruction(statement, row->operation, T_B64);
    if (instruction == NULL)
        return false;
    instruction->variant = (uint8_t)variant;
    instruction->space = (uint8_t)space;
    instruction->offset = counts ? 0 : statement->operands[at].offset;
    instruction->to[0] = to;
    instruction->from[0] = barrier;
    instruction->from[1] = value;
    return true;
}

/* elect.sync lane|leads, members; */
bool ptx_decode_elect(struct statement *statement, const struct row *row)
{
    ptx_take(statement, ".sync");
    struct instruction *instruction =
        statement->operands[0].form == FORM_PAIR
            ? ptx_build_instruction(statement, row->operation, "Du", T_U32, T_U32)
            : NULL;
    if (instruction == NULL)
        return ptx_unsupported(statement);
    instruction->from[1] = instruction->from[0];
    instruction->from[0] = (struct operand){0};
    return true;
}
