#include "core/image/compressed_bundle.h"

#include <stdlib.h>

#include "core/image/unpack.h"

#define METHOD_ZLIB  0
#define METHOD_ZSTD  1
#define UNPACKED_MAX (UINT64_C(4) << 30)

struct header {
    uint16_t version, method;
    uint64_t file_bytes; /* 0 in version 1 */
    uint64_t raw_bytes;
    uint64_t bytes; /* size of the header itself */
};

bool nb_is_compressed_bundle(struct nb_view image)
{
    uint32_t magic = 0;
    return nb_view_read(image, 0, &magic, sizeof magic) && magic == NB_COMPRESSED_BUNDLE_MAGIC;
}

static bool read_header(struct nb_view image, struct header *header)
{
    struct {
        uint32_t magic;
        uint16_t version, method;
    } start;
    if (!nb_view_read(image, 0, &start, sizeof start) || start.version < 1 || start.version > 3)
        return false;
    const size_t width = start.version == 3 ? sizeof(uint64_t) : sizeof(uint32_t);
    const uint64_t raw_at = sizeof start + (start.version == 1 ? 0 : width);
    *header = (struct header){
        .version = start.version, .method = start.method, .bytes = raw_at + width + sizeof(uint64_t)};
    return (start.version == 1 || nb_view_read(image, sizeof start, &header->file_bytes, width)) &&
           nb_view_read(image, raw_at, &header->raw_bytes, width);
}

uint64_t nb_compressed_bundle_bytes(struct nb_view image)
{
    struct header header;
    struct nb_view packed;
    if (!read_header(image, &header))
        return 0;
    if (header.version != 1)
        return header.file_bytes > header.bytes ? header.file_bytes : 0;
    if (header.method != METHOD_ZSTD ||
        !nb_view_narrow(image, header.bytes, image.bytes - header.bytes, &packed))
        return 0;
    const uint64_t frame = nb_zstd_frame_bytes(packed);
    return frame != 0 ? header.bytes + frame : 0;
}

const char *nb_compressed_bundle_open(struct nb_view image, void **memory, struct nb_view *bundle)
{
    struct header header;
    struct nb_view packed;
    if (!read_header(image, &header) || header.bytes > image.bytes)
        return "the compressed bundle is cut short or its version is unknown";
    const uint64_t end = header.version != 1 ? header.file_bytes : image.bytes;
    if (end < header.bytes || !nb_view_narrow(image, header.bytes, end - header.bytes, &packed) ||
        header.raw_bytes > UNPACKED_MAX)
        return "the compressed bundle declares an impossible size";
    if (header.method != METHOD_ZLIB && header.method != METHOD_ZSTD)
        return "the compressed bundle uses an unknown compression method";
    *memory = malloc(header.raw_bytes != 0 ? header.raw_bytes : 1);
    if (*memory == NULL)
        return "not enough memory to decompress it";
    const char *problem = header.method == METHOD_ZSTD
                              ? nb_unpack_zstd(packed.start, packed.bytes, *memory, header.raw_bytes)
                              : nb_unpack_zlib(packed.start, packed.bytes, *memory, header.raw_bytes);
    *bundle = (struct nb_view){*memory, header.raw_bytes};
    if (problem != NULL) {
        free(*memory);
        *memory = NULL;
    }
    return problem;
}
