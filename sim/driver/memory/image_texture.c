/* How a texture reads an image: addressing, filters, levels. */
#include "driver/core/message.h"
#include "driver/memory/image.h"

#include <string.h>

#define TEXTURE_FLAGS                                                                                        \
    (CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |                               \
     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP)

/* Filters that this driver lacks. The line says which, because the result does not. */
static CUresult check_filters(const CUDA_TEXTURE_DESC *texture, const struct ptx_image *image)
{
    const bool seamless = (texture->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
    if (seamless && !image->is_cube)
        return CUDA_ERROR_INVALID_VALUE;
    if (seamless && image->filters) {
        sim_print("seamless filtering of cubemaps is not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (texture->maxAnisotropy > 1 && image->level_count > 1) {
        sim_print("anisotropic filtering is not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

CUresult sim_image_add_texture(const CUDA_TEXTURE_DESC *texture, struct ptx_image *image)
{
    const bool linear_memory = image->is_linear && image->levels[0].pitch == 0;
    if ((texture->flags & ~(unsigned)TEXTURE_FLAGS) != 0 ||
        (unsigned)texture->filterMode > CU_TR_FILTER_MODE_LINEAR ||
        (unsigned)texture->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    image->has_normalized_coordinates = (texture->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    image->filters = texture->filterMode == CU_TR_FILTER_MODE_LINEAR;
    image->filters_levels = texture->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    image->is_srgb = (texture->flags & CU_TRSF_SRGB) != 0;
    image->bias = texture->mipmapLevelBias;
    image->lowest_level = texture->minMipmapLevelClamp;
    image->highest_level = texture->maxMipmapLevelClamp;
    memcpy(image->border, texture->borderColor, sizeof image->border);
    for (unsigned i = 0; i < 3; i++) {
        const CUaddress_mode mode = texture->addressMode[i];
        if ((unsigned)mode > CU_TR_ADDRESS_MODE_BORDER)
            return CUDA_ERROR_INVALID_VALUE;
        /* "wrap and mirror ... switched to clamp" without normalized coordinates */
        const bool repeats = mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR;
        image->addressing[i] =
            repeats && !image->has_normalized_coordinates ? PTX_CLAMP : (enum ptx_addressing)mode;
    }
    if (linear_memory) { /* "ignored if ... CU_RESOURCE_TYPE_LINEAR": elements by number, 0 outside */
        image->filters = image->has_normalized_coordinates = false;
        image->addressing[0] = PTX_BORDER;
        memset(image->border, 0, sizeof image->border);
    }
    if (image->filters && ptx_channel_is_integer(image->channel))
        return CUDA_ERROR_INVALID_VALUE;
    return check_filters(texture, image);
}
