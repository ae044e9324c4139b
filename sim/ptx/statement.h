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
bool unsupported(const struct statement *statement);

/* Whether the modifier is there. It counts as understood from then on; an instruction that keeps a modifier
 * which no decoder took is refused. */
bool take(struct statement *statement, const char *modifier);

/* `words` are separated by spaces. The position of the first word that is there; -1 if there is none. */
int take_one(struct statement *statement, const char *words);

/* Every one of the words that is there. */
void take_all(struct statement *statement, const char *words);

/* The flags of the words that are there; an empty word is always there. A NULL word ends the list. */
struct flag_word {
    const char *word;
    uint16_t flag;
};
uint16_t take_flags(struct statement *statement, const struct flag_word *words);

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

/* An instruction with all its operands, a letter for each; NULL if they do not fit.
 *   d  the result, a register         D  and perhaps a predicate behind it: d|p
 *   p  the result, a predicate        P  and perhaps another one: p|q
 *   t  a source of `type`             s  a source of `second`
 *   u  a 32-bit source                l  a 64-bit source
 *   b  a predicate                    i  an integer, which becomes the variant
 *   -  an operand that changes nothing */
struct instruction *build(struct statement *statement, enum operation operation, const char *operands,
                          enum type type, enum type second);

/* Each decodes one family; instruction.c's table says which. */
#define DECODER(name) bool decode_##name(struct statement *statement, const struct row *row)
DECODER(address);
DECODER(arithmetic);
DECODER(atomic);
DECODER(barrier);
DECODER(branch);
DECODER(call);
DECODER(cluster_address);
DECODER(collective);
DECODER(compare);
DECODER(convert);
DECODER(copy_async);
DECODER(elect);
DECODER(logic);
DECODER(ldmatrix);
DECODER(mask);
DECODER(mbarrier);
DECODER(memory);
DECODER(mma);
DECODER(move);
DECODER(multiply);
DECODER(plain);
DECODER(policy);
DECODER(row);
DECODER(shuffle);
DECODER(stack);
DECODER(video);
DECODER(wmma);
#undef DECODER

/* A row of the table of instructions. decode_row needs no more than the row; other decoders use part of it.
 */
struct row {
    const char *name;
    bool (*decode)(struct statement *statement, const struct row *row);
    enum operation operation;
    const char *operands; /* see build */
    const char *words;    /* one of these is needed, unless the first is empty; its position is the variant */
    const char *ignored;  /* these change nothing */
    const struct flag_word *flags;
    bool words_are_operations; /* the position is added to the operation instead */
    bool two_types;            /* the second is the source's */
};

#endif
