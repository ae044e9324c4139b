/* The table of instructions, and their parser. An instruction is refused if any of its words is not
 * understood. */
#include "ptx/statement.h"

static const struct flag_word CARRY[] = {{"", FLAG_CARRY_IN}, {".cc", FLAG_CARRY_OUT}, {0}};
static const struct flag_word CLAMP[] = {{".clamp", FLAG_CLAMP}, {0}};
static const struct flag_word FLUSH[] = {{".ftz", FLAG_FLUSH}, {0}};
static const struct flag_word SHIFT_AMOUNT[] = {{".shiftamt", FLAG_CLAMP}, {0}};

#pragma GCC diagnostic ignored                                                                               \
    "-Wmissing-field-initializers" /* a row gives what it needs, the rest is zero */
static const struct row rows[] = {
    {"abs", decode_arithmetic, OP_ABS, "dt"},
    {"activemask", decode_collective, OP_ACTIVEMASK},
    {"add", decode_arithmetic, OP_ADD, "dtt"},
    {"addc", decode_row, OP_ADD_CARRY, "dtt", .flags = CARRY},
    {"alloca", decode_stack, OP_ALLOCA},
    {"and", decode_logic, OP_AND, "dtt"},
    {"applypriority", decode_plain, OP_NOP},
    {"atom", decode_atomic, OP_ATOM},
    {"bar", decode_barrier, OP_BAR},
    {"barrier", decode_barrier, OP_BAR},
    {"bfe", decode_row, OP_BFE, "dtuu"},
    {"bfi", decode_row, OP_BFI, "dttuu"},
    {"bfind", decode_row, OP_BFIND, "dt", .flags = SHIFT_AMOUNT},
    {"bmsk", decode_mask, OP_BMSK, "dtt"},
    {"bra", decode_branch, OP_BRA},
    {"brev", decode_row, OP_BREV, "dt"},
    {"brkpt", decode_plain, OP_TRAP},
    {"brx", decode_branch, OP_BRX},
    {"call", decode_call, OP_CALL},
    {"clz", decode_row, OP_CLZ, "dt"},
    {"cnot", decode_logic, OP_CNOT, "dt"},
    {"copysign", decode_arithmetic, OP_COPYSIGN, "dtt"},
    {"cos", decode_arithmetic, OP_COS, "dt"},
    {"cp", decode_copy_async, OP_COPY_ASYNC},
    {"createpolicy", decode_policy, OP_MOV_SPECIAL},
    {"cvt", decode_convert, OP_CVT},
    {"cvta", decode_address, OP_CVTA},
    {"discard", decode_plain, OP_NOP},
    {"div", decode_arithmetic, OP_DIV, "dtt"},
    {"dp2a", decode_row, OP_DP2A, "duuu", ".lo .hi", .two_types = true},
    {"dp4a", decode_row, OP_DP4A, "duuu", .two_types = true},
    {"elect", decode_elect, OP_ELECT},
    {"ex2", decode_arithmetic, OP_EX2, "dt"},
    {"exit", decode_plain, OP_EXIT},
    {"fence", decode_plain, OP_FENCE},
    {"fma", decode_arithmetic, OP_FMA, "dttt"},
    {"fns", decode_mask, OP_FNS, "dttt"},
    {"getctarank", decode_cluster_address, OP_MOV},
    {"griddepcontrol", decode_plain, OP_NOP},
    {"isspacep", decode_address, OP_ISSPACEP},
    {"ld", decode_memory, OP_LD},
    {"ldmatrix", decode_ldmatrix, OP_MATRIX_LOAD8},
    {"ldu", decode_memory, OP_LD},
    {"lg2", decode_arithmetic, OP_LG2, "dt"},
    {"lop3", decode_row, OP_LOP3, "dttti"},
    {"mad", decode_multiply, OP_MAD_LO, "dttt"},
    {"mad24", decode_row, OP_MAD24_LO, "dttt", ".lo .hi", .words_are_operations = true},
    {"madc", decode_multiply, OP_MAD_CARRY_LO, "dttt"},
    {"mapa", decode_cluster_address, OP_MOV},
    {"match", decode_collective, OP_MATCH},
    {"max", decode_arithmetic, OP_MAX, "dtt"},
    {"mbarrier", decode_mbarrier, OP_MBARRIER},
    {"membar", decode_plain, OP_FENCE},
    {"min", decode_arithmetic, OP_MIN, "dtt"},
    {"mma", decode_mma, OP_MMA},
    {"mov", decode_move, OP_MOV},
    {"movmatrix", decode_ldmatrix, OP_MATRIX_MOVE},
    {"mul", decode_multiply, OP_MUL_LO, "dtt"},
    {"mul24", decode_row, OP_MUL24_LO, "dtt", ".lo .hi", .words_are_operations = true},
    {"nanosleep", decode_plain, OP_NOP},
    {"neg", decode_arithmetic, OP_NEG, "dt"},
    {"not", decode_logic, OP_NOT, "dt"},
    {"or", decode_logic, OP_OR, "dtt"},
    {"popc", decode_row, OP_POPC, "dt"},
    {"prefetch", decode_plain, OP_NOP},
    {"prefetchu", decode_plain, OP_NOP},
    {"prmt", decode_row, OP_PRMT, "dttt", " .f4e .b4e .rc8 .ecl .ecr .rc16"},
    {"rcp", decode_arithmetic, OP_RCP, "dt"},
    {"red", decode_atomic, OP_ATOM},
    {"redux", decode_collective, OP_REDUX},
    {"rem", decode_arithmetic, OP_REM, "dtt"},
    {"ret", decode_plain, OP_RET},
    {"rsqrt", decode_arithmetic, OP_RSQRT, "dt"},
    {"sad", decode_arithmetic, OP_SAD, "dttt"},
    {"selp", decode_row, OP_SELP, "dttb", .flags = FLUSH},
    {"set", decode_compare, OP_SET},
    {"setmaxnreg", decode_plain, OP_NOP},
    {"setp", decode_compare, OP_SETP},
    {"shf", decode_row, OP_SHF_L, "dttu", ".l .r", ".wrap", CLAMP, .words_are_operations = true},
    {"shfl", decode_shuffle, OP_SHFL},
    {"shl", decode_row, OP_SHL, "dtu"},
    {"shr", decode_row, OP_SHR, "dtu"},
    {"sin", decode_arithmetic, OP_SIN, "dt"},
    {"slct", decode_row, OP_SLCT, "dtts", .flags = FLUSH, .two_types = true},
    {"sqrt", decode_arithmetic, OP_SQRT, "dt"},
    {"st", decode_memory, OP_ST},
    {"stackrestore", decode_stack, OP_STACK_RESTORE},
    {"stacksave", decode_stack, OP_STACK_SAVE},
    {"stmatrix", decode_ldmatrix, OP_MATRIX_STORE8},
    {"sub", decode_arithmetic, OP_SUB, "dtt"},
    {"subc", decode_row, OP_SUB_CARRY, "dtt", .flags = CARRY},
    {"szext", decode_mask, OP_SZEXT, "dtt"},
    {"tanh", decode_arithmetic, OP_TANH, "dt"},
    {"testp", decode_row, OP_TESTP, "pt", ".finite .infinite .number .notanumber .normal .subnormal"},
    {"trap", decode_plain, OP_TRAP},
    {"vabsdiff2", decode_video, OP_VIDEO, "dttt"},
    {"vabsdiff4", decode_video, OP_VIDEO, "dttt"},
    {"vadd2", decode_video, OP_VIDEO, "dttt"},
    {"vadd4", decode_video, OP_VIDEO, "dttt"},
    {"vavrg2", decode_video, OP_VIDEO, "dttt"},
    {"vavrg4", decode_video, OP_VIDEO, "dttt"},
    {"vmax2", decode_video, OP_VIDEO, "dttt"},
    {"vmax4", decode_video, OP_VIDEO, "dttt"},
    {"vmin2", decode_video, OP_VIDEO, "dttt"},
    {"vmin4", decode_video, OP_VIDEO, "dttt"},
    {"vote", decode_collective, OP_VOTE},
    {"vsub2", decode_video, OP_VIDEO, "dttt"},
    {"vsub4", decode_video, OP_VIDEO, "dttt"},
    {"wmma", decode_wmma, OP_MMA},
    {"xor", decode_logic, OP_XOR, "dtt"},
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
        return unsupported(&statement);
    /* A call's operands are lists, which it reads itself. */
    if (row->decode != decode_call && !parse_operands(&statement))
        return false;
    if (!row->decode(&statement, row))
        return unsupported(&statement);
    take_hints(&statement);
    return statement.taken == (1u << statement.modifier_count) - 1 || unsupported(&statement);
}
