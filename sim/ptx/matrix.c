/* Matrix products and fragments: mma, wmma, ldmatrix, stmatrix, movmatrix. */
#include "ptx/matrix.h"

#include "ptx/engine.h"
#include "ptx/number.h"

enum { ROWS_MAX = 32, DEPTH = 64 };

struct place {
    unsigned row, column;
};

/* The row and column of element `e` of register `i` of a lane; `each` is the number of elements per register.
 */
static struct place place_of(const struct fragment *fragment, unsigned lane, unsigned i, unsigned e,
                             unsigned each)
{
    const unsigned group = lane / 4, thread = lane % 4, halves = fragment->rows / 8;
    const unsigned element = i * each + e;
    switch (fragment->layout) {
    case LAYOUT_A:
        return (struct place){group + 8 * (i % halves), i / halves * 4 * each + thread * each + e};
    case LAYOUT_B:
        return (struct place){i * 4 * each + thread * each + e, group};
    case LAYOUT_C:
        return (struct place){group + 8 * (element / 2), 2 * thread + element % 2};
    default: {
        const unsigned all = (unsigned)fragment->rows * fragment->columns;
        const unsigned at = (lane * fragment->count * each + element) % all;
        return (struct place){at / fragment->columns, at % fragment->columns};
    }
    }
}

static double element_value(enum type type, uint64_t bits)
{
    switch (type) {
    case T_F16:
        return (double)ptx_f16_value((uint16_t)bits);
    case T_BF16:
        return (double)bf16_value((uint16_t)bits);
    case T_TF32: /* tf32 lacks the low 13 bits of the fraction */
        return (double)f32_of(bits & 0xffffe000u);
    case T_F32:
        return (double)f32_of(bits);
    case T_F64:
        return f64_of(bits);
    case T_E4M3:
        return (double)ptx_e4m3_value((uint8_t)bits);
    case T_E5M2:
        return (double)ptx_e5m2_value((uint8_t)bits);
    case T_S8:
        return (int8_t)bits;
    case T_U8:
        return (uint8_t)bits;
    case T_S4:
        return (int8_t)((bits & 15) << 4) >> 4;
    case T_U4:
        return (double)(bits & 15);
    default:
        return (int32_t)bits;
    }
}

static uint64_t element_bits_of(enum type type, double value, bool saturate)
{
    switch (type) {
    case T_F16:
        return ptx_f16_bits(value, ROUND_NEAREST);
    case T_F32:
        return isnan(value) ? 0x7fffffff : bits_f32((float)value);
    case T_F64:
        return bits_f64(value);
    default: /* s32: sums of up to 64 products of bytes are exact in double */
        if (saturate)
            value = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
        return (uint32_t)(int64_t)value;
    }
}

/* Loops over all elements of a fragment in all lanes. */
#define EACH_ELEMENT(fragment, lane, i, e, ...)                                                              \
    do {                                                                                                     \
        const unsigned wide_ = (fragment)->type == T_F64 ? 64 : 32;                                          \
        const unsigned bits_ = ptx_element_bits((fragment)->type), each_ = wide_ / bits_;                    \
        const uint64_t mask_ = bits_ == 64 ? UINT64_MAX : (UINT64_C(1) << bits_) - 1;                        \
        for (unsigned lane = 0; lane < LANES; lane++)                                                        \
            for (unsigned i = 0; i < (fragment)->count; i++)                                                 \
                for (unsigned e = 0; e < each_; e++) {                                                       \
                    const struct place place = place_of(fragment, lane, i, e, each_);                        \
                    __VA_ARGS__;                                                                             \
                }                                                                                            \
    } while (0)

static void gather(const struct warp *warp, const struct fragment *fragment, unsigned columns, double *values)
{
    EACH_ELEMENT(fragment, lane, i, e, {
        const uint64_t bits = operand_values(warp, fragment->registers[i])[lane] >> (bits_ * e) & mask_;
        values[place.row * columns + place.column] = element_value(fragment->type, bits);
    });
}

static void scatter(struct warp *warp, const struct fragment *fragment, uint32_t lanes, unsigned columns,
                    const double *values, bool saturate)
{
    EACH_ELEMENT(fragment, lane, i, e, {
        uint64_t *to = &result_values(warp, fragment->registers[i])[lane];
        const uint64_t bits =
            element_bits_of(fragment->type, values[place.row * columns + place.column], saturate) & mask_;
        if (lanes >> lane & 1)
            *to = e == 0 ? bits : *to | bits << (bits_ * e);
    });
}

/* Sums in double and rounds once at the end: the order and width of a tensor core's sum are undocumented. */
enum ptx_status ptx_run_mma(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const struct matrices *matrices = &warp->block->grid->module->matrices[instruction->list];
    double a[ROWS_MAX * DEPTH], b[DEPTH * ROWS_MAX], d[ROWS_MAX * ROWS_MAX];
    const unsigned rows = matrices->a.rows, depth = matrices->a.columns, columns = matrices->b.columns;
    gather(warp, &matrices->a, depth, a);
    gather(warp, &matrices->b, columns, b);
    gather(warp, &matrices->c, columns, d);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned k = 0; k < depth; k++)
            for (unsigned column = 0; column < columns; column++)
                d[row * columns + column] =
                    fma(a[row * depth + k], b[k * columns + column], d[row * columns + column]);
    scatter(warp, &matrices->d, mask, columns, d, matrices->saturate);
    return PTX_OK;
}

/* wmma.load and wmma.store: checks and moves one element at a time. */
enum ptx_status ptx_run_matrix_memory(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const struct matrices *matrices = &warp->block->grid->module->matrices[instruction->list];
    const struct fragment *fragment = &matrices->d;
    const unsigned leading = matrices->column_major ? fragment->rows : fragment->columns;
    const unsigned bytes = ptx_type_bytes(fragment->type);
    const bool store = instruction->operation == OP_MATRIX_STORE;
    const bool strided = matrices->stride.kind != OPERAND_NONE;
    uint64_t addresses[LANES], strides[LANES]; /* results may overwrite these registers */
    enum ptx_status status = PTX_OK;
    EACH_LANE(ALL_LANES, lane, {
        addresses[lane] = operand_values(warp, matrices->address)[lane] + (uint64_t)instruction->offset;
        strides[lane] = strided ? (uint32_t)operand_values(warp, matrices->stride)[lane] : leading;
    });
    EACH_ELEMENT(fragment, lane, i, e, {
        if ((mask >> lane & 1) == 0)
            continue;
        const uint64_t at = matrices->column_major ? place.column * strides[lane] + place.row
                                                   : place.row * strides[lane] + place.column;
        void *memory =
            ptx_reach(warp, instruction, (enum space)instruction->space, addresses[lane] + at * bytes, bytes,
                      store ? ACCESS_WRITE : ACCESS_READ, lane, &status);
        if (memory == NULL)
            return status;
        uint64_t bits = 0;
        if (store) {
            bits = operand_values(warp, fragment->registers[i])[lane] >> (bits_ * e) & mask_;
            memcpy(memory, &bits, bytes);
        } else {
            uint64_t *to = &result_values(warp, fragment->registers[i])[lane];
            memcpy(&bits, memory, bytes);
            *to = e == 0 ? bits : *to | bits << (bits_ * e);
        }
    });
    return PTX_OK;
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
