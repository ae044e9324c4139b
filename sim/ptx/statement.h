/* One instruction while it is decoded: its words and operands, each to be accounted for. */
#ifndef NEUTRINO_SIM_PTX_STATEMENT_H
#define NEUTRINO_SIM_PTX_STATEMENT_H

#include "operand.h"

enum { OPERANDS_MAX = 6 };

struct statement {
    struct parser *parser;
    const struct token *base;
    const struct token *modifiers[MODIFIERS_MAX];
    unsigned modifier_count;
    uint32_t taken; /* bit i: modifier i is understood */
    struct written operands[OPERANDS_MAX];
    unsigned operand_count;
    struct operand guard;
};

struct row; /* of the table of instructions */

bool refuse(const struct statement *statement, const char *why);

/* Is the modifier there? It is then understood; what nobody takes is refused in the end. */
bool take(struct statement *statement, const char *modifier);

/* The first of these words (ended by NULL) that is there, by position; -1 if none is. */
int take_one(struct statement *statement, const char *const *words);

/* The next type that was not taken; T_NONE if there are no more. */
enum type take_type(struct statement *statement);
enum rounding take_rounding(struct statement *statement);
enum space take_space(struct statement *statement);

/* Words that change nothing here: caching, ordering (each access is sequentially consistent), scope. */
void take_hints(struct statement *statement);

/* The instruction, its guard set; NULL without memory. */
struct instruction *begin(struct statement *statement, enum operation operation, enum type type);

/* Operand `index`, plain, as a source of that type. To be called before begin(), as it may emit too. */
bool source(struct statement *statement, unsigned index, enum type type, struct operand *operand);
bool destination(struct statement *statement, unsigned index, bool predicate, struct operand *operand);

/* The three families that decode.c's table names besides its own. */
bool decode_memory(struct statement *statement, const struct row *row);
bool decode_atomic(struct statement *statement, const struct row *row);
bool decode_call(struct statement *statement, const struct row *row);

struct row {
    const char *name;
    bool (*decode)(struct statement *statement, const struct row *row);
    enum operation operation;
    unsigned sources;
};

#endif
