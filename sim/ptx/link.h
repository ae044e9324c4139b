/* What linking consists of: link.c collects texts and resolves their symbols, link_write.c writes the
 * product. */
#ifndef NEUTRINO_SIM_PTX_LINK_H
#define NEUTRINO_SIM_PTX_LINK_H

#include "ptx/program.h"
#include "ptx/symbols.h"

/* A static name of one text that another text has as well. */
struct rename {
    const struct token *name;
    char *to;
};

struct text {
    char *bytes;
    size_t size;
    char *name;
    struct ptx_module *module; /* for sizes and parameters; calls of other texts are not resolved in it */
    struct symbols symbols;
    struct rename *renames;
    size_t rename_count, rename_room;
};

struct ptx_link {
    struct text *texts;
    size_t count, room;
};

bool same_name(const struct token *one, const struct token *other);

/* Does the symbol define its name, rather than declare it? */
bool is_definition(const struct symbol *symbol);

/* The definition of a name that all texts see, of those the one that prevails; NULL if there is none. Where
 * `in` is not NULL it gets the text. */
const struct symbol *find_global(const struct ptx_link *link, const struct token *name,
                                 const struct text **in);

/* The whole product; NULL without memory. */
char *write_product(const struct ptx_link *link, size_t *bytes);

#endif
