/* The loops of common.c for one processor generation. FOR_PROCESSOR(name) gives the name of a function,
 * PROCESSOR its target attribute, HAS_FMA whether it has an instruction for fma. */

PROCESSOR static bool FOR_PROCESSOR(run_words)(const struct instruction *instruction, uint32_t mask,
                                               const uint64_t *a, const uint64_t *b, const uint64_t *c,
                                               uint64_t *d)
{
    switch (KEY(instruction->operation, instruction->type)) {
    case WORDS(OP_ADD):
        EACH(A32 + B32);
    case WORDS(OP_SUB):
        EACH(A32 - B32);
    case WORDS(OP_MUL_LO):
        EACH(A32 * B32);
    case WORDS(OP_MAD_LO):
        EACH(A32 * B32 + C32);
    case WORDS(OP_SHL):
        EACH(B32 > 31 ? 0 : A32 << (B32 & 31));
    case KEY(OP_SHR, T_B32):
    case KEY(OP_SHR, T_U32):
        EACH(B32 > 31 ? 0 : A32 >> (B32 & 31));
    case KEY(OP_SHR, T_S32):
        EACH((uint32_t)((int32_t)A32 >> (B32 > 31 ? 31 : B32)));
    case KEY(OP_MUL_HI, T_U32):
        EACH((uint64_t)A32 * (uint64_t)B32 >> 32);
    case KEY(OP_MUL_WIDE, T_U32):
        EACH((uint64_t)A32 * (uint64_t)B32);
    case KEY(OP_MUL_WIDE, T_S32):
        EACH((uint64_t)((int64_t)(int32_t)A32 * (int64_t)(int32_t)B32));
    case KEY(OP_MAD_WIDE, T_U32):
        EACH((uint64_t)A32 * (uint64_t)B32 + c[lane]);
    case KEY(OP_MAD_WIDE, T_S32):
        EACH((uint64_t)((int64_t)(int32_t)A32 * (int64_t)(int32_t)B32) + c[lane]);
    case KEY(OP_MIN, T_S32):
        EACH((uint32_t)((int32_t)A32 < (int32_t)B32 ? A32 : B32));
    case KEY(OP_MAX, T_S32):
        EACH((uint32_t)((int32_t)A32 > (int32_t)B32 ? A32 : B32));
    case KEY(OP_MIN, T_U32):
        EACH(A32 < B32 ? A32 : B32);
    case KEY(OP_MAX, T_U32):
        EACH(A32 > B32 ? A32 : B32);
    case DOUBLE_WORDS(OP_ADD):
        EACH(a[lane] + b[lane]);
    case DOUBLE_WORDS(OP_SUB):
        EACH(a[lane] - b[lane]);
    case DOUBLE_WORDS(OP_MUL_LO):
        EACH(a[lane] * b[lane]);
    case DOUBLE_WORDS(OP_SHL):
        EACH(B32 > 63 ? 0 : a[lane] << (B32 & 63));
    case KEY(OP_SHR, T_B64):
    case KEY(OP_SHR, T_U64):
        EACH(B32 > 63 ? 0 : a[lane] >> (B32 & 63));
    case WORDS(OP_AND):
    case DOUBLE_WORDS(OP_AND):
        EACH(a[lane] & b[lane]);
    case WORDS(OP_OR):
    case DOUBLE_WORDS(OP_OR):
        EACH(a[lane] | b[lane]);
    case WORDS(OP_XOR):
    case DOUBLE_WORDS(OP_XOR):
        EACH(a[lane] ^ b[lane]);
    default:
        return false;
    }
}

/* Halves: exact in double, or rounded to odd there, and rounded once. */
#define HALVES(type, value, round)                                                                           \
    case KEY(OP_ADD, type):                                                                                  \
        PARTS(type, round(ptx_sum_to_odd((double)value(x), (double)value(y))));                              \
    case KEY(OP_SUB, type):                                                                                  \
        PARTS(type, round(ptx_sum_to_odd((double)value(x), -(double)value(y))));                             \
    case KEY(OP_MUL_LO, type):                                                                               \
        PARTS(type, round((double)value(x) * (double)value(y)));                                             \
    case KEY(OP_FMA, type):                                                                                  \
        PARTS(type, round(ptx_sum_to_odd((double)value(x) * (double)value(y), (double)value(z))));           \
    case KEY(OP_MIN, type):                                                                                  \
        PARTS(type, round((double)smaller_f32(value(x), value(y))));                                         \
    case KEY(OP_MAX, type):                                                                                  \
        PARTS(type, round((double)larger_f32(value(x), value(y))))

/* Computes an expression of x, y and z for the half, or for both halves, of each lane. */
#define PARTS(type, expression)                                                                              \
    do {                                                                                                     \
        const unsigned most = (type) == T_F16X2 || (type) == T_BF16X2 ? 16 : 0;                              \
        EACH_LANE(mask, lane, {                                                                              \
            uint32_t word = 0;                                                                               \
            for (unsigned shift = 0; shift <= most; shift += 16) {                                           \
                const uint16_t x = (uint16_t)(a[lane] >> shift), y = (uint16_t)(b[lane] >> shift);           \
                const uint16_t z = (uint16_t)(c[lane] >> shift);                                             \
                (void)z;                                                                                     \
                word |= (uint32_t)(expression) << shift;                                                     \
            }                                                                                                \
            d[lane] = word;                                                                                  \
        });                                                                                                  \
        return true;                                                                                         \
    } while (0)

PROCESSOR __attribute__((noinline)) static bool
FOR_PROCESSOR(run_halves)(const struct instruction *instruction, uint32_t mask, const uint64_t *a,
                          const uint64_t *b, const uint64_t *c, uint64_t *d)
{
    switch (KEY(instruction->operation, instruction->type)) {
        HALVES(T_F16, ptx_f16_value, ptx_nearest_f16_bits);
        HALVES(T_F16X2, ptx_f16_value, ptx_nearest_f16_bits);
        HALVES(T_BF16, bf16_value, ptx_nearest_bf16_bits);
        HALVES(T_BF16X2, bf16_value, ptx_nearest_bf16_bits);
    default:
        return false;
    }
}

#undef PARTS
#undef HALVES

/* Functions of their own keep the frames and the switches of the frequent loops small. */
PROCESSOR __attribute__((noinline)) static bool
FOR_PROCESSOR(run_rare_floats)(const struct instruction *instruction, uint32_t mask, const uint64_t *a,
                               const uint64_t *b, const uint64_t *c, uint64_t *d)
{
    switch (KEY(instruction->operation, instruction->type)) {
    case KEY(OP_DIV, T_F32):
        EACH(arithmetic_f32(f32_of(a[lane]) / f32_of(b[lane])));
    case KEY(OP_RCP, T_F32):
        EACH(arithmetic_f32(1.0f / f32_of(a[lane])));
    case KEY(OP_SQRT, T_F32):
        EACH(arithmetic_f32(__builtin_sqrtf(f32_of(a[lane]))));
    case KEY(OP_RSQRT, T_F32):
        EACH(arithmetic_f32((float)(1.0 / __builtin_sqrt((double)f32_of(a[lane])))));
    case KEY(OP_NEG, T_F32):
        EACH(A32 ^ F32_SIGN);
    case KEY(OP_ABS, T_F32):
        EACH(A32 & ~F32_SIGN);
    case KEY(OP_MIN, T_F32):
        EACH(arithmetic_f32(smaller_f32(f32_of(a[lane]), f32_of(b[lane]))));
    case KEY(OP_MAX, T_F32):
        EACH(arithmetic_f32(larger_f32(f32_of(a[lane]), f32_of(b[lane]))));
    default:
        return FOR_PROCESSOR(run_halves)(instruction, mask, a, b, c, d);
    }
}

PROCESSOR static bool FOR_PROCESSOR(run_floats)(const struct instruction *instruction, uint32_t mask,
                                                const uint64_t *a, const uint64_t *b, const uint64_t *c,
                                                uint64_t *d)
{
    switch (KEY(instruction->operation, instruction->type)) {
    case KEY(OP_ADD, T_F32):
        EACH_F32(true, SUM);
    case KEY(OP_SUB, T_F32):
        EACH_F32(true, DIFFERENCE);
    case KEY(OP_MUL_LO, T_F32):
        EACH_F32(true, PRODUCT);
    case KEY(OP_FMA, T_F32):
        EACH_F32(HAS_FMA, __builtin_fmaf);
    case KEY(OP_ADD, T_F64):
        EACH(bits_f64(f64_of(a[lane]) + f64_of(b[lane])));
    case KEY(OP_SUB, T_F64):
        EACH(bits_f64(f64_of(a[lane]) - f64_of(b[lane])));
    case KEY(OP_MUL_LO, T_F64):
        EACH(bits_f64(f64_of(a[lane]) * f64_of(b[lane])));
    case KEY(OP_FMA, T_F64):
        EACH(bits_f64(__builtin_fma(f64_of(a[lane]), f64_of(b[lane]), f64_of(c[lane]))));
    default:
        return false;
    }
}

PROCESSOR static bool FOR_PROCESSOR(run_conversion)(const struct instruction *instruction, uint32_t mask,
                                                    const uint64_t *a, uint64_t *d)
{
    switch (KEY(instruction->type, instruction->source)) {
    case KEY(T_U64, T_U32):
    case KEY(T_S64, T_U32):
    case KEY(T_U32, T_U64):
    case KEY(T_U32, T_S64):
    case KEY(T_S32, T_U64):
    case KEY(T_S32, T_S64):
        EACH((uint64_t)A32);
    case KEY(T_S64, T_S32):
    case KEY(T_U64, T_S32):
        EACH((uint64_t)(int64_t)(int32_t)A32);
    case KEY(T_F32, T_S32):
        EACH(bits_f32((float)(int32_t)A32));
    case KEY(T_F32, T_U32):
        EACH(bits_f32((float)A32));
    case KEY(T_F32, T_F64):
        EACH(arithmetic_f32((float)f64_of(a[lane])));
    case KEY(T_F64, T_F32):
        EACH(bits_f64((double)f32_of(a[lane])));
    default:
        return false;
    }
}

/* All comparisons but == and != of a type. */
#define COMPARE_ORDER(type, T)                                                                               \
    case KEY(CMP_LT, type):                                                                                  \
    case KEY(CMP_LO, type):                                                                                  \
        COMPARE(T, <);                                                                                       \
    case KEY(CMP_LE, type):                                                                                  \
    case KEY(CMP_LS, type):                                                                                  \
        COMPARE(T, <=);                                                                                      \
    case KEY(CMP_GT, type):                                                                                  \
    case KEY(CMP_HI, type):                                                                                  \
        COMPARE(T, >);                                                                                       \
    case KEY(CMP_GE, type):                                                                                  \
    case KEY(CMP_HS, type):                                                                                  \
        COMPARE(T, >=)

PROCESSOR
__attribute__((noinline)) static bool FOR_PROCESSOR(compare_rare)(const struct instruction *instruction,
                                                                  const uint64_t *a, const uint64_t *b,
                                                                  uint8_t truth[LANES])
{
    switch (KEY(instruction->variant, instruction->source)) {
    case KEY(CMP_EQ, T_S16):
    case KEY(CMP_EQ, T_U16):
    case KEY(CMP_EQ, T_B16):
        COMPARE(uint16_t, ==);
    case KEY(CMP_NE, T_S16):
    case KEY(CMP_NE, T_U16):
    case KEY(CMP_NE, T_B16):
        COMPARE(uint16_t, !=);
        COMPARE_ORDER(T_S16, int16_t);
        COMPARE_ORDER(T_U16, uint16_t);
        COMPARE_ORDER(T_S64, int64_t);
        COMPARE_ORDER(T_U64, uint64_t);
    default:
        return false;
    }
}

#undef COMPARE_ORDER

PROCESSOR
__attribute__((noinline)) static bool FOR_PROCESSOR(compare_floats)(const struct instruction *instruction,
                                                                    const uint64_t *a, const uint64_t *b,
                                                                    uint8_t truth[LANES])
{
    switch (KEY(instruction->variant, instruction->source)) {
        COMPARE_FLOATS(T_F32, f32_of);
        COMPARE_FLOATS(T_F64, f64_of);
    default:
        return FOR_PROCESSOR(compare_rare)(instruction, a, b, truth);
    }
}

/* Compares all 32 lanes; inactive results are ignored. */
PROCESSOR static bool FOR_PROCESSOR(compare_lanes)(const struct instruction *instruction, const uint64_t *a,
                                                   const uint64_t *b, uint8_t truth[LANES])
{
    switch (KEY(instruction->variant, instruction->source)) {
    case WORDS(CMP_EQ):
        COMPARE(uint32_t, ==);
    case WORDS(CMP_NE):
        COMPARE(uint32_t, !=);
    case KEY(CMP_LT, T_S32):
        COMPARE(int32_t, <);
    case KEY(CMP_LE, T_S32):
        COMPARE(int32_t, <=);
    case KEY(CMP_GT, T_S32):
        COMPARE(int32_t, >);
    case KEY(CMP_GE, T_S32):
        COMPARE(int32_t, >=);
    case KEY(CMP_LT, T_U32):
    case KEY(CMP_LO, T_U32):
        COMPARE(uint32_t, <);
    case KEY(CMP_LE, T_U32):
    case KEY(CMP_LS, T_U32):
        COMPARE(uint32_t, <=);
    case KEY(CMP_GT, T_U32):
    case KEY(CMP_HI, T_U32):
        COMPARE(uint32_t, >);
    case KEY(CMP_GE, T_U32):
    case KEY(CMP_HS, T_U32):
        COMPARE(uint32_t, >=);
    case DOUBLE_WORDS(CMP_EQ):
        COMPARE(uint64_t, ==);
    case DOUBLE_WORDS(CMP_NE):
        COMPARE(uint64_t, !=);
    case KEY(CMP_LT, T_S64):
        COMPARE(int64_t, <);
    case KEY(CMP_GE, T_S64):
        COMPARE(int64_t, >=);
    default:
        return FOR_PROCESSOR(compare_floats)(instruction, a, b, truth);
    }
}

/* See ptx_all_inside(). */
PROCESSOR static bool FOR_PROCESSOR(all_inside)(const uint64_t *addresses, uint32_t mask, uint64_t offset,
                                                uint64_t kept, uint64_t begin, uint64_t last,
                                                uint64_t misaligned)
{
    uint64_t wrong = 0;
    EACH_LANE(mask, lane, {
        const uint64_t address = (addresses[lane] + offset) & kept;
        wrong |= (uint64_t)(address - begin > last) | (address & misaligned);
    });
    return wrong == 0;
}

/* See ptx_is_line(). */
PROCESSOR static bool FOR_PROCESSOR(is_line)(const uint64_t *addresses, unsigned bytes, bool *uniform)
{
    const unsigned shift = (unsigned)__builtin_ctz(bytes);
    uint64_t differ = 0, gap = 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint64_t distance = addresses[lane] - addresses[0];
        differ |= distance;
        gap |= distance ^ (uint64_t)lane << shift;
    }
    *uniform = differ == 0;
    return differ == 0 || gap == 0;
}

/* See ptx_has_two_lines(). */
PROCESSOR static bool FOR_PROCESSOR(has_two_lines)(const uint64_t *addresses, unsigned bytes, bool *uniform)
{
    const unsigned shift = (unsigned)__builtin_ctz(bytes);
    uint64_t differ = 0, gap = 0;
    for (unsigned lane = 0; lane < HALF; lane++) {
        const uint64_t low = addresses[lane] - addresses[0], high = addresses[HALF + lane] - addresses[HALF];
        differ |= low | high;
        gap |= (low ^ (uint64_t)lane << shift) | (high ^ (uint64_t)lane << shift);
    }
    *uniform = differ == 0;
    return differ == 0 || gap == 0;
}

#define LOAD_LINE(T)                                                                                         \
    do {                                                                                                     \
        if (step == 0) {                                                                                     \
            const uint64_t value = (uint64_t)*(const T *)from;                                               \
            for (unsigned lane = 0; lane < count; lane++)                                                    \
                d[lane] = value;                                                                             \
        } else if (step == 1) {                                                                              \
            for (unsigned lane = 0; lane < count; lane++)                                                    \
                d[lane] = (uint64_t)((const T *)from)[lane];                                                 \
        } else {                                                                                             \
            for (unsigned lane = 0; lane < count; lane++)                                                    \
                d[lane] = (uint64_t)((const T *)from)[lane * step];                                          \
        }                                                                                                    \
        return;                                                                                              \
    } while (0)

PROCESSOR static inline
    __attribute__((always_inline)) void FOR_PROCESSOR(load_elements)(enum type type, const void *from,
                                                                     unsigned step, unsigned count,
                                                                     uint64_t *restrict d)
{
    switch (type) {
    case T_S8:
        LOAD_LINE(int8_t);
    case T_S16:
        LOAD_LINE(int16_t);
    case T_S32:
        LOAD_LINE(int32_t);
    default:
        switch (ptx_type_bytes(type)) {
        case 1:
            LOAD_LINE(uint8_t);
        case 2:
            LOAD_LINE(uint16_t);
        case 4:
            LOAD_LINE(uint32_t);
        default:
            LOAD_LINE(uint64_t);
        }
    }
}

#undef LOAD_LINE

/* See ptx_load_line(). */
PROCESSOR static void FOR_PROCESSOR(load_line)(enum type type, const void *from, unsigned step,
                                               uint64_t *restrict d)
{
    FOR_PROCESSOR(load_elements)(type, from, step, LANES, d);
}

PROCESSOR static void FOR_PROCESSOR(load_half)(enum type type, const void *from, unsigned step,
                                               uint64_t *restrict d)
{
    FOR_PROCESSOR(load_elements)(type, from, step, HALF, d);
}

#define STORE_LINE(T)                                                                                        \
    do {                                                                                                     \
        if (step == 1) {                                                                                     \
            for (unsigned lane = 0; lane < LANES; lane++)                                                    \
                ((T *)to)[lane] = (T)values[lane];                                                           \
        } else {                                                                                             \
            for (unsigned lane = 0; lane < LANES; lane++)                                                    \
                ((T *)to)[lane * step] = (T)values[lane];                                                    \
        }                                                                                                    \
        return;                                                                                              \
    } while (0)

/* See ptx_store_line(). */
PROCESSOR static void FOR_PROCESSOR(store_line)(unsigned bytes, const uint64_t *restrict values, void *to,
                                                unsigned step)
{
    switch (bytes) {
    case 1:
        STORE_LINE(uint8_t);
    case 2:
        STORE_LINE(uint16_t);
    case 4:
        STORE_LINE(uint32_t);
    default:
        STORE_LINE(uint64_t);
    }
}

#undef STORE_LINE

/* `chosen` has a bit for each lane. */
PROCESSOR static void FOR_PROCESSOR(choose)(uint32_t chosen, uint32_t mask, const uint64_t *a,
                                            const uint64_t *b, uint64_t *d)
{
    EACH_LANE(mask, lane, d[lane] = (chosen >> lane & 1) != 0 ? a[lane] : b[lane]);
}

/* .ftz: subnormals become zeros of their sign. */
PROCESSOR static void FOR_PROCESSOR(flush)(const uint64_t *from, uint32_t mask, uint64_t *to)
{
    EACH_LANE(mask, lane, to[lane] = from[lane] & ((from[lane] & F32_EXPONENT) != 0 ? UINT32_MAX : F32_SIGN));
}

static const struct lanes FOR_PROCESSOR(lanes) = {.words = FOR_PROCESSOR(run_words),
                                                  .floats = FOR_PROCESSOR(run_floats),
                                                  .rare_floats = FOR_PROCESSOR(run_rare_floats),
                                                  .convert = FOR_PROCESSOR(run_conversion),
                                                  .compare = FOR_PROCESSOR(compare_lanes),
                                                  .inside = FOR_PROCESSOR(all_inside),
                                                  .is_line = FOR_PROCESSOR(is_line),
                                                  .has_two_lines = FOR_PROCESSOR(has_two_lines),
                                                  .load_line = FOR_PROCESSOR(load_line),
                                                  .load_half = FOR_PROCESSOR(load_half),
                                                  .store_line = FOR_PROCESSOR(store_line),
                                                  .choose = FOR_PROCESSOR(choose),
                                                  .flush = FOR_PROCESSOR(flush)};

#undef PROCESSOR
#undef FOR_PROCESSOR
