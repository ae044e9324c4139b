/* mma, wmma, ldmatrix, stmatrix, movmatrix. */
#include <stdlib.h>
#include <string.h>

#include "ptx/matrix.h"
#include "ptx/statement.h"

struct shape {
    uint16_t m, n, k;
};

/* .m16n8k16 */
static bool take_shape(struct statement *statement, struct shape *shape)
{
    for (unsigned i = 0; i < statement->modifier_count; i++) {
        const struct token *token = statement->modifiers[i];
        uint16_t numbers[3] = {0};
        static const char letters[] = ".mnk";
        size_t at = 1;
        unsigned part = 0;
        for (; part < 3 && at < token->length && token->text[at] == letters[part + 1]; part++)
            for (at++; at < token->length && token->text[at] >= '0' && token->text[at] <= '9'; at++)
                numbers[part] =
                    (uint16_t)(numbers[part] < 1000 ? 10 * numbers[part] + (token->text[at] - '0') : 1000);
        if (part < 2 || at != token->length)
            continue;
        statement->taken |= 1u << i;
        *shape = (struct shape){numbers[0], numbers[1], numbers[2]};
        return true;
    }
    return false;
}

/* The rows and columns of a product. */
static bool is_side(unsigned length)
{
    return length == 8 || length == 16 || length == 32;
}

static struct matrices *new_matrices(struct statement *statement)
{
    struct ptx_module *module = statement->parser->module;
    struct matrices *grown =
        ptx_grow(module->matrices, module->matrix_count, &module->matrix_room, sizeof *grown);
    if (grown == NULL) {
        ptx_refuse(statement, "does not fit in memory");
        return NULL;
    }
    module->matrices = grown;
    grown[module->matrix_count] = (struct matrices){0};
    return &grown[module->matrix_count++];
}

struct place {
    unsigned row, column;
};

/* The row and column of element `e` of register `i` of a lane. */
static struct place place_of(const struct placement *placement, unsigned lane, unsigned i, unsigned e)
{
    const unsigned group = lane / 4, thread = lane % 4, halves = placement->rows / 8;
    const unsigned each = placement->each, element = i * each + e;
    switch (placement->layout) {
    case LAYOUT_A:
        return (struct place){group + 8 * (i % halves), i / halves * 4 * each + thread * each + e};
    case LAYOUT_B:
        return (struct place){i * 4 * each + thread * each + e, group};
    case LAYOUT_C:
        return (struct place){group + 8 * (element / 2), 2 * thread + element % 2};
    default: {
        const unsigned all = (unsigned)placement->rows * placement->columns;
        const unsigned at = (lane * placement->count * each + element) % all;
        return (struct place){at / placement->columns, at % placement->columns};
    }
    }
}

/* The places of a fragment's elements; NULL if out of memory. */
static const uint16_t *place_elements(struct ptx_module *module, const struct fragment *fragment,
                                      unsigned each)
{
    for (const struct placement *one = module->placements; one != NULL; one = one->next)
        if (one->rows == fragment->rows && one->columns == fragment->columns &&
            one->layout == fragment->layout && one->count == fragment->count && one->each == each)
            return one->places;
    const size_t places = (size_t)fragment->count * each * LANES;
    struct placement *made = malloc(sizeof *made + places * sizeof *made->places);
    if (made == NULL)
        return NULL;
    *made = (struct placement){module->placements, fragment->rows,  fragment->columns,
                               fragment->layout,   fragment->count, (uint8_t)each};
    for (unsigned at = 0; at < places; at++) {
        const struct place place = place_of(made, at % LANES, at / LANES / each, at / LANES % each);
        made->places[at] = (uint16_t)(place.row * fragment->columns + place.column);
    }
    module->placements = made;
    return made->places;
}

/* Reads the registers of operand `index`; their number must fit the matrix. */
static bool take_fragment(struct statement *statement, unsigned index, bool result, struct fragment *fragment)
{
    const struct written *written = &statement->operands[index];
    const unsigned bits = fragment->type == T_F64 ? 64 : 32;
    const unsigned each = bits / ptx_element_bits(fragment->type), slots = written->count * each * LANES;
    const unsigned elements = (unsigned)fragment->rows * fragment->columns;
    if (index >= statement->operand_count || written->form == FORM_ADDRESS || written->form == FORM_PAIR)
        return ptx_refuse(statement, "needs a vector of registers");
    /* A wmma fragment of halves holds each element several times. */
    if (written->count > FRAGMENT_MAX || elements == 0 || slots % elements != 0 ||
        (fragment->layout != LAYOUT_OPAQUE && slots != elements))
        return ptx_refuse(statement, "has the wrong number of registers");
    fragment->count = (uint8_t)written->count;
    fragment->places = place_elements(statement->parser->module, fragment, each);
    if (fragment->places == NULL)
        return ptx_refuse(statement, "does not fit in memory");
    for (unsigned i = 0; i < written->count; i++) {
        const enum type type = bits == 64 ? T_F64 : T_B32;
        if (result ? !ptx_write_operand(statement->parser, &written->atoms[i], false, &fragment->registers[i])
                   : !ptx_read_operand(statement->parser, &written->atoms[i], type, &fragment->registers[i]))
            return false;
    }
    return true;
}

static bool is_multiplied(enum type a, enum type b, enum type sum)
{
    const bool integers = (a == T_S8 || a == T_U8) && (b == T_S8 || b == T_U8);
    const bool nibbles = (a == T_S4 || a == T_U4) && (b == T_S4 || b == T_U4);
    const bool tiny = (a == T_E4M3 || a == T_E5M2) && (b == T_E4M3 || b == T_E5M2);
    if (integers || nibbles)
        return sum == T_S32;
    if (tiny || (a == T_F16 && b == T_F16))
        return sum == T_F32 || sum == T_F16;
    if (a == T_F64)
        return b == T_F64 && sum == T_F64;
    return a == b && (a == T_BF16 || a == T_TF32) && sum == T_F32;
}

static bool describe(struct statement *statement, struct matrices *matrices, const struct shape *shape,
                     const enum type types[4], bool opaque)
{
    if (!is_side(shape->m) || !is_side(shape->n) || shape->k > 64 ||
        !is_multiplied(types[1], types[2], types[0]) || !is_multiplied(types[1], types[2], types[3]))
        return ptx_unsupported(statement);
    matrices->d = (struct fragment){.type = types[0], .rows = shape->m, .columns = shape->n};
    matrices->a = (struct fragment){.type = types[1], .rows = shape->m, .columns = shape->k};
    matrices->b = (struct fragment){.type = types[2], .rows = shape->k, .columns = shape->n};
    matrices->c = (struct fragment){.type = types[3], .rows = shape->m, .columns = shape->n};
    matrices->a.layout = opaque ? LAYOUT_OPAQUE : LAYOUT_A;
    matrices->b.layout = opaque ? LAYOUT_OPAQUE : LAYOUT_B;
    matrices->c.layout = matrices->d.layout = opaque ? LAYOUT_OPAQUE : LAYOUT_C;
    return take_fragment(statement, 1, false, &matrices->a) &&
           take_fragment(statement, 2, false, &matrices->b) &&
           take_fragment(statement, 3, false, &matrices->c) &&
           take_fragment(statement, 0, true, &matrices->d);
}

static bool finish(struct statement *statement, enum operation operation, const struct matrices *matrices,
                   int64_t offset)
{
    const struct matrices copy = *matrices; /* emitting may reallocate the array it points into */
    struct matrices *kept = new_matrices(statement);
    struct instruction *instruction =
        kept != NULL ? ptx_begin_instruction(statement, operation, T_B32) : NULL;
    if (instruction == NULL)
        return false;
    *kept = copy;
    instruction->variant = 0;
    instruction->offset = offset;
    instruction->list = (uint32_t)(statement->parser->module->matrix_count - 1);
    return true;
}

/* mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 d, a, b, c; */
bool ptx_decode_mma(struct statement *statement, const struct row *row)
{
    struct matrices matrices = {0};
    struct shape shape;
    ptx_take(statement, ".sync");
    const bool described =
        take_shape(statement, &shape) && ptx_take(statement, ".row") && ptx_take(statement, ".col");
    matrices.saturate = ptx_take(statement, ".satfinite");
    ptx_take(statement, ".rn"); /* only f64 has a rounding word, and .rn is the only one supported */
    enum type types[4];
    for (unsigned i = 0; i < 4; i++)
        types[i] = ptx_take_any_type(statement);
    /* m8n8k4 of halves has a layout of its own (sm_70), which is not supported. */
    if (!described || statement->operand_count != 4 || shape.n != 8 || (shape.m != 8 && shape.m != 16) ||
        (shape.k == 4 && types[1] == T_F16))
        return ptx_unsupported(statement);
    return describe(statement, &matrices, &shape, types, false) &&
           finish(statement, row->operation, &matrices, 0);
}

static bool take_layout(struct statement *statement)
{
    return ptx_take_one(statement, ".row .col") == 1;
}

static bool decode_wmma_mma(struct statement *statement)
{
    struct matrices matrices = {0};
    struct shape shape;
    take_layout(statement); /* ignored: the layout of a loaded fragment does not depend on it */
    take_layout(statement);
    const bool shaped = take_shape(statement, &shape);
    matrices.saturate = ptx_take(statement, ".satfinite");
    ptx_take(statement, ".rn");
    enum type types[4];
    for (unsigned i = 0; i < 4; i++)
        types[i] = ptx_take_any_type(statement);
    if (types[2] == T_NONE) { /* .f32.f32 gives the types of d and c; a and b are halves */
        types[3] = types[1];
        types[1] = types[2] = T_F16;
    }
    if (!shaped || statement->operand_count != 4)
        return ptx_unsupported(statement);
    return describe(statement, &matrices, &shape, types, true) && finish(statement, OP_MMA, &matrices, 0);
}

/* wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {...}, [p], stride; wmma.store.d ... [p], {...}, stride;
 */
bool ptx_decode_wmma(struct statement *statement, const struct row *row)
{
    struct matrices matrices = {0};
    struct shape shape;
    (void)row;
    ptx_take(statement, ".sync");
    ptx_take(statement, ".aligned");
    if (ptx_take(statement, ".mma"))
        return decode_wmma_mma(statement);
    const bool store = ptx_take(statement, ".store");
    if (!store && !ptx_take(statement, ".load"))
        return ptx_unsupported(statement);
    const int name = ptx_take_one(statement, ".a .b .c .d");
    matrices.column_major = take_layout(statement);
    const bool shaped = take_shape(statement, &shape);
    const enum space space = ptx_take_space(statement);
    const enum type type = ptx_take_any_type(statement);
    const unsigned at = store ? 0 : 1;
    if (name < 0 || !shaped || (statement->operand_count != 2 && statement->operand_count != 3) ||
        statement->operands[at].form != FORM_ADDRESS || type == T_NONE || type == T_PRED || shape.m > 32 ||
        shape.n > 32 || shape.k > 64 || ptx_element_bits(type) < 8)
        return ptx_unsupported(statement);
    matrices.d = (struct fragment){.type = type,
                                   .layout = LAYOUT_OPAQUE,
                                   .rows = name == 1 ? shape.k : shape.m,
                                   .columns = name == 0 ? shape.k : shape.n};
    if (!take_fragment(statement, 1 - at, !store, &matrices.d) ||
        !ptx_read_operand(statement->parser, &statement->operands[at].atoms[0], T_U64, &matrices.address) ||
        (statement->operand_count == 3 && !ptx_read_source(statement, 2, T_U32, &matrices.stride)))
        return false;
    if (!finish(statement, store ? OP_MATRIX_STORE : OP_MATRIX_LOAD, &matrices,
                statement->operands[at].offset))
        return false;
    statement->parser->module->code[statement->parser->module->code_count - 1].space = (uint8_t)space;
    return true;
}

/* ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {...}, [p]; stmatrix; movmatrix d, a; */
bool ptx_decode_ldmatrix(struct statement *statement, const struct row *row)
{
    struct shape shape;
    struct operand registers[4] = {0}, address = {0};
    ptx_take(statement, ".sync");
    const bool shaped = take_shape(statement, &shape) && shape.m == 8 && shape.n == 8 && shape.k == 0;
    const bool move = row->operation == OP_MATRIX_MOVE, store = row->operation == OP_MATRIX_STORE8;
    const int number = move ? 0 : ptx_take_one(statement, ".x1 .x2 .x4");
    const bool transposed = ptx_take(statement, ".trans");
    const enum space space = ptx_take_space(statement);
    const unsigned at = store ? 0 : 1;
    if (!shaped || number < 0 || ptx_take_any_type(statement) != T_B16 || statement->operand_count != 2)
        return ptx_unsupported(statement);
    const unsigned count = 1u << number;
    const struct written *written = &statement->operands[1 - at];
    if (written->count != count || written->form == FORM_ADDRESS ||
        (statement->operands[at].form == FORM_ADDRESS) == move)
        return ptx_refuse(statement, "has the wrong number of registers");
    for (unsigned i = 0; i < count; i++)
        if (store ? !ptx_read_operand(statement->parser, &written->atoms[i], T_B32, &registers[i])
                  : !ptx_write_operand(statement->parser, &written->atoms[i], false, &registers[i]))
            return false;
    if (!ptx_read_operand(statement->parser, &statement->operands[at].atoms[0], move ? T_B32 : T_U64,
                          &address))
        return false;
    struct instruction *instruction = ptx_begin_instruction(statement, row->operation, T_B16);
    if (instruction == NULL)
        return false;
    instruction->space = (uint8_t)space;
    instruction->vector = (uint8_t)count;
    instruction->variant = transposed;
    instruction->offset = statement->operands[at].offset;
    memcpy(store ? instruction->from : instruction->to, registers, sizeof registers);
    *(store ? instruction->to : instruction->from) = address;
    return true;
}
