/* What an image says of its size, of its first kernel's parameters, and of the code for a device. */
#include "code_object.h"
#include "image.h"
#include "layout.h"
#include "target.h"
#include "unpack.h"

const enum style target_style = STYLE_BINARY;
const char *const target_outcomes[OUTCOMES] = {"nothing", "size", "kernel", "size and kernel"};

static const char *const names[] = {"saxpy", "mixed", "sized", "_Z7spilledIfEvPT_i"};

/* The libraries that decompress are opened once: before anybody counts. */
__attribute__((constructor)) static void load_libraries(void)
{
    char byte = 0;
    (void)nb_unpack_zstd(&byte, 1, &byte, 1);
    (void)nb_unpack_zlib(&byte, 1, &byte, 1);
}

static bool take_kernel(const unsigned char *bytes, size_t size, const char *name)
{
    static struct nb_parameter layout[NB_LAYOUT_MAX];
    static const char *const targets[] = {NULL, "gfx90a:sramecc+:xnack-", "gfx1100", ""};
    struct nb_code_object object;
    struct nb_code_object_kernel facts;
    const char *problem = nb_code_object_open(bytes, size, targets[size / 4 % 4], &object);
    if (problem == NULL) {
        problem = nb_code_object_kernel(&object, name, &facts, layout);
        nb_code_object_close(&object);
    }
    if (problem != NULL && problem[0] == 0)
        finding("refused without a reason");
    for (uint32_t i = 0; problem == NULL && i < facts.parameter_count; i++)
        if ((uint64_t)layout[i].offset + layout[i].size > facts.segment_bytes)
            finding("a parameter that ends outside");
    return problem == NULL;
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
    return (extent.bytes != 0 ? 1u : 0u) + (take_kernel(bytes, size, name) ? 2u : 0u);
}
