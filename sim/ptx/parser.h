/* The interface between the parts of the parser: parser.c parses modules, function.c functions, declaration.c
 * variables, instruction.c instructions; scope.c keeps names. */
#ifndef NEUTRINO_SIM_PTX_PARSER_H
#define NEUTRINO_SIM_PTX_PARSER_H

#include "ptx/lexer.h"
#include "ptx/program.h"

/* Limits that protect the host from hostile texts. Compiler output stays far below them. */
enum { REGISTERS_MAX = 65536, NESTING_MAX = 64, FRAME_MAX = 1 << 16, MODIFIERS_MAX = 12 };
#define VARIABLE_MAX (UINT64_C(1) << 32)
#define LOCAL_MAX    (1u << 19)

enum name_kind { NAME_REGISTER, NAME_PREDICATE, NAME_FRAME, NAME_PARAMETER, NAME_LOCAL };

/* A name declared in a function or in a block. The innermost declaration wins. */
struct name {
    const char *text;
    uint32_t length;
    enum name_kind kind;
    bool range;     /* %r<5> declares %r0 to %r4 */
    uint32_t first; /* number of the register or predicate, or byte offset in the frame or local memory */
    uint32_t count; /* of a range; or the bytes of a .param or .local variable */
    enum type type;
    bool wide; /* a register of 128 bits: two of the engine's, the low half first */
};

struct label {
    const struct token *name;
    int64_t target; /* -1: used but not yet defined */
    int64_t table;  /* table of a .branchtargets, else -1 */
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
    bool partial;         /* called functions may be defined in another text */
    bool met_unsupported; /* the diagnostic is about an instruction that the engine does not have */
};

/* Like ptx_module_parse; `partial`: the text will be linked with others. */
int ptx_parse_module(const char *text, size_t bytes, bool partial, struct ptx_module **module,
                     struct ptx_diagnostic *diagnostic);

/* Always returns false, for `return ptx_fail(...)`. */
__attribute__((format(printf, 3, 4))) bool ptx_fail(struct parser *parser, uint32_t line, const char *format,
                                                    ...);

bool ptx_fail_memory(struct parser *parser);

/* Returns the next token and advances, but never past TOKEN_END. */
static inline const struct token *next_token(struct parser *parser)
{
    const struct token *token = parser->at;
    if (token->kind != TOKEN_END)
        parser->at++;
    return token;
}

bool ptx_accept_text(struct parser *parser, const char *text);
bool ptx_expect_text(struct parser *parser, const char *text);
char *ptx_token_copy(const struct token *token);

/* Returns the type of a directive such as ".f32"; T_NONE for any other. */
enum type ptx_type_of(const struct token *token);

const struct name *ptx_find_name(const struct parser *parser, const struct token *token, uint32_t *index);
int64_t ptx_find_variable(const struct parser *parser, const struct token *token); /* -1: not found */
int64_t ptx_find_function(const struct parser *parser, const struct token *token);
size_t ptx_find_label(struct parser *parser,
                      const struct token *token); /* created if new; SIZE_MAX if out of memory */

struct name *ptx_add_name(struct parser *parser, const struct token *token, enum name_kind kind);

/* Reserves bytes at the end of `total`, up to `most`; UINT32_MAX if they do not fit. */
uint32_t ptx_reserve(struct parser *parser, uint32_t *total, uint64_t bytes, uint32_t alignment,
                     uint32_t most);

/* Returns the byte offset of a new variable in the frame or in local memory; UINT32_MAX if it does not fit.
 */
uint32_t ptx_reserve_frame(struct parser *parser, uint32_t bytes, uint32_t alignment);

/* Appends a zeroed instruction to the module; NULL if out of memory. */
struct instruction *ptx_emit(struct parser *parser, enum operation operation, uint32_t line);

/* Adds a constant with this value in all lanes; UINT32_MAX if out of memory. */
uint32_t ptx_add_constant(struct parser *parser, uint64_t value);

/* declaration.c */
bool ptx_parse_integer(struct parser *parser, uint64_t *value);
bool ptx_parse_parameters(struct parser *parser, struct slot **slots, uint32_t *count, bool entry);
bool ptx_parse_registers(struct parser *parser);
bool ptx_parse_frame_variable(struct parser *parser, enum name_kind kind);
bool ptx_parse_variables(struct parser *parser, bool external);
enum space
ptx_variable_space(const struct token *token); /* SPACE_GENERIC if the token does not begin a variable */

/* parser.c: parses a directive, a variable or a function. */
bool ptx_parse_top_level(struct parser *parser);

/* function.c */
bool ptx_parse_function(struct parser *parser, bool entry);
bool ptx_skip_line(struct parser *parser);
bool ptx_skip_statement(struct parser *parser);
bool ptx_skip_braces(struct parser *parser);

bool ptx_accepts_unsupported(void);

/* reach.c: sets aside the kernels that call functions of the device runtime which the engine lacks. */
bool ptx_set_aside_callers(struct parser *parser);

/* dispatch.c: chooses the function that runs each instruction. */
void ptx_bind_runners(struct ptx_module *module);

/* spin.c: sets `waits` of the branches back to loops that wait for memory. */
void ptx_mark_waiting_loops(struct ptx_module *module);

/* Parses one instruction, with guard and semicolon. */
bool ptx_parse_instruction(struct parser *parser);

#endif
