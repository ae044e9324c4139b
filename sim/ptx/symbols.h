/* The top level of a PTX text, for linking: its symbols and their tokens. */
#ifndef NEUTRINO_SIM_PTX_SYMBOLS_H
#define NEUTRINO_SIM_PTX_SYMBOLS_H

#include "ptx/lexer.h"

/* If two texts define a symbol, the later kind in this list prevails; two VISIBLE definitions are an error.
 */
enum linkage { LINKAGE_STATIC, LINKAGE_EXTERN, LINKAGE_COMMON, LINKAGE_WEAK, LINKAGE_VISIBLE };

/* A function, a variable, or an unnamed statement that is copied unchanged (.alias, .pragma). */
struct symbol {
    const struct token *first,
        *end; /* [first, end): its tokens; for a list of variables, the part that they share */
    const struct token *name;      /* NULL if absent */
    const struct token *from, *to; /* for a variable: [from, to) is its name, dimensions and value */
    const struct token *body;      /* for a function definition: its { */
    enum linkage linkage;
    bool function, entry;
    bool shared;  /* .extern .shared: dynamic shared memory, which is never defined */
    bool dropped; /* another text's definition is used */
};

struct symbols {
    struct token *tokens; /* they point into the text, which must outlive them */
    struct symbol *list;
    size_t count, room;
    const struct token *version, *target; /* the tokens after .version and .target; NULL if absent */
};

/* Reads the symbols of a text that the parser has accepted; false if out of memory. */
bool ptx_symbols_read(const char *text, size_t bytes, struct symbols *symbols);
void ptx_symbols_free(struct symbols *symbols);

#endif
