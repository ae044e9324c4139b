/* Texture and surface objects. */
#ifndef NEUTRINO_SIM_TEXTURE_H
#define NEUTRINO_SIM_TEXTURE_H

#include "ptx/image.h"

/* ptx_memory.image */
bool sim_texture_find(void *unused, uint64_t handle, bool is_surface, struct ptx_image *image);

#endif
