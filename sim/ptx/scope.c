/* Names and their scopes, labels, memory layout of variables, and emission of instructions. */
#include "ptx/parser.h"

#include <string.h>

#include "ptx/diagnostic.h"

bool ptx_fail(struct parser *parser, uint32_t line, const char *format, ...)
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

bool ptx_fail_memory(struct parser *parser)
{
    return ptx_fail(parser, parser->at->line, "out of memory");
}

bool ptx_accept_text(struct parser *parser, const char *text)
{
    if (!ptx_token_is(parser->at, text))
        return false;
    next_token(parser);
    return true;
}

bool ptx_expect_text(struct parser *parser, const char *text)
{
    return ptx_accept_text(parser, text) || ptx_fail(parser, parser->at->line, "expected '%s' before '%.*s'",
                                                     text, (int)parser->at->length, parser->at->text);
}

char *ptx_token_copy(const struct token *token)
{
    return strndup(token->text, token->length);
}

enum type ptx_type_of(const struct token *token)
{
    static const char *const names[] = {
        [T_PRED] = ".pred",     [T_B8] = ".b8",         [T_B16] = ".b16",     [T_B32] = ".b32",
        [T_B64] = ".b64",       [T_U8] = ".u8",         [T_U16] = ".u16",     [T_U32] = ".u32",
        [T_U64] = ".u64",       [T_S8] = ".s8",         [T_S16] = ".s16",     [T_S32] = ".s32",
        [T_S64] = ".s64",       [T_F16] = ".f16",       [T_F16X2] = ".f16x2", [T_BF16] = ".bf16",
        [T_BF16X2] = ".bf16x2", [T_F32] = ".f32",       [T_F64] = ".f64",     [T_TF32] = ".tf32",
        [T_E4M3] = ".e4m3",     [T_E4M3X2] = ".e4m3x2", [T_E5M2] = ".e5m2",   [T_E5M2X2] = ".e5m2x2",
        [T_U16X2] = ".u16x2",   [T_S16X2] = ".s16x2",   [T_U4] = ".u4",       [T_S4] = ".s4"};
    for (size_t i = T_PRED; i < sizeof names / sizeof *names; i++)
        if (ptx_token_is(token, names[i]))
            return (enum type)i;
    return T_NONE;
}

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
    *index = name->first + (name->wide ? 2 : 1) * number;
    return number < name->count;
}

const struct name *ptx_find_name(const struct parser *parser, const struct token *token, uint32_t *index)
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

struct name *ptx_add_name(struct parser *parser, const struct token *token, enum name_kind kind)
{
    struct name *names = ptx_grow(parser->names, parser->name_count, &parser->name_room, sizeof *names);
    if (names == NULL) {
        ptx_fail_memory(parser);
        return NULL;
    }
    parser->names = names;
    struct name *name = &names[parser->name_count++];
    *name = (struct name){.text = token->text, .length = token->length, .kind = kind};
    return name;
}

int64_t ptx_find_variable(const struct parser *parser, const struct token *token)
{
    for (size_t i = parser->module->variable_count; i-- > 0;)
        if (ptx_token_is(token, parser->module->variables[i]->name))
            return (int64_t)i;
    return -1;
}

int64_t ptx_find_function(const struct parser *parser, const struct token *token)
{
    for (size_t i = 0; i < parser->module->function_count; i++)
        if (ptx_token_is(token, parser->module->functions[i]->name))
            return (int64_t)i;
    return -1;
}

size_t ptx_find_label(struct parser *parser, const struct token *token)
{
    for (size_t i = 0; i < parser->label_count; i++)
        if (parser->labels[i].name->length == token->length &&
            memcmp(parser->labels[i].name->text, token->text, token->length) == 0)
            return i;
    struct label *labels = ptx_grow(parser->labels, parser->label_count, &parser->label_room, sizeof *labels);
    if (labels == NULL) {
        ptx_fail_memory(parser);
        return SIZE_MAX;
    }
    parser->labels = labels;
    labels[parser->label_count] = (struct label){token, -1, -1};
    return parser->label_count++;
}

uint32_t ptx_reserve(struct parser *parser, uint32_t *total, uint64_t bytes, uint32_t alignment,
                     uint32_t most)
{
    const uint64_t start = ((uint64_t)*total + alignment - 1) / alignment * alignment;
    if (bytes > most || start + bytes > most) {
        ptx_fail(parser, parser->at->line, "more than %u bytes of variables in one function", most);
        return UINT32_MAX;
    }
    *total = (uint32_t)(start + bytes);
    return (uint32_t)start;
}

uint32_t ptx_reserve_frame(struct parser *parser, uint32_t bytes, uint32_t alignment)
{
    return ptx_reserve(parser, &parser->function->frame_bytes, bytes, alignment, FRAME_MAX);
}

/* Operations for which ptx_run_common may have a fast version. A shortcut: ptx_run_common itself returns
 * false if it has none. */
static bool is_common(enum operation operation)
{
    static const bool common[] = {
        [OP_MOV] = true,      [OP_CVT] = true,      [OP_SETP] = true,   [OP_ADD] = true,
        [OP_SUB] = true,      [OP_MUL_LO] = true,   [OP_MAD_LO] = true, [OP_FMA] = true,
        [OP_MUL_WIDE] = true, [OP_MAD_WIDE] = true, [OP_MIN] = true,    [OP_MAX] = true,
        [OP_AND] = true,      [OP_OR] = true,       [OP_XOR] = true,    [OP_SHL] = true,
        [OP_SHR] = true,      [OP_DIV] = true,      [OP_NEG] = true,    [OP_ABS] = true,
        [OP_SQRT] = true,     [OP_RCP] = true,      [OP_MUL_HI] = true, [OP_RSQRT] = true};
    return (size_t)operation < sizeof common && common[operation];
}

struct instruction *ptx_emit(struct parser *parser, enum operation operation, uint32_t line)
{
    struct ptx_module *module = parser->module;
    struct instruction *code = ptx_grow(module->code, module->code_count, &module->code_room, sizeof *code);
    if (code == NULL) {
        ptx_fail_memory(parser);
        return NULL;
    }
    module->code = code;
    struct instruction *instruction = &code[module->code_count++];
    *instruction =
        (struct instruction){.operation = (uint8_t)operation, .line = line, .common = is_common(operation)};
    return instruction;
}

uint32_t ptx_add_constant(struct parser *parser, uint64_t value)
{
    struct ptx_module *module = parser->module;
    uint64_t *constants = ptx_grow(module->constants, module->constant_count, &module->constant_room,
                                   LANES * sizeof *constants);
    if (constants == NULL) {
        ptx_fail_memory(parser);
        return UINT32_MAX;
    }
    module->constants = constants;
    for (int lane = 0; lane < LANES; lane++)
        constants[module->constant_count * LANES + (size_t)lane] = value;
    return (uint32_t)module->constant_count++;
}

/* ---- variables ---- */
