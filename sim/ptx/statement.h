/* One instruction while it is decoded: its words and operands, each to be accounted for. */
#ifndef NEUTRINO_SIM_PTX_STATEMENT_H
#define NEUTRINO_SIM_PTX_STATEMENT_H

#include "ptx/operand.h"

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

/* The next type that was not taken; T_NONE if there are no more. Those of matrices and packed numbers are
 * for the few instructions that know them. */
enum type take_type(struct statement *statement);
enum type take_any_type(struct statement *statement);
enum rounding take_rounding(struct statement *statement);
enum space take_space(struct statement *statement);

/* Words that change nothing here: caching, ordering (each access is sequentially consistent), scope. */
void take_hints(struct statement *statement);

bool take_cache_hint(struct statement *statement);

/* The instruction, its guard set; NULL without memory. */
struct instruction *begin(struct statement *statement, enum operation operation, enum type type);

/* Operand `index`, plain, as a source of that type. To be called before begin(), as it may emit too. */
bool source(struct statement *statement, unsigned index, enum type type, struct operand *operand);
bool destination(struct statement *statement, unsigned index, bool predicate, struct operand *operand);

/* A result and `count` sources, all of one type but perhaps the last. NULL if they do not fit. */
struct instruction *simple(struct statement *statement, enum operation operation, enum type type,
                           unsigned count, enum type last);

/* Each decodes one family; instruction.c's table says which. */
#define DECODER(name) bool decode_##name(struct statement *statement, const struct row *row)
DECODER(address);
DECODER(arithmetic);
DECODER(atomic);
DECODER(barrier);
DECODER(bits);
DECODER(branch);
DECODER(call);
DECODER(carry);
DECODER(cluster_address);
DECODER(collective);
DECODER(compare);
DECODER(convert);
DECODER(copy_async);
DECODER(dot);
DECODER(elect);
DECODER(funnel);
DECODER(logic);
DECODER(lop3);
DECODER(ldmatrix);
DECODER(mask);
DECODER(mbarrier);
DECODER(memory);
DECODER(mma);
DECODER(move);
DECODER(multiply);
DECODER(multiply24);
DECODER(plain);
DECODER(policy);
DECODER(prmt);
DECODER(select);
DECODER(shift);
DECODER(shuffle);
DECODER(stack);
DECODER(testp);
DECODER(video);
DECODER(wmma);
#undef DECODER

struct row {
    const char *name;
    bool (*decode)(struct statement *statement, const struct row *row);
    enum operation operation;
    unsigned sources;
};

#endif
