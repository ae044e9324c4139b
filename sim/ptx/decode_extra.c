/* Integer instructions of one use each. */
#include <string.h>

#include "ptx/statement.h"

/* bmsk.clamp.b32 d, position, width; szext.wrap.s32 d, a, width; fns.b32 d, mask, base, offset; */
bool decode_mask(struct statement *statement, const struct row *row)
{
    const bool clamp = take(statement, ".clamp");
    take(statement, ".wrap");
    struct instruction *instruction =
        build(statement, row->operation, row->operands, take_type(statement), T_NONE);
    if (instruction == NULL)
        return false;
    instruction->flags = clamp ? FLAG_CLAMP : 0;
    return type_bytes((enum type)instruction->type) == 4 || unsupported(statement);
}

/* vabsdiff4.u32.u32.u32.add d, a, b, c: of the video instructions, those that work on all parts at once.
 * vadd4 and the like; .sat; .add sums what the parts give. */
bool decode_video(struct statement *statement, const struct row *row)
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
    const enum type result = take_type(statement), left = take_type(statement), right = take_type(statement);
    const bool words = (result == T_U32 || result == T_S32) && (left == T_U32 || left == T_S32);
    if (!words || (right != T_U32 && right != T_S32))
        return unsupported(statement);
    const uint16_t flags = (uint16_t)((take(statement, ".sat") ? FLAG_SATURATE : 0) |
                                      (take(statement, ".add") ? FLAG_REDUCE : 0));
    struct instruction *instruction = build(statement, OP_VIDEO, row->operands, T_B32, T_B32);
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

/* Where a cluster is one block: its shared memory is the block's own, whatever rank is asked for. */
bool decode_cluster_address(struct statement *statement, const struct row *row)
{
    const bool rank = token_is(statement->base, "getctarank");
    statement->parser->module->uses_cluster = true;
    take_space(statement);
    const enum type type = take_type(statement);
    if (rank) {
        struct instruction *zero = build(statement, OP_MOV_SPECIAL, "ds", T_U32, type);
        if (zero != NULL)
            zero->variant = SPECIAL_ZERO;
        return zero != NULL;
    }
    return build(statement, row->operation, "dt-", type, type) != NULL;
}

/* alloca.u64 p, bytes{, alignment}; stacksave.u64 d; stackrestore.u64 a; */
bool decode_stack(struct statement *statement, const struct row *row)
{
    struct operand value = {0}, to = {0};
    const enum type type = take_type(statement);
    const bool restore = row->operation == OP_STACK_RESTORE, room = row->operation == OP_ALLOCA;
    if (type_bytes(type) != 8 && type_bytes(type) != 4)
        return unsupported(statement);
    if (room && statement->operand_count == 3 && statement->operands[2].atoms[0].kind == ATOM_INTEGER &&
        statement->operands[2].atoms[0].bits <= STACK_ALIGNMENT)
        statement->operand_count--;
    if (statement->operand_count != (room ? 2u : 1u) ||
        (restore ? !source(statement, 0, type, &value) : !destination(statement, 0, false, &to)) ||
        (room && !source(statement, 1, type, &value)))
        return unsupported(statement);
    struct instruction *instruction = begin(statement, row->operation, type);
    if (instruction == NULL)
        return false;
    statement->parser->function->calls = true; /* it needs the room that calls need */
    instruction->to[0] = to;
    instruction->from[0] = value;
    return true;
}
