/* Operands as they are written, and as the engine reads them. */
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
    ATOM_PARAMETER, /* of the kernel */
    ATOM_LOCAL,
    ATOM_LABEL /* any other name */
};

struct atom {
    enum atom_kind kind;
    const struct token *token;
    uint32_t index; /* register, predicate, special, variable, or byte of the frame */
    uint32_t bytes; /* of a frame or parameter variable */
    bool negated;
    bool single;
    uint64_t bits;
    int64_t addend; /* variable + 4 */
};

enum written_form { FORM_PLAIN, FORM_VECTOR, FORM_ADDRESS, FORM_PAIR };

enum { VECTOR_MAX = 8 }; /* of an operand; loads and stores take 4 */

struct written {
    enum written_form form;
    uint32_t count;
    struct atom atoms[VECTOR_MAX];
    int64_t offset; /* of an address */
};

bool parse_written(struct parser *parser, struct written *written);

/* As a source of that type; may emit an instruction that computes it first. */
bool read_operand(struct parser *parser, const struct atom *atom, enum type type, struct operand *operand);

/* As a register or predicate to write; `_` gives one that nobody reads. */
bool write_operand(struct parser *parser, const struct atom *atom, bool predicate, struct operand *operand);

/* A register that the text does not name. */
uint32_t new_register(struct parser *parser);

#endif
