/* Matrix products and fragments: mma, wmma, ldmatrix, stmatrix, movmatrix. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* vectorises the loops of tile.h */
#endif

#include "ptx/matrix.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "ptx/engine.h"
#include "ptx/number.h"
#include "ptx/processor.h"

enum { ROWS_MAX = 32, DEPTH = 64, ELEMENTS_MAX = ROWS_MAX * DEPTH };

/* Conversions between registers and numbers, and the product, compiled for several processor generations. */
struct tiles {
    void (*read)(enum type type, const uint64_t *registers, unsigned shift, double *numbers);
    void (*write)(enum type type, bool saturate, const double *numbers, unsigned count, uint64_t *bits);
    void (*multiply)(unsigned rows, unsigned depth, unsigned columns, bool exact, const double *a,
                     const double *b, double *d);
};

typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));

#define PROCESSOR
#define FOR_PROCESSOR(name) name##_any
#include "ptx/tile.h"

#if defined(__x86_64__)
#define PROCESSOR           PROCESSOR_AVX2
#define FOR_PROCESSOR(name) name##_avx2
#include "ptx/tile.h"

/* sum + number * row, rounded once. gcc makes no such instruction of a loop over eight elements. */
#define FUSE(sum, number, row) (eight) _mm512_fmadd_pd(_mm512_set1_pd(number), (__m512d)(row), (__m512d)(sum))
#define PROCESSOR              PROCESSOR_AVX512
#define FOR_PROCESSOR(name)    name##_avx512
#include "ptx/tile.h"
#endif

static const struct tiles *tiles(void)
{
    static const struct tiles *const all[] = PROCESSORS(tiles);
    return all[ptx_processor()];
}

static unsigned elements_per_register(const struct fragment *fragment)
{
    return (fragment->type == T_F64 ? 64 : 32) / ptx_element_bits(fragment->type);
}

static void gather(const struct warp *warp, const struct fragment *fragment, double *values)
{
    const unsigned each = elements_per_register(fragment), bits = ptx_element_bits(fragment->type);
    const uint16_t *at = fragment->places;
    double numbers[LANES];
    for (unsigned i = 0; i < fragment->count; i++)
        for (unsigned e = 0; e < each; e++, at += LANES) {
            tiles()->read(fragment->type, operand_values(warp, fragment->registers[i]), bits * e, numbers);
            for (unsigned lane = 0; lane < LANES; lane++)
                values[at[lane]] = numbers[lane];
        }
}

/* Writes the registers of a fragment from the bits of the matrix's elements. */
static void deal(struct warp *warp, const struct fragment *fragment, uint32_t mask, const uint64_t *elements)
{
    const unsigned each = elements_per_register(fragment), bits = ptx_element_bits(fragment->type);
    const uint16_t *at = fragment->places;
    for (unsigned i = 0; i < fragment->count; i++, at += (size_t)each * LANES) {
        uint64_t *to = result_values(warp, fragment->registers[i]);
        EACH_LANE(mask, lane, {
            uint64_t word = elements[at[lane]];
            for (unsigned e = 1; e < each; e++)
                word |= elements[at[e * LANES + lane]] << (bits * e);
            to[lane] = word;
        });
    }
}

/* Sums in double and rounds once at the end: the order and width of a tensor core's sum are undocumented. */
enum ptx_status ptx_run_mma(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const struct matrices *matrices = &warp->block->grid->module->matrices[instruction->list];
    double a[ELEMENTS_MAX], b[ELEMENTS_MAX], d[ROWS_MAX * ROWS_MAX];
    uint64_t bits[ROWS_MAX * ROWS_MAX];
    const unsigned rows = matrices->a.rows, columns = matrices->b.columns;
    gather(warp, &matrices->a, a);
    gather(warp, &matrices->b, b);
    gather(warp, &matrices->c, d);
    tiles()->multiply(rows, matrices->a.columns, columns, matrices->a.type != T_F64, a, b, d);
    tiles()->write(matrices->d.type, matrices->saturate, d, rows * columns, bits);
    deal(warp, &matrices->d, mask, bits);
    return PTX_OK;
}

static bool is_uniform(const uint64_t values[LANES])
{
    uint64_t difference = 0;
    for (unsigned lane = 1; lane < LANES; lane++)
        difference |= values[lane] ^ values[0];
    return difference == 0;
}

/* wmma.load of one matrix by all lanes, in pieces of 16 bytes. Returns false if the pieces are not aligned or
 * not accessible; then load_elements() finds the element that faults. */
static bool load_lines(struct warp *warp, const struct instruction *instruction,
                       const struct matrices *matrices, uint64_t begin, uint64_t stride)
{
    enum { PIECE = 16 };
    const struct fragment *fragment = &matrices->d;
    const unsigned lines = matrices->column_major ? fragment->columns : fragment->rows;
    const unsigned length = matrices->column_major ? fragment->rows : fragment->columns;
    const unsigned bytes = ptx_type_bytes(fragment->type);
    const unsigned along = matrices->column_major ? fragment->columns : 1;
    const unsigned across = matrices->column_major ? 1 : fragment->columns;
    uint64_t elements[ELEMENTS_MAX] = {0};
    if (length * bytes % PIECE != 0)
        return false;
    for (unsigned line = 0; line < lines; line++)
        for (unsigned i = 0; i < length; i += PIECE / bytes) {
            const unsigned char *piece =
                ptx_find_host_address(warp, (enum space)instruction->space,
                                      begin + (line * stride + i) * bytes, PIECE, ACCESS_READ, 0);
            if (piece == NULL)
                return false;
            for (unsigned e = 0; e < PIECE / bytes; e++)
                memcpy(&elements[line * across + (i + e) * along], piece + (size_t)e * bytes, bytes);
        }
    deal(warp, fragment, ALL_LANES, elements);
    return true;
}

/* wmma.load and wmma.store: checks and moves one element at a time. */
static enum ptx_status move_elements(struct warp *warp, const struct instruction *instruction, uint32_t mask,
                                     const uint64_t addresses[LANES], const uint64_t strides[LANES])
{
    const struct matrices *matrices = &warp->block->grid->module->matrices[instruction->list];
    const struct fragment *fragment = &matrices->d;
    const unsigned bytes = ptx_type_bytes(fragment->type), each = elements_per_register(fragment);
    const bool store = instruction->operation == OP_MATRIX_STORE;
    enum ptx_status status = PTX_OK;
    for (unsigned element = 0; element < fragment->count * each; element++) {
        const unsigned e = element % each;
        const struct operand operand = fragment->registers[element / each];
        EACH_LANE(mask, lane, {
            const unsigned place = fragment->places[element * LANES + lane];
            const uint64_t row = place / fragment->columns, column = place % fragment->columns;
            const uint64_t at =
                matrices->column_major ? column * strides[lane] + row : row * strides[lane] + column;
            void *memory =
                ptx_reach(warp, instruction, (enum space)instruction->space, addresses[lane] + at * bytes,
                          bytes, store ? ACCESS_WRITE : ACCESS_READ, lane, &status);
            if (memory == NULL)
                return status;
            uint64_t bits = 0;
            if (store) {
                bits = operand_values(warp, operand)[lane] >> (8 * bytes * e);
                memcpy(memory, &bits, bytes);
            } else {
                uint64_t *to = &result_values(warp, operand)[lane];
                memcpy(&bits, memory, bytes);
                *to = e == 0 ? bits : *to | bits << (8 * bytes * e);
            }
        });
    }
    return PTX_OK;
}

enum ptx_status ptx_run_matrix_memory(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const struct matrices *matrices = &warp->block->grid->module->matrices[instruction->list];
    const unsigned leading = matrices->column_major ? matrices->d.rows : matrices->d.columns;
    const bool strided = matrices->stride.kind != OPERAND_NONE;
    uint64_t addresses[LANES], strides[LANES]; /* results may overwrite these registers */
    EACH_LANE(ALL_LANES, lane, {
        addresses[lane] = operand_values(warp, matrices->address)[lane] + (uint64_t)instruction->offset;
        strides[lane] = strided ? (uint32_t)operand_values(warp, matrices->stride)[lane] : leading;
    });
    if (instruction->operation == OP_MATRIX_LOAD && mask == ALL_LANES && is_uniform(addresses) &&
        is_uniform(strides) && load_lines(warp, instruction, matrices, addresses[0], strides[0]))
        return PTX_OK;
    return move_elements(warp, instruction, mask, addresses, strides);
}

/* In an 8 by 8 matrix of halves, lane l holds elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4. */
static void spread(struct warp *warp, const uint16_t rows[8][8], bool transposed, struct operand to,
                   uint32_t mask)
{
    uint64_t *d = result_values(warp, to);
    EACH_LANE(mask, lane, {
        const unsigned row = lane / 4, column = 2 * (lane % 4);
        const uint32_t low = transposed ? rows[column][row] : rows[row][column];
        const uint32_t high = transposed ? rows[column + 1][row] : rows[row][column + 1];
        d[lane] = low | high << 16;
    });
}

static void collect(const struct warp *warp, struct operand from, bool transposed, uint16_t rows[8][8])
{
    const uint64_t *a = operand_values(warp, from);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned e = 0; e < 2; e++) {
            const unsigned row = lane / 4, column = 2 * (lane % 4) + e;
            rows[transposed ? column : row][transposed ? row : column] = (uint16_t)(a[lane] >> (16 * e));
        }
}

enum ptx_status ptx_run_matrix_move(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    uint16_t rows[8][8] = {0};
    collect(warp, instruction->from[0], false, rows);
    spread(warp, rows, instruction->variant != 0, instruction->to[0], mask);
    return PTX_OK;
}

/* ldmatrix and stmatrix: lane 8 i + r holds the address of row r of matrix i. */
enum ptx_status ptx_run_matrix8(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const bool store = instruction->operation == OP_MATRIX_STORE8;
    uint16_t rows[4][8][8] = {0};
    enum ptx_status status = PTX_OK;
    const uint64_t *addresses = operand_values(warp, store ? instruction->to[0] : instruction->from[0]);
    for (unsigned i = 0; store && i < instruction->vector; i++)
        collect(warp, instruction->from[i], instruction->variant != 0, rows[i]);
    for (unsigned lane = 0; lane < 8u * instruction->vector; lane++) {
        void *row = ptx_reach(warp, instruction, (enum space)instruction->space,
                              addresses[lane] + (uint64_t)instruction->offset, 16,
                              store ? ACCESS_WRITE : ACCESS_READ, lane, &status);
        if (row == NULL)
            return status;
        if (store)
            memcpy(row, rows[lane / 8][lane % 8], 16);
        else
            memcpy(rows[lane / 8][lane % 8], row, 16);
    }
    for (unsigned i = 0; !store && i < instruction->vector; i++)
        spread(warp, rows[i], instruction->variant != 0, instruction->to[i], mask);
    return PTX_OK;
}
