/* cp.async and mbarrier: copies that need no waiting here, and the barriers in memory that wait for them. */
#include <string.h>

#include "ptx/statement.h"

/* An operand that says how to cache: .L2::cache_hint, and the policy behind all others. */
bool take_cache_hint(struct statement *statement)
{
    if (!take(statement, ".L2::cache_hint"))
        return true;
    struct operand policy;
    if (statement->operand_count == 0 || !source(statement, statement->operand_count - 1, T_B64, &policy))
        return refuse(statement, "lacks its cache policy");
    statement->operand_count--;
    return true;
}

/* createpolicy.fractional.L2::evict_first.b64 policy, 1.0; */
bool decode_policy(struct statement *statement, const struct row *row)
{
    struct operand to;
    take_all(statement, ".fractional .range .global .cvt .L2 .L2::evict_first .L2::evict_last "
                        ".L2::evict_normal .L2::evict_unchanged");
    if (take_type(statement) != T_B64 || !destination(statement, 0, false, &to))
        return unsupported(statement);
    struct instruction *instruction = begin(statement, row->operation, T_B64);
    if (instruction == NULL)
        return false;
    instruction->variant = SPECIAL_ZERO;
    instruction->to[0] = to;
    return true;
}

static bool read_address(struct statement *statement, unsigned index, struct operand *operand)
{
    if (index >= statement->operand_count || statement->operands[index].form != FORM_ADDRESS)
        return refuse(statement, "needs an address");
    return read_operand(statement->parser, &statement->operands[index].atoms[0], T_U64, operand);
}

/* cp.async.mbarrier.arrive.noinc.shared.b64 [bar]: the copies are done, so the arrival is now. Without
 * .noinc the barrier first expects one more, which cancels it out. */
static bool decode_copy_arrive(struct statement *statement)
{
    struct operand barrier;
    const bool expected = take(statement, ".noinc");
    take(statement, ".arrive");
    const enum space space = take_space(statement);
    if (take_type(statement) != T_B64 || !read_address(statement, 0, &barrier))
        return unsupported(statement);
    struct instruction *instruction = begin(statement, expected ? OP_MBARRIER : OP_NOP, T_B64);
    if (instruction == NULL)
        return false;
    instruction->variant = MBARRIER_ARRIVE;
    instruction->space = (uint8_t)space;
    instruction->offset = statement->operands[0].offset;
    instruction->from[0] = barrier;
    return true;
}

/* cp.async.ca.shared.global [to], [from], 16{, 12}; and the instructions that wait for it. */
bool decode_copy_async(struct statement *statement, const struct row *row)
{
    if (!take(statement, ".async"))
        return unsupported(statement);
    if (take_one(statement, ".commit_group .wait_group .wait_all") >= 0)
        return begin(statement, OP_NOP, T_NONE) != NULL;
    if (take(statement, ".mbarrier"))
        return decode_copy_arrive(statement);
    take_hints(statement);
    struct operand to, from, size = {0};
    const bool spaces =
        take(statement, ".global") && (take(statement, ".shared") || take(statement, ".shared::cta"));
    take(statement, ".ca");
    take(statement, ".cg");
    if (!spaces || !take_cache_hint(statement))
        return unsupported(statement);
    if ((statement->operand_count != 3 && statement->operand_count != 4) ||
        statement->operands[2].atoms[0].kind != ATOM_INTEGER)
        return refuse(statement, "needs its size");
    const uint64_t bytes = statement->operands[2].atoms[0].bits;
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return refuse(statement, "copies 4, 8 or 16 bytes");
    if (!read_address(statement, 0, &to) || !read_address(statement, 1, &from) ||
        (statement->operand_count == 4 && !source(statement, 3, T_U32, &size)))
        return false;
    struct instruction *instruction = begin(statement, row->operation, T_B32);
    if (instruction == NULL)
        return false;
    instruction->vector = (uint8_t)bytes;
    instruction->to[0] = to;
    instruction->from[0] = from;
    instruction->from[1] = size;
    /* Both addresses may have an offset, and an instruction holds one. */
    if (statement->operands[0].offset < INT32_MIN || statement->operands[0].offset > INT32_MAX)
        return refuse(statement, "is outside its variable");
    instruction->list = (uint32_t)(int32_t)statement->operands[0].offset;
    instruction->offset = statement->operands[1].offset;
    return true;
}

static int take_mbarrier(struct statement *statement)
{
    if (take(statement, ".init"))
        return MBARRIER_INIT;
    if (take(statement, ".inval"))
        return MBARRIER_INVALIDATE;
    if (take(statement, ".pending_count"))
        return MBARRIER_PENDING;
    if (take(statement, ".complete_tx"))
        return MBARRIER_COMPLETE;
    const bool arrive = take(statement, ".arrive"), drop = take(statement, ".arrive_drop");
    take(statement, ".noComplete");
    if (take(statement, ".expect_tx"))
        return arrive ? MBARRIER_ARRIVE_EXPECT : drop ? -1 : MBARRIER_EXPECT;
    if (arrive || drop)
        return arrive ? MBARRIER_ARRIVE : MBARRIER_ARRIVE_DROP;
    if (!take(statement, ".test_wait") && !take(statement, ".try_wait"))
        return -1;
    return take(statement, ".parity") ? MBARRIER_TEST_PARITY : MBARRIER_TEST;
}

/* mbarrier.init.shared.b64 [bar], count; mbarrier.arrive.shared.b64 state, [bar]{, count};
 * mbarrier.test_wait.shared.b64 p, [bar], state; mbarrier.try_wait.parity.shared.b64 p, [bar], parity{, ns};
 */
bool decode_mbarrier(struct statement *statement, const struct row *row)
{
    const int variant = take_mbarrier(statement);
    take_hints(statement);
    const enum space space = take_space(statement);
    const bool tests = variant == MBARRIER_TEST || variant == MBARRIER_TEST_PARITY;
    const bool arrives = variant >= MBARRIER_ARRIVE && variant <= MBARRIER_ARRIVE_EXPECT;
    const bool counts = variant == MBARRIER_PENDING;
    struct operand to = {0}, barrier = {0}, value = {0};
    unsigned at = tests || arrives || counts ? 1 : 0;
    /* Arriving at another block's barrier gives no state; the only other block here is this one. */
    if (arrives && statement->operand_count != 0 && statement->operands[0].form == FORM_ADDRESS)
        at = 0;
    if (variant < 0 || take_type(statement) != T_B64 || statement->operand_count <= at)
        return unsupported(statement);
    if ((at == 1 && !destination(statement, 0, tests, &to)) ||
        (counts ? !source(statement, 1, T_B64, &value) : !read_address(statement, at, &barrier)))
        return false;
    const enum type type = variant == MBARRIER_TEST ? T_B64 : T_U32;
    if (!counts && statement->operand_count > at + 1 && !source(statement, at + 1, type, &value))
        return false;
    struct instruction *instruction = begin(statement, row->operation, T_B64);
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
bool decode_elect(struct statement *statement, const struct row *row)
{
    take(statement, ".sync");
    struct instruction *instruction = statement->operands[0].form == FORM_PAIR
                                          ? build(statement, row->operation, "Du", T_U32, T_U32)
                                          : NULL;
    if (instruction == NULL)
        return unsupported(statement);
    instruction->from[1] = instruction->from[0];
    instruction->from[0] = (struct operand){0};
    return true;
}
