#include "ptx/operand.h"

#include <string.h>

static const struct {
    const char *name, *axis;
    enum special special;
} specials[] = {{"%tid", ".x", SPECIAL_TID_X},
                {"%tid", ".y", SPECIAL_TID_Y},
                {"%tid", ".z", SPECIAL_TID_Z},
                {"%ntid", ".x", SPECIAL_NTID_X},
                {"%ntid", ".y", SPECIAL_NTID_Y},
                {"%ntid", ".z", SPECIAL_NTID_Z},
                {"%ctaid", ".x", SPECIAL_CTAID_X},
                {"%ctaid", ".y", SPECIAL_CTAID_Y},
                {"%ctaid", ".z", SPECIAL_CTAID_Z},
                {"%nctaid", ".x", SPECIAL_NCTAID_X},
                {"%nctaid", ".y", SPECIAL_NCTAID_Y},
                {"%nctaid", ".z", SPECIAL_NCTAID_Z},
                {"%laneid", NULL, SPECIAL_LANEID},
                {"%warpid", NULL, SPECIAL_WARPID},
                {"%nwarpid", NULL, SPECIAL_NWARPID},
                {"%smid", NULL, SPECIAL_SMID},
                {"%nsmid", NULL, SPECIAL_NSMID},
                {"%gridid", NULL, SPECIAL_GRIDID},
                {"%clock", NULL, SPECIAL_CLOCK},
                {"%clock_hi", NULL, SPECIAL_ZERO},
                {"%clock64", NULL, SPECIAL_CLOCK64},
                {"%globaltimer", NULL, SPECIAL_GLOBALTIMER},
                {"%globaltimer_lo", NULL, SPECIAL_GLOBALTIMER},
                {"%globaltimer_hi", NULL, SPECIAL_GLOBALTIMER_HI},
                {"%lanemask_eq", NULL, SPECIAL_LANEMASK_EQ},
                {"%lanemask_le", NULL, SPECIAL_LANEMASK_LE},
                {"%lanemask_lt", NULL, SPECIAL_LANEMASK_LT},
                {"%lanemask_ge", NULL, SPECIAL_LANEMASK_GE},
                {"%lanemask_gt", NULL, SPECIAL_LANEMASK_GT},
                {"%dynamic_smem_size", NULL, SPECIAL_DYNAMIC_SHARED},
                {"%total_smem_size", NULL, SPECIAL_TOTAL_SHARED},
                {"%aggr_smem_size", NULL, SPECIAL_TOTAL_SHARED},
                /* cooperative_groups/details/driver_abi.h reads the grid's workspace here. */
                {"%envreg1", NULL, SPECIAL_WORKSPACE_HIGH},
                {"%envreg2", NULL, SPECIAL_WORKSPACE_LOW},
                {"%reserved_smem_offset_begin", NULL, SPECIAL_RESERVED_BEGIN},
                {"%reserved_smem_offset_0", NULL, SPECIAL_RESERVED_BEGIN},
                {"%reserved_smem_offset_1", NULL, SPECIAL_RESERVED_BEGIN},
                {"%reserved_smem_offset_end", NULL, SPECIAL_RESERVED_END},
                {"%reserved_smem_offset_cap", NULL, SPECIAL_RESERVED_END},
                /* A cluster is one block here. */
                {"%clusterid", ".x", SPECIAL_CTAID_X},
                {"%clusterid", ".y", SPECIAL_CTAID_Y},
                {"%clusterid", ".z", SPECIAL_CTAID_Z},
                {"%nclusterid", ".x", SPECIAL_NCTAID_X},
                {"%nclusterid", ".y", SPECIAL_NCTAID_Y},
                {"%nclusterid", ".z", SPECIAL_NCTAID_Z},
                {"%cluster_ctaid", ".x", SPECIAL_ZERO},
                {"%cluster_ctaid", ".y", SPECIAL_ZERO},
                {"%cluster_ctaid", ".z", SPECIAL_ZERO},
                {"%cluster_nctaid", ".x", SPECIAL_ONE},
                {"%cluster_nctaid", ".y", SPECIAL_ONE},
                {"%cluster_nctaid", ".z", SPECIAL_ONE},
                {"%cluster_ctarank", NULL, SPECIAL_ZERO},
                {"%cluster_nctarank", NULL, SPECIAL_ONE},
                {"%pm0", NULL, SPECIAL_ZERO},
                {"%pm1", NULL, SPECIAL_ZERO},
                {"%pm2", NULL, SPECIAL_ZERO},
                {"%pm3", NULL, SPECIAL_ZERO}};

static bool parse_special(struct parser *parser, const struct token *token, struct atom *atom)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (!ptx_token_is(token, specials[i].name))
            continue;
        if (specials[i].axis != NULL && !ptx_token_is(parser->at, specials[i].axis))
            continue;
        parser->at += specials[i].axis != NULL;
        atom->kind = ATOM_SPECIAL;
        atom->index = (uint32_t)specials[i].special;
        parser->module->uses_cluster |= strstr(specials[i].name, "cluster") != NULL;
        parser->module->uses_reserved |=
            atom->index == SPECIAL_RESERVED_BEGIN || atom->index == SPECIAL_RESERVED_END;
        return true;
    }
    static const char environment[] = "%envreg"; /* driver-defined registers; their values are unspecified */
    if (token->length > sizeof environment - 1 &&
        memcmp(token->text, environment, sizeof environment - 1) == 0) {
        atom->kind = ATOM_SPECIAL;
        atom->index = SPECIAL_ZERO;
        return true;
    }
    parser->met_unsupported |=
        ptx_token_is(token, "%is_explicit_cluster") && parser->diagnostic->text[0] == 0;
    return ptx_fail(parser, token->line, "'%.*s' is not declared", (int)token->length, token->text);
}

static bool parse_name(struct parser *parser, const struct token *token, struct atom *atom)
{
    static const enum atom_kind kinds[] = {[NAME_REGISTER] = ATOM_REGISTER,
                                           [NAME_PREDICATE] = ATOM_PREDICATE,
                                           [NAME_FRAME] = ATOM_FRAME,
                                           [NAME_PARAMETER] = ATOM_PARAMETER,
                                           [NAME_LOCAL] = ATOM_LOCAL};
    const struct name *name = ptx_find_name(parser, token, &atom->index);
    if (name != NULL) {
        atom->kind = kinds[name->kind];
        atom->bytes = name->count;
        atom->wide = name->wide;
        return true;
    }
    if (ptx_token_is(token, "_")) {
        atom->kind = ATOM_SINK;
        return true;
    }
    const int64_t variable = ptx_find_variable(parser, token);
    if (variable >= 0) {
        atom->kind = ATOM_VARIABLE;
        atom->index = (uint32_t)variable;
        return true;
    }
    if (token->text[0] == '%')
        return parse_special(parser, token, atom);
    static const char warp_size[] = "WARP_SZ";
    atom->kind = ptx_token_is(token, warp_size) ? ATOM_INTEGER : ATOM_LABEL;
    atom->bits = LANES;
    return true;
}

static bool parse_any_atom(struct parser *parser, struct atom *atom)
{
    *atom = (struct atom){.token = parser->at};
    atom->negated = ptx_accept_text(parser, "!");
    const bool minus = ptx_accept_text(parser, "-");
    const bool complement = !minus && ptx_accept_text(parser, "~");
    const struct token *token = next_token(parser);
    atom->token = token;
    if (token->kind == TOKEN_INTEGER) {
        atom->kind = ATOM_INTEGER;
        atom->bits = minus ? -token->bits : complement ? ~token->bits : token->bits;
        return true;
    }
    if (token->kind == TOKEN_FLOAT) {
        atom->kind = ATOM_FLOAT;
        atom->single = token->single;
        atom->bits = token->bits ^ (minus ? UINT64_C(1) << (token->single ? 31 : 63) : 0);
        return true;
    }
    if (token->kind != TOKEN_NAME || minus || complement)
        return ptx_fail(parser, token->line, "'%.*s' is not an operand", (int)token->length, token->text);
    return parse_name(parser, token, atom);
}

static bool parse_atom(struct parser *parser, struct atom *atom)
{
    return parse_any_atom(parser, atom) &&
           (!atom->wide || ptx_fail(parser, atom->token->line, "'%.*s' is a register of 128 bits",
                                    (int)atom->token->length, atom->token->text));
}

static bool parse_offset(struct parser *parser, int64_t *offset)
{
    while (ptx_token_is(parser->at, "+") || ptx_token_is(parser->at, "-")) {
        const bool minus = ptx_token_is(next_token(parser), "-");
        const bool negative = minus != ptx_accept_text(parser, "-");
        if (parser->at->kind != TOKEN_INTEGER)
            return ptx_fail(parser, parser->at->line, "the offset is not a number");
        const uint64_t value = next_token(parser)->bits;
        *offset = (int64_t)((uint64_t)*offset + (negative ? -value : value));
    }
    return true;
}

static bool add_atom(struct parser *parser, struct written *written)
{
    if (written->count == VECTOR_MAX)
        return ptx_fail(parser, parser->at->line, "a vector of more than %d elements", VECTOR_MAX);
    return parse_atom(parser, &written->atoms[written->count++]);
}

/* The rest of a vector after its opening brace. */
static bool parse_vector(struct parser *parser, struct written *written)
{
    do {
        if (!add_atom(parser, written))
            return false;
    } while (ptx_accept_text(parser, ","));
    return ptx_expect_text(parser, "}");
}

/* The {x, y} of [a, {x, y}]. A single coordinate needs no braces. */
static bool parse_coordinates(struct parser *parser, struct written *written)
{
    written->form = FORM_IMAGE;
    return ptx_accept_text(parser, "{") ? parse_vector(parser, written) : add_atom(parser, written);
}

bool ptx_parse_written(struct parser *parser, struct written *written)
{
    *written = (struct written){.form = FORM_PLAIN};
    if (ptx_accept_text(parser, "[")) {
        written->form = FORM_ADDRESS;
        written->count = 1;
        return parse_atom(parser, &written->atoms[0]) && parse_offset(parser, &written->offset) &&
               (!ptx_accept_text(parser, ",") || parse_coordinates(parser, written)) &&
               ptx_expect_text(parser, "]");
    }
    if (ptx_accept_text(parser, "{")) {
        written->form = FORM_VECTOR;
        if (!parse_vector(parser, written))
            return false;
        if (!ptx_accept_text(parser, "|"))
            return true;
        written->form = FORM_VECTOR_PAIR;
        return add_atom(parser, written);
    }
    written->count = 1;
    if (!parse_any_atom(parser, &written->atoms[0]))
        return false;
    if (written->atoms[0].wide) {
        written->form = FORM_VECTOR;
        written->count = 2;
        written->wide = true;
        written->atoms[1] = written->atoms[0];
        written->atoms[1].index++;
        return true;
    }
    if (written->atoms[0].kind == ATOM_VARIABLE && !parse_offset(parser, &written->atoms[0].addend))
        return false;
    if (ptx_accept_text(parser, "|")) {
        written->form = FORM_PAIR;
        written->count = 2;
        return parse_atom(parser, &written->atoms[1]);
    }
    return true;
}

/* Converts a literal to the bits of a type. */
static uint64_t literal_bits(const struct atom *atom, enum type type)
{
    uint64_t bits = atom->bits;
    double wide;
    float narrow;
    if (atom->kind == ATOM_FLOAT && atom->single && type == T_F64) {
        memcpy(&narrow, &bits, sizeof narrow);
        wide = (double)narrow;
        memcpy(&bits, &wide, sizeof bits);
    } else if (atom->kind == ATOM_FLOAT && !atom->single && type != T_F64 && type != T_B64) {
        memcpy(&wide, &bits, sizeof wide);
        narrow = (float)wide;
        bits = 0;
        memcpy(&bits, &narrow, sizeof narrow);
    }
    switch (ptx_type_bytes(type)) {
    case 1:
        return ptx_type_is_signed(type) ? (uint64_t)(int64_t)(int8_t)bits : (uint8_t)bits;
    case 2:
        return (uint16_t)bits;
    case 4:
        return (uint32_t)bits;
    default:
        return bits;
    }
}

uint32_t ptx_new_register(struct parser *parser)
{
    return parser->function->registers++;
}

static bool computed(struct parser *parser, const struct atom *atom, enum operation operation,
                     uint8_t variant, int64_t offset, struct operand *operand)
{
    const uint32_t number = ptx_new_register(parser);
    struct instruction *instruction = ptx_emit(parser, operation, atom->token->line);
    if (instruction == NULL)
        return false;
    instruction->type = T_U64;
    instruction->variant = variant;
    instruction->offset = offset;
    instruction->to[0] = (struct operand){.kind = OPERAND_REGISTER, .index = number};
    *operand = instruction->to[0];
    return true;
}

static bool constant(struct parser *parser, uint64_t value, struct operand *operand)
{
    *operand = (struct operand){.kind = OPERAND_CONSTANT, .index = ptx_add_constant(parser, value)};
    return operand->index != UINT32_MAX;
}

static bool variable_address(struct parser *parser, const struct atom *atom, struct operand *operand)
{
    struct ptx_module *module = parser->module;
    struct ptx_variable *variable = module->variables[atom->index];
    const uint32_t user = parser->function_index + 1;
    if (variable->external)
        return computed(parser, atom, OP_ADDRESS_DYNAMIC, 0, atom->addend, operand);
    variable->user = variable->user == 0 || variable->user == user ? user : UINT32_MAX;
    struct fixup *fixups = ptx_grow(module->fixups, module->fixup_count, &module->fixup_room, sizeof *fixups);
    if (fixups == NULL || !constant(parser, 0, operand))
        return ptx_fail(parser, atom->token->line, "out of memory");
    module->fixups = fixups;
    fixups[module->fixup_count++] = (struct fixup){operand->index, atom->index, atom->addend};
    return true;
}

/* An otherwise unknown name may be a function: use its address. */
static bool function_address(struct parser *parser, const struct atom *atom, struct operand *operand)
{
    const int64_t function = ptx_find_function(parser, atom->token);
    if (function < 0)
        return ptx_fail(parser, atom->token->line, "'%.*s' is not declared", (int)atom->token->length,
                        atom->token->text);
    return constant(parser, CODE_ADDRESS(function), operand);
}

/* mov.pred %p, 0; */
static bool literal_predicate(struct parser *parser, const struct atom *atom, struct operand *operand)
{
    const uint32_t number = parser->function->predicates++;
    struct instruction *instruction = ptx_emit(parser, OP_PRED_MOV, atom->token->line);
    if (instruction == NULL)
        return false;
    instruction->type = T_PRED;
    instruction->from[0].kind = OPERAND_CONSTANT;
    instruction->offset = atom->bits != 0;
    instruction->to[0] = (struct operand){.kind = OPERAND_PREDICATE, .index = number};
    *operand = instruction->to[0];
    operand->negated = atom->negated;
    return true;
}

bool ptx_read_operand(struct parser *parser, const struct atom *atom, enum type type, struct operand *operand)
{
    if (type == T_PRED && atom->kind == ATOM_INTEGER)
        return literal_predicate(parser, atom, operand);
    if ((type == T_PRED) != (atom->kind == ATOM_PREDICATE))
        return ptx_fail(parser, atom->token->line, "'%.*s' is %s predicate", (int)atom->token->length,
                        atom->token->text, type == T_PRED ? "not a" : "a");
    switch (atom->kind) {
    case ATOM_REGISTER:
        *operand = (struct operand){.kind = OPERAND_REGISTER, .index = atom->index};
        return true;
    case ATOM_PREDICATE:
        *operand =
            (struct operand){.kind = OPERAND_PREDICATE, .index = atom->index, .negated = atom->negated};
        return true;
    case ATOM_INTEGER:
    case ATOM_FLOAT:
        return constant(parser, literal_bits(atom, type), operand);
    case ATOM_SPECIAL:
        return computed(parser, atom, OP_MOV_SPECIAL, (uint8_t)atom->index, 0, operand);
    case ATOM_VARIABLE:
        return variable_address(parser, atom, operand);
    case ATOM_LABEL:
        return function_address(parser, atom, operand);
    case ATOM_LOCAL:
        return computed(parser, atom, OP_ADDRESS_LOCAL, SPACE_LOCAL, atom->index, operand);
    case ATOM_PARAMETER:
        return computed(parser, atom, OP_ADDRESS_LOCAL, SPACE_PARAM, atom->index, operand);
    default:
        return ptx_fail(parser, atom->token->line, "'%.*s' cannot be a source operand",
                        (int)atom->token->length, atom->token->text);
    }
}

bool ptx_write_operand(struct parser *parser, const struct atom *atom, bool predicate,
                       struct operand *operand)
{
    const enum atom_kind wanted = predicate ? ATOM_PREDICATE : ATOM_REGISTER;
    if (atom->kind != ATOM_SINK && atom->kind != wanted)
        return ptx_fail(parser, atom->token->line, "'%.*s' is not a %s that can be written",
                        (int)atom->token->length, atom->token->text, predicate ? "predicate" : "register");
    uint32_t index = atom->index;
    if (atom->kind == ATOM_SINK)
        index = predicate ? parser->function->predicates++ : ptx_new_register(parser);
    *operand = (struct operand){.kind = predicate ? OPERAND_PREDICATE : OPERAND_REGISTER, .index = index};
    return true;
}
