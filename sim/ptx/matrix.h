/* Small matrices that a warp holds in its registers: ldmatrix, stmatrix, movmatrix, mma and wmma. */
#ifndef NEUTRINO_SIM_PTX_MATRIX_H
#define NEUTRINO_SIM_PTX_MATRIX_H

#include "ptx/program.h"

enum { FRAGMENT_MAX = 8 };

/* How the elements of a matrix lie in the registers of the lanes. */
enum fragment_layout {
    LAYOUT_A,     /* of mma: PTX ISA, "Matrix Fragments for mma.m16n8k16" and its neighbours */
    LAYOUT_B,     /* which all follow one rule for A, one for B, one for C and D */
    LAYOUT_C,     /* and D */
    LAYOUT_OPAQUE /* of wmma: the ISA leaves it open; here element after element, lane after lane */
};

struct fragment {
    enum type type; /* of an element */
    uint8_t layout;
    uint8_t count; /* registers a lane */
    uint16_t rows, columns;
    struct operand registers[FRAGMENT_MAX];
};

/* The matrices of one instruction: d = a * b + c, or the one that is loaded or stored. */
struct matrices {
    struct fragment d, a, b, c;
    bool saturate;
    bool column_major;      /* in memory */
    struct operand address; /* of a load or store, with an offset in the instruction */
    struct operand stride;  /* elements from one row (or column) to the next; none: dense */
};

#endif
