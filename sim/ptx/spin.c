/* Find loops that wait for memory: `while (*flag == 0);` in its many forms. A warp that runs such a loop in
 * vain gives its turn away, to the warps that it may be waiting for. */
#include "ptx/parser.h"

/* Longer loops do more than wait. */
enum { BODY_MAX = 64, NEEDED_MAX = 32 };

/* The registers and predicates on which the end of the loop depends. */
struct needed {
    struct operand operands[NEEDED_MAX];
    unsigned count;
};

static bool is_same(struct operand one, struct operand other)
{
    return one.kind == other.kind && one.index == other.index;
}

static void need(struct needed *needed, struct operand operand)
{
    if (operand.kind != OPERAND_REGISTER && operand.kind != OPERAND_PREDICATE)
        return;
    for (unsigned i = 0; i < needed->count; i++)
        if (is_same(needed->operands[i], operand))
            return;
    if (needed->count < NEEDED_MAX)
        needed->operands[needed->count++] = operand;
}

/* Whether the operand was needed. Its value is not needed before the instruction that writes it. */
static bool satisfy(struct needed *needed, struct operand operand)
{
    for (unsigned i = 0; i < needed->count; i++)
        if (operand.kind != OPERAND_NONE && is_same(needed->operands[i], operand)) {
            needed->operands[i] = needed->operands[--needed->count];
            return true;
        }
    return false;
}

/* A value that another thread may change between two turns. */
static bool reads_shared_state(const struct instruction *instruction)
{
    switch (instruction->operation) {
    case OP_LD:
    case OP_LD_WIDE:
        return (instruction->flags & FLAG_STRONG) != 0;
    case OP_ATOM:
        return instruction->variant >= ATOM_EXCH;
    default:
        return instruction->operation == OP_ATOM_WIDE;
    }
}

/* Whether the loop may do work of its own in each round, or calls what may. */
static bool does_work(const struct instruction *instruction)
{
    switch (instruction->operation) {
    case OP_ST:
    case OP_ST_WIDE:
    case OP_ST_FRAME:
    case OP_COPY_ASYNC:
    case OP_COPY_BULK:
    case OP_MATRIX_STORE:
    case OP_MATRIX_STORE8:
    case OP_BAR:
    case OP_BRX:
    case OP_CALL:
    case OP_BUILTIN:
        return true;
    case OP_ATOM:
        return instruction->variant < ATOM_EXCH;
    default:
        return false;
    }
}

/* Whether the end of the loop [begin, end] depends on a value that reads_shared_state(). Follows the data
 * backwards through the code as it is written, which is exact for loops without branches and good enough for
 * the others: an error costs turns, not results. */
static bool waits(const struct instruction *code, size_t begin, size_t end)
{
    struct needed needed = {0};
    for (size_t i = begin; i <= end; i++) {
        if (does_work(&code[i]))
            return false;
        const bool leaves =
            code[i].operation == OP_BRA && ((size_t)code[i].offset < begin || (size_t)code[i].offset > end);
        if (leaves || i == end)
            need(&needed, code[i].guard);
    }
    for (size_t i = end; i-- > begin;) {
        bool wanted = false;
        for (unsigned k = 0; k < 4; k++)
            wanted |= satisfy(&needed, code[i].to[k]);
        if (wanted && reads_shared_state(&code[i]))
            return true;
        if (wanted)
            need(&needed, code[i].guard);
        for (unsigned k = 0; wanted && k < 4; k++)
            need(&needed, code[i].from[k]);
    }
    return false;
}

void ptx_mark_waiting_loops(struct ptx_module *module)
{
    for (size_t i = 0; i < module->code_count; i++) {
        struct instruction *branch = &module->code[i];
        const size_t target = (size_t)branch->offset;
        if (branch->operation == OP_BRA && target <= i && i - target < BODY_MAX)
            branch->waits = waits(module->code, target, i);
    }
}
