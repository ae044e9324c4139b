/* cvt: between integers and floating-point numbers of every width. */
#include <fenv.h>

#include "ptx/engine.h"
#include "ptx/number.h"

static double float_value(enum type type, uint64_t bits)
{
    switch (type) {
    case T_F16:
        return (double)ptx_f16_value((uint16_t)bits);
    case T_BF16:
        return (double)bf16_value((uint16_t)bits);
    case T_F32:
        return (double)f32_of(bits);
    default:
        return f64_of(bits);
    }
}

/* Clamps a value out of range. NaN becomes 0, or only the top bit in conversions from f64 or to 64 bits (PTX
 * ISA, cvt). */
static uint64_t float_to_integer(double value, enum type from, enum type type, uint8_t rounding)
{
    const unsigned width = 8 * ptx_type_bytes(type);
    const double rounded = ptx_round_integral(value, (enum rounding)rounding);
    if (isnan(rounded))
        return from == T_F64 || width == 64 ? UINT64_C(1) << (width - 1) : 0;
    if (ptx_type_is_signed(type)) {
        const double limit = ldexp(1, (int)width - 1);
        const int64_t most = (int64_t)((UINT64_C(1) << (width - 1)) - 1);
        const int64_t number = rounded >= limit ? most : rounded < -limit ? -most - 1 : (int64_t)rounded;
        return width == 64 ? (uint64_t)number : (uint64_t)number & ((UINT64_C(1) << width) - 1);
    }
    const double limit = ldexp(1, (int)width);
    const uint64_t most = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    return rounded >= limit ? most : rounded < 0 ? 0 : (uint64_t)rounded;
}

static int64_t integer_value(enum type type, uint64_t bits)
{
    const unsigned width = 8 * ptx_type_bytes(type);
    if (width == 64)
        return (int64_t)bits;
    return ptx_type_is_signed(type) ? (int64_t)(bits << (64 - width)) >> (64 - width)
                                    : (int64_t)(bits & ((UINT64_C(1) << width) - 1));
}

static uint64_t integer_to_integer(const struct instruction *instruction, uint64_t bits)
{
    const enum type to = (enum type)instruction->type, from = (enum type)instruction->source;
    const unsigned width = 8 * ptx_type_bytes(to);
    const int64_t value = integer_value(from, bits);
    const bool huge =
        !ptx_type_is_signed(from) && ptx_type_bytes(from) == 8 && value < 0; /* above INT64_MAX */
    if (instruction->flags & FLAG_SATURATE) {
        if (ptx_type_is_signed(to)) {
            const int64_t most = (int64_t)((UINT64_C(1) << (width - 1)) - 1);
            const int64_t kept = huge || value > most ? most : value < -most - 1 ? -most - 1 : value;
            return width == 64 ? (uint64_t)kept : (uint64_t)kept & ((UINT64_C(1) << width) - 1);
        }
        const uint64_t most = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
        return !huge && value < 0 ? 0 : (uint64_t)value > most ? most : (uint64_t)value;
    }
    return width == 64 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << width) - 1);
}

/* Extends a narrow result to its register, with its sign or with zeros (PTX ISA, "Operand Size Exceeding
 * Instruction-Type Size"). */
static uint64_t register_of(enum type type, uint64_t bits)
{
    return type == T_S8    ? (uint64_t)(int64_t)(int8_t)bits
           : type == T_S16 ? (uint64_t)(int64_t)(int16_t)bits
                           : bits;
}

static double saturate(const struct instruction *instruction, double value)
{
    if ((instruction->flags & FLAG_SATURATE) == 0)
        return value;
    return !(value > 0) ? 0 : value > 1 ? 1 : value;
}

static uint64_t pack_float(enum type type, double value, uint8_t rounding)
{
    switch (type) {
    case T_F16:
        return ptx_f16_bits(value, (enum rounding)rounding);
    case T_BF16:
        return ptx_bf16_bits(value, (enum rounding)rounding);
    case T_F32:
        return isnan(value) ? 0x7fffffff : bits_f32((float)value);
    default:
        return bits_f64(value);
    }
}

static uint64_t convert(const struct instruction *instruction, uint64_t bits)
{
    const enum type to = (enum type)instruction->type, from = (enum type)instruction->source;
    const bool flush = (instruction->flags & FLAG_FLUSH) != 0;
    if (!ptx_type_is_float(from)) {
        if (!ptx_type_is_float(to))
            return register_of(to, integer_to_integer(instruction, bits));
        /* Convert directly: through a double, the value would be rounded twice. */
        const int64_t value = integer_value(from, bits);
        const bool huge = !ptx_type_is_signed(from) && value < 0;
        if (to == T_F32)
            return bits_f32(huge ? (float)(uint64_t)value : (float)value);
        if (to == T_F64)
            return bits_f64(huge ? (double)(uint64_t)value : (double)value);
        const bool negative = value < 0 && !huge;
        const double odd = ptx_integer_to_odd(negative ? -(uint64_t)value : (uint64_t)value, negative);
        return pack_float(to, odd, instruction->rounding);
    }
    double value = float_value(from, bits);
    if (flush && from == T_F32)
        value = (double)flush_f32((float)value);
    if (!ptx_type_is_float(to))
        return register_of(to, float_to_integer(value, from, to, instruction->rounding));
    if (instruction->flags & FLAG_INTEGER_ROUND)
        value = ptx_round_integral(value, (enum rounding)instruction->rounding);
    const uint64_t packed = pack_float(to, saturate(instruction, value), instruction->rounding);
    return flush && to == T_F32 ? bits_f32(flush_f32(f32_of(packed))) : packed;
}

static uint64_t convert_one(const struct instruction *instruction, enum type to, double value)
{
    const bool finite = (instruction->flags & FLAG_FINITE) != 0;
    if ((instruction->flags & FLAG_RELU) && value <= 0)
        value = 0;
    switch (to) {
    case T_E4M3X2:
        return ptx_e4m3_bits(value);
    case T_E5M2X2:
        return ptx_e5m2_bits(value);
    case T_TF32:
        return ptx_tf32_bits(value, (enum rounding)instruction->rounding);
    case T_F16X2:
        if (finite && isfinite(value))
            value = value > 65504 ? 65504 : value < -65504 ? -65504 : value;
        return ptx_f16_bits(value, (enum rounding)instruction->rounding);
    default:
        return ptx_bf16_bits(value, (enum rounding)instruction->rounding);
    }
}

static double half_of_pair(enum type from, uint64_t bits, unsigned half)
{
    switch (from) {
    case T_E4M3X2:
        return (double)ptx_e4m3_value((uint8_t)(bits >> (8 * half)));
    case T_E5M2X2:
        return (double)ptx_e5m2_value((uint8_t)(bits >> (8 * half)));
    case T_F16X2:
        return (double)ptx_f16_value((uint16_t)(bits >> (16 * half)));
    default:
        return (double)bf16_value((uint16_t)(bits >> (16 * half)));
    }
}

/* Packs two numbers into one register, the first source in the upper half, or converts a pair to another
 * type. */
static uint64_t convert_pair(const struct instruction *instruction, uint64_t a, uint64_t b)
{
    const enum type to = (enum type)instruction->type, from = (enum type)instruction->source;
    if (to == T_TF32)
        return convert_one(instruction, to, (double)f32_of(a));
    const double high = from == T_F32 ? (double)f32_of(a) : half_of_pair(from, a, 1);
    const double low = from == T_F32 ? (double)f32_of(b) : half_of_pair(from, a, 0);
    const unsigned width = 4 * ptx_type_bytes(to);
    return convert_one(instruction, to, high) << width | convert_one(instruction, to, low);
}

/* Saturates two integers into the low parts of the result; c fills the rest. */
static uint64_t pack_integers(const struct instruction *instruction, uint64_t a, uint64_t b, uint64_t c)
{
    const enum type to = (enum type)instruction->type;
    const unsigned bits = ptx_element_bits(to);
    const bool is_signed = to == T_S4 || ptx_type_is_signed(to);
    const int64_t most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    const int64_t high = (int32_t)a, low = (int32_t)b;
    const uint64_t upper = (uint64_t)(high > most ? most : high < least ? least : high) & mask;
    const uint64_t lower = (uint64_t)(low > most ? most : low < least ? least : low) & mask;
    const uint64_t kept = bits == 16 ? 0 : c << (2 * bits);
    return (uint32_t)(kept | upper << bits | lower);
}

enum ptx_status ptx_run_convert_pair(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *a = operand_values(warp, instruction->from[0]),
                   *b = operand_values(warp, instruction->from[1]);
    uint64_t *d = result_values(warp, instruction->to[0]);
    EACH_LANE(mask, lane, d[lane] = convert_pair(instruction, a[lane], b[lane]));
    return PTX_OK;
}

enum ptx_status ptx_run_convert_pack(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *a = operand_values(warp, instruction->from[0]),
                   *b = operand_values(warp, instruction->from[1]);
    const uint64_t *c = operand_values(warp, instruction->from[2]);
    uint64_t *d = result_values(warp, instruction->to[0]);
    EACH_LANE(mask, lane, d[lane] = pack_integers(instruction, a[lane], b[lane], c[lane]));
    return PTX_OK;
}

#define KEY(to, from) ((unsigned)(to) << 8 | (unsigned)(from))

#define EACH(value)                                                                                          \
    do {                                                                                                     \
        EACH_LANE(mask, lane, d[lane] = (value));                                                            \
        return true;                                                                                         \
    } while (0)

#define WIDEN(from, T)                                                                                       \
    case KEY(T_U16, from):                                                                                   \
        EACH((uint64_t)(uint16_t)(T)a[lane]);                                                                \
    case KEY(T_S16, from):                                                                                   \
        EACH((uint64_t)(int64_t)(int16_t)(T)a[lane]);                                                        \
    case KEY(T_U32, from):                                                                                   \
    case KEY(T_S32, from):                                                                                   \
        EACH((uint64_t)(uint32_t)(T)a[lane]);                                                                \
    case KEY(T_U64, from):                                                                                   \
    case KEY(T_S64, from):                                                                                   \
        EACH((uint64_t)(int64_t)(T)a[lane]);                                                                 \
    case KEY(T_F32, from):                                                                                   \
        EACH(bits_f32((float)(T)a[lane]))

#define NARROW(to, T)                                                                                        \
    case KEY(to, T_U32):                                                                                     \
    case KEY(to, T_S32):                                                                                     \
    case KEY(to, T_U64):                                                                                     \
    case KEY(to, T_S64):                                                                                     \
        EACH((uint64_t)(int64_t)(T)a[lane])

/* Conversions from and to integers of 8 and 16 bits, in loops that the compiler vectorises. Not among those
 * of lanes.h: there they made integer arithmetic 3 % slower (paired bench). */
static bool convert_narrow(const struct instruction *instruction, uint32_t mask, const uint64_t *a,
                           uint64_t *d)
{
#if defined(PTX_GENERAL) /* tests compare the two versions */
    return false;
#endif
    if (instruction->rounding > ROUND_NEAREST || (instruction->flags & ~FLAG_FLUSH) != 0)
        return false;
    switch (KEY(instruction->type, instruction->source)) {
        WIDEN(T_U8, uint8_t);
        WIDEN(T_S8, int8_t);
        WIDEN(T_U16, uint16_t);
        WIDEN(T_S16, int16_t);
        NARROW(T_U8, uint8_t);
        NARROW(T_S8, int8_t);
        NARROW(T_U16, uint16_t);
        NARROW(T_S16, int16_t);
    default:
        return false;
    }
}

enum ptx_status ptx_run_convert(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    static const int modes[] = {[ROUND_NONE] = FE_TONEAREST,  [ROUND_NEAREST] = FE_TONEAREST,
                                [ROUND_ZERO] = FE_TOWARDZERO, [ROUND_DOWN] = FE_DOWNWARD,
                                [ROUND_UP] = FE_UPWARD,       [ROUND_AWAY] = FE_TONEAREST};
    const uint64_t *a = operand_values(warp, instruction->from[0]);
    uint64_t *d = result_values(warp, instruction->to[0]);
    if (convert_narrow(instruction, mask, a, d))
        return PTX_OK;
    /* Directed rounding to f32 and f64 uses the host's rounding mode. convert() itself rounds halves and
     * integers. */
    const bool directed = instruction->rounding > ROUND_NEAREST &&
                          (instruction->flags & FLAG_INTEGER_ROUND) == 0 &&
                          (instruction->type == T_F32 || instruction->type == T_F64);
    if (directed)
        fesetround(modes[instruction->rounding]);
    EACH_LANE(mask, lane, d[lane] = convert(instruction, a[lane]));
    if (directed)
        fesetround(FE_TONEAREST);
    return PTX_OK;
}
