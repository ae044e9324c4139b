/* The table of instructions, and their parser. An instruction is refused if any of its words is not
 * understood. */
#include "ptx/statement.h"

static const struct flag_word CARRY[] = {{"", FLAG_CARRY_IN}, {".cc", FLAG_CARRY_OUT}, {0}};
static const struct flag_word CLAMP[] = {{".clamp", FLAG_CLAMP}, {0}};
static const struct flag_word FLUSH[] = {{".ftz", FLAG_FLUSH}, {0}};
static const struct flag_word SHIFT_AMOUNT[] = {{".shiftamt", FLAG_CLAMP}, {0}};

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* omitted fields are zero */
static const struct row rows[] = {
    {"abs", ptx_decode_arithmetic, OP_ABS, "dt"},
    {"activemask", ptx_decode_collective, OP_ACTIVEMASK},
    {"add", ptx_decode_arithmetic, OP_ADD, "dtt"},
    {"addc", ptx_decode_row, OP_ADD_CARRY, "dtt", .flags = CARRY},
    {"alloca", ptx_decode_stack, OP_ALLOCA},
    {"and", ptx_decode_logic, OP_AND, "dtt"},
    {"applypriority", ptx_decode_plain, OP_NOP},
    {"atom", ptx_decode_atomic, OP_ATOM},
    {"bar", ptx_decode_barrier, OP_BAR},
    {"barrier", ptx_decode_barrier, OP_BAR},
    {"bfe", ptx_decode_row, OP_BFE, "dtuu"},
    {"bfi", ptx_decode_row, OP_BFI, "dttuu"},
    {"bfind", ptx_decode_row, OP_BFIND, "dt", .flags = SHIFT_AMOUNT},
    {"bmsk", ptx_decode_mask, OP_BMSK, "dtt"},
    {"bra", ptx_decode_branch, OP_BRA},
    {"brev", ptx_decode_row, OP_BREV, "dt"},
    {"brkpt", ptx_decode_plain, OP_TRAP},
    {"brx", ptx_decode_branch, OP_BRX},
    {"call", ptx_decode_call, OP_CALL},
    {"clz", ptx_decode_row, OP_CLZ, "dt"},
    {"cnot", ptx_decode_logic, OP_CNOT, "dt"},
    {"copysign", ptx_decode_arithmetic, OP_COPYSIGN, "dtt"},
    {"cos", ptx_decode_arithmetic, OP_COS, "dt"},
    {"cp", ptx_decode_copy_async, OP_COPY_ASYNC},
    {"createpolicy", ptx_decode_policy, OP_MOV_SPECIAL},
    {"cvt", ptx_decode_convert, OP_CVT},
    {"cvta", ptx_decode_address, OP_CVTA},
    {"discard", ptx_decode_plain, OP_NOP},
    {"div", ptx_decode_arithmetic, OP_DIV, "dtt"},
    {"dp2a", ptx_decode_row, OP_DP2A, "duuu", ".lo .hi", .two_types = true},
    {"dp4a", ptx_decode_row, OP_DP4A, "duuu", .two_types = true},
    {"elect", ptx_decode_elect, OP_ELECT},
    {"ex2", ptx_decode_arithmetic, OP_EX2, "dt"},
    {"exit", ptx_decode_plain, OP_EXIT},
    {"fence", ptx_decode_plain, OP_FENCE},
    {"fma", ptx_decode_arithmetic, OP_FMA, "dttt"},
    {"fns", ptx_decode_mask, OP_FNS, "dttt"},
    {"getctarank", ptx_decode_cluster_address, OP_MOV},
    {"griddepcontrol", ptx_decode_plain, OP_NOP},
    {"isspacep", ptx_decode_address, OP_ISSPACEP},
    {"istypep", ptx_decode_image_query, OP_IMAGE_TEST},
    {"ld", ptx_decode_memory, OP_LD},
    {"ldmatrix", ptx_decode_ldmatrix, OP_MATRIX_LOAD8},
    {"ldu", ptx_decode_memory, OP_LD},
    {"lg2", ptx_decode_arithmetic, OP_LG2, "dt"},
    {"lop3", ptx_decode_row, OP_LOP3, "dttti"},
    {"mad", ptx_decode_multiply, OP_MAD_LO, "dttt"},
    {"mad24", ptx_decode_row, OP_MAD24_LO, "dttt", ".lo .hi", .words_are_operations = true},
    {"madc", ptx_decode_multiply, OP_MAD_CARRY_LO, "dttt"},
    {"mapa", ptx_decode_cluster_address, OP_MOV},
    {"match", ptx_decode_collective, OP_MATCH},
    {"max", ptx_decode_arithmetic, OP_MAX, "dtt"},
    {"mbarrier", ptx_decode_mbarrier, OP_MBARRIER},
    {"membar", ptx_decode_plain, OP_FENCE},
    {"min", ptx_decode_arithmetic, OP_MIN, "dtt"},
    {"mma", ptx_decode_mma, OP_MMA},
    {"mov", ptx_decode_move, OP_MOV},
    {"movmatrix", ptx_decode_ldmatrix, OP_MATRIX_MOVE},
    {"mul", ptx_decode_multiply, OP_MUL_LO, "dtt"},
    {"mul24", ptx_decode_row, OP_MUL24_LO, "dtt", ".lo .hi", .words_are_operations = true},
    {"nanosleep", ptx_decode_plain, OP_PAUSE},
    {"neg", ptx_decode_arithmetic, OP_NEG, "dt"},
    {"not", ptx_decode_logic, OP_NOT, "dt"},
    {"or", ptx_decode_logic, OP_OR, "dtt"},
    {"pmevent", ptx_decode_plain, OP_NOP},
    {"popc", ptx_decode_row, OP_POPC, "dt"},
    {"prefetch", ptx_decode_plain, OP_NOP},
    {"prefetchu", ptx_decode_plain, OP_NOP},
    {"prmt", ptx_decode_row, OP_PRMT, "dttt", " .f4e .b4e .rc8 .ecl .ecr .rc16"},
    {"rcp", ptx_decode_arithmetic, OP_RCP, "dt"},
    {"red", ptx_decode_atomic, OP_ATOM},
    {"redux", ptx_decode_collective, OP_REDUX},
    {"rem", ptx_decode_arithmetic, OP_REM, "dtt"},
    {"ret", ptx_decode_plain, OP_RET},
    {"rsqrt", ptx_decode_arithmetic, OP_RSQRT, "dt"},
    {"sad", ptx_decode_arithmetic, OP_SAD, "dttt"},
    {"selp", ptx_decode_row, OP_SELP, "dttb", .flags = FLUSH},
    {"set", ptx_decode_compare, OP_SET},
    {"setmaxnreg", ptx_decode_plain, OP_NOP},
    {"setp", ptx_decode_compare, OP_SETP},
    {"shf", ptx_decode_row, OP_SHF_L, "dttu", ".l .r", ".wrap", CLAMP, .words_are_operations = true},
    {"shfl", ptx_decode_shuffle, OP_SHFL},
    {"shl", ptx_decode_row, OP_SHL, "dtu"},
    {"shr", ptx_decode_row, OP_SHR, "dtu"},
    {"sin", ptx_decode_arithmetic, OP_SIN, "dt"},
    {"slct", ptx_decode_row, OP_SLCT, "dtts", .flags = FLUSH, .two_types = true},
    {"sqrt", ptx_decode_arithmetic, OP_SQRT, "dt"},
    {"st", ptx_decode_memory, OP_ST},
    {"stackrestore", ptx_decode_stack, OP_STACK_RESTORE},
    {"stacksave", ptx_decode_stack, OP_STACK_SAVE},
    {"stmatrix", ptx_decode_ldmatrix, OP_MATRIX_STORE8},
    {"sub", ptx_decode_arithmetic, OP_SUB, "dtt"},
    {"subc", ptx_decode_row, OP_SUB_CARRY, "dtt", .flags = CARRY},
    {"suld", ptx_decode_surface, OP_SURFACE_LOAD, .takes_images = true},
    {"suq", ptx_decode_image_query, OP_IMAGE_QUERY},
    {"sured", ptx_decode_surface, OP_SURFACE_REDUCE, .takes_images = true},
    {"sust", ptx_decode_surface, OP_SURFACE_STORE, .takes_images = true},
    {"szext", ptx_decode_mask, OP_SZEXT, "dtt"},
    {"tanh", ptx_decode_arithmetic, OP_TANH, "dt"},
    {"testp", ptx_decode_row, OP_TESTP, "pt", ".finite .infinite .number .notanumber .normal .subnormal"},
    {"tex", ptx_decode_texture, OP_TEXTURE, .takes_images = true},
    {"tld4", ptx_decode_texture, OP_TEXTURE_GATHER, .takes_images = true},
    {"trap", ptx_decode_plain, OP_TRAP},
    {"txq", ptx_decode_image_query, OP_IMAGE_QUERY},
    {"vabsdiff2", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vabsdiff4", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vadd2", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vadd4", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vavrg2", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vavrg4", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vmax2", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vmax4", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vmin2", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vmin4", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vote", ptx_decode_collective, OP_VOTE},
    {"vsub2", ptx_decode_video, OP_VIDEO, "dttt"},
    {"vsub4", ptx_decode_video, OP_VIDEO, "dttt"},
    {"wmma", ptx_decode_wmma, OP_MMA},
    {"xor", ptx_decode_logic, OP_XOR, "dtt"},
};

static bool parse_guard(struct statement *statement)
{
    struct parser *parser = statement->parser;
    if (!ptx_accept_text(parser, "@"))
        return true;
    const bool negated = ptx_accept_text(parser, "!");
    uint32_t index;
    const struct token *token = next_token(parser);
    const struct name *name = ptx_find_name(parser, token, &index);
    if (name == NULL || name->kind != NAME_PREDICATE)
        return ptx_fail(parser, token->line, "'%.*s' is not a predicate", (int)token->length, token->text);
    statement->guard = (struct operand){.kind = OPERAND_PREDICATE, .index = index, .negated = negated};
    return true;
}

static bool parse_operands(struct statement *statement, bool takes_images)
{
    struct parser *parser = statement->parser;
    while (!ptx_accept_text(parser, ";")) {
        if (statement->operand_count == OPERANDS_MAX)
            return ptx_refuse(statement, "has too many operands");
        struct written *written = &statement->operands[statement->operand_count++];
        if (!ptx_parse_written(parser, written))
            return false;
        if (!takes_images && (written->form == FORM_IMAGE || written->form == FORM_VECTOR_PAIR))
            return ptx_unsupported(statement);
        if (!ptx_accept_text(parser, ",") && !ptx_token_is(parser->at, ";"))
            return ptx_expect_text(parser, ";");
    }
    return true;
}

static bool has_wide_operand(const struct statement *statement)
{
    for (unsigned i = 0; i < statement->operand_count; i++)
        if (statement->operands[i].wide)
            return true;
    return false;
}

bool ptx_parse_instruction(struct parser *parser)
{
    struct statement statement = {.parser = parser};
    if (!parse_guard(&statement))
        return false;
    statement.base = next_token(parser);
    while (parser->at->kind == TOKEN_DIRECTIVE && parser->at->adjacent) {
        if (statement.modifier_count == MODIFIERS_MAX)
            return ptx_refuse(&statement, "has too many modifiers");
        statement.modifiers[statement.modifier_count++] = next_token(parser);
    }
    const struct row *row = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ptx_token_is(statement.base, rows[i].name))
            row = &rows[i];
    if (row == NULL || statement.base->kind != TOKEN_NAME)
        return ptx_lacks_opcode(statement.base)
                   ? ptx_unsupported(&statement)
                   : ptx_fail(parser, statement.base->line, "'%.*s' is not a PTX instruction",
                              (int)statement.base->length, statement.base->text);
    /* ptx_decode_call parses its operand lists itself. */
    if (row->decode != ptx_decode_call && !parse_operands(&statement, row->takes_images))
        return false;
    if (has_wide_operand(&statement) && !ptx_has(&statement, ".b128"))
        return ptx_refuse(&statement, "does not take registers of 128 bits");
    if (!row->decode(&statement, row))
        return ptx_unsupported(&statement);
    ptx_take_hints(&statement);
    return statement.taken == (1u << statement.modifier_count) - 1 || ptx_unsupported(&statement);
}
