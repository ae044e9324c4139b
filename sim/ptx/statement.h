/* An instruction while it is decoded: its modifiers and operands. */
#ifndef NEUTRINO_SIM_PTX_STATEMENT_H
#define NEUTRINO_SIM_PTX_STATEMENT_H

#include "ptx/operand.h"

enum { OPERANDS_MAX = 6 };

struct statement {
    struct parser *parser;
    const struct token *base;
    const struct token *modifiers[MODIFIERS_MAX];
    unsigned modifier_count;
    uint32_t taken; /* bit i: a decoder has taken modifier i */
    struct written operands[OPERANDS_MAX];
    unsigned operand_count;
    struct operand guard;
    bool begun; /* an instruction was emitted for it, apart from those that prepare operands */
};

struct row; /* a row of the instruction table */

bool ptx_refuse(const struct statement *statement, const char *why);
bool ptx_unsupported(const struct statement *statement);

/* Whether the ISA has the opcode, and the engine does not. */
bool ptx_lacks_opcode(const struct token *opcode);
/* Whether the ISA has the words of the statement, whose opcode it has. */
bool ptx_is_in_isa(const struct statement *statement);

/* Takes the modifier if it is present. An instruction is refused if a modifier is left that no decoder took.
 */
bool ptx_take(struct statement *statement, const char *modifier);

/* Whether the modifier is present, taken or not. */
bool ptx_has(const struct statement *statement, const char *modifier);

/* Takes the first of these words, separated by spaces, that is present. Returns its position, or -1. */
int ptx_take_one(struct statement *statement, const char *words);

/* Takes all of these words that are present. */
void ptx_take_all(struct statement *statement, const char *words);

/* Takes these words and returns the flags of those that are present. The flag of an empty word is always set.
 * A NULL word ends the list. */
struct flag_word {
    const char *word;
    uint16_t flag;
};
uint16_t ptx_take_flags(struct statement *statement, const struct flag_word *words);

/* Takes the next type; T_NONE if none is left. take_any_type also accepts the packed and matrix types, which
 * few instructions support. */
enum type ptx_take_type(struct statement *statement);
enum type ptx_take_any_type(struct statement *statement);
enum rounding ptx_take_rounding(struct statement *statement);
enum space ptx_take_space(struct statement *statement);

/* Takes words without effect here: caching, scope and ordering (each access is sequentially consistent). */
void ptx_take_hints(struct statement *statement);

bool ptx_take_cache_hint(struct statement *statement);

/* Emits the instruction with its guard; NULL if out of memory. */
struct instruction *ptx_begin_instruction(struct statement *statement, enum operation operation,
                                          enum type type);

/* Reads operand `index` as a source of that type, or as a result. Call them before ptx_begin_instruction():
 * they may emit instructions. */
bool ptx_read_source(struct statement *statement, unsigned index, enum type type, struct operand *operand);
bool ptx_read_result(struct statement *statement, unsigned index, bool predicate, struct operand *operand);

/* Emits an instruction with all its operands, described by one letter each; NULL if they do not fit.
 *   d  result register                D  result register, with an optional predicate: d|p
 *   p  result predicate               P  result predicate, with an optional second one: p|q
 *   t  source of `type`               s  source of `second`
 *   u  32-bit source                  l  64-bit source
 *   b  source predicate               i  integer literal, stored as the variant
 *   -  ignored operand */
struct instruction *ptx_build_instruction(struct statement *statement, enum operation operation,
                                          const char *operands, enum type type, enum type second);

/* Each function decodes one family of instructions (see the table in instruction.c). */
#define DECODER(name) bool ptx_decode_##name(struct statement *statement, const struct row *row)
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
DECODER(image_query);
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
DECODER(surface);
DECODER(texture);
DECODER(video);
DECODER(wmma);
DECODER(wide_atomic);
DECODER(wide_memory);
DECODER(wide_move);
#undef DECODER

/* A row of the instruction table. ptx_decode_row needs only the row; other decoders use parts of it. */
struct row {
    const char *name;
    bool (*decode)(struct statement *statement, const struct row *row);
    enum operation operation;
    const char *operands; /* letters, see ptx_build_instruction() */
    const char *words; /* one of these is required, unless the first is empty; its position is the variant */
    const char *ignored; /* words without effect */
    const struct flag_word *flags;
    bool words_are_operations; /* the position is added to the operation instead of the variant */
    bool two_types;            /* a second type, of the source, follows */
    bool takes_images;         /* operands may be FORM_IMAGE and FORM_VECTOR_PAIR */
};

#endif
