/* Packed integer instructions, dot products and masks. */
#include "ptx/engine.h"

static int64_t part_of(uint64_t word, unsigned at, unsigned bits, bool is_signed)
{
    const uint64_t part = word >> at & ((UINT64_C(1) << bits) - 1);
    return is_signed ? (int64_t)(part << (64 - bits)) >> (64 - bits) : (int64_t)part;
}

/* add, min and max of packed 16-bit pairs. */
static uint64_t packed(const struct instruction *instruction, uint64_t x, uint64_t y)
{
    const bool is_signed = instruction->type == T_S16X2;
    uint64_t result = 0;
    for (unsigned at = 0; at < 32; at += 16) {
        const int64_t a = part_of(x, at, 16, is_signed), b = part_of(y, at, 16, is_signed);
        int64_t value = instruction->variant == OP_ADD   ? a + b
                        : instruction->variant == OP_MIN ? (a < b ? a : b)
                                                         : (a > b ? a : b);
        if ((instruction->flags & FLAG_RELU) && value < 0)
            value = 0;
        result |= ((uint64_t)value & 0xffff) << at;
    }
    return result;
}

static int64_t video(uint8_t operation, int64_t a, int64_t b)
{
    switch (operation) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_AVERAGE:
        return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_DIFFERENCE:
        return a > b ? a - b : b - a;
    case VIDEO_MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

/* Computes each part separately and packs the results, or sums them into c. */
static uint64_t video_parts(const struct instruction *instruction, uint64_t x, uint64_t y, uint64_t c)
{
    const unsigned bits = 32u / instruction->vector;
    const bool is_signed = instruction->type == T_S32, reduce = (instruction->flags & FLAG_REDUCE) != 0;
    const int64_t most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
    uint64_t result = reduce ? c : 0;
    for (unsigned at = 0; at < 32; at += bits) {
        int64_t value = video(instruction->variant, part_of(x, at, bits, instruction->source == T_S32),
                              part_of(y, at, bits, instruction->logic == T_S32));
        if (instruction->flags & FLAG_SATURATE)
            value = value > most ? most : value < least ? least : value;
        if (reduce)
            result += (uint64_t)value;
        else
            result |= ((uint64_t)value & ((UINT64_C(1) << bits) - 1)) << at;
    }
    return (uint32_t)result;
}

static uint64_t dot_four(const struct instruction *instruction, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t sum = c;
    for (unsigned at = 0; at < 32; at += 8)
        sum += (uint64_t)(part_of(a, at, 8, instruction->type == T_S32) *
                          part_of(b, at, 8, instruction->source == T_S32));
    return (uint32_t)sum;
}

/* Multiplies the two halves of a with the lower or the upper two bytes of b. */
static uint64_t dot_two(const struct instruction *instruction, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t sum = c;
    for (unsigned i = 0; i < 2; i++)
        sum += (uint64_t)(part_of(a, 16 * i, 16, instruction->type == T_S32) *
                          part_of(b, 16 * instruction->variant + 8 * i, 8, instruction->source == T_S32));
    return (uint32_t)sum;
}

/* A mask of `width` ones from bit `position` on. */
static uint64_t bit_mask(const struct instruction *instruction, uint64_t position, uint64_t width)
{
    const bool clamp = (instruction->flags & FLAG_CLAMP) != 0;
    const uint32_t at = clamp ? (uint32_t)position : (uint32_t)position & 31;
    const uint32_t count = clamp ? (uint32_t)width : (uint32_t)width & 31;
    const uint64_t ones = count >= 32 ? UINT32_MAX : (UINT64_C(1) << count) - 1;
    return at >= 32 ? 0 : (uint32_t)(ones << at);
}

/* Sign- or zero-extends the low `width` bits. */
static uint64_t extend(const struct instruction *instruction, uint64_t value, uint64_t width)
{
    const bool clamp = (instruction->flags & FLAG_CLAMP) != 0;
    const uint32_t bits = clamp ? ((uint32_t)width < 32 ? (uint32_t)width : 32) : (uint32_t)width & 31;
    if (bits == 0)
        return 0;
    return (uint32_t)part_of((uint32_t)value, 0, bits, instruction->type == T_S32);
}

/* The position of the n-th set bit from `base` on, upwards or downwards (PTX ISA, fns). */
static uint64_t find_set(uint64_t mask, uint64_t base, uint64_t offset)
{
    const int32_t wanted = (int32_t)offset;
    int32_t found = wanted >= 0 ? 1 : -1;
    if (wanted == 0)
        return (uint32_t)base < 32 && (mask >> base & 1) ? base : UINT32_MAX;
    for (int64_t at = (uint32_t)base; at >= 0 && at < 32; at += wanted > 0 ? 1 : -1)
        if (mask >> at & 1) {
            if (found == wanted)
                return (uint64_t)at;
            found += wanted > 0 ? 1 : -1;
        }
    return UINT32_MAX;
}

enum ptx_status ptx_run_packed(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const uint64_t *a = operand_values(warp, instruction->from[0]),
                   *b = operand_values(warp, instruction->from[1]);
    const uint64_t *c = operand_values(warp, instruction->from[2]);
    uint64_t *d = result_values(warp, instruction->to[0]);
    switch (instruction->operation) {
    case OP_DP4A:
        EACH_LANE(mask, lane, d[lane] = dot_four(instruction, a[lane], b[lane], c[lane]));
        break;
    case OP_DP2A:
        EACH_LANE(mask, lane, d[lane] = dot_two(instruction, a[lane], b[lane], c[lane]));
        break;
    case OP_BMSK:
        EACH_LANE(mask, lane, d[lane] = bit_mask(instruction, a[lane], b[lane]));
        break;
    case OP_SZEXT:
        EACH_LANE(mask, lane, d[lane] = extend(instruction, a[lane], b[lane]));
        break;
    case OP_FNS:
        EACH_LANE(mask, lane, d[lane] = find_set(a[lane], b[lane], c[lane]));
        break;
    case OP_PACKED:
        EACH_LANE(mask, lane, d[lane] = packed(instruction, a[lane], b[lane]));
        break;
    case OP_VIDEO:
        EACH_LANE(mask, lane, d[lane] = video_parts(instruction, a[lane], b[lane], c[lane]));
        break;
    default: /* unreachable: the decoder refuses it */
        break;
    }
    return PTX_OK;
}
