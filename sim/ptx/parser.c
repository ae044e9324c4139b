/* Declarations: modules, functions, variables, names and their scopes. */
#include "parser.h"

#include <stdlib.h>
#include <string.h>

#include "diagnostic.h"

bool fail(struct parser *parser, uint32_t line, const char *format, ...)
{
    if (parser->diagnostic != NULL && parser->diagnostic->text[0] == 0) {
        char text[400];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        diagnose(parser->diagnostic, line, "line %u: %s", line, text);
    }
    return false;
}

static bool fail_memory(struct parser *parser)
{
    return fail(parser, parser->at->line, "out of memory");
}

bool accept_text(struct parser *parser, const char *text)
{
    if (!token_is(parser->at, text))
        return false;
    parser->at++;
    return true;
}

bool expect_text(struct parser *parser, const char *text)
{
    return accept_text(parser, text) || fail(parser, parser->at->line, "expected '%s' before '%.*s'", text,
                                             (int)parser->at->length, parser->at->text);
}

char *token_copy(const struct token *token)
{
    return strndup(token->text, token->length);
}

enum type type_of(const struct token *token)
{
    static const char *const names[] = {
        [T_PRED] = ".pred", [T_B8] = ".b8",         [T_B16] = ".b16", [T_B32] = ".b32", [T_B64] = ".b64",
        [T_U8] = ".u8",     [T_U16] = ".u16",       [T_U32] = ".u32", [T_U64] = ".u64", [T_S8] = ".s8",
        [T_S16] = ".s16",   [T_S32] = ".s32",       [T_S64] = ".s64", [T_F16] = ".f16", [T_F16X2] = ".f16x2",
        [T_BF16] = ".bf16", [T_BF16X2] = ".bf16x2", [T_F32] = ".f32", [T_F64] = ".f64"};
    for (size_t i = T_PRED; i < sizeof names / sizeof *names; i++)
        if (token_is(token, names[i]))
            return (enum type)i;
    return T_NONE;
}

/* ---- names ---- */

static bool range_holds(const struct name *name, const struct token *token, uint32_t *index)
{
    if (token->length <= name->length || token->length > name->length + 6 ||
        memcmp(token->text, name->text, name->length) != 0)
        return false;
    uint32_t number = 0;
    for (uint32_t i = name->length; i < token->length; i++) {
        if (token->text[i] < '0' || token->text[i] > '9')
            return false;
        number = number * 10 + (uint32_t)(token->text[i] - '0');
    }
    *index = name->first + number;
    return number < name->count;
}

const struct name *find_name(const struct parser *parser, const struct token *token, uint32_t *index)
{
    for (size_t i = parser->name_count; i-- > 0;) {
        const struct name *name = &parser->names[i];
        *index = name->first;
        if (name->range
                ? range_holds(name, token, index)
                : name->length == token->length && memcmp(name->text, token->text, token->length) == 0)
            return name;
    }
    return NULL;
}

static struct name *add_name(struct parser *parser, const struct token *token, enum name_kind kind)
{
    struct name *names = grow(parser->names, parser->name_count, &parser->name_room, sizeof *names);
    if (names == NULL) {
        fail_memory(parser);
        return NULL;
    }
    parser->names = names;
    struct name *name = &names[parser->name_count++];
    *name = (struct name){.text = token->text, .length = token->length, .kind = kind};
    return name;
}

int64_t find_variable(const struct parser *parser, const struct token *token)
{
    for (size_t i = parser->module->variable_count; i-- > 0;)
        if (token_is(token, parser->module->variables[i]->name))
            return (int64_t)i;
    return -1;
}

int64_t find_function(const struct parser *parser, const struct token *token)
{
    for (size_t i = 0; i < parser->module->function_count; i++)
        if (token_is(token, parser->module->functions[i]->name))
            return (int64_t)i;
    return -1;
}

size_t find_label(struct parser *parser, const struct token *token)
{
    for (size_t i = 0; i < parser->label_count; i++)
        if (parser->labels[i].name->length == token->length &&
            memcmp(parser->labels[i].name->text, token->text, token->length) == 0)
            return i;
    struct label *labels = grow(parser->labels, parser->label_count, &parser->label_room, sizeof *labels);
    if (labels == NULL) {
        fail_memory(parser);
        return SIZE_MAX;
    }
    parser->labels = labels;
    labels[parser->label_count] = (struct label){token, -1, -1};
    return parser->label_count++;
}

static uint32_t reserve(struct parser *parser, uint32_t *total, uint64_t bytes, uint32_t alignment,
                        uint32_t most)
{
    const uint64_t start = ((uint64_t)*total + alignment - 1) / alignment * alignment;
    if (bytes > most || start + bytes > most) {
        fail(parser, parser->at->line, "more than %u bytes of variables in one function", most);
        return UINT32_MAX;
    }
    *total = (uint32_t)(start + bytes);
    return (uint32_t)start;
}

uint32_t reserve_frame(struct parser *parser, uint32_t bytes, uint32_t alignment)
{
    return reserve(parser, &parser->function->frame_bytes, bytes, alignment, FRAME_MAX);
}

struct instruction *emit(struct parser *parser, enum operation operation, uint32_t line)
{
    struct ptx_module *module = parser->module;
    struct instruction *code = grow(module->code, module->code_count, &module->code_room, sizeof *code);
    if (code == NULL) {
        fail_memory(parser);
        return NULL;
    }
    module->code = code;
    struct instruction *instruction = &code[module->code_count++];
    *instruction = (struct instruction){.operation = (uint8_t)operation, .line = line};
    return instruction;
}

uint32_t add_constant(struct parser *parser, uint64_t value)
{
    struct ptx_module *module = parser->module;
    uint64_t *constants =
        grow(module->constants, module->constant_count, &module->constant_room, LANES * sizeof *constants);
    if (constants == NULL) {
        fail_memory(parser);
        return UINT32_MAX;
    }
    module->constants = constants;
    for (int lane = 0; lane < LANES; lane++)
        constants[module->constant_count * LANES + (size_t)lane] = value;
    return (uint32_t)module->constant_count++;
}

/* ---- variables ---- */

/* What precedes a variable's name: alignment, type, vector, address attributes. */
struct declaration {
    enum type type;
    uint32_t alignment;
    uint32_t elements; /* of a vector */
};

static bool parse_integer(struct parser *parser, uint64_t *value)
{
    *value = 0;
    if (parser->at->kind != TOKEN_INTEGER)
        return fail(parser, parser->at->line, "expected a number before '%.*s'", (int)parser->at->length,
                    parser->at->text);
    *value = (parser->at++)->bits;
    return true;
}

static bool parse_declaration(struct parser *parser, struct declaration *declaration)
{
    *declaration = (struct declaration){T_NONE, 0, 1};
    while (parser->at->kind == TOKEN_DIRECTIVE) {
        uint64_t alignment;
        const enum type type = type_of(parser->at);
        if (type != T_NONE) {
            declaration->type = type;
            parser->at++;
        } else if (accept_text(parser, ".align")) {
            if (!parse_integer(parser, &alignment))
                return false;
            if (alignment == 0 || alignment > 4096 || (alignment & (alignment - 1)) != 0)
                return fail(parser, parser->at->line, "alignment of %llu", (unsigned long long)alignment);
            declaration->alignment = (uint32_t)alignment;
        } else if (accept_text(parser, ".v2")) {
            declaration->elements = 2;
        } else if (accept_text(parser, ".v4")) {
            declaration->elements = 4;
        } else if (!accept_text(parser, ".ptr") && !accept_text(parser, ".global") &&
                   !accept_text(parser, ".shared") && !accept_text(parser, ".const") &&
                   !accept_text(parser, ".local")) {
            return fail(parser, parser->at->line, "unknown '%.*s' in a declaration", (int)parser->at->length,
                        parser->at->text);
        }
    }
    if (declaration->type == T_NONE)
        return fail(parser, parser->at->line, "a declaration without a type");
    if (declaration->alignment == 0)
        declaration->alignment = type_bytes(declaration->type) * declaration->elements;
    return true;
}

/* [4][8]: the number of elements; an empty first dimension sets `open`. */
static bool parse_dimensions(struct parser *parser, uint64_t *elements, bool *open)
{
    *open = false;
    while (accept_text(parser, "[")) {
        uint64_t size;
        if (accept_text(parser, "]")) {
            *open = true;
            continue;
        }
        if (!parse_integer(parser, &size) || !expect_text(parser, "]"))
            return false;
        if (__builtin_mul_overflow(*elements, size, elements) || *elements > VARIABLE_MAX)
            return fail(parser, parser->at->line, "an array of more than %llu elements",
                        (unsigned long long)VARIABLE_MAX);
    }
    return true;
}

static bool parse_parameter(struct parser *parser, struct slot *slot, bool entry)
{
    struct declaration declaration;
    uint64_t elements = 1;
    bool open;
    const bool in_register = accept_text(parser, ".reg");
    if (!in_register && !expect_text(parser, ".param"))
        return false;
    if (in_register)
        return fail(parser, parser->at->line, "parameters in registers are not executed");
    if (!parse_declaration(parser, &declaration))
        return false;
    const struct token *token = parser->at++;
    struct name *name = add_name(parser, token, entry ? NAME_PARAMETER : NAME_FRAME);
    if (name == NULL || !parse_dimensions(parser, &elements, &open))
        return false;
    const uint64_t bytes = elements * declaration.elements * type_bytes(declaration.type);
    uint32_t *total = entry ? &parser->function->parameter_bytes : &parser->function->frame_bytes;
    slot->offset = reserve(parser, total, bytes, declaration.alignment, FRAME_MAX);
    slot->bytes = (uint32_t)bytes;
    name = &parser->names[parser->name_count - 1];
    name->first = slot->offset;
    name->count = slot->bytes;
    return slot->offset != UINT32_MAX;
}

static bool parse_parameters(struct parser *parser, struct slot **slots, uint32_t *count, bool entry)
{
    size_t room = 0;
    if (!accept_text(parser, "("))
        return true;
    while (!accept_text(parser, ")")) {
        struct slot *grown = grow(*slots, *count, &room, sizeof *grown);
        if (grown == NULL)
            return fail_memory(parser);
        *slots = grown;
        if (!parse_parameter(parser, &grown[(*count)++], entry))
            return false;
        if (!accept_text(parser, ",") && !token_is(parser->at, ")"))
            return expect_text(parser, ")");
    }
    return true;
}

static bool add_relocation(struct parser *parser, struct ptx_variable *variable, uint64_t at, unsigned bytes,
                           int64_t target, int64_t addend)
{
    struct relocation *relocations =
        realloc(variable->relocations, (variable->relocation_count + 1) * sizeof *relocations);
    if (relocations == NULL)
        return fail_memory(parser);
    variable->relocations = relocations;
    relocations[variable->relocation_count++] =
        (struct relocation){(uint32_t)at, bytes, (uint32_t)target, addend};
    return true;
}

static bool parse_initial_scalar(struct parser *parser, struct ptx_variable *variable, enum type type,
                                 uint64_t at)
{
    const unsigned bytes = type_bytes(type);
    if (at + bytes > variable->bytes)
        return fail(parser, parser->at->line, "more initial values than %s has room for", variable->name);
    const bool generic = accept_text(parser, "generic");
    if (generic && !expect_text(parser, "("))
        return false;
    const bool negative = accept_text(parser, "-");
    const struct token *token = parser->at++;
    uint64_t bits = token->bits;
    if (token->kind == TOKEN_NAME) {
        const int64_t target = find_variable(parser, token);
        int64_t addend = 0;
        if (generic && !expect_text(parser, ")"))
            return false;
        if (accept_text(parser, "+"))
            addend = (int64_t)(parser->at++)->bits;
        if (target < 0 || bytes != 8)
            return fail(parser, token->line, "%.*s is no variable whose address fits here",
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
    } else if (token->kind != TOKEN_INTEGER) {
        return fail(parser, token->line, "'%.*s' is no initial value", (int)token->length, token->text);
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
        return fail(parser, parser->at->line, "braces nest deeper than %d", NESTING_MAX);
    if (!accept_text(parser, "{")) {
        const uint64_t here = *at;
        *at += type_bytes(type);
        return parse_initial_scalar(parser, variable, type, here);
    }
    while (!accept_text(parser, "}")) {
        if (!parse_initial(parser, variable, type, at, depth + 1))
            return false;
        if (!accept_text(parser, ",") && !token_is(parser->at, "}"))
            return expect_text(parser, "}");
    }
    return true;
}

static bool add_variable(struct parser *parser, const struct token *token, enum space space,
                         const struct declaration *declaration, bool external)
{
    struct ptx_module *module = parser->module;
    struct ptx_variable **variables =
        grow(module->variables, module->variable_count, &module->variable_room, sizeof *variables);
    struct ptx_variable *variable = calloc(1, sizeof *variable);
    if (variables != NULL)
        module->variables = variables;
    if (variables == NULL || variable == NULL) {
        free(variable);
        return fail_memory(parser);
    }
    variables[module->variable_count++] = variable;
    variable->name = token_copy(token);
    variable->space = space;
    variable->alignment = declaration->alignment;
    uint64_t elements = declaration->elements, at = 0;
    bool open;
    if (!parse_dimensions(parser, &elements, &open))
        return false;
    variable->bytes = elements * type_bytes(declaration->type);
    if (variable->name == NULL || variable->bytes > VARIABLE_MAX)
        return fail(parser, token->line, "no room for %.*s", (int)token->length, token->text);
    variable->external = external && space == SPACE_SHARED && open;
    if (variable->external || (external && !open && space == SPACE_SHARED))
        variable->bytes = variable->external ? 0 : variable->bytes;
    else if (external)
        return fail(parser, token->line, "external variable %s: modules are not linked", variable->name);
    if (!accept_text(parser, "="))
        return true;
    if (open)
        return fail(parser, token->line, "initial values of an array without a size");
    variable->value = calloc(1, variable->bytes != 0 ? variable->bytes : 1);
    return variable->value != NULL ? parse_initial(parser, variable, declaration->type, &at, 0)
                                   : fail_memory(parser);
}

static enum space variable_space(const struct token *token)
{
    return token_is(token, ".global")   ? SPACE_GLOBAL
           : token_is(token, ".const")  ? SPACE_CONST
           : token_is(token, ".shared") ? SPACE_SHARED
                                        : SPACE_GENERIC;
}

static bool parse_variables(struct parser *parser, bool external)
{
    const enum space space = variable_space(parser->at++);
    struct declaration declaration;
    if (!parse_declaration(parser, &declaration))
        return false;
    do {
        const struct token *token = parser->at++;
        if (token->kind != TOKEN_NAME || !add_variable(parser, token, space, &declaration, external))
            return fail(parser, token->line, "expected a variable's name");
    } while (accept_text(parser, ","));
    return expect_text(parser, ";");
}

/* .reg .b32 %r<5>, a; */
static bool parse_registers(struct parser *parser)
{
    struct declaration declaration;
    if (!parse_declaration(parser, &declaration))
        return false;
    const bool predicate = declaration.type == T_PRED;
    uint32_t *total = predicate ? &parser->function->predicates : &parser->function->registers;
    do {
        const struct token *token = parser->at++;
        uint64_t count = 1;
        struct name *name = add_name(parser, token, predicate ? NAME_PREDICATE : NAME_REGISTER);
        if (name == NULL)
            return false;
        if (accept_text(parser, "<")) {
            if (!parse_integer(parser, &count) || !expect_text(parser, ">"))
                return false;
            name = &parser->names[parser->name_count - 1];
            name->range = true;
        }
        if (count > REGISTERS_MAX || *total + count > REGISTERS_MAX)
            return fail(parser, token->line, "more than %d registers", REGISTERS_MAX);
        name->type = declaration.type;
        name->first = *total;
        name->count = (uint32_t)count;
        *total += (uint32_t)count;
    } while (accept_text(parser, ","));
    return expect_text(parser, ";");
}

/* A .local variable, or a .param variable of a call that follows. */
static bool parse_frame_variable(struct parser *parser, enum name_kind kind)
{
    struct declaration declaration;
    uint64_t elements = 1;
    bool open;
    if (!parse_declaration(parser, &declaration))
        return false;
    const struct token *token = parser->at++;
    if (add_name(parser, token, kind) == NULL || !parse_dimensions(parser, &elements, &open))
        return false;
    const uint64_t bytes = elements * declaration.elements * type_bytes(declaration.type);
    struct name *name = &parser->names[parser->name_count - 1];
    name->first =
        kind == NAME_LOCAL
            ? reserve(parser, &parser->function->local_bytes, bytes, declaration.alignment, LOCAL_MAX)
            : reserve_frame(parser, bytes < FRAME_MAX ? (uint32_t)bytes : FRAME_MAX + 1,
                            declaration.alignment);
    name->count = (uint32_t)bytes;
    name->type = declaration.type;
    return name->first != UINT32_MAX && expect_text(parser, ";");
}

/* ---- functions ---- */

static bool skip_line(struct parser *parser)
{
    const uint32_t line = parser->at->line;
    while (parser->at->kind != TOKEN_END && parser->at->line == line)
        parser->at++;
    return true;
}

static bool skip_braces(struct parser *parser)
{
    int depth = 0;
    while (parser->at->kind != TOKEN_END) {
        depth += token_is(parser->at, "{") ? 1 : token_is(parser->at, "}") ? -1 : 0;
        parser->at++;
        if (depth == 0 && token_is(parser->at - 1, "}"))
            return true;
    }
    return fail(parser, parser->at->line, "a brace that is not closed");
}

static bool skip_statement(struct parser *parser)
{
    while (parser->at->kind != TOKEN_END && !token_is(parser->at, ";"))
        parser->at++;
    return expect_text(parser, ";");
}

static bool parse_branch_targets(struct parser *parser, size_t label)
{
    struct ptx_module *module = parser->module;
    struct table *tables = grow(module->tables, module->table_count, &module->table_room, sizeof *tables);
    if (tables == NULL)
        return fail_memory(parser);
    module->tables = tables;
    struct table *table = &tables[module->table_count];
    *table = (struct table){0, NULL};
    parser->labels[label].table = (int64_t)module->table_count++;
    size_t room = 0;
    do {
        int64_t *targets = grow(table->targets, table->count, &room, sizeof *targets);
        if (targets == NULL)
            return fail_memory(parser);
        table->targets = targets;
        const size_t target = find_label(parser, parser->at++);
        if (target == SIZE_MAX)
            return false;
        targets[table->count++] = (int64_t)target; /* a label's number until the function ends */
    } while (accept_text(parser, ","));
    return expect_text(parser, ";");
}

static bool parse_label(struct parser *parser)
{
    const size_t label = find_label(parser, parser->at);
    parser->at += 2;
    if (label == SIZE_MAX)
        return false;
    if (accept_text(parser, ".branchtargets"))
        return parse_branch_targets(parser, label);
    if (token_is(parser->at, ".callprototype") || token_is(parser->at, ".calltargets"))
        return fail(parser, parser->at->line, "indirect calls are not executed");
    if (parser->labels[label].target >= 0)
        return fail(parser, parser->at->line, "label %.*s twice", (int)parser->labels[label].name->length,
                    parser->labels[label].name->text);
    parser->labels[label].target = (int64_t)parser->module->code_count;
    return true;
}

static bool parse_statement(struct parser *parser)
{
    if (accept_text(parser, ".reg"))
        return parse_registers(parser);
    if (accept_text(parser, ".param"))
        return parse_frame_variable(parser, NAME_FRAME);
    if (accept_text(parser, ".local"))
        return parse_frame_variable(parser, NAME_LOCAL);
    if (variable_space(parser->at) != SPACE_GENERIC)
        return parse_variables(parser, false);
    if (token_is(parser->at, ".loc") || token_is(parser->at, ".file"))
        return skip_line(parser);
    if (token_is(parser->at, ".pragma"))
        return skip_statement(parser);
    if (parser->at->kind == TOKEN_NAME && token_is(parser->at + 1, ":"))
        return parse_label(parser);
    return parse_instruction(parser);
}

static bool parse_body(struct parser *parser)
{
    size_t scopes[NESTING_MAX];
    int depth = 0;
    do {
        if (accept_text(parser, "{")) {
            if (depth == NESTING_MAX)
                return fail(parser, parser->at->line, "blocks nest deeper than %d", NESTING_MAX);
            scopes[depth++] = parser->name_count;
        } else if (accept_text(parser, "}")) {
            parser->name_count = scopes[--depth]; /* the block's names are no longer known */
        } else if (parser->at->kind == TOKEN_END) {
            return fail(parser, parser->at->line, "the text ends inside a function");
        } else if (!accept_text(parser, ";") && !parse_statement(parser)) {
            return false;
        }
    } while (depth > 0);
    return true;
}

static bool resolve_label(struct parser *parser, int64_t *reference)
{
    const struct label *label = &parser->labels[*reference];
    if (label->target < 0)
        return fail(parser, label->name->line, "no label %.*s", (int)label->name->length, label->name->text);
    *reference = label->target;
    return true;
}

static bool resolve_labels(struct parser *parser, const struct ptx_kernel *function)
{
    for (size_t i = 0; i < parser->label_count; i++) {
        if (parser->labels[i].table < 0)
            continue;
        const struct table *table = &parser->module->tables[parser->labels[i].table];
        for (uint32_t j = 0; j < table->count; j++)
            if (!resolve_label(parser, &table->targets[j]))
                return false;
    }
    for (uint32_t i = function->begin; i < function->end; i++) {
        struct instruction *instruction = &parser->module->code[i];
        if (instruction->operation == OP_BRA && !resolve_label(parser, &instruction->offset))
            return false;
        if (instruction->operation == OP_BRX) {
            instruction->offset = parser->labels[instruction->offset].table;
            if (instruction->offset < 0)
                return fail(parser, instruction->line, "brx.idx without .branchtargets");
        }
    }
    return true;
}

static bool parse_function_attributes(struct parser *parser, struct ptx_kernel *function)
{
    while (parser->at->kind == TOKEN_DIRECTIVE) {
        const bool threads = token_is(parser->at, ".maxntid") || token_is(parser->at, ".reqntid");
        const bool numbers = threads || token_is(parser->at, ".minnctapersm") ||
                             token_is(parser->at, ".maxnreg") || token_is(parser->at, ".maxnctapersm");
        if (!numbers) {
            if (!accept_text(parser, ".noreturn"))
                return token_is(parser->at, ".pragma")
                           ? skip_statement(parser)
                           : fail(parser, parser->at->line, "'%.*s' is not executed", (int)parser->at->length,
                                  parser->at->text);
            continue;
        }
        parser->at++;
        uint64_t product = 1, value;
        do {
            if (!parse_integer(parser, &value))
                return false;
            product *= value < 4096 ? value : 4096;
        } while (accept_text(parser, ","));
        if (threads)
            function->max_threads = product < 1024 ? (uint32_t)product : 1024;
    }
    return true;
}

static struct ptx_kernel *add_function(struct parser *parser, const struct token *name, bool entry)
{
    struct ptx_module *module = parser->module;
    const int64_t known = find_function(parser, name);
    if (known >= 0) {
        parser->function_index = (uint32_t)known;
        return module->functions[known];
    }
    struct ptx_kernel **functions =
        grow(module->functions, module->function_count, &module->function_room, sizeof *functions);
    struct ptx_kernel *function = calloc(1, sizeof *function);
    if (functions != NULL)
        module->functions = functions;
    if (functions == NULL || function == NULL || (function->name = token_copy(name)) == NULL) {
        free(function);
        fail_memory(parser);
        return NULL;
    }
    function->module = module;
    function->entry = entry;
    parser->function_index = (uint32_t)module->function_count;
    functions[module->function_count++] = function;
    return function;
}

/* The name follows the results, which are parsed into a function of no name first. */
static bool parse_function(struct parser *parser, bool entry)
{
    struct ptx_kernel scratch = {0};
    parser->name_count = parser->label_count = 0;
    parser->function = &scratch;
    bool good = entry || parse_parameters(parser, &scratch.results, &scratch.result_count, false);
    const struct token *token = parser->at++;
    good = good && (token->kind == TOKEN_NAME || fail(parser, token->line, "expected a function's name"));
    good = good && parse_parameters(parser, &scratch.parameters, &scratch.parameter_count, entry);
    good = good && parse_function_attributes(parser, &scratch);
    struct ptx_kernel *function = good ? add_function(parser, token, entry) : NULL;
    if (function == NULL || function->defined) {
        free(scratch.parameters);
        free(scratch.results);
        return function != NULL ? fail(parser, token->line, "function %s twice", function->name) : false;
    }
    free(function->parameters);
    free(function->results);
    scratch.name = function->name;
    scratch.module = parser->module;
    scratch.entry = entry;
    *function = scratch;
    parser->function = function;
    if (accept_text(parser, ";"))
        return true;
    function->defined = true;
    function->begin = (uint32_t)parser->module->code_count;
    if (!token_is(parser->at, "{"))
        return expect_text(parser, "{");
    if (!parse_body(parser))
        return false;
    /* A label may stand at the very end, and a text may fall off it: both return. */
    if (emit(parser, entry ? OP_EXIT : OP_RET, parser->at->line) == NULL)
        return false;
    function->end = (uint32_t)parser->module->code_count;
    return resolve_labels(parser, function);
}

/* ---- the module ---- */

static bool parse_version(struct parser *parser)
{
    /* 8.7 is lexed as a decimal fraction; its digits are read again from the text. */
    const struct token *token = parser->at++;
    unsigned major = 0, minor = 0;
    char copy[16] = {0};
    memcpy(copy, token->text, token->length < sizeof copy - 1 ? token->length : sizeof copy - 1);
    if (sscanf(copy, "%u.%u", &major, &minor) != 2 || major > 99 || minor > 9)
        return fail(parser, token->line, "'%s' is no PTX version", copy);
    parser->module->version = major * 10 + minor;
    return true;
}

static bool parse_target(struct parser *parser)
{
    char copy[16] = {0};
    const struct token *token = parser->at++;
    memcpy(copy, token->text, token->length < sizeof copy - 1 ? token->length : sizeof copy - 1);
    if (sscanf(copy, "sm_%u", &parser->module->target) != 1)
        return fail(parser, token->line, "'%s' is no target", copy);
    while (accept_text(parser, ","))
        parser->at++;
    return true;
}

static bool parse_top_level(struct parser *parser)
{
    bool external = false;
    while (token_is(parser->at, ".visible") || token_is(parser->at, ".weak") ||
           token_is(parser->at, ".extern") || token_is(parser->at, ".common")) {
        external = external || token_is(parser->at, ".extern");
        parser->at++;
    }
    if (accept_text(parser, ".version"))
        return parse_version(parser);
    if (accept_text(parser, ".target"))
        return parse_target(parser);
    if (accept_text(parser, ".address_size")) {
        uint64_t bits;
        return parse_integer(parser, &bits) &&
               (bits == 64 ||
                fail(parser, parser->at->line, "addresses of %llu bits", (unsigned long long)bits));
    }
    if (accept_text(parser, ".entry"))
        return parse_function(parser, true);
    if (accept_text(parser, ".func"))
        return parse_function(parser, false);
    if (variable_space(parser->at) != SPACE_GENERIC)
        return parse_variables(parser, external);
    if (token_is(parser->at, ".file") || token_is(parser->at, ".loc"))
        return skip_line(parser);
    if (accept_text(parser, ".section")) {
        parser->at++;
        return skip_braces(parser);
    }
    if (token_is(parser->at, ".pragma"))
        return skip_statement(parser);
    return fail(parser, parser->at->line, "'%.*s' is not known here", (int)parser->at->length,
                parser->at->text);
}

static uint32_t align(uint64_t value, uint32_t alignment)
{
    return (uint32_t)((value + alignment - 1) / alignment * alignment);
}

/* Shared variables that one function names lie behind those that several do, each function's own over the
 * others': only what a kernel uses counts against its limit. */
static bool place_shared(struct parser *parser)
{
    struct ptx_module *module = parser->module;
    uint64_t common = 0;
    for (int own = 0; own < 2; own++)
        for (size_t i = 0; i < module->variable_count; i++) {
            struct ptx_variable *variable = module->variables[i];
            if (variable->space != SPACE_SHARED || variable->external)
                continue;
            const bool is_own = variable->user != 0 && variable->user != UINT32_MAX &&
                                module->functions[variable->user - 1]->entry;
            if (is_own != (own == 1))
                continue;
            uint32_t *total = is_own ? &module->functions[variable->user - 1]->shared_bytes : NULL;
            const uint64_t start = align(is_own ? common + *total : common, variable->alignment);
            variable->address = start;
            if (start + variable->bytes > INT32_MAX)
                return fail(parser, 0, "more than 2 GiB of shared variables");
            if (is_own)
                *total = (uint32_t)(start + variable->bytes - common);
            else
                common = start + variable->bytes;
        }
    module->common_shared_bytes = (uint32_t)common;
    for (size_t i = 0; i < module->fixup_count; i++) {
        const struct fixup *fixup = &module->fixups[i];
        const struct ptx_variable *variable = module->variables[fixup->variable];
        for (int lane = 0; lane < LANES; lane++)
            module->constants[fixup->constant * LANES + (size_t)lane] =
                variable->address + (uint64_t)fixup->addend;
    }
    return true;
}

static bool check_calls(struct parser *parser)
{
    const struct ptx_module *module = parser->module;
    for (size_t i = 0; i < module->call_count; i++) {
        const struct call *call = &module->calls[i];
        if (call->function == CALL_BUILTIN)
            continue;
        const struct ptx_kernel *callee = module->functions[call->function];
        bool fits =
            call->argument_count == callee->parameter_count && call->result_count == callee->result_count;
        for (uint32_t j = 0; fits && j < call->argument_count; j++)
            fits = call->arguments[j].bytes <= callee->parameters[j].bytes;
        for (uint32_t j = 0; fits && j < call->result_count; j++)
            fits = call->results[j].bytes <= callee->results[j].bytes;
        if (!callee->defined || callee->entry)
            return fail(parser, 0, "function %s is called but not defined", callee->name);
        if (!fits)
            return fail(parser, 0, "a call of %s does not fit its parameters", callee->name);
    }
    return true;
}

int ptx_module_parse(const char *text, size_t bytes, struct ptx_module **module,
                     struct ptx_diagnostic *diagnostic)
{
    struct ptx_diagnostic own = {0};
    struct token *tokens = ptx_lex(text, bytes, &own);
    struct parser parser = {.at = tokens, .diagnostic = &own, .module = calloc(1, sizeof **module)};
    bool good = tokens != NULL && parser.module != NULL;
    while (good && parser.at->kind != TOKEN_END)
        good = parse_top_level(&parser);
    good = good && (parser.module->version != 0 || fail(&parser, 1, "no .version: this is no PTX")) &&
           check_calls(&parser) && place_shared(&parser);
    free(parser.names);
    free(parser.labels);
    free(tokens);
    if (!good) {
        ptx_module_free(parser.module);
        parser.module = NULL;
        if (diagnostic != NULL)
            *diagnostic = own;
    }
    *module = parser.module;
    return good ? 0 : -1;
}
