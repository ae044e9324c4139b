/* Decode rare instructions: masks, video, cluster addresses, the stack. */
#include <string.h>

#include "ptx/statement.h"

/* bmsk.clamp.b32 d, position, width; szext.wrap.s32 d, a, width; fns.b32 d, mask, base, offset; */
bool ptx_decode_mask(struct statement *statement, const struct row *row)
{
    const bool clamp = ptx_take(statement, ".clamp");
    ptx_take(statement, ".wrap");
    struct instruction *instruction =
        ptx_build_instruction(statement, row->operation, row->operands, ptx_take_type(statement), T_NONE);
    if (instruction == NULL)
        return false;
    instruction->flags = clamp ? FLAG_CLAMP : 0;
    return ptx_type_bytes((enum type)instruction->type) == 4 || ptx_unsupported(statement);
}

/* vabsdiff4.u32.u32.u32.add d, a, b, c: SIMD video instructions, with two or four parts. .sat saturates each
 * part; .add sums the parts into c. */
bool ptx_decode_video(struct statement *statement, const struct row *row)
{
    static const struct {
        const char *name;
        enum video video;
    } names[] = {{"vadd", VIDEO_ADD},      {"vsub", VIDEO_SUB},
                 {"vavrg", VIDEO_AVERAGE}, {"vabsdiff", VIDEO_DIFFERENCE},
                 {"vmin", VIDEO_MIN},      {"vmax", VIDEO_MAX}};
    const struct token *base = statement->base;
    uint8_t video = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i].name);
        if (base->length == length + 1 && memcmp(base->text, names[i].name, length) == 0)
            video = (uint8_t)names[i].video;
    }
    const enum type result = ptx_take_type(statement), left = ptx_take_type(statement),
                    right = ptx_take_type(statement);
    const bool words = (result == T_U32 || result == T_S32) && (left == T_U32 || left == T_S32);
    if (!words || (right != T_U32 && right != T_S32))
        return ptx_unsupported(statement);
    const uint16_t flags = (uint16_t)((ptx_take(statement, ".sat") ? FLAG_SATURATE : 0) |
                                      (ptx_take(statement, ".add") ? FLAG_REDUCE : 0));
    struct instruction *instruction = ptx_build_instruction(statement, OP_VIDEO, row->operands, T_B32, T_B32);
    if (instruction == NULL)
        return false;
    instruction->type = (uint8_t)result;
    instruction->source = (uint8_t)left;
    instruction->logic = (uint8_t)right;
    instruction->variant = video;
    instruction->vector = base->text[base->length - 1] == '4' ? 4 : 2;
    instruction->flags = flags;
    return true;
}

/* A cluster is one block here, so that an address in any rank's shared memory is the block's own address. */
bool ptx_decode_cluster_address(struct statement *statement, const struct row *row)
{
    const bool rank = ptx_token_is(statement->base, "getctarank");
    statement->parser->module->uses_cluster = true;
    ptx_take_space(statement);
    const enum type type = ptx_take_type(statement);
    if (rank) {
        struct instruction *zero = ptx_build_instruction(statement, OP_MOV_SPECIAL, "ds", T_U32, type);
        if (zero != NULL)
            zero->variant = SPECIAL_ZERO;
        return zero != NULL;
    }
    return ptx_build_instruction(statement, row->operation, "dt-", type, type) != NULL;
}

/* alloca.u64 p, bytes{, alignment}; stacksave.u64 d; stackrestore.u64 a; */
bool ptx_decode_stack(struct statement *statement, const struct row *row)
{
    struct operand value = {0}, to = {0};
    const enum type type = ptx_take_type(statement);
    const bool restore = row->operation == OP_STACK_RESTORE, room = row->operation == OP_ALLOCA;
    if (ptx_type_bytes(type) != 8 && ptx_type_bytes(type) != 4)
        return ptx_unsupported(statement);
    if (room && statement->operand_count == 3 && statement->operands[2].atoms[0].kind == ATOM_INTEGER &&
        statement->operands[2].atoms[0].bits <= STACK_ALIGNMENT)
        statement->operand_count--;
    if (statement->operand_count != (room ? 2u : 1u) ||
        (restore ? !ptx_read_source(statement, 0, type, &value)
                 : !ptx_read_result(statement, 0, false, &to)) ||
        (room && !ptx_read_source(statement, 1, type, &value)))
        return ptx_unsupported(statement);
    struct instruction *instruction = ptx_begin_instruction(statement, row->operation, type);
    if (instruction == NULL)
        return false;
    statement->parser->function->calls = true; /* reserves the local memory that calls need */
    instruction->to[0] = to;
    instruction->from[0] = value;
    return true;
}
