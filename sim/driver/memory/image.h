/* Images of the PTX engine, made from CUDA's descriptions of resources and textures. */
#ifndef NEUTRINO_SIM_IMAGE_DESCRIPTION_H
#define NEUTRINO_SIM_IMAGE_DESCRIPTION_H

#include "driver/core/api.h"
#include "driver/core/object.h"
#include "ptx/image.h"

/* An array or a mipmapped array that an image lies in. */
struct sim_image_owner {
    void *object; /* NULL: the image lies in linear memory */
    enum sim_kind kind;
};

/* Fill the memory and the format. `view` may be NULL. `as_integers`: integers are not normalized. */
CUresult sim_image_of_resource(const CUDA_RESOURCE_DESC *resource, const CUDA_RESOURCE_VIEW_DESC *view,
                               bool as_integers, struct ptx_image *image, struct sim_image_owner *owner);

/* Add how a texture reads an image that has its memory and format. */
CUresult sim_image_add_texture(const CUDA_TEXTURE_DESC *texture, struct ptx_image *image);

#endif
