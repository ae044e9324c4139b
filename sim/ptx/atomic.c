/* atom and red: run lane by lane, which gives the accesses one total order. */
#include "ptx/engine.h"
#include "ptx/number.h"

static uint64_t half_sum(enum type type, uint64_t x, uint64_t y)
{
    const uint16_t left = (uint16_t)x, right = (uint16_t)y;
    if (type == T_F16)
        return ptx_f16_bits(ptx_sum_to_odd((double)ptx_f16_value(left), (double)ptx_f16_value(right)),
                            ROUND_NEAREST);
    return ptx_bf16_bits(ptx_sum_to_odd((double)bf16_value(left), (double)bf16_value(right)), ROUND_NEAREST);
}

static uint64_t combine_float(const struct instruction *instruction, uint64_t x, uint64_t y)
{
    const bool add = instruction->variant == ATOM_ADD;
    switch (instruction->type) {
    case T_F32:
        return bits_f32(add                                ? f32_of(x) + f32_of(y)
                        : instruction->variant == ATOM_MIN ? fminf(f32_of(x), f32_of(y))
                                                           : fmaxf(f32_of(x), f32_of(y)));
    case T_F64:
        return bits_f64(f64_of(x) + f64_of(y));
    case T_F16X2:
    case T_BF16X2: {
        const enum type half = instruction->type == T_F16X2 ? T_F16 : T_BF16;
        return half_sum(half, x, y) | half_sum(half, x >> 16, y >> 16) << 16;
    }
    default:
        return half_sum((enum type)instruction->type, x, y);
    }
}

static bool is_less(enum type type, uint64_t x, uint64_t y)
{
    if (type == T_S32)
        return (int32_t)x < (int32_t)y;
    if (type == T_S64)
        return (int64_t)x < (int64_t)y;
    return ptx_type_bytes(type) == 4 ? (uint32_t)x < (uint32_t)y : x < y;
}

static uint64_t combine_atomic(const struct instruction *instruction, uint64_t old, uint64_t value,
                               uint64_t swap)
{
    const enum type type = (enum type)instruction->type;
    const bool arithmetic = instruction->variant <= ATOM_MAX;
    if (ptx_type_is_float(type) && arithmetic)
        return combine_float(instruction, old, value);
    switch (instruction->variant) {
    case ATOM_ADD:
        return old + value;
    case ATOM_MIN:
        return is_less(type, old, value) ? old : value;
    case ATOM_MAX:
        return is_less(type, old, value) ? value : old;
    case ATOM_AND:
        return old & value;
    case ATOM_OR:
        return old | value;
    case ATOM_XOR:
        return old ^ value;
    case ATOM_INC:
        return (uint32_t)old >= (uint32_t)value ? 0 : old + 1;
    case ATOM_DEC:
        return (uint32_t)old == 0 || (uint32_t)old > (uint32_t)value ? value : old - 1;
    case ATOM_EXCH:
        return value;
    default:
        return old == value ? swap : old;
    }
}

#define ATOMIC_UPDATE(T)                                                                                     \
    do {                                                                                                     \
        T old = __atomic_load_n((T *)at, __ATOMIC_SEQ_CST);                                                  \
        while (!__atomic_compare_exchange_n((T *)at, &old,                                                   \
                                            (T)combine_atomic(instruction, old, (T)value, (T)swap), false,   \
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))                             \
            ;                                                                                                \
        return old;                                                                                          \
    } while (0)

/* Operations that the host has as atomic instructions. Returns false for any other operation. */
#define ATOMIC_AT_ONCE(T)                                                                                    \
    switch (instruction->variant) {                                                                          \
    case ATOM_ADD:                                                                                           \
        *old = __atomic_fetch_add((T *)at, (T)value, __ATOMIC_SEQ_CST);                                      \
        return true;                                                                                         \
    case ATOM_AND:                                                                                           \
        *old = __atomic_fetch_and((T *)at, (T)value, __ATOMIC_SEQ_CST);                                      \
        return true;                                                                                         \
    case ATOM_OR:                                                                                            \
        *old = __atomic_fetch_or((T *)at, (T)value, __ATOMIC_SEQ_CST);                                       \
        return true;                                                                                         \
    case ATOM_XOR:                                                                                           \
        *old = __atomic_fetch_xor((T *)at, (T)value, __ATOMIC_SEQ_CST);                                      \
        return true;                                                                                         \
    case ATOM_EXCH:                                                                                          \
        *old = __atomic_exchange_n((T *)at, (T)value, __ATOMIC_SEQ_CST);                                     \
        return true;                                                                                         \
    default:                                                                                                 \
        return false;                                                                                        \
    }

static bool update_at_once(const struct instruction *instruction, void *at, uint64_t value, uint64_t *old)
{
    const unsigned bytes = ptx_type_bytes((enum type)instruction->type);
    if (ptx_type_is_float((enum type)instruction->type) || bytes < 4)
        return false;
    if (bytes == 4)
        ATOMIC_AT_ONCE(uint32_t)
    ATOMIC_AT_ONCE(uint64_t)
}

uint64_t ptx_update_atomically(const struct instruction *instruction, void *at, uint64_t value, uint64_t swap)
{
    uint64_t before;
    if (update_at_once(instruction, at, value, &before))
        return before;
    switch (ptx_type_bytes((enum type)instruction->type)) {
    case 2:
        ATOMIC_UPDATE(uint16_t);
    case 4:
        ATOMIC_UPDATE(uint32_t);
    default:
        ATOMIC_UPDATE(uint64_t);
    }
}

enum ptx_status ptx_run_atomic(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const unsigned bytes = ptx_type_bytes((enum type)instruction->type);
    const uint64_t offset = (uint64_t)instruction->offset;
    enum ptx_status status = PTX_OK;
    uint64_t addresses[LANES], values[LANES];
    struct view view;
    memcpy(addresses, operand_values(warp, instruction->from[0]), sizeof addresses);
    memcpy(values, operand_values(warp, instruction->from[1]), sizeof values);
    const uint64_t *swaps = operand_values(warp, instruction->from[2]);
    const bool reached = ptx_all_in_reach(warp, instruction, addresses, mask, bytes, ACCESS_WRITE, &view);
    EACH_LANE(mask, lane, {
        const uint64_t address = addresses[lane] + offset;
        void *at = reached ? (void *)(view.base + (address & view.mask))
                           : ptx_reach(warp, instruction, (enum space)instruction->space, address, bytes,
                                       ACCESS_WRITE, lane, &status);
        if (at == NULL)
            return status;
        const uint64_t old = ptx_update_atomically(instruction, at, values[lane], swaps[lane]);
        if (instruction->to[0].kind == OPERAND_REGISTER)
            result_values(warp, instruction->to[0])[lane] = old;
    });
    return PTX_OK;
}
