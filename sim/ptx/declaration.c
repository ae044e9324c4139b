/* Parse declarations: globals, registers, local and .param variables, with initial values. */
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

/* The part of a declaration before the name: alignment, type, vector, attributes. */
struct declaration {
    enum type type;
    uint32_t alignment;
    uint32_t elements; /* of a vector */
    bool managed;
    bool wide; /* .b128 */
};

bool ptx_parse_integer(struct parser *parser, uint64_t *value)
{
    *value = 0;
    if (parser->at->kind != TOKEN_INTEGER)
        return ptx_fail(parser, parser->at->line, "expected a number before '%.*s'", (int)parser->at->length,
                        parser->at->text);
    *value = next_token(parser)->bits;
    return true;
}

/* .attribute(.managed), .attribute(.unified(1, 2)). Here the host can read and write every global anyway. */
static bool parse_attributes(struct parser *parser, struct declaration *declaration)
{
    if (!ptx_expect_text(parser, "("))
        return false;
    do {
        const struct token *token = next_token(parser);
        declaration->managed = declaration->managed || ptx_token_is(token, ".managed");
        if (!ptx_token_is(token, ".managed") && !ptx_token_is(token, ".unified"))
            return ptx_fail(parser, token->line, "unknown attribute '%.*s'", (int)token->length, token->text);
        if (ptx_accept_text(parser, "(")) { /* a 128-bit identifier in two halves */
            uint64_t half;
            if (!ptx_parse_integer(parser, &half) || !ptx_expect_text(parser, ",") ||
                !ptx_parse_integer(parser, &half) || !ptx_expect_text(parser, ")"))
                return false;
        }
    } while (ptx_accept_text(parser, ","));
    return ptx_expect_text(parser, ")");
}

static bool parse_declaration(struct parser *parser, struct declaration *declaration)
{
    *declaration = (struct declaration){T_NONE, 0, 1, false, false};
    while (parser->at->kind == TOKEN_DIRECTIVE) {
        uint64_t alignment;
        const enum type type = ptx_type_of(parser->at);
        if (type != T_NONE && type <= T_F64) {
            declaration->type = type;
            next_token(parser);
        } else if (ptx_accept_text(parser, ".b128")) {
            declaration->type = T_B64;
            declaration->elements = 2;
            declaration->wide = true;
        } else if (ptx_accept_text(parser, ".align")) {
            if (!ptx_parse_integer(parser, &alignment))
                return false;
            if (alignment == 0 || alignment > 4096 || (alignment & (alignment - 1)) != 0)
                return ptx_fail(parser, parser->at->line, "alignment of %llu", (unsigned long long)alignment);
            declaration->alignment = (uint32_t)alignment;
        } else if (ptx_accept_text(parser, ".attribute")) {
            if (!parse_attributes(parser, declaration))
                return false;
        } else if (ptx_accept_text(parser, ".v2")) {
            declaration->elements = 2;
        } else if (ptx_accept_text(parser, ".v4")) {
            declaration->elements = 4;
        } else if (ptx_token_is(parser->at, ".texref") || ptx_token_is(parser->at, ".samplerref") ||
                   ptx_token_is(parser->at, ".surfref")) {
            return ptx_fail(parser, parser->at->line, "%.*s is not supported; use texture objects",
                            (int)parser->at->length, parser->at->text);
        } else if (!ptx_accept_text(parser, ".ptr") && !ptx_accept_text(parser, ".global") &&
                   !ptx_accept_text(parser, ".shared") && !ptx_accept_text(parser, ".const") &&
                   !ptx_accept_text(parser, ".local")) {
            return ptx_fail(parser, parser->at->line, "unknown '%.*s' in a declaration",
                            (int)parser->at->length, parser->at->text);
        }
    }
    if (declaration->type == T_NONE)
        return ptx_fail(parser, parser->at->line, "declaration without a type");
    if (declaration->alignment == 0)
        declaration->alignment = ptx_type_bytes(declaration->type) * declaration->elements;
    return true;
}

/* Parses [4][8] and returns the number of elements; sets `open` if the first dimension is empty. */
static bool parse_dimensions(struct parser *parser, uint64_t *elements, bool *open)
{
    *open = false;
    while (ptx_accept_text(parser, "[")) {
        uint64_t size;
        if (ptx_accept_text(parser, "]")) {
            *open = true;
            continue;
        }
        if (!ptx_parse_integer(parser, &size) || !ptx_expect_text(parser, "]"))
            return false;
        if (__builtin_mul_overflow(*elements, size, elements) || *elements > VARIABLE_MAX)
            return ptx_fail(parser, parser->at->line, "an array of more than %llu elements",
                            (unsigned long long)VARIABLE_MAX);
    }
    return true;
}

static bool parse_parameter(struct parser *parser, struct slot *slot, bool entry)
{
    struct declaration declaration;
    uint64_t elements = 1;
    bool open;
    const bool in_register = ptx_accept_text(parser, ".reg");
    if (!in_register && !ptx_expect_text(parser, ".param"))
        return false;
    if (in_register)
        return ptx_fail(parser, parser->at->line, "parameters in registers are not supported");
    if (!parse_declaration(parser, &declaration))
        return false;
    const struct token *token = next_token(parser);
    struct name *name = ptx_add_name(parser, token, entry ? NAME_PARAMETER : NAME_FRAME);
    if (name == NULL || !parse_dimensions(parser, &elements, &open))
        return false;
    const uint64_t bytes = elements * declaration.elements * ptx_type_bytes(declaration.type);
    uint32_t *total = entry ? &parser->function->parameter_bytes : &parser->function->frame_bytes;
    slot->offset = ptx_reserve(parser, total, bytes, declaration.alignment, FRAME_MAX);
    slot->bytes = (uint32_t)bytes;
    name = &parser->names[parser->name_count - 1];
    name->first = slot->offset;
    name->count = slot->bytes;
    return slot->offset != UINT32_MAX;
}

bool ptx_parse_parameters(struct parser *parser, struct slot **slots, uint32_t *count, bool entry)
{
    size_t room = 0;
    if (!ptx_accept_text(parser, "("))
        return true;
    while (!ptx_accept_text(parser, ")")) {
        struct slot *grown = ptx_grow(*slots, *count, &room, sizeof *grown);
        if (grown == NULL)
            return ptx_fail_memory(parser);
        *slots = grown;
        if (!parse_parameter(parser, &grown[(*count)++], entry))
            return false;
        if (!ptx_accept_text(parser, ",") && !ptx_token_is(parser->at, ")"))
            return ptx_expect_text(parser, ")");
    }
    return true;
}

static bool add_relocation(struct parser *parser, struct ptx_variable *variable, uint64_t at, unsigned bytes,
                           int64_t target, int64_t addend)
{
    struct relocation *relocations =
        realloc(variable->relocations, (variable->relocation_count + 1) * sizeof *relocations);
    if (relocations == NULL)
        return ptx_fail_memory(parser);
    variable->relocations = relocations;
    relocations[variable->relocation_count++] =
        (struct relocation){(uint32_t)at, bytes, (uint32_t)target, addend};
    return true;
}

static bool parse_initial_scalar(struct parser *parser, struct ptx_variable *variable, enum type type,
                                 uint64_t at)
{
    const unsigned bytes = ptx_type_bytes(type);
    if (at + bytes > variable->bytes)
        return ptx_fail(parser, parser->at->line, "too many initial values for %s", variable->name);
    const bool generic = ptx_accept_text(parser, "generic");
    if (generic && !ptx_expect_text(parser, "("))
        return false;
    const bool negative = ptx_accept_text(parser, "-");
    const struct token *token = next_token(parser);
    uint64_t bits = token->bits;
    if (token->kind == TOKEN_NAME) {
        const int64_t target = ptx_find_variable(parser, token);
        int64_t addend = 0;
        if (generic && !ptx_expect_text(parser, ")"))
            return false;
        if (ptx_accept_text(parser, "+"))
            addend = (int64_t)next_token(parser)->bits;
        const int64_t function = target < 0 ? ptx_find_function(parser, token) : -1;
        if (function >= 0 && bytes == 8) {
            bits = CODE_ADDRESS(function) + (uint64_t)addend;
            memcpy(variable->value + at, &bits, bytes);
            return true;
        }
        if (target < 0 || bytes != 8)
            return ptx_fail(parser, token->line, "%.*s is not a variable whose address can be stored here",
                            (int)token->length, token->text);
        return add_relocation(parser, variable, at, bytes, target, addend);
    }
    if (token->kind == TOKEN_FLOAT) {
        double wide;
        float narrow;
        memcpy(&wide, &bits, sizeof wide);
        if (token->single && type == T_F64) {
            memcpy(&narrow, &bits, sizeof narrow);
            wide = (double)narrow;
            memcpy(&bits, &wide, sizeof bits);
        } else if (!token->single && type == T_F32) {
            narrow = (float)wide;
            memcpy(&bits, &narrow, sizeof narrow);
        }
        if (negative)
            bits ^= UINT64_C(1) << (8 * bytes - 1);
    } else if (token->kind != TOKEN_INTEGER) {
        return ptx_fail(parser, token->line, "'%.*s' is not an initial value", (int)token->length,
                        token->text);
    } else if (negative) {
        bits = -bits;
    }
    memcpy(variable->value + at, &bits, bytes);
    return true;
}

static bool parse_initial(struct parser *parser, struct ptx_variable *variable, enum type type, uint64_t *at,
                          int depth)
{
    if (depth > NESTING_MAX)
        return ptx_fail(parser, parser->at->line, "braces nest deeper than %d", NESTING_MAX);
    if (!ptx_accept_text(parser, "{")) {
        const uint64_t here = *at;
        *at += ptx_type_bytes(type);
        return parse_initial_scalar(parser, variable, type, here);
    }
    while (!ptx_accept_text(parser, "}")) {
        if (!parse_initial(parser, variable, type, at, depth + 1))
            return false;
        if (!ptx_accept_text(parser, ",") && !ptx_token_is(parser->at, "}"))
            return ptx_expect_text(parser, "}");
    }
    return true;
}

static struct ptx_variable *new_variable(struct parser *parser, const struct token *token)
{
    struct ptx_module *module = parser->module;
    struct ptx_variable **variables =
        ptx_grow(module->variables, module->variable_count, &module->variable_room, sizeof *variables);
    struct ptx_variable *variable = calloc(1, sizeof *variable);
    if (variables != NULL)
        module->variables = variables;
    if (variables == NULL || variable == NULL || (variable->name = ptx_token_copy(token)) == NULL) {
        free(variable);
        ptx_fail_memory(parser);
        return NULL;
    }
    variables[module->variable_count++] = variable;
    return variable;
}

static bool add_variable(struct parser *parser, const struct token *token, enum space space,
                         const struct declaration *declaration, bool external)
{
    struct ptx_variable scratch = {.name = NULL};
    /* An .extern declaration and its definition, in either order, are the same variable. */
    const int64_t known = space == SPACE_SHARED ? -1 : ptx_find_variable(parser, token);
    struct ptx_variable *variable = known < 0 ? NULL : parser->module->variables[known];
    if (variable != NULL && variable->space == space && external && !variable->declared)
        variable = &scratch;
    else if (variable == NULL || variable->space != space || !variable->declared)
        variable = new_variable(parser, token);
    if (variable == NULL)
        return false;
    variable->managed = declaration->managed;
    variable->declared = external && space != SPACE_SHARED;
    variable->space = space;
    variable->alignment = declaration->alignment;
    uint64_t elements = declaration->elements, at = 0;
    bool open;
    if (!parse_dimensions(parser, &elements, &open))
        return false;
    variable->bytes = elements * ptx_type_bytes(declaration->type);
    if (variable->bytes > VARIABLE_MAX)
        return ptx_fail(parser, token->line, "no room for %.*s", (int)token->length, token->text);
    variable->external = external && space == SPACE_SHARED && open;
    if (variable->external || (external && !open && space == SPACE_SHARED))
        variable->bytes = variable->external ? 0 : variable->bytes;
    if (external || !ptx_accept_text(parser, "="))
        return true;
    if (space == SPACE_SHARED) /* PTX ISA, "Initializers" */
        return ptx_fail(parser, token->line, "shared variable %s cannot have an initial value",
                        variable->name);
    if (open)
        return ptx_fail(parser, token->line, "an array without a size cannot have initial values");
    variable->value = calloc(1, variable->bytes != 0 ? variable->bytes : 1);
    return variable->value != NULL ? parse_initial(parser, variable, declaration->type, &at, 0)
                                   : ptx_fail_memory(parser);
}

enum space ptx_variable_space(const struct token *token)
{
    return ptx_token_is(token, ".global")   ? SPACE_GLOBAL
           : ptx_token_is(token, ".const")  ? SPACE_CONST
           : ptx_token_is(token, ".shared") ? SPACE_SHARED
                                            : SPACE_GENERIC;
}

bool ptx_parse_variables(struct parser *parser, bool external)
{
    const enum space space = ptx_variable_space(next_token(parser));
    struct declaration declaration;
    if (!parse_declaration(parser, &declaration))
        return false;
    do {
        const struct token *token = next_token(parser);
        if (token->kind != TOKEN_NAME || token->text[0] == '%' ||
            !add_variable(parser, token, space, &declaration, external))
            return ptx_fail(parser, token->line, "expected a variable's name");
    } while (ptx_accept_text(parser, ","));
    return ptx_expect_text(parser, ";");
}

/* .reg .b32 %r<5>, a; */
bool ptx_parse_registers(struct parser *parser)
{
    struct declaration declaration;
    if (!parse_declaration(parser, &declaration))
        return false;
    const bool predicate = declaration.type == T_PRED;
    uint32_t *total = predicate ? &parser->function->predicates : &parser->function->registers;
    do {
        const struct token *token = next_token(parser);
        uint64_t count = 1;
        struct name *name = ptx_add_name(parser, token, predicate ? NAME_PREDICATE : NAME_REGISTER);
        if (name == NULL)
            return false;
        if (ptx_accept_text(parser, "<")) {
            if (!ptx_parse_integer(parser, &count) || !ptx_expect_text(parser, ">"))
                return false;
            name = &parser->names[parser->name_count - 1];
            name->range = true;
        }
        const uint64_t slots = declaration.wide ? 2 * count : count;
        if (count > REGISTERS_MAX || *total + slots > REGISTERS_MAX)
            return ptx_fail(parser, token->line, "more than %d registers", REGISTERS_MAX);
        name->type = declaration.type;
        name->first = *total;
        name->count = (uint32_t)count;
        name->wide = declaration.wide;
        *total += (uint32_t)slots;
    } while (ptx_accept_text(parser, ","));
    return ptx_expect_text(parser, ";");
}

/* A .local variable, or a .param variable of a later call. */
bool ptx_parse_frame_variable(struct parser *parser, enum name_kind kind)
{
    struct declaration declaration;
    uint64_t elements = 1;
    bool open;
    if (!parse_declaration(parser, &declaration))
        return false;
    const struct token *token = next_token(parser);
    if (ptx_add_name(parser, token, kind) == NULL || !parse_dimensions(parser, &elements, &open))
        return false;
    const uint64_t bytes = elements * declaration.elements * ptx_type_bytes(declaration.type);
    struct name *name = &parser->names[parser->name_count - 1];
    name->first =
        kind == NAME_LOCAL
            ? ptx_reserve(parser, &parser->function->local_bytes, bytes, declaration.alignment, LOCAL_MAX)
            : ptx_reserve_frame(parser, bytes < FRAME_MAX ? (uint32_t)bytes : FRAME_MAX + 1,
                                declaration.alignment);
    name->count = (uint32_t)bytes;
    name->type = declaration.type;
    return name->first != UINT32_MAX && ptx_expect_text(parser, ";");
}

/* ---- functions ---- */
