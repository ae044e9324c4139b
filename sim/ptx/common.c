/* Fast versions of common instructions, as loops over the lanes that compilers vectorise. They are an
 * optimisation only: each instruction also has a general version (integer.c, float.c ...), which runs where
 * this file has none for a type. */
#if defined(__GNUC__) && !defined(__clang__)
/* Half of a kernel's time is spent here. A square root that sets errno is not vectorised. */
#pragma GCC optimize("O3", "no-math-errno")
#endif

#include "ptx/engine.h"
#include "ptx/number.h"
#include "ptx/processor.h"

struct lanes {
    bool (*words)(const struct instruction *instruction, uint32_t mask, const uint64_t *a, const uint64_t *b,
                  const uint64_t *c, uint64_t *d);
    bool (*floats)(const struct instruction *instruction, uint32_t mask, const uint64_t *a, const uint64_t *b,
                   const uint64_t *c, uint64_t *d);
    /* Operations that floats() refuses, apart since their loops need an aligned stack. */
    bool (*rare_floats)(const struct instruction *instruction, uint32_t mask, const uint64_t *a,
                        const uint64_t *b, const uint64_t *c, uint64_t *d);
    bool (*convert)(const struct instruction *instruction, uint32_t mask, const uint64_t *a, uint64_t *d);
    bool (*compare)(const struct instruction *instruction, const uint64_t *a, const uint64_t *b,
                    uint8_t truth[LANES]);
    bool (*inside)(const uint64_t *addresses, uint32_t mask, uint64_t offset, uint64_t kept, uint64_t begin,
                   uint64_t last, uint64_t misaligned);
    bool (*is_line)(const uint64_t *addresses, unsigned bytes, bool *uniform);
    bool (*has_two_lines)(const uint64_t *addresses, unsigned bytes, bool *uniform);
    void (*load_line)(enum type type, const void *from, unsigned step, uint64_t *d);
    void (*load_half)(enum type type, const void *from, unsigned step, uint64_t *d);
    void (*store_line)(unsigned bytes, const uint64_t *values, void *to, unsigned step);
    void (*choose)(uint32_t chosen, uint32_t mask, const uint64_t *a, const uint64_t *b, uint64_t *d);
    void (*flush)(const uint64_t *from, uint32_t mask, uint64_t *to);
};

typedef uint32_t __attribute__((may_alias)) register_half;

#define F32_SIGN     UINT32_C(0x80000000)
#define F32_EXPONENT UINT32_C(0x7f800000)

/* A number wins over a NaN, and -0 is less than +0. */
static inline float smaller_f32(float x, float y)
{
    return x != x ? y : y != y ? x : x < y || (x == y && signbit(x)) ? x : y;
}

static inline float larger_f32(float x, float y)
{
    return x != x ? y : y != y ? x : x > y || (x == y && signbit(y)) ? x : y;
}

#define KEY(operation, type) ((unsigned)(operation) << 8 | (unsigned)(type))

/* Case labels of an operation that is the same for signed, unsigned and untyped operands. */
#define WORDS(operation)                                                                                     \
    KEY(operation, T_B32) : case KEY(operation, T_U32):                                                      \
    case KEY(operation, T_S32)
#define DOUBLE_WORDS(operation)                                                                              \
    KEY(operation, T_B64) : case KEY(operation, T_U64):                                                      \
    case KEY(operation, T_S64)

#define EACH(expression)                                                                                     \
    do {                                                                                                     \
        EACH_LANE(mask, lane, d[lane] = (expression));                                                       \
        return true;                                                                                         \
    } while (0)

/* As EACH, for f32 results of `function`. For all lanes the loop runs over both halves of each register,
 * which needs no shuffles, and clears the upper halves. `twice`: whether that is faster, which it is not for
 * calls of the C library. */
#define EACH_F32(twice, function)                                                                            \
    do {                                                                                                     \
        if ((twice) && mask == ALL_LANES) {                                                                  \
            const register_half *x = (const register_half *)a, *y = (const register_half *)b,                \
                                *z = (const register_half *)c;                                               \
            register_half *to = (register_half *)d;                                                          \
            LANES_APART                                                                                      \
            for (unsigned i = 0; i < 2 * LANES; i++)                                                         \
                to[i] = (uint32_t)arithmetic_f32(function(f32_of(x[i]), f32_of(y[i]), f32_of(z[i]))) &       \
                        ((i & 1) - 1);                                                                       \
            return true;                                                                                     \
        }                                                                                                    \
        EACH(arithmetic_f32(function(f32_of(a[lane]), f32_of(b[lane]), f32_of(c[lane]))));                   \
    } while (0)

#define SUM(x, y, z)        ((void)(z), (x) + (y))
#define DIFFERENCE(x, y, z) ((void)(z), (x) - (y))
#define PRODUCT(x, y, z)    ((void)(z), (x) * (y))

#define A32 (uint32_t)a[lane]
#define B32 (uint32_t)b[lane]
#define C32 (uint32_t)c[lane]

#define COMPARE(T, operator)                                                                                 \
    do {                                                                                                     \
        for (unsigned lane = 0; lane < LANES; lane++)                                                        \
            truth[lane] = (uint8_t)((T)a[lane] operator(T) b[lane]);                                         \
        return true;                                                                                         \
    } while (0)

#define TRUTH(read, expression)                                                                              \
    do {                                                                                                     \
        for (unsigned lane = 0; lane < LANES; lane++) {                                                      \
            const __typeof__(read(0)) x = read(a[lane]), y = read(b[lane]);                                  \
            truth[lane] = (uint8_t)(expression);                                                             \
        }                                                                                                    \
        return true;                                                                                         \
    } while (0)

/* Comparisons of floats: false for a NaN, except those whose names end in U. */
#define COMPARE_FLOATS(type, read)                                                                           \
    case KEY(CMP_EQ, type):                                                                                  \
        TRUTH(read, x == y);                                                                                 \
    case KEY(CMP_NE, type):                                                                                  \
        TRUTH(read, (x < y) | (x > y));                                                                      \
    case KEY(CMP_LT, type):                                                                                  \
        TRUTH(read, x < y);                                                                                  \
    case KEY(CMP_LE, type):                                                                                  \
        TRUTH(read, x <= y);                                                                                 \
    case KEY(CMP_GT, type):                                                                                  \
        TRUTH(read, x > y);                                                                                  \
    case KEY(CMP_GE, type):                                                                                  \
        TRUTH(read, x >= y);                                                                                 \
    case KEY(CMP_NEU, type):                                                                                 \
        TRUTH(read, x != y);                                                                                 \
    case KEY(CMP_LTU, type):                                                                                 \
        TRUTH(read, !(x >= y));                                                                              \
    case KEY(CMP_LEU, type):                                                                                 \
        TRUTH(read, !(x > y));                                                                               \
    case KEY(CMP_GTU, type):                                                                                 \
        TRUTH(read, !(x <= y));                                                                              \
    case KEY(CMP_GEU, type):                                                                                 \
        TRUTH(read, !(x < y))

#if defined(__FP_FAST_FMAF)
#define HAS_FMA true
#else
#define HAS_FMA false
#endif
#define PROCESSOR
#define FOR_PROCESSOR(name) name##_any
#include "ptx/lanes.h"

#if defined(__x86_64__)
#undef HAS_FMA
#define HAS_FMA             true
#define PROCESSOR           PROCESSOR_AVX2
#define FOR_PROCESSOR(name) name##_avx2
#include "ptx/lanes.h"

#define PROCESSOR           PROCESSOR_AVX512
#define FOR_PROCESSOR(name) name##_avx512
#include "ptx/lanes.h"
#endif

static inline const struct lanes *lanes(void)
{
    static const struct lanes *const all[] = PROCESSORS(lanes);
    return all[ptx_processor()];
}

/* Packs one byte per lane into one bit per lane. Compilers vectorise byte results well and bit results badly.
 */
static uint32_t gather_bits(const uint8_t truth[LANES])
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < LANES; i += 8) {
        uint64_t eight;
        memcpy(&eight, &truth[i], sizeof eight);
        bits |= (uint32_t)(eight * UINT64_C(0x0102040810204080) >> 56) << i;
    }
    return bits;
}

bool ptx_all_inside(const uint64_t *addresses, uint32_t mask, uint64_t offset, uint64_t kept, uint64_t begin,
                    uint64_t last, uint64_t misaligned)
{
    return lanes()->inside(addresses, mask, offset, kept, begin, last, misaligned);
}

bool ptx_is_line(const uint64_t *addresses, unsigned bytes, bool *uniform)
{
    return lanes()->is_line(addresses, bytes, uniform);
}

bool ptx_has_two_lines(const uint64_t *addresses, unsigned bytes, bool *uniform)
{
    return lanes()->has_two_lines(addresses, bytes, uniform);
}

void ptx_load_half(enum type type, const void *from, unsigned step, uint64_t *values)
{
    lanes()->load_half(type, from, step, values);
}

void ptx_load_line(enum type type, const void *from, unsigned step, uint64_t *values)
{
    lanes()->load_line(type, from, step, values);
}

void ptx_store_line(unsigned bytes, const uint64_t *values, void *to, unsigned step)
{
    lanes()->store_line(bytes, values, to, step);
}

void ptx_choose(uint32_t chosen, uint32_t mask, const uint64_t *a, const uint64_t *b, uint64_t *d)
{
    lanes()->choose(chosen, mask, a, b, d);
}

static inline bool run(struct warp *warp, const struct instruction *instruction, uint32_t mask,
                       const uint64_t *a, const uint64_t *b, const uint64_t *c)
{
    if (instruction->operation == OP_SETP) {
        uint8_t truth[LANES];
        if (instruction->logic != 0 || instruction->to[1].kind != OPERAND_NONE ||
            !lanes()->compare(instruction, a, b, truth))
            return false;
        set_predicate(warp, instruction->to[0], mask, gather_bits(truth));
        return true;
    }
    uint64_t *d = result_values(warp, instruction->to[0]);
    if (instruction->operation == OP_MOV)
        EACH(a[lane]);
    if (instruction->operation == OP_CVT)
        return lanes()->convert(instruction, mask, a, d);
    if (!ptx_type_is_float((enum type)instruction->type))
        return lanes()->words(instruction, mask, a, b, c, d);
    return lanes()->floats(instruction, mask, a, b, c, d) ||
           lanes()->rare_floats(instruction, mask, a, b, c, d);
}

/* f32 with .ftz: subnormal sources and results become zeros. Apart from the others, which it would slow down.
 */
__attribute__((noinline)) static bool run_flushed(struct warp *warp, const struct instruction *instruction,
                                                  uint32_t mask, const uint64_t *a, const uint64_t *b,
                                                  const uint64_t *c)
{
    const bool compares = instruction->operation == OP_SETP;
    uint64_t flushed[3][LANES];
    if (instruction->operation == OP_CVT || (compares ? instruction->source : instruction->type) != T_F32)
        return false;
    lanes()->flush(a, ALL_LANES, flushed[0]);
    lanes()->flush(b, ALL_LANES, flushed[1]);
    lanes()->flush(c, ALL_LANES, flushed[2]);
    if (!run(warp, instruction, mask, flushed[0], flushed[1], flushed[2]))
        return false;
    uint64_t *d = result_values(warp, instruction->to[0]);
    if (!compares)
        lanes()->flush(d, mask, d);
    return true;
}

bool ptx_run_common(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
#if defined(PTX_GENERAL) /* tests compare the two versions */
    return false;
#endif
    const uint64_t *a = operand_values(warp, instruction->from[0]),
                   *b = operand_values(warp, instruction->from[1]);
    const uint64_t *c = operand_values(warp, instruction->from[2]);
    if (instruction->rounding > ROUND_NEAREST)
        return false;
    if (instruction->flags == 0)
        return run(warp, instruction, mask, a, b, c);
    return instruction->flags == FLAG_FLUSH && run_flushed(warp, instruction, mask, a, b, c);
}
