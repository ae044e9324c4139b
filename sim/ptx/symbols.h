/* The top level of a PTX text, for linking: which symbols it defines and declares, and where. */
#ifndef NEUTRINO_SIM_PTX_SYMBOLS_H
#define NEUTRINO_SIM_PTX_SYMBOLS_H

#include "ptx/lexer.h"

/* The later one prevails where two texts define a symbol; two VISIBLE ones are an error. */
enum linkage { LINKAGE_STATIC, LINKAGE_EXTERN, LINKAGE_COMMON, LINKAGE_WEAK, LINKAGE_VISIBLE };

/* A function, a variable, or a statement without a name that is kept as it is (.alias, .pragma). */
struct symbol {
    const struct token *first, *end; /* [first, end): its tokens; of a list of variables, what they share */
    const struct token *name;        /* NULL: none */
    const struct token *from, *to;   /* of a variable: [from, to) is its name, dimensions and value */
    const struct token *body;        /* of a function that is defined: its { */
    enum linkage linkage;
    bool function, entry;
    bool shared;  /* .extern .shared: memory that the launch gives, which nothing defines */
    bool dropped; /* another text's is taken */
};

struct symbols {
    struct token *tokens; /* of the text, which must outlive them */
    struct symbol *list;
    size_t count, room;
    const struct token *version, *target; /* what follows the directives; NULL: none */
};

/* Of a text that the parser has accepted. False without memory. */
bool symbols_read(const char *text, size_t bytes, struct symbols *symbols);
void symbols_free(struct symbols *symbols);

#endif
