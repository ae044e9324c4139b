/* Texture and surface objects. */
#ifndef NEUTRINO_SIM_TEXTURE_H
#define NEUTRINO_SIM_TEXTURE_H

#include "driver/core/api.h"

struct sim_context;

/* Destroy all texture and surface objects of a context. */
void sim_texture_free_context(struct sim_context *context);

#endif
