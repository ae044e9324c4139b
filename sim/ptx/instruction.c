/* Instructions to their decoded form. What is not understood to the last word is refused, here and now. */
#include "ptx/statement.h"

static const struct row rows[] = {
    {"abs", decode_arithmetic, OP_ABS, 1},
    {"activemask", decode_collective, OP_ACTIVEMASK, 0},
    {"add", decode_arithmetic, OP_ADD, 2},
    {"addc", decode_carry, OP_ADD_CARRY, 2},
    {"alloca", decode_stack, OP_ALLOCA, 0},
    {"and", decode_logic, OP_AND, 2},
    {"applypriority", decode_plain, OP_NOP, 0},
    {"atom", decode_atomic, OP_ATOM, 0},
    {"bar", decode_barrier, OP_BAR, 0},
    {"barrier", decode_barrier, OP_BAR, 0},
    {"bfe", decode_bits, OP_BFE, 3},
    {"bfi", decode_bits, OP_BFI, 4},
    {"bfind", decode_bits, OP_BFIND, 1},
    {"bmsk", decode_mask, OP_BMSK, 2},
    {"bra", decode_branch, OP_BRA, 0},
    {"brev", decode_bits, OP_BREV, 1},
    {"brkpt", decode_plain, OP_TRAP, 0},
    {"brx", decode_branch, OP_BRX, 0},
    {"call", decode_call, OP_CALL, 0},
    {"clz", decode_bits, OP_CLZ, 1},
    {"cnot", decode_logic, OP_CNOT, 1},
    {"copysign", decode_arithmetic, OP_COPYSIGN, 2},
    {"cos", decode_arithmetic, OP_COS, 1},
    {"cp", decode_copy_async, OP_COPY_ASYNC, 0},
    {"createpolicy", decode_policy, OP_MOV_SPECIAL, 0},
    {"cvt", decode_convert, OP_CVT, 1},
    {"cvta", decode_address, OP_CVTA, 1},
    {"discard", decode_plain, OP_NOP, 0},
    {"div", decode_arithmetic, OP_DIV, 2},
    {"dp2a", decode_dot, OP_DP2A, 3},
    {"dp4a", decode_dot, OP_DP4A, 3},
    {"elect", decode_elect, OP_ELECT, 0},
    {"ex2", decode_arithmetic, OP_EX2, 1},
    {"exit", decode_plain, OP_EXIT, 0},
    {"fence", decode_plain, OP_FENCE, 0},
    {"fma", decode_arithmetic, OP_FMA, 3},
    {"fns", decode_mask, OP_FNS, 3},
    {"getctarank", decode_cluster_address, OP_MOV, 1},
    {"griddepcontrol", decode_plain, OP_NOP, 0},
    {"isspacep", decode_address, OP_ISSPACEP, 1},
    {"ld", decode_memory, OP_LD, 0},
    {"ldmatrix", decode_ldmatrix, OP_MATRIX_LOAD8, 0},
    {"ldu", decode_memory, OP_LD, 0},
    {"lg2", decode_arithmetic, OP_LG2, 1},
    {"lop3", decode_lop3, OP_LOP3, 3},
    {"mad", decode_multiply, OP_MAD_LO, 3},
    {"mad24", decode_multiply24, OP_MAD24_LO, 3},
    {"madc", decode_multiply, OP_MAD_CARRY_LO, 3},
    {"mapa", decode_cluster_address, OP_MOV, 2},
    {"match", decode_collective, OP_MATCH, 2},
    {"max", decode_arithmetic, OP_MAX, 2},
    {"mbarrier", decode_mbarrier, OP_MBARRIER, 0},
    {"membar", decode_plain, OP_FENCE, 0},
    {"min", decode_arithmetic, OP_MIN, 2},
    {"mma", decode_mma, OP_MMA, 0},
    {"mov", decode_move, OP_MOV, 1},
    {"movmatrix", decode_ldmatrix, OP_MATRIX_MOVE, 0},
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
    {"setmaxnreg", decode_plain, OP_NOP, 0},
    {"setp", decode_compare, OP_SETP, 2},
    {"shf", decode_funnel, OP_SHF_L, 3},
    {"shfl", decode_shuffle, OP_SHFL, 4},
    {"shl", decode_shift, OP_SHL, 2},
    {"shr", decode_shift, OP_SHR, 2},
    {"sin", decode_arithmetic, OP_SIN, 1},
    {"slct", decode_select, OP_SLCT, 3},
    {"sqrt", decode_arithmetic, OP_SQRT, 1},
    {"st", decode_memory, OP_ST, 0},
    {"stackrestore", decode_stack, OP_STACK_RESTORE, 0},
    {"stacksave", decode_stack, OP_STACK_SAVE, 0},
    {"stmatrix", decode_ldmatrix, OP_MATRIX_STORE8, 0},
    {"sub", decode_arithmetic, OP_SUB, 2},
    {"subc", decode_carry, OP_SUB_CARRY, 2},
    {"szext", decode_mask, OP_SZEXT, 2},
    {"tanh", decode_arithmetic, OP_TANH, 1},
    {"testp", decode_testp, OP_TESTP, 1},
    {"trap", decode_plain, OP_TRAP, 0},
    {"vabsdiff2", decode_video, OP_VIDEO, 3},
    {"vabsdiff4", decode_video, OP_VIDEO, 3},
    {"vadd2", decode_video, OP_VIDEO, 3},
    {"vadd4", decode_video, OP_VIDEO, 3},
    {"vavrg2", decode_video, OP_VIDEO, 3},
    {"vavrg4", decode_video, OP_VIDEO, 3},
    {"vmax2", decode_video, OP_VIDEO, 3},
    {"vmax4", decode_video, OP_VIDEO, 3},
    {"vmin2", decode_video, OP_VIDEO, 3},
    {"vmin4", decode_video, OP_VIDEO, 3},
    {"vote", decode_collective, OP_VOTE, 2},
    {"vsub2", decode_video, OP_VIDEO, 3},
    {"vsub4", decode_video, OP_VIDEO, 3},
    {"wmma", decode_wmma, OP_MMA, 0},
    {"xor", decode_logic, OP_XOR, 2},
};

static bool parse_guard(struct statement *statement)
{
    struct parser *parser = statement->parser;
    if (!accept_text(parser, "@"))
        return true;
    const bool negated = accept_text(parser, "!");
    uint32_t index;
    const struct token *token = next_token(parser);
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
    statement.base = next_token(parser);
    while (parser->at->kind == TOKEN_DIRECTIVE && parser->at->adjacent) {
        if (statement.modifier_count == MODIFIERS_MAX)
            return refuse(&statement, "has too many parts");
        statement.modifiers[statement.modifier_count++] = next_token(parser);
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
