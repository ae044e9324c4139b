#include "core/image/unpack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* LZ4's block format. A length of 15 in the token continues in further bytes, which are added up; the last
 * one is not 255. A match is 4 bytes longer than its length field. */
#define LONG_LENGTH    15
#define MATCH_BYTES    4
#define DISTANCE_BYTES 2

static const char corrupt[] = "an entry does not decompress to the size that it declares";

struct input {
    const unsigned char *at;
    size_t remaining;
};

static bool lengthen(struct input *input, size_t *length)
{
    unsigned char byte = 255;
    if (*length != LONG_LENGTH)
        return true;
    while (byte == 255) {
        if (input->remaining == 0)
            return false;
        byte = *input->at++;
        input->remaining--;
        *length += byte;
    }
    return true;
}

const char *nb_unpack_lz4(const void *from, size_t from_bytes, void *to, size_t to_bytes)
{
    struct input input = {from, from_bytes};
    unsigned char *const bytes = to;
    size_t size = 0;
    while (input.remaining > 0) {
        const unsigned char token = *input.at++;
        input.remaining--;
        size_t literals = token >> 4, match = token & 15;
        if (!lengthen(&input, &literals) || literals > input.remaining || literals > to_bytes - size)
            return corrupt;
        if (literals > 0)
            memcpy(bytes + size, input.at, literals);
        input.at += literals;
        input.remaining -= literals;
        size += literals;
        if (input.remaining == 0) /* the last sequence has literals only */
            break;
        if (input.remaining < DISTANCE_BYTES)
            return corrupt;
        const size_t distance = (size_t)(input.at[0] | input.at[1] << 8);
        input.at += DISTANCE_BYTES;
        input.remaining -= DISTANCE_BYTES;
        if (!lengthen(&input, &match))
            return corrupt;
        match += MATCH_BYTES;
        if (distance == 0 || distance > size || match > to_bytes - size)
            return corrupt;
        for (; match > 0; match--, size++) /* a match may overlap its own output */
            bytes[size] = bytes[size - distance];
    }
    return size == to_bytes ? NULL : corrupt;
}

/* From zstd.h and zlib.h; stable since the libraries' first sonames. The shim links to the C library only,
 * so these libraries are opened at their first use and never closed. */
typedef size_t zstd_function(void *to, size_t to_room, const void *from, size_t from_bytes);
typedef int zlib_function(unsigned char *to, unsigned long *to_bytes, const unsigned char *from,
                          unsigned long from_bytes);
static zstd_function *zstd;
static zlib_function *zlib;

/* ISO C forbids casting an object pointer to a function pointer; POSIX allows it (dlsym). */
static void find(const char *soname, const char *name, void *function, size_t bytes)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, bytes);
}

static void find_zstd(void)
{
    find("libzstd.so.1", "ZSTD_decompress", &zstd, sizeof zstd);
}

static void find_zlib(void)
{
    find("libz.so.1", "uncompress", &zlib, sizeof zlib);
}

const char *nb_unpack_zstd(const void *from, size_t from_bytes, void *to, size_t to_bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_zstd);
    if (zstd == NULL)
        return "it is compressed and libzstd.so.1 is missing (install Debian's or Ubuntu's libzstd1, or "
               "Fedora's libzstd)";
    return zstd(to, to_bytes, from, from_bytes) == to_bytes ? NULL
                                                            : corrupt; /* error codes are near SIZE_MAX */
}

const char *nb_unpack_zlib(const void *from, size_t from_bytes, void *to, size_t to_bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned long size = to_bytes;
    pthread_once(&once, find_zlib);
    if (zlib == NULL)
        return "it is compressed and libz.so.1 is missing (install Debian's or Ubuntu's zlib1g, or Fedora's "
               "zlib)";
    return zlib(to, &size, from, from_bytes) == 0 && size == to_bytes ? NULL : corrupt;
}

#define ZSTD_MAGIC         0xfd2fb528u
#define ZSTD_SINGLE        0x20u /* bits of the descriptor: one segment, no window descriptor */
#define ZSTD_CHECKSUM      0x04u
#define ZSTD_BLOCK_BYTES   3
#define ZSTD_BLOCK_RLE     1u
#define ZSTD_BLOCK_INVALID 3u

uint64_t nb_zstd_frame_bytes(struct nb_view packed)
{
    static const uint8_t dictionary_bytes[] = {0, 1, 2, 4}, content_bytes[] = {0, 2, 4, 8};
    struct {
        uint8_t magic[4], descriptor;
    } start;
    uint32_t magic;
    if (!nb_view_read(packed, 0, &start, sizeof start))
        return 0;
    memcpy(&magic, start.magic, sizeof magic);
    if (magic != ZSTD_MAGIC)
        return 0;
    const bool single = (start.descriptor & ZSTD_SINGLE) != 0;
    const uint8_t content = content_bytes[start.descriptor >> 6];
    uint64_t at = sizeof start + (single ? 0 : 1) + dictionary_bytes[start.descriptor & 3] +
                  (single && content == 0 ? 1 : content);
    for (bool last = false; !last;) {
        uint32_t head = 0;
        if (!nb_view_read(packed, at, &head, ZSTD_BLOCK_BYTES))
            return 0;
        last = (head & 1) != 0;
        const uint32_t type = head >> 1 & 3;
        if (type == ZSTD_BLOCK_INVALID)
            return 0;
        at += ZSTD_BLOCK_BYTES + (type == ZSTD_BLOCK_RLE ? 1 : head >> 3);
    }
    at += (start.descriptor & ZSTD_CHECKSUM) != 0 ? 4 : 0;
    return at <= packed.bytes ? at : 0;
}
