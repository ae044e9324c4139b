/* Operands: parsed from the text, then converted to the engine's form. */
#ifndef NEUTRINO_SIM_PTX_OPERAND_H
#define NEUTRINO_SIM_PTX_OPERAND_H

#include "ptx/parser.h"

enum atom_kind {
    ATOM_SINK, /* _ */
    ATOM_REGISTER,
    ATOM_PREDICATE,
    ATOM_INTEGER,
    ATOM_FLOAT,
    ATOM_SPECIAL,
    ATOM_VARIABLE,
    ATOM_FRAME,     /* a .param variable of the function */
    ATOM_PARAMETER, /* a parameter of the kernel */
    ATOM_LOCAL,
    ATOM_LABEL /* any other name, such as a label */
};

struct atom {
    enum atom_kind kind;
    const struct token *token;
    uint32_t index; /* register, predicate, special, variable, or byte of the frame */
    uint32_t bytes; /* size of a frame or parameter variable */
    bool negated;
    bool wide; /* a register of 128 bits */
    bool single;
    uint64_t bits;
    int64_t addend; /* the 4 of `variable + 4` */
};

enum written_form {
    FORM_PLAIN,
    FORM_VECTOR,
    FORM_ADDRESS,
    FORM_PAIR,
    FORM_VECTOR_PAIR, /* {a, b, c, d}|p: the predicate is the last atom */
    FORM_IMAGE        /* [a, {x, y}]: the handle, then the coordinates */
};

enum { VECTOR_MAX = 8 }; /* for any operand; loads and stores allow 4 */

struct written {
    enum written_form form;
    uint32_t count;
    bool wide; /* a register of 128 bits: a vector of its halves */
    struct atom atoms[VECTOR_MAX];
    int64_t offset; /* offset of an address */
};

bool ptx_parse_written(struct parser *parser, struct written *written);

/* Converts an atom to a source of that type. May emit an instruction that computes it. */
bool ptx_read_operand(struct parser *parser, const struct atom *atom, enum type type,
                      struct operand *operand);

/* Converts an atom to a result. `_` gives an unused register or predicate. */
bool ptx_write_operand(struct parser *parser, const struct atom *atom, bool predicate,
                       struct operand *operand);

/* Allocates a register that the text does not name. */
uint32_t ptx_new_register(struct parser *parser);

#endif
