#include "unpack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* LZ4's block format: a length of 15 in the token goes on in bytes that are added, the last of them not 255;
 * a match has 4 bytes more than its length says. */
#define LONG_LENGTH    15
#define MATCH_BYTES    4
#define DISTANCE_BYTES 2

static const char corrupt[] = "an entry does not decompress to the size that it declares";

struct input {
    const unsigned char *at;
    size_t left;
};

static bool lengthen(struct input *input, size_t *length)
{
    unsigned char byte = 255;
    if (*length != LONG_LENGTH)
        return true;
    while (byte == 255) {
        if (input->left == 0)
            return false;
        byte = *input->at++;
        input->left--;
        *length += byte;
    }
    return true;
}

const char *nb_unpack_lz4(const void *from, size_t from_bytes, void *to, size_t to_bytes)
{
    struct input input = {from, from_bytes};
    unsigned char *const bytes = to;
    size_t done = 0;
    while (input.left > 0) {
        const unsigned char token = *input.at++;
        input.left--;
        size_t literals = token >> 4, match = token & 15;
        if (!lengthen(&input, &literals) || literals > input.left || literals > to_bytes - done)
            return corrupt;
        if (literals > 0)
            memcpy(bytes + done, input.at, literals);
        input.at += literals;
        input.left -= literals;
        done += literals;
        if (input.left == 0) /* the last sequence is literals alone */
            break;
        if (input.left < DISTANCE_BYTES)
            return corrupt;
        const size_t distance = (size_t)(input.at[0] | input.at[1] << 8);
        input.at += DISTANCE_BYTES;
        input.left -= DISTANCE_BYTES;
        if (!lengthen(&input, &match))
            return corrupt;
        match += MATCH_BYTES;
        if (distance == 0 || distance > done || match > to_bytes - done)
            return corrupt;
        for (; match > 0; match--, done++) /* a match may overlap what it makes */
            bytes[done] = bytes[done - distance];
    }
    return done == to_bytes ? NULL : corrupt;
}

/* zstd.h; stable since the library's first soname. The shim needs no library but the C library: this one is
 * opened when first needed and never closed. */
typedef size_t zstd_function(void *to, size_t to_room, const void *from, size_t from_bytes);
static zstd_function *zstd;

static void find_zstd(void)
{
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, "ZSTD_decompress") : NULL;
    memcpy(&zstd, &symbol, sizeof zstd); /* ISO C has no cast between the two (POSIX, dlsym) */
}

const char *nb_unpack_zstd(const void *from, size_t from_bytes, void *to, size_t to_bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_zstd);
    if (zstd == NULL)
        return "it is compressed and libzstd.so.1 is not there (Debian, Ubuntu: libzstd1; Fedora: libzstd)";
    return zstd(to, to_bytes, from, from_bytes) == to_bytes ? NULL : corrupt; /* errors are near SIZE_MAX */
}
