/* Elements of images: addresses, and conversion from and to the four words of an instruction. */
#ifndef NEUTRINO_SIM_PTX_TEXEL_H
#define NEUTRINO_SIM_PTX_TEXEL_H

#include "ptx/engine.h"
#include "ptx/image.h"

enum geometry {
    GEOMETRY_1D,
    GEOMETRY_2D,
    GEOMETRY_3D,
    GEOMETRY_LAYERS_1D,
    GEOMETRY_LAYERS_2D,
    GEOMETRY_CUBE,
    GEOMETRY_LAYERS_CUBE
};

enum level_mode { LEVEL_BASE, LEVEL_GIVEN, LEVEL_GRADIENT };

enum boundary { BOUNDARY_TRAP, BOUNDARY_CLAMP, BOUNDARY_ZERO };

/* The operands of an instruction on an image, beside the results and the values to store. */
struct image_access {
    enum geometry geometry;
    enum level_mode level_mode;
    enum boundary boundary;
    bool is_formatted;             /* sust.p, sured.p: positions in elements, not bytes */
    struct operand image;          /* the handle */
    struct operand layer;          /* OPERAND_NONE: no layers */
    struct operand coordinates[3]; /* x, y, z */
    struct operand level;
    struct operand gradients[2][3]; /* of x, y, z along two directions */
    struct operand resident;        /* predicate; OPERAND_NONE: absent */
};

/* Properties that txq and suq return. */
enum image_query {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_CHANNEL_TYPE,
    QUERY_CHANNEL_ORDER,
    QUERY_ARRAY_SIZE,
    QUERY_LEVELS,
    QUERY_NORMALIZED,
    QUERY_SAMPLES
};

/* An image that a block has used, found again by its handle. */
enum { IMAGES_KEPT = 8 };
struct kept_image {
    uint64_t handle;
    bool is_valid, is_surface;
    struct ptx_image image;
};

static inline unsigned dimensions_of(enum geometry geometry)
{
    static const unsigned char dimensions[] = {1, 2, 3, 1, 2, 3, 3};
    return dimensions[geometry];
}

static inline bool has_layer(enum geometry geometry)
{
    return geometry == GEOMETRY_LAYERS_1D || geometry == GEOMETRY_LAYERS_2D ||
           geometry == GEOMETRY_LAYERS_CUBE;
}

/* The object of a handle; NULL after a fault. */
const struct ptx_image *ptx_find_image(struct warp *warp, const struct instruction *instruction,
                                       uint64_t handle, bool is_surface, enum ptx_status *status);

/* Convert an element to words: integers, or the bits of f32. Channels that it lacks become 0, the last 1. */
void ptx_read_element(const struct ptx_image *image, const void *from, uint32_t words[4]);

/* Convert words to an element, as sust.p does. */
void ptx_write_element(const struct ptx_image *image, const uint32_t words[4], void *to);

/* The border colour, as an element of the image's format. An H200 keeps the low bits of integers. */
void ptx_read_border(const struct ptx_image *image, uint32_t words[4]);

/* The host address of `bytes` bytes of a row, beginning `offset` bytes after its begin; NULL after a fault.
 * The position is inside the level. */
void *ptx_reach_element(struct warp *warp, const struct instruction *instruction,
                        const struct ptx_image *image, const struct ptx_level *level, const uint64_t place[3],
                        unsigned bytes, enum access access, unsigned lane, enum ptx_status *status);

/* A position on a cube: the face, coordinates from 0 to 1 on it, and their derivatives. */
struct cube_place {
    unsigned face;
    double s, t;
    double gradients[2][2];
};
void ptx_place_on_cube(const double direction[3], const double gradients[2][3], struct cube_place *place);

#endif
