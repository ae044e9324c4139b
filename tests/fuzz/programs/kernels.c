/* Target: the readers of an image's size and of kernel parameters. */
#include "core/image/code_object.h"
#include "core/image/image.h"
#include "core/image/layout.h"
#include "core/image/unpack.h"
#include "target.h"

const enum style target_style = STYLE_BINARY;
const char *const target_outcomes[OUTCOMES] = {"nothing", "size", "kernel", "size and kernel"};

static const char *const names[] = {"saxpy", "mixed", "sized", "_Z7spilledIfEvPT_i"};

/* Load the decompression libraries before allocations are counted. */
__attribute__((constructor)) static void load_libraries(void)
{
    char byte = 0;
    (void)nb_unpack_zstd(&byte, 1, &byte, 1);
    (void)nb_unpack_zlib(&byte, 1, &byte, 1);
}

unsigned target_take(const unsigned char *bytes, size_t size)
{
    static struct nb_parameter layout[NB_LAYOUT_MAX];
    const char *name = names[size % 4];
    const struct nb_extent extent = nb_image_measure(bytes, size, 0);
    if (extent.bytes > size)
        finding("%llu bytes of %zu", (unsigned long long)extent.bytes, size);
    if ((extent.bytes == 0) != (extent.problem[0] != 0))
        finding("a size and a problem, or neither");
    const int count = nb_layout_from_code_object(bytes, size, name, layout);
    if (count > (int)NB_LAYOUT_MAX || count < -1)
        finding("%d parameters", count);
    const struct nb_extent elf = nb_image_elf(bytes, size);
    if (elf.start != NULL)
        (void)nb_layout_from_elf(elf.start, elf.bytes, name, layout);
    return (extent.bytes != 0 ? 1u : 0u) + (count >= 0 ? 2u : 0u);
}
