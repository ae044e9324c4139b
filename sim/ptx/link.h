/* Linking: link.c collects texts and resolves symbols, link_write.c writes the product. */
#ifndef NEUTRINO_SIM_PTX_LINK_H
#define NEUTRINO_SIM_PTX_LINK_H

#include "ptx/program.h"
#include "ptx/symbols.h"

/* A static name that more than one text has. */
struct rename {
    const struct token *name;
    char *to;
};

struct text {
    char *bytes;
    size_t size;
    char *name;
    struct ptx_module *module; /* for sizes and parameters; its calls of other texts are unresolved */
    struct symbols symbols;
    struct rename *renames;
    size_t rename_count, rename_room;
};

struct ptx_link {
    struct text *texts;
    size_t count, room;
};

bool ptx_same_name(const struct token *one, const struct token *other);

/* Whether the symbol is a definition. */
bool ptx_is_definition(const struct symbol *symbol);

/* Returns the prevailing global definition of a name, or NULL. Stores its text in `in` unless that is NULL.
 */
const struct symbol *ptx_find_global(const struct ptx_link *link, const struct token *name,
                                     const struct text **in);

/* Returns the linked text; NULL if out of memory. */
char *ptx_write_product(const struct ptx_link *link, size_t *bytes);

#endif
