/* PTX text to tokens. */
#ifndef NEUTRINO_SIM_PTX_LEXER_H
#define NEUTRINO_SIM_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"

enum token_kind {
    TOKEN_END = 0,
    TOKEN_NAME,      /* add, %r1, $L_1 */
    TOKEN_DIRECTIVE, /* .reg, .f32, .L2::128B: the dot included */
    TOKEN_INTEGER,
    TOKEN_FLOAT,  /* 0f3F800000, 0d..., 1.5: `bits` is an IEEE double unless `single` */
    TOKEN_STRING, /* the quotes included */
    TOKEN_MARK    /* one character, in `mark` */
};

struct token {
    enum token_kind kind;
    uint32_t line;
    const char *text; /* into the source; not terminated */
    uint32_t length;
    char mark;
    bool single;   /* of a float: `bits` is an IEEE single */
    bool adjacent; /* no white space before it */
    uint64_t bits;
};

/* Returns the tokens of a text, ended by TOKEN_END; the caller frees them. Returns NULL and a diagnostic for
 * an invalid character or a text of more than 2^31 bytes. */
struct token *ptx_lex(const char *text, size_t bytes, struct ptx_diagnostic *diagnostic);

/* Whether the token is this name, directive or mark. */
bool ptx_token_is(const struct token *token, const char *text);

#endif
