/* Matrices in the registers of a warp: ldmatrix, stmatrix, movmatrix, mma and wmma. */
#ifndef NEUTRINO_SIM_PTX_MATRIX_H
#define NEUTRINO_SIM_PTX_MATRIX_H

#include "ptx/program.h"

enum { FRAGMENT_MAX = 8 };

/* How the elements of a matrix lie in the registers of the lanes. */
enum fragment_layout {
    LAYOUT_A,     /* mma's A (PTX ISA, "Matrix Fragments for mma.m16n8k16" and the sections beside it) */
    LAYOUT_B,     /* mma's B */
    LAYOUT_C,     /* mma's C and D */
    LAYOUT_OPAQUE /* wmma: unspecified by the ISA; here elements are in lane order */
};

struct fragment {
    enum type type; /* element type */
    uint8_t layout;
    uint8_t count; /* registers per lane */
    uint16_t rows, columns;
    struct operand registers[FRAGMENT_MAX];
    const uint16_t *places; /* of the module's placements */
};

/* The place (row times columns plus column) in its matrix of each element that the lanes hold: LANES places
 * for the first element of the first register, for its second element, and so on. */
struct placement {
    struct placement *next;
    uint16_t rows, columns;
    uint8_t layout, count, each; /* registers per lane, elements per register */
    uint16_t places[];
};

/* The operands of d = a * b + c. A load or store uses `d` alone. */
struct matrices {
    struct fragment d, a, b, c;
    bool saturate;
    bool column_major;      /* size in memory */
    struct operand address; /* of a load or store; the offset is in the instruction */
    struct operand stride;  /* elements between rows (or columns); OPERAND_NONE: dense */
};

#endif
