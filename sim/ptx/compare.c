/* setp, set, selp, slct, testp and predicate logic. */
#include "ptx/engine.h"
#include "ptx/number.h"

enum order { ORDER_LESS = 1, ORDER_EQUAL = 2, ORDER_GREATER = 4, ORDER_UNORDERED = 8 };

/* The orderings that make each comparison true. Integers are never unordered. */
static const uint8_t truths[] = {[CMP_EQ] = ORDER_EQUAL,
                                 [CMP_NE] = ORDER_LESS | ORDER_GREATER,
                                 [CMP_LT] = ORDER_LESS,
                                 [CMP_LE] = ORDER_LESS | ORDER_EQUAL,
                                 [CMP_GT] = ORDER_GREATER,
                                 [CMP_GE] = ORDER_GREATER | ORDER_EQUAL,
                                 [CMP_LO] = ORDER_LESS,
                                 [CMP_LS] = ORDER_LESS | ORDER_EQUAL,
                                 [CMP_HI] = ORDER_GREATER,
                                 [CMP_HS] = ORDER_GREATER | ORDER_EQUAL,
                                 [CMP_EQU] = ORDER_EQUAL | ORDER_UNORDERED,
                                 [CMP_NEU] = ORDER_LESS | ORDER_GREATER | ORDER_UNORDERED,
                                 [CMP_LTU] = ORDER_LESS | ORDER_UNORDERED,
                                 [CMP_LEU] = ORDER_LESS | ORDER_EQUAL | ORDER_UNORDERED,
                                 [CMP_GTU] = ORDER_GREATER | ORDER_UNORDERED,
                                 [CMP_GEU] = ORDER_GREATER | ORDER_EQUAL | ORDER_UNORDERED,
                                 [CMP_NUM] = ORDER_LESS | ORDER_EQUAL | ORDER_GREATER,
                                 [CMP_NAN] = ORDER_UNORDERED};

#define ORDER(x, y)                                                                                          \
    ((x) < (y) ? ORDER_LESS : (x) > (y) ? ORDER_GREATER : (x) == (y) ? ORDER_EQUAL : ORDER_UNORDERED)

#define COMPARE(T, read)                                                                                     \
    EACH_LANE(mask, lane, {                                                                                  \
        const T x = read(a[lane]), y = read(b[lane]);                                                        \
        result |= (uint32_t)((truth & ORDER(x, y)) != 0) << lane;                                            \
    })

#define AS_U16(x)     ((uint16_t)(x))
#define AS_S16(x)     ((int16_t)(x))
#define AS_U32(x)     ((uint32_t)(x))
#define AS_S32(x)     ((int32_t)(x))
#define AS_U64(x)     (x)
#define AS_S64(x)     ((int64_t)(x))
#define AS_F16(x)     ptx_f16_value((uint16_t)(x))
#define AS_BF16(x)    bf16_value((uint16_t)(x))
#define AS_FLUSHED(x) flush_f32(f32_of(x))

static uint32_t compare(const struct instruction *instruction, uint32_t mask, const uint64_t *a,
                        const uint64_t *b)
{
    const uint8_t truth = truths[instruction->variant];
    uint32_t result = 0;
    switch (instruction->source) {
    case T_S8:
    case T_S16:
        COMPARE(int16_t, AS_S16);
        break;
    case T_B8:
    case T_U8:
    case T_B16:
    case T_U16:
        COMPARE(uint16_t, AS_U16);
        break;
    case T_S32:
        COMPARE(int32_t, AS_S32);
        break;
    case T_S64:
        COMPARE(int64_t, AS_S64);
        break;
    case T_B64:
    case T_U64:
        COMPARE(uint64_t, AS_U64);
        break;
    case T_F16:
        COMPARE(float, AS_F16);
        break;
    case T_BF16:
        COMPARE(float, AS_BF16);
        break;
    case T_F64:
        COMPARE(double, f64_of);
        break;
    case T_F32:
        if (instruction->flags & FLAG_FLUSH)
            COMPARE(float, AS_FLUSHED);
        else
            COMPARE(float, f32_of);
        break;
    default:
        COMPARE(uint32_t, AS_U32);
        break;
    }
    return result;
}

/* Compares one half of packed pairs; `half` 1 is the upper one. */
static uint32_t compare_half(const struct instruction *instruction, uint32_t mask, const uint64_t *a,
                             const uint64_t *b, unsigned half)
{
    const uint8_t truth = truths[instruction->variant];
    uint32_t result = 0;
    EACH_LANE(mask, lane, {
        const uint16_t left = (uint16_t)(a[lane] >> (16 * half)), right = (uint16_t)(b[lane] >> (16 * half));
        const bool brain = instruction->source == T_BF16X2;
        const float x = brain ? bf16_value(left) : ptx_f16_value(left);
        const float y = brain ? bf16_value(right) : ptx_f16_value(right);
        result |= (uint32_t)((truth & ORDER(x, y)) != 0) << lane;
    });
    return result;
}

/* The value that set writes for true; for packed types, of one half. */
static uint64_t yes_of(enum type type, bool pair)
{
    switch (type) {
    case T_F32:
        return bits_f32(1.0f);
    case T_F16:
    case T_F16X2:
        return 0x3c00;
    case T_BF16:
    case T_BF16X2:
        return 0x3f80;
    default:
        return pair || ptx_type_bytes(type) == 2 ? UINT16_MAX : UINT32_MAX;
    }
}

static uint32_t combine(uint8_t logic, uint32_t x, uint32_t y)
{
    return logic == OP_AND ? x & y : logic == OP_OR ? x | y : logic == OP_XOR ? x ^ y : x;
}

static bool is_of_class(enum type type, uint8_t class, uint64_t bits)
{
    const int kind = type == T_F64 ? fpclassify(f64_of(bits)) : fpclassify(f32_of(bits));
    switch (class) {
    case FLOAT_FINITE:
        return kind != FP_NAN && kind != FP_INFINITE;
    case FLOAT_INFINITE:
        return kind == FP_INFINITE;
    case FLOAT_NUMBER:
        return kind != FP_NAN;
    case FLOAT_NAN:
        return kind == FP_NAN;
    case FLOAT_NORMAL:
        return kind == FP_NORMAL;
    default:
        return kind == FP_SUBNORMAL;
    }
}

enum ptx_status ptx_run_select(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *a = operand_values(warp, instruction->from[0]),
                   *b = operand_values(warp, instruction->from[1]);
    uint64_t *d = result_values(warp, instruction->to[0]);
    uint32_t chosen = 0;
    if (instruction->operation == OP_SELP) {
        chosen = predicate_mask(warp, instruction->from[2]);
    } else {
        const uint64_t *c = operand_values(warp, instruction->from[2]);
        EACH_LANE(mask, lane, {
            const bool positive = instruction->source == T_F32 ? f32_of(c[lane]) >= 0 : (int32_t)c[lane] >= 0;
            chosen |= (uint32_t)positive << lane;
        });
    }
    ptx_choose(chosen, mask, a, b, d);
    return PTX_OK;
}

enum ptx_status ptx_run_predicate_move(struct warp *warp, const struct instruction *instruction,
                                       uint32_t mask)
{
    const bool literal = instruction->from[0].kind == OPERAND_CONSTANT;
    const uint32_t values = !literal                   ? predicate_mask(warp, instruction->from[0])
                            : instruction->offset != 0 ? ALL_LANES
                                                       : 0;
    set_predicate(warp, instruction->to[0], mask, values);
    return PTX_OK;
}

enum ptx_status ptx_run_predicate_logic(struct warp *warp, const struct instruction *instruction,
                                        uint32_t mask)
{
    const uint32_t x = predicate_mask(warp, instruction->from[0]);
    const bool one = instruction->variant == OP_NOT || instruction->variant == OP_CNOT;
    const uint32_t y = one ? 0 : predicate_mask(warp, instruction->from[1]);
    set_predicate(warp, instruction->to[0], mask, one ? ~x : combine(instruction->variant, x, y));
    return PTX_OK;
}

enum ptx_status ptx_run_test(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *a = operand_values(warp, instruction->from[0]);
    uint32_t result = 0;
    EACH_LANE(mask, lane,
              result |= (uint32_t)is_of_class((enum type)instruction->type, instruction->variant, a[lane])
                        << lane);
    set_predicate(warp, instruction->to[0], mask, result);
    return PTX_OK;
}

enum ptx_status ptx_run_compare(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *a = operand_values(warp, instruction->from[0]);
    const uint64_t *b = operand_values(warp, instruction->from[1]);
    const bool pair = instruction->source == T_F16X2 || instruction->source == T_BF16X2;
    const uint32_t truth = pair ? compare_half(instruction, mask, a, b, 0) : compare(instruction, mask, a, b);
    const uint32_t upper = pair ? compare_half(instruction, mask, a, b, 1) : ~truth;
    const uint32_t third = instruction->logic != 0 ? predicate_mask(warp, instruction->from[2]) : 0;
    const uint32_t result = combine(instruction->logic, truth, third);
    const uint32_t second = combine(instruction->logic, upper, third);
    if (instruction->operation == OP_SET) {
        uint64_t *d = result_values(warp, instruction->to[0]);
        const uint64_t yes = yes_of((enum type)instruction->type, pair);
        EACH_LANE(mask, lane, {
            d[lane] = result >> lane & 1 ? yes : 0;
            if (pair)
                d[lane] |= (second >> lane & 1 ? yes : 0) << 16;
        });
        return PTX_OK;
    }
    set_predicate(warp, instruction->to[0], mask, result);
    if (instruction->to[1].kind == OPERAND_PREDICATE)
        set_predicate(warp, instruction->to[1], mask, second);
    return PTX_OK;
}
