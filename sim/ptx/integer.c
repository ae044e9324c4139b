/* Integer arithmetic, logic and bit operations. */
#include "ptx/engine.h"

/* Evaluates one expression for an integer type: x, y, z are the sources as T; the result is stored as U, the
 * unsigned T. */
#define TYPED(T, U, expression)                                                                              \
    EACH_LANE(mask, lane, {                                                                                  \
        const T x = (T)a[lane], y = (T)b[lane], z = (T)c[lane];                                              \
        (void)x, (void)y, (void)z;                                                                           \
        d[lane] = (U)(expression);                                                                           \
    })

#define EVERY_TYPE(expression)                                                                               \
    switch (instruction->type) {                                                                             \
    case T_B8:                                                                                               \
    case T_U8:                                                                                               \
    case T_B16:                                                                                              \
    case T_U16:                                                                                              \
        TYPED(uint16_t, uint16_t, expression);                                                               \
        break;                                                                                               \
    case T_S8:                                                                                               \
    case T_S16:                                                                                              \
        TYPED(int16_t, uint16_t, expression);                                                                \
        break;                                                                                               \
    case T_S32:                                                                                              \
        TYPED(int32_t, uint32_t, expression);                                                                \
        break;                                                                                               \
    case T_B64:                                                                                              \
    case T_U64:                                                                                              \
        TYPED(uint64_t, uint64_t, expression);                                                               \
        break;                                                                                               \
    case T_S64:                                                                                              \
        TYPED(int64_t, uint64_t, expression);                                                                \
        break;                                                                                               \
    default:                                                                                                 \
        TYPED(uint32_t, uint32_t, expression);                                                               \
        break;                                                                                               \
    }

/* Wraps like the hardware; signed overflow is undefined in C. */
#define WRAP(x) ((uint64_t)(x))

static unsigned width_of(const struct instruction *instruction)
{
    return 8 * ptx_type_bytes((enum type)instruction->type);
}

static uint64_t low_bits(uint64_t value, unsigned width)
{
    return width >= 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static int64_t sign_extend(uint64_t value, unsigned width)
{
    return width >= 64 ? (int64_t)value : (int64_t)(value << (64 - width)) >> (64 - width);
}

/* Extends a value of the instruction's type to 64 bits. */
static uint64_t widen(const struct instruction *instruction, uint64_t value)
{
    const unsigned width = width_of(instruction);
    return ptx_type_is_signed((enum type)instruction->type) ? (uint64_t)sign_extend(value, width)
                                                            : low_bits(value, width);
}

static uint64_t high_half(const struct instruction *instruction, uint64_t x, uint64_t y)
{
    const unsigned width = width_of(instruction);
    if (ptx_type_is_signed((enum type)instruction->type)) {
        const __int128 product = (__int128)sign_extend(x, width) * sign_extend(y, width);
        return low_bits((uint64_t)(product >> width), width);
    }
    const unsigned __int128 product = (unsigned __int128)low_bits(x, width) * low_bits(y, width);
    return low_bits((uint64_t)(product >> width), width);
}

static uint64_t wide_product(const struct instruction *instruction, uint64_t x, uint64_t y)
{
    return low_bits(widen(instruction, x) * widen(instruction, y), 2 * width_of(instruction));
}

static uint64_t product_24(const struct instruction *instruction, uint64_t x, uint64_t y, unsigned shift)
{
    if (ptx_type_is_signed((enum type)instruction->type))
        return (uint32_t)((sign_extend(x, 24) * sign_extend(y, 24)) >> shift);
    return (uint32_t)((low_bits(x, 24) * low_bits(y, 24)) >> shift);
}

/* A division by zero gives all ones, a remainder by zero the dividend, as on a GPU. */
static uint64_t quotient(const struct instruction *instruction, uint64_t x, uint64_t y, bool remainder)
{
    const unsigned width = width_of(instruction);
    if (low_bits(y, width) == 0)
        return remainder ? low_bits(x, width) : low_bits(UINT64_MAX, width);
    if (!ptx_type_is_signed((enum type)instruction->type)) {
        const uint64_t u = low_bits(x, width), v = low_bits(y, width);
        return remainder ? u % v : u / v;
    }
    const int64_t s = sign_extend(x, width), t = sign_extend(y, width);
    if (t == -1) /* avoids the only overflow, INT_MIN / -1 */
        return remainder ? 0 : low_bits(-(uint64_t)s, width);
    return low_bits((uint64_t)(remainder ? s % t : s / t), width);
}

static uint64_t saturated_sum(uint64_t x, int64_t y)
{
    const int64_t sum = (int32_t)x + y;
    return (uint32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

/* min.relu.s32, max.relu.s32 */
static uint64_t positive(uint64_t x, uint64_t y, bool larger)
{
    const int32_t a = (int32_t)x, b = (int32_t)y, chosen = (a > b) == larger ? a : b;
    return chosen > 0 ? (uint32_t)chosen : 0;
}

static uint64_t shift_left(uint64_t value, uint64_t amount, unsigned width)
{
    return (uint32_t)amount >= width ? 0 : low_bits(value << (uint32_t)amount, width);
}

static uint64_t shift_right(const struct instruction *instruction, uint64_t value, uint64_t amount)
{
    const unsigned width = width_of(instruction);
    const unsigned by = (uint32_t)amount < width ? (uint32_t)amount : width;
    if (ptx_type_is_signed((enum type)instruction->type))
        return low_bits((uint64_t)(sign_extend(value, width) >> (by < 64 ? by : 63)), width);
    return by >= 64 ? 0 : low_bits(value, width) >> by;
}

static uint64_t funnel(const struct instruction *instruction, uint64_t low, uint64_t high, uint64_t amount)
{
    const bool clamp = (instruction->flags & FLAG_CLAMP) != 0;
    const unsigned by = clamp ? ((uint32_t)amount < 32 ? (unsigned)amount : 32) : (unsigned)amount & 31;
    const uint64_t both = (uint32_t)low | (uint64_t)(uint32_t)high << 32;
    return (uint32_t)(instruction->operation == OP_SHF_L ? both >> (32 - by) : both >> by);
}

static uint64_t three_input_logic(uint8_t table, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t result = 0;
    for (unsigned row = 0; row < 8; row++)
        if (table >> row & 1)
            result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return (uint32_t)result;
}

static uint64_t extract_field(const struct instruction *instruction, uint64_t value, uint64_t position,
                              uint64_t length)
{
    const unsigned width = width_of(instruction), at = (uint8_t)position, count = (uint8_t)length;
    const bool is_signed = ptx_type_is_signed((enum type)instruction->type);
    if (count == 0)
        return 0;
    const unsigned last = at + count - 1 < width - 1 ? at + count - 1 : width - 1;
    const bool negative = is_signed && (value >> last & 1);
    const uint64_t field = at >= width ? 0 : low_bits(value, width) >> at;
    const unsigned kept = at >= width ? 0 : last - at + 1;
    return low_bits(negative ? low_bits(field, kept) | ~low_bits(UINT64_MAX, kept) : low_bits(field, kept),
                    width);
}

static uint64_t insert_field(const struct instruction *instruction, uint64_t from, uint64_t into,
                             uint64_t position, uint64_t length)
{
    const unsigned width = width_of(instruction), at = (uint8_t)position, count = (uint8_t)length;
    if (at >= width || count == 0)
        return low_bits(into, width);
    const uint64_t field = low_bits(UINT64_MAX, count) << at;
    return low_bits((into & ~field) | (from << at & field), width);
}

static uint64_t reverse_bits(uint64_t value, unsigned width)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < width; i++)
        result |= (value >> i & 1) << (width - 1 - i);
    return result;
}

static uint64_t find_top(const struct instruction *instruction, uint64_t value)
{
    const unsigned width = width_of(instruction);
    uint64_t bits = low_bits(value, width);
    if (ptx_type_is_signed((enum type)instruction->type) && (bits >> (width - 1) & 1))
        bits = low_bits(~bits, width);
    if (bits == 0)
        return UINT32_MAX;
    const unsigned top = 63u - (unsigned)__builtin_clzll(bits);
    return instruction->flags & FLAG_CLAMP ? width - 1 - top : top;
}

static unsigned permuted_byte(uint8_t mode, uint64_t selector, unsigned i)
{
    const unsigned s = (unsigned)selector & 3;
    switch (mode) {
    case 1: /* forward 4 extract */
        return s + i;
    case 2: /* backward */
        return (s - i) & 7;
    case 3: /* replicate 8 */
        return s;
    case 4: /* edge clamp left */
        return i > s ? i : s;
    case 5: /* edge clamp right */
        return i < s ? i : s;
    default: /* replicate 16 */
        return (s & 1) * 2 + (i & 1);
    }
}

static uint64_t permute(uint8_t mode, uint64_t a, uint64_t b, uint64_t selector)
{
    const uint64_t bytes = (uint32_t)a | (uint64_t)(uint32_t)b << 32;
    uint64_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned nibble = (unsigned)(selector >> (4 * i)) & 15;
        const unsigned from = mode == 0 ? nibble & 7 : permuted_byte(mode, selector, i);
        uint64_t byte = bytes >> (8 * from) & 255;
        if (mode == 0 && (nibble & 8))
            byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

/* add.cc, addc, madc ...: chained through the carry bit of each lane. */
static void run_carry(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *a = operand_values(warp, instruction->from[0]),
                   *b = operand_values(warp, instruction->from[1]);
    const uint64_t *c = operand_values(warp, instruction->from[2]);
    uint64_t *d = result_values(warp, instruction->to[0]);
    const unsigned width = width_of(instruction);
    const bool in = (instruction->flags & FLAG_CARRY_IN) != 0;
    const uint8_t operation = instruction->operation;
    EACH_LANE(mask, lane, {
        uint64_t x = low_bits(a[lane], width), y = low_bits(b[lane], width);
        const bool subtract = operation == OP_SUB_CARRY;
        unsigned carry = in ? warp->carry >> lane & 1 : subtract;
        if (operation == OP_MAD_CARRY_LO)
            x = low_bits(x * y, width);
        else if (operation == OP_MAD_CARRY_HI)
            x = high_half(instruction, x, y);
        if (operation == OP_MAD_CARRY_LO || operation == OP_MAD_CARRY_HI)
            y = low_bits(c[lane], width);
        /* x - y is x + ~y + 1, so that a carry means "no borrow". The ISA says that sub.cc stores the borrow,
         * but nvcc 13 reads the carry of a subc.cc by addc, in remainders of 128 bits. */
        if (subtract)
            y = low_bits(~y, width);
        const unsigned __int128 sum = (unsigned __int128)x + y + carry;
        d[lane] = low_bits((uint64_t)sum, width);
        carry = (unsigned)(sum >> width) & 1;
        if (instruction->flags & FLAG_CARRY_OUT)
            warp->carry = (warp->carry & ~(1u << lane)) | (uint32_t)carry << lane;
    });
}

#define PLAIN(expression) EACH_LANE(mask, lane, d[lane] = (expression))

enum ptx_status ptx_run_integer(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *a = operand_values(warp, instruction->from[0]),
                   *b = operand_values(warp, instruction->from[1]);
    const uint64_t *c = operand_values(warp, instruction->from[2]),
                   *e = operand_values(warp, instruction->from[3]);
    uint64_t *d = result_values(warp, instruction->to[0]);
    const bool saturate = (instruction->flags & FLAG_SATURATE) != 0;
    switch (instruction->operation) {
    case OP_ADD:
        if (saturate)
            PLAIN(saturated_sum(a[lane], (int32_t)b[lane]));
        else
            EVERY_TYPE(WRAP(x) + WRAP(y));
        break;
    case OP_SUB:
        if (saturate)
            PLAIN(saturated_sum(a[lane], -(int64_t)(int32_t)b[lane]));
        else
            EVERY_TYPE(WRAP(x) - WRAP(y));
        break;
    case OP_MUL_LO:
        EVERY_TYPE(WRAP(x) * WRAP(y));
        break;
    case OP_MAD_LO:
        EVERY_TYPE(WRAP(x) * WRAP(y) + WRAP(z));
        break;
    case OP_MUL_HI:
        PLAIN(high_half(instruction, a[lane], b[lane]));
        break;
    case OP_MAD_HI:
        if (saturate)
            PLAIN(saturated_sum(high_half(instruction, a[lane], b[lane]), (int32_t)c[lane]));
        else
            PLAIN(low_bits(high_half(instruction, a[lane], b[lane]) + c[lane], width_of(instruction)));
        break;
    case OP_MUL_WIDE:
        PLAIN(wide_product(instruction, a[lane], b[lane]));
        break;
    case OP_MAD_WIDE:
        PLAIN(low_bits(wide_product(instruction, a[lane], b[lane]) + c[lane], 2 * width_of(instruction)));
        break;
    case OP_MUL24_LO:
        PLAIN(product_24(instruction, a[lane], b[lane], 0));
        break;
    case OP_MUL24_HI:
        PLAIN(product_24(instruction, a[lane], b[lane], 16));
        break;
    case OP_MAD24_LO:
        PLAIN((uint32_t)(product_24(instruction, a[lane], b[lane], 0) + c[lane]));
        break;
    case OP_MAD24_HI:
        PLAIN((uint32_t)(product_24(instruction, a[lane], b[lane], 16) + c[lane]));
        break;
    case OP_ADD_CARRY:
    case OP_SUB_CARRY:
    case OP_MAD_CARRY_LO:
    case OP_MAD_CARRY_HI:
        run_carry(warp, instruction, mask);
        break;
    case OP_SAD:
        EVERY_TYPE(WRAP(z) + (x > y ? WRAP(x) - WRAP(y) : WRAP(y) - WRAP(x)));
        break;
    case OP_DIV:
        PLAIN(quotient(instruction, a[lane], b[lane], false));
        break;
    case OP_REM:
        PLAIN(quotient(instruction, a[lane], b[lane], true));
        break;
    case OP_ABS:
        EVERY_TYPE(x > 0 ? WRAP(x) : -WRAP(x));
        break;
    case OP_NEG:
        EVERY_TYPE(-WRAP(x));
        break;
    case OP_MIN:
        if (instruction->flags & FLAG_RELU)
            PLAIN(positive(a[lane], b[lane], false));
        else
            EVERY_TYPE(x < y ? x : y);
        break;
    case OP_MAX:
        if (instruction->flags & FLAG_RELU)
            PLAIN(positive(a[lane], b[lane], true));
        else
            EVERY_TYPE(x > y ? x : y);
        break;
    case OP_AND:
        PLAIN(a[lane] & b[lane]);
        break;
    case OP_OR:
        PLAIN(a[lane] | b[lane]);
        break;
    case OP_XOR:
        PLAIN(a[lane] ^ b[lane]);
        break;
    case OP_NOT:
        EVERY_TYPE(~WRAP(x));
        break;
    case OP_CNOT:
        EVERY_TYPE(x == 0);
        break;
    case OP_SHL:
        PLAIN(shift_left(a[lane], b[lane], width_of(instruction)));
        break;
    case OP_SHR:
        PLAIN(shift_right(instruction, a[lane], b[lane]));
        break;
    case OP_SHF_L:
    case OP_SHF_R:
        PLAIN(funnel(instruction, a[lane], b[lane], c[lane]));
        break;
    case OP_LOP3:
        PLAIN(three_input_logic(instruction->variant, a[lane], b[lane], c[lane]));
        break;
    case OP_BFE:
        PLAIN(extract_field(instruction, a[lane], b[lane], c[lane]));
        break;
    case OP_BFI:
        PLAIN(insert_field(instruction, a[lane], b[lane], c[lane], e[lane]));
        break;
    case OP_BREV:
        PLAIN(reverse_bits(a[lane], width_of(instruction)));
        break;
    case OP_CLZ:
        PLAIN(low_bits(a[lane], width_of(instruction)) == 0
                  ? width_of(instruction)
                  : (unsigned)__builtin_clzll(low_bits(a[lane], width_of(instruction))) -
                        (64 - width_of(instruction)));
        break;
    case OP_POPC:
        PLAIN((unsigned)__builtin_popcountll(low_bits(a[lane], width_of(instruction))));
        break;
    case OP_BFIND:
        PLAIN(find_top(instruction, a[lane]));
        break;
    case OP_PRMT:
        PLAIN(permute(instruction->variant, a[lane], b[lane], c[lane]));
        break;
    default:
        break;
    }
    return PTX_OK;
}
