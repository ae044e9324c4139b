/* Floating-point arithmetic. Compiled with -ffp-contract=off: only PTX's fma is fused. */
#include <fenv.h>

#include "ptx/engine.h"
#include "ptx/number.h"

/* min and max: with .NaN a NaN is propagated, else the number wins; -0 is less than +0. */
static double smaller(double x, double y, bool propagate)
{
    if (isnan(x) || isnan(y))
        return propagate || (isnan(x) && isnan(y)) ? (double)NAN : isnan(x) ? y : x;
    return x < y || (x == y && signbit(x)) ? x : y;
}

static double larger(double x, double y, bool propagate)
{
    if (isnan(x) || isnan(y))
        return propagate || (isnan(x) && isnan(y)) ? (double)NAN : isnan(x) ? y : x;
    return x > y || (x == y && signbit(y)) ? x : y;
}

/* min.xorsign.abs: of the absolute values, with the sign of the product. */
static double of_sizes(const struct instruction *instruction, double x, double y, bool propagate)
{
    const double a = fabs(x), b = fabs(y);
    const double size = instruction->operation == OP_MIN ? smaller(a, b, propagate) : larger(a, b, propagate);
    return signbit(x) != signbit(y) ? -size : size;
}

static float apply_f32(const struct instruction *instruction, float x, float y, float z)
{
    const bool propagate = (instruction->flags & FLAG_PROPAGATE_NAN) != 0;
    if (instruction->flags & FLAG_XOR_SIGN)
        return (float)of_sizes(instruction, (double)x, (double)y, propagate);
    switch (instruction->operation) {
    case OP_ADD:
        return x + y;
    case OP_SUB:
        return x - y;
    case OP_MUL_LO:
        return x * y;
    case OP_FMA:
        return fmaf(x, y, z);
    case OP_DIV:
        return x / y;
    case OP_ABS:
        return fabsf(x);
    case OP_NEG:
        return -x;
    case OP_MIN:
        return (float)smaller((double)x, (double)y, propagate);
    case OP_MAX:
        return (float)larger((double)x, (double)y, propagate);
    case OP_SQRT:
        return sqrtf(x);
    case OP_RSQRT:
        return (float)(1.0 / sqrt((double)x));
    case OP_RCP:
        return 1.0f / x;
    case OP_EX2:
        return exp2f(x);
    case OP_LG2:
        return log2f(x);
    case OP_SIN:
        return sinf(x);
    case OP_COS:
        return cosf(x);
    case OP_TANH:
        return tanhf(x);
    default: /* copysign: the sign of x, the magnitude of y */
        return copysignf(y, x);
    }
}

static double apply_f64(const struct instruction *instruction, double x, double y, double z)
{
    switch (instruction->operation) {
    case OP_ADD:
        return x + y;
    case OP_SUB:
        return x - y;
    case OP_MUL_LO:
        return x * y;
    case OP_FMA:
        return fma(x, y, z);
    case OP_DIV:
        return x / y;
    case OP_ABS:
        return fabs(x);
    case OP_NEG:
        return -x;
    case OP_MIN:
        return smaller(x, y, false);
    case OP_MAX:
        return larger(x, y, false);
    case OP_SQRT:
        return sqrt(x);
    case OP_RSQRT:
        return 1.0 / sqrt(x);
    case OP_RCP:
        return 1.0 / x;
    default:
        return copysign(y, x);
    }
}

/* f16 and bf16: computed in double and rounded once. Products are exact in double; sums are rounded to odd.
 */
static uint16_t apply_half(const struct instruction *instruction, uint16_t x, uint16_t y, uint16_t z,
                           bool brain)
{
    const double a = (double)(brain ? bf16_value(x) : ptx_f16_value(x)),
                 b = (double)(brain ? bf16_value(y) : ptx_f16_value(y));
    const double c = (double)(brain ? bf16_value(z) : ptx_f16_value(z));
    double value;
    switch (instruction->operation) {
    case OP_ABS:
        return x & 0x7fff;
    case OP_NEG:
        return x ^ 0x8000;
    case OP_MIN:
    case OP_MAX: {
        const bool propagate = (instruction->flags & FLAG_PROPAGATE_NAN) != 0;
        value = instruction->flags & FLAG_XOR_SIGN ? of_sizes(instruction, a, b, propagate)
                : instruction->operation == OP_MIN ? smaller(a, b, propagate)
                                                   : larger(a, b, propagate);
        break;
    }
    case OP_ADD:
        value = ptx_sum_to_odd(a, b);
        break;
    case OP_SUB:
        value = ptx_sum_to_odd(a, -b);
        break;
    case OP_FMA:
        value = ptx_sum_to_odd(a * b, c);
        break;
    case OP_EX2:
        value = exp2(a);
        break;
    case OP_TANH:
        value = tanh(a);
        break;
    default:
        value = apply_f64(instruction, a, b, c);
        break;
    }
    if (instruction->flags & FLAG_SATURATE)
        value = !(value > 0) ? 0 : value > 1 ? 1 : value;
    if ((instruction->flags & FLAG_RELU) && value <= 0)
        value = 0; /* a NaN is unchanged */
    return brain ? ptx_bf16_bits(value, ROUND_NEAREST) : ptx_f16_bits(value, ROUND_NEAREST);
}

static void set_rounding(uint8_t rounding)
{
    static const int modes[] = {[ROUND_NONE] = FE_TONEAREST,  [ROUND_NEAREST] = FE_TONEAREST,
                                [ROUND_ZERO] = FE_TOWARDZERO, [ROUND_DOWN] = FE_DOWNWARD,
                                [ROUND_UP] = FE_UPWARD,       [ROUND_AWAY] = FE_TONEAREST};
    fesetround(modes[rounding]);
}

static void run_f32(const struct instruction *instruction, uint32_t mask, const uint64_t *a,
                    const uint64_t *b, const uint64_t *c, uint64_t *d)
{
    const bool flush = (instruction->flags & FLAG_FLUSH) != 0,
               saturate = (instruction->flags & FLAG_SATURATE) != 0;
    EACH_LANE(mask, lane, {
        float x = f32_of(a[lane]), y = f32_of(b[lane]), z = f32_of(c[lane]);
        if (flush)
            x = flush_f32(x), y = flush_f32(y), z = flush_f32(z);
        float value = apply_f32(instruction, x, y, z);
        if (flush)
            value = flush_f32(value);
        if (saturate)
            value = !(value > 0) ? 0.0f : value > 1 ? 1.0f : value;
        const bool only_sign = instruction->operation == OP_NEG || instruction->operation == OP_ABS ||
                               instruction->operation == OP_COPYSIGN;
        d[lane] = only_sign ? bits_f32(value) : arithmetic_f32(value);
    });
}

enum ptx_status ptx_run_float(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *a = operand_values(warp, instruction->from[0]),
                   *b = operand_values(warp, instruction->from[1]);
    const uint64_t *c = operand_values(warp, instruction->from[2]);
    uint64_t *d = result_values(warp, instruction->to[0]);
    const bool directed = instruction->rounding > ROUND_NEAREST;
    if (directed)
        set_rounding(instruction->rounding);
    switch (instruction->type) {
    case T_F64:
        EACH_LANE(mask, lane,
                  d[lane] =
                      bits_f64(apply_f64(instruction, f64_of(a[lane]), f64_of(b[lane]), f64_of(c[lane]))));
        break;
    case T_F16:
    case T_BF16:
        EACH_LANE(mask, lane,
                  d[lane] = apply_half(instruction, (uint16_t)a[lane], (uint16_t)b[lane], (uint16_t)c[lane],
                                       instruction->type == T_BF16));
        break;
    case T_F16X2:
    case T_BF16X2:
        EACH_LANE(mask, lane, {
            const bool brain = instruction->type == T_BF16X2;
            const uint32_t low =
                apply_half(instruction, (uint16_t)a[lane], (uint16_t)b[lane], (uint16_t)c[lane], brain);
            const uint32_t high = apply_half(instruction, (uint16_t)(a[lane] >> 16),
                                             (uint16_t)(b[lane] >> 16), (uint16_t)(c[lane] >> 16), brain);
            d[lane] = low | high << 16;
        });
        break;
    default:
        run_f32(instruction, mask, a, b, c, d);
        break;
    }
    if (directed)
        set_rounding(ROUND_NEAREST);
    return PTX_OK;
}
