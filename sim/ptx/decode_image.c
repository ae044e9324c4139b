/* Decode instructions on textures and surfaces. Their handles are 64-bit numbers that texture and surface
 * objects have in registers (PTX ISA, "Texture, Sampler and Surface Types": indirect access, unified mode).
 */
#include <string.h>

#include "ptx/statement.h"
#include "ptx/texel.h"

static bool take_geometry(struct statement *statement, struct image_access *access)
{
    const int geometry = ptx_take_one(statement, ".1d .2d .3d .a1d .a2d .cube .acube");
    access->geometry = geometry < 0 ? GEOMETRY_1D : (enum geometry)geometry;
    return geometry >= 0;
}

/* Number of elements of the coordinate vector: a vector of three is padded to four. */
static unsigned coordinate_count(enum geometry geometry)
{
    const unsigned count = dimensions_of(geometry) + has_layer(geometry);
    return count == 3 ? 4 : count;
}

/* Reads [a, {layer, x, y, z}]. */
static bool read_place(struct statement *statement, unsigned index, enum type type,
                       struct image_access *access)
{
    const struct written *written = &statement->operands[index];
    const struct atom *coordinate = &written->atoms[1];
    if (index >= statement->operand_count || written->form != FORM_IMAGE || written->offset != 0)
        return ptx_refuse(statement, "needs an object and coordinates; separate samplers are not supported");
    if (written->count != 1 + coordinate_count(access->geometry))
        return ptx_refuse(statement, "has the wrong number of coordinates");
    if (!ptx_read_operand(statement->parser, &written->atoms[0], T_U64, &access->image) ||
        (has_layer(access->geometry) &&
         !ptx_read_operand(statement->parser, coordinate++, T_U32, &access->layer)))
        return false;
    for (unsigned i = 0; i < dimensions_of(access->geometry); i++)
        if (!ptx_read_operand(statement->parser, coordinate++, type, &access->coordinates[i]))
            return false;
    return true;
}

/* Reads {x, y, z} of a gradient, or x alone. */
static bool read_gradient(struct statement *statement, unsigned index, enum geometry geometry,
                          struct operand gradient[3])
{
    const struct written *written = &statement->operands[index];
    const unsigned count = dimensions_of(geometry);
    if ((written->form != FORM_VECTOR && (written->form != FORM_PLAIN || count != 1)) ||
        written->count != (count == 3 ? 4 : count))
        return ptx_refuse(statement, "has a gradient with the wrong number of elements");
    for (unsigned i = 0; i < count; i++)
        if (!ptx_read_operand(statement->parser, &written->atoms[i], T_F32, &gradient[i]))
            return false;
    return true;
}

/* Reads the result vector {r, g, b, a}, or {r, g, b, a}|p. */
static bool read_results(struct statement *statement, unsigned count, struct operand to[4],
                         struct operand *resident)
{
    const struct written *written = &statement->operands[0];
    const bool pair = written->form == FORM_VECTOR_PAIR;
    if (written->count != count + pair ||
        (!pair && written->form != FORM_VECTOR && (written->form != FORM_PLAIN || count != 1)))
        return ptx_refuse(statement, "has the wrong number of results");
    for (unsigned i = 0; i < count; i++)
        if (!ptx_write_operand(statement->parser, &written->atoms[i], false, &to[i]))
            return false;
    return !pair || ptx_write_operand(statement->parser, &written->atoms[count], true, resident);
}

static struct instruction *emit_access(struct statement *statement, enum operation operation, enum type type,
                                       const struct image_access *access)
{
    struct ptx_module *module = statement->parser->module;
    struct image_access *accesses =
        ptx_grow(module->accesses, module->access_count, &module->access_room, sizeof *accesses);
    struct instruction *instruction =
        accesses != NULL ? ptx_begin_instruction(statement, operation, type) : NULL;
    if (accesses != NULL)
        module->accesses = accesses;
    if (instruction == NULL) {
        ptx_fail_memory(statement->parser);
        return NULL;
    }
    instruction->list = (uint32_t)module->access_count;
    accesses[module->access_count++] = *access;
    return instruction;
}

static bool is_word(enum type type)
{
    return type == T_U32 || type == T_S32 || type == T_F32 || type == T_B32;
}

/* tex.2d.v4.f32.f32 {r, g, b, a}, [a, {x, y}]; tex.level.2d... , lod; tex.grad.2d... , {dx, dy}, {ex, ey};
 * tld4.r.2d.v4.f32.f32 {...}, [a, {x, y}]; */
bool ptx_decode_texture(struct statement *statement, const struct row *row)
{
    const bool gather = row->operation == OP_TEXTURE_GATHER;
    struct image_access access = {0};
    struct operand to[4] = {0};
    const int channel = gather ? ptx_take_one(statement, ".r .g .b .a") : 0;
    const int mode = gather ? 0 : ptx_take_one(statement, ".base .level .grad");
    access.level_mode = mode < 0 ? LEVEL_BASE : (enum level_mode)mode;
    if (channel < 0 || !take_geometry(statement, &access) || !ptx_take(statement, ".v4"))
        return ptx_unsupported(statement);
    const enum type type = ptx_take_type(statement), place = ptx_take_type(statement);
    const bool whole = place == T_S32;
    const bool flat = access.geometry == GEOMETRY_2D || access.geometry == GEOMETRY_LAYERS_2D ||
                      access.geometry == GEOMETRY_CUBE || access.geometry == GEOMETRY_LAYERS_CUBE;
    const bool cube = access.geometry == GEOMETRY_CUBE || access.geometry == GEOMETRY_LAYERS_CUBE;
    if (!is_word(type) || (!whole && place != T_F32) || (gather && (whole || !flat)) ||
        (whole && (access.level_mode != LEVEL_BASE || cube)))
        return ptx_unsupported(statement);
    if (statement->operand_count != 2 + (unsigned)access.level_mode)
        return ptx_refuse(statement, "has operands that are not supported (offsets, depth comparison)");
    if (!read_place(statement, 1, place, &access) ||
        (access.level_mode == LEVEL_GIVEN && !ptx_read_source(statement, 2, T_F32, &access.level)) ||
        (access.level_mode == LEVEL_GRADIENT &&
         (!read_gradient(statement, 2, access.geometry, access.gradients[0]) ||
          !read_gradient(statement, 3, access.geometry, access.gradients[1]))) ||
        !read_results(statement, 4, to, &access.resident))
        return false;
    struct instruction *instruction = emit_access(statement, row->operation, type, &access);
    if (instruction == NULL)
        return false;
    instruction->source = (uint8_t)place;
    instruction->variant = (uint8_t)channel;
    memcpy(instruction->to, to, sizeof to);
    return true;
}

/* suld.b.2d.v4.b8.trap {...}, [a, {x, y}]; sust.b..., sust.p.2d.v4.b32.trap [a, {x, y}], {...};
 * sured.b.add.2d.u32.trap [a, {x, y}], c; */
bool ptx_decode_surface(struct statement *statement, const struct row *row)
{
    const bool load = row->operation == OP_SURFACE_LOAD, reduce = row->operation == OP_SURFACE_REDUCE;
    struct image_access access = {.is_formatted = ptx_take(statement, ".p")};
    struct operand values[4] = {0}, none;
    if ((!access.is_formatted && !ptx_take(statement, ".b")) || (load && access.is_formatted))
        return ptx_unsupported(statement);
    const int operation = reduce ? ptx_take_one(statement, ".add .min .max .and .or") : 0;
    ptx_take_hints(statement);
    const int boundary = ptx_take_one(statement, ".trap .clamp .zero");
    const unsigned count = ptx_take(statement, ".v4") ? 4 : ptx_take(statement, ".v2") ? 2 : 1;
    if (operation < 0 || !take_geometry(statement, &access) || access.geometry >= GEOMETRY_CUBE)
        return ptx_unsupported(statement);
    access.boundary = boundary < 0 ? BOUNDARY_TRAP : (enum boundary)boundary;
    const enum type type = ptx_take_type(statement);
    const bool whole = type >= T_B8 && type <= T_B64;
    const bool reducible = type == T_U32 || type == T_S32 || type == T_B32 || type == T_U64 || type == T_S64;
    if (reduce ? count != 1 || !(access.is_formatted ? type == T_B32 || is_word(type) : reducible)
        : access.is_formatted ? !is_word(type)
                              : !whole || ptx_type_bytes(type) * count > 16)
        return ptx_unsupported(statement);
    const unsigned at = load ? 1 : 0;
    if (statement->operand_count != 2)
        return ptx_refuse(statement, "needs an object with coordinates, and values");
    if (!read_place(statement, at, T_S32, &access))
        return false;
    const struct written *written = &statement->operands[1 - at];
    if (load && !read_results(statement, count, values, &none))
        return false;
    if (!load && (written->count != count ||
                  (written->form != FORM_VECTOR && (written->form != FORM_PLAIN || count != 1))))
        return ptx_refuse(statement, "has the wrong number of values");
    for (unsigned i = 0; !load && i < count; i++)
        if (!ptx_read_operand(statement->parser, &written->atoms[i], type, &values[i]))
            return false;
    struct instruction *instruction = emit_access(statement, row->operation, type, &access);
    if (instruction == NULL)
        return false;
    instruction->vector = (uint8_t)count;
    instruction->variant = (uint8_t)operation; /* ATOM_ADD to ATOM_OR */
    memcpy(load ? instruction->to : instruction->from, values, sizeof values);
    return true;
}

/* txq.width.b32 d, [a]; txq.level.width.b32 d, [a], lod; suq.width.b32 d, [a]; istypep.texref p, a; */
bool ptx_decode_image_query(struct statement *statement, const struct row *row)
{
    const bool test = row->operation == OP_IMAGE_TEST;
    const int kind =
        test ? ptx_take_one(statement, ".texref .surfref .samplerref") : ptx_token_is(statement->base, "suq");
    const bool level = !test && kind == 0 && ptx_take(statement, ".level");
    const int query =
        test ? 0
             : ptx_take_one(statement, level ? ".width .height .depth"
                                             : ".width .height .depth .channel_data_type .channel_order "
                                               ".array_size .num_mipmap_levels .normalized_coords "
                                               ".num_samples");
    struct image_access access = {.level_mode = level ? LEVEL_GIVEN : LEVEL_BASE};
    struct operand to = {0};
    if (kind < 0 || query < 0 || (!test && ptx_take_type(statement) != T_B32) ||
        (kind == 1 && query >= QUERY_LEVELS) || statement->operand_count != 2 + (unsigned)level ||
        (!test && statement->operands[1].form != FORM_ADDRESS) || statement->operands[1].offset != 0)
        return ptx_unsupported(statement);
    if ((test ? !ptx_read_source(statement, 1, T_U64, &access.image)
              : !ptx_read_operand(statement->parser, &statement->operands[1].atoms[0], T_U64,
                                  &access.image)) ||
        (level && !ptx_read_source(statement, 2, T_U32, &access.level)) ||
        !ptx_read_result(statement, 0, test, &to))
        return false;
    struct instruction *instruction = emit_access(statement, row->operation, test ? T_PRED : T_B32, &access);
    if (instruction == NULL)
        return false;
    instruction->variant = (uint8_t)query;
    instruction->logic = (uint8_t)kind;
    instruction->to[0] = to;
    return true;
}
