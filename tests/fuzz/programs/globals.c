/* Target: the reader of an image's globals. Names are terminated and within bounds. */
#include "core/image/image_globals.h"

#include "core/image/unpack.h"
#include "target.h"

const enum style target_style = STYLE_BINARY;
const char *const target_outcomes[OUTCOMES] = {"nothing", "names", "refused", "refused after names"};

/* Load the decompression libraries before allocations are counted. */
__attribute__((constructor)) static void load_libraries(void)
{
    char byte = 0;
    (void)nb_unpack_zstd(&byte, 1, &byte, 1);
    (void)nb_unpack_zlib(&byte, 1, &byte, 1);
}

static void take_name(const char *name, bool managed, void *count)
{
    (void)managed;
    if (name[0] == 0 || strlen(name) >= NB_GLOBAL_NAME_MAX)
        finding("a name of %zu bytes", strlen(name));
    ++*(unsigned *)count;
}

unsigned target_take(const unsigned char *bytes, size_t size)
{
    static const uint32_t devices[] = {0, 75, 90, UINT32_MAX};
    unsigned count = 0;
    const char *problem = nb_image_globals(bytes, size, devices[size % 4], take_name, &count);
    if (problem != NULL && problem[0] == 0)
        finding("refused without a reason");
    return (problem != NULL ? 2u : 0u) + (count != 0 ? 1u : 0u);
}
