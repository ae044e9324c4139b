/* Positions on the six faces of a cube. */
#include <math.h>

#include "ptx/texel.h"

/* CUDA C++ Programming Guide, "Cubemap Textures": the axis with the largest component selects the face. */
void ptx_place_on_cube(const double direction[3], const double gradients[2][3], struct cube_place *place)
{
    static const struct {
        signed char s_axis, t_axis, s_sign, t_sign;
    } faces[6] = {{2, 1, -1, -1}, {2, 1, 1, -1}, {0, 2, 1, 1}, {0, 2, 1, -1}, {0, 1, 1, -1}, {0, 1, -1, -1}};
    const double x = fabs(direction[0]), y = fabs(direction[1]), z = fabs(direction[2]);
    const unsigned major = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
    const bool negative = direction[major] < 0;
    const unsigned face = 2 * major + negative;
    const double m = fabs(direction[major]);
    const double s = faces[face].s_sign * direction[faces[face].s_axis];
    const double t = faces[face].t_sign * direction[faces[face].t_axis];
    place->face = face;
    place->s = (s / m + 1) / 2;
    place->t = (t / m + 1) / 2;
    for (unsigned i = 0; i < 2; i++) {
        const double dm = gradients[i][major] * (negative ? -1 : 1);
        const double ds = faces[face].s_sign * gradients[i][faces[face].s_axis];
        const double dt = faces[face].t_sign * gradients[i][faces[face].t_axis];
        place->gradients[i][0] = (ds * m - s * dm) / (2 * m * m);
        place->gradients[i][1] = (dt * m - t * dm) / (2 * m * m);
    }
}
