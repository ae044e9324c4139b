/* What the parts of the parser share: parser.c reads modules, function.c functions, declaration.c variables,
 * instruction.c instructions; scope.c knows what was named. */
#ifndef NEUTRINO_SIM_PTX_PARSER_H
#define NEUTRINO_SIM_PTX_PARSER_H

#include "ptx/lexer.h"
#include "ptx/program.h"

/* Bounds on what a text may ask for: a hostile one gets an error, not the machine. */
enum { REGISTERS_MAX = 65536, NESTING_MAX = 64, FRAME_MAX = 1 << 16, MODIFIERS_MAX = 12 };
#define VARIABLE_MAX (UINT64_C(1) << 32)
#define LOCAL_MAX    (1u << 19)

enum name_kind { NAME_REGISTER, NAME_PREDICATE, NAME_FRAME, NAME_PARAMETER, NAME_LOCAL };

/* A declared name of a function, or of a block inside it; the newest of several is meant. */
struct name {
    const char *text;
    uint32_t length;
    enum name_kind kind;
    bool range;     /* %r<5> declares %r0 to %r4 */
    uint32_t first; /* register or predicate; byte of the frame or of local memory */
    uint32_t count; /* of a range; bytes of a .param or .local variable */
    enum type type;
};

struct label {
    const struct token *name;
    int64_t target; /* -1: used, not seen */
    int64_t table;  /* of a .branchtargets; else -1 */
};

struct parser {
    const struct token *at;
    struct ptx_module *module;
    struct ptx_diagnostic *diagnostic;
    struct ptx_kernel *function;
    uint32_t function_index;
    struct name *names;
    size_t name_count, name_room;
    struct label *labels;
    size_t label_count, label_room;
    bool partial; /* what is called may be defined in another text */
};

/* ptx_module_parse, or as a part of what is to be linked. */
int parse_module(const char *text, size_t bytes, bool partial, struct ptx_module **module,
                 struct ptx_diagnostic *diagnostic);

/* Always false, so that `return fail(...)` ends a parse. */
__attribute__((format(printf, 3, 4))) bool fail(struct parser *parser, uint32_t line, const char *format,
                                                ...);

bool fail_memory(struct parser *parser);

/* The token that is next, and one further; the end is never passed. */
static inline const struct token *next_token(struct parser *parser)
{
    const struct token *token = parser->at;
    if (token->kind != TOKEN_END)
        parser->at++;
    return token;
}

bool accept_text(struct parser *parser, const char *text);
bool expect_text(struct parser *parser, const char *text);
char *token_copy(const struct token *token);

/* Types by their directive, ".f32"; T_NONE if it is none. */
enum type type_of(const struct token *token);

const struct name *find_name(const struct parser *parser, const struct token *token, uint32_t *index);
int64_t find_variable(const struct parser *parser, const struct token *token); /* -1: none */
int64_t find_function(const struct parser *parser, const struct token *token);
size_t find_label(struct parser *parser,
                  const struct token *token); /* made if new; SIZE_MAX without memory */

struct name *add_name(struct parser *parser, const struct token *token, enum name_kind kind);

/* Room in `total`, of which there may be `most` bytes; UINT32_MAX if there is none left. */
uint32_t reserve(struct parser *parser, uint32_t *total, uint64_t bytes, uint32_t alignment, uint32_t most);

/* Byte offset of a new variable in the frame, or in local memory; UINT32_MAX if there is no room. */
uint32_t reserve_frame(struct parser *parser, uint32_t bytes, uint32_t alignment);

/* The next instruction of the module, zeroed, with its line; NULL without memory. */
struct instruction *emit(struct parser *parser, enum operation operation, uint32_t line);

/* A constant with this value in every lane; UINT32_MAX without memory. */
uint32_t add_constant(struct parser *parser, uint64_t value);

/* declaration.c */
bool parse_integer(struct parser *parser, uint64_t *value);
bool parse_parameters(struct parser *parser, struct slot **slots, uint32_t *count, bool entry);
bool parse_registers(struct parser *parser);
bool parse_frame_variable(struct parser *parser, enum name_kind kind);
bool parse_variables(struct parser *parser, bool external);
enum space variable_space(const struct token *token); /* SPACE_GENERIC if it declares no variable */

/* parser.c: a directive, a variable or a function. */
bool parse_top_level(struct parser *parser);

/* function.c */
bool parse_function(struct parser *parser, bool entry);
bool skip_line(struct parser *parser);
bool skip_statement(struct parser *parser);
bool skip_braces(struct parser *parser);

/* dispatch.c: chooses the function that runs each instruction. */
void bind_runners(struct ptx_module *module);

/* One instruction, its guard included, up to its semicolon. */
bool parse_instruction(struct parser *parser);

#endif
