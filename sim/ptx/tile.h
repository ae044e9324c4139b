/* Matrix elements as numbers, and their product, for one processor generation. FOR_PROCESSOR(name) gives the
 * name of a function, PROCESSOR its target attribute. */

#define READ(expression)                                                                                     \
    do {                                                                                                     \
        for (unsigned lane = 0; lane < LANES; lane++) {                                                      \
            const uint64_t bits = registers[lane] >> shift;                                                  \
            numbers[lane] = (double)(expression);                                                            \
        }                                                                                                    \
        return;                                                                                              \
    } while (0)

/* Reads the element that begins at bit `shift` of each lane's register. */
PROCESSOR static void FOR_PROCESSOR(read)(enum type type, const uint64_t *registers, unsigned shift,
                                          double *numbers)
{
    switch (type) {
    case T_F16:
        READ(ptx_f16_value((uint16_t)bits));
    case T_BF16:
        READ(bf16_value((uint16_t)bits));
    case T_TF32: /* tf32 lacks the low 13 bits of the fraction */
        READ(f32_of(bits & 0xffffe000u));
    case T_F32:
        READ(f32_of(bits));
    case T_F64:
        READ(f64_of(bits));
    case T_E4M3:
        READ(ptx_e4m3_value((uint8_t)bits));
    case T_E5M2:
        READ(ptx_e5m2_value((uint8_t)bits));
    case T_S8:
        READ((int8_t)bits);
    case T_U8:
        READ((uint8_t)bits);
    case T_S4:
        READ((int8_t)((bits & 15) << 4) >> 4);
    case T_U4:
        READ((uint8_t)(bits & 15));
    default:
        READ((int32_t)bits);
    }
}

#undef READ

#define WRITE(expression)                                                                                    \
    do {                                                                                                     \
        for (unsigned i = 0; i < count; i++) {                                                               \
            const double value = numbers[i];                                                                 \
            bits[i] = (expression);                                                                          \
        }                                                                                                    \
        return;                                                                                              \
    } while (0)

PROCESSOR static void FOR_PROCESSOR(write)(enum type type, bool saturate, const double *numbers,
                                           unsigned count, uint64_t *bits)
{
    switch (type) {
    case T_F16:
        WRITE(ptx_nearest_f16_bits(value));
    case T_F32:
        WRITE(arithmetic_f32((float)value));
    case T_F64:
        WRITE(bits_f64(value));
    default: /* s32: sums of up to 64 products of bytes are exact in double */
        if (saturate)
            WRITE((uint32_t)(int64_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value));
        WRITE((uint32_t)(int64_t)value);
    }
}

#undef WRITE

/* d += a * b, for matrices of 8, 16 or 32 rows and columns. `exact`: no product of two elements is rounded,
 * so that a product and a sum give the bits of an fma. Four rows at a time, because each sum is a chain of
 * operations. */
PROCESSOR static void FOR_PROCESSOR(multiply)(unsigned rows, unsigned depth, unsigned columns, bool exact,
                                              const double *restrict a, const double *restrict b,
                                              double *restrict d)
{
#if defined(FUSE)
    for (unsigned row = 0; !exact && row < rows; row++)
        for (unsigned column = 0; column < columns; column += 8) {
            eight sum = *(const eight *)&d[row * columns + column];
            for (unsigned k = 0; k < depth; k++)
                sum = FUSE(sum, a[row * depth + k], *(const eight *)&b[k * columns + column]);
            *(eight *)&d[row * columns + column] = sum;
        }
#else
    for (unsigned row = 0; !exact && row < rows; row++)
        for (unsigned k = 0; k < depth; k++)
            for (unsigned column = 0; column < columns; column++)
                d[row * columns + column] =
                    __builtin_fma(a[row * depth + k], b[k * columns + column], d[row * columns + column]);
#endif
    for (unsigned row = 0; exact && row < rows; row += 4)
        for (unsigned column = 0; column < columns; column += 8) {
            const double *const left = &a[row * depth];
            eight *const sums[4] = {
                (eight *)&d[row * columns + column], (eight *)&d[(row + 1) * columns + column],
                (eight *)&d[(row + 2) * columns + column], (eight *)&d[(row + 3) * columns + column]};
            eight first = *sums[0], second = *sums[1], third = *sums[2], fourth = *sums[3];
            for (unsigned k = 0; k < depth; k++) {
                const eight right = *(const eight *)&b[k * columns + column];
                first += left[k] * right;
                second += left[depth + k] * right;
                third += left[2 * depth + k] * right;
                fourth += left[3 * depth + k] * right;
            }
            *sums[0] = first, *sums[1] = second, *sums[2] = third, *sums[3] = fourth;
        }
}

static const struct tiles FOR_PROCESSOR(tiles) = {FOR_PROCESSOR(read), FOR_PROCESSOR(write),
                                                  FOR_PROCESSOR(multiply)};

#undef PROCESSOR
#undef FOR_PROCESSOR
