#include "driver/code/decompress.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* lz4.h, zstd.h and zlib.h: the signatures have been stable since the libraries' first sonames. */
typedef int lz4_function(const char *from, char *to, int from_bytes, int to_room);
typedef size_t zstd_function(void *to, size_t to_room, const void *from, size_t from_bytes);
typedef int zlib_function(unsigned char *to, unsigned long *to_bytes, const unsigned char *from,
                          unsigned long from_bytes);

static lz4_function *lz4;
static zstd_function *zstd;
static zlib_function *zlib;

/* ISO C forbids to cast the result of dlsym to a function pointer. Copying its bytes is allowed (POSIX,
 * dlsym). */
static void find(const char *soname, const char *name, void *function, size_t bytes)
{
    void *library = dlopen(
        soname, RTLD_NOW | RTLD_LOCAL); /* stays open: its function is used for as long as the process runs */
    void *symbol = library == NULL ? NULL : dlsym(library, name);
    memcpy(function, &symbol, bytes);
}

static void find_lz4(void)
{
    find("liblz4.so.1", "LZ4_decompress_safe", &lz4, sizeof lz4);
}

static void find_zstd(void)
{
    find("libzstd.so.1", "ZSTD_decompress", &zstd, sizeof zstd);
}

static void find_zlib(void)
{
    find("libz.so.1", "uncompress", &zlib, sizeof zlib);
}

/* These return the number of bytes written. Any number other than `to_bytes` is a failure. */
static size_t with_lz4(const void *from, size_t from_bytes, void *to, size_t to_bytes)
{
    const int written = lz4(from, to, (int)from_bytes, (int)to_bytes);
    return written < 0 ? SIZE_MAX : (size_t)written;
}

static size_t with_zstd(const void *from, size_t from_bytes, void *to, size_t to_bytes)
{
    return zstd(to, to_bytes, from, from_bytes); /* zstd reports an error as a number near SIZE_MAX */
}

static size_t with_zlib(const void *from, size_t from_bytes, void *to, size_t to_bytes)
{
    unsigned long written = to_bytes;
    return zlib(to, &written, from, from_bytes) == 0 ? written : SIZE_MAX;
}

/* Whether the library could be opened. */
static bool is_ready(enum sim_codec codec)
{
    static pthread_once_t lz4_once = PTHREAD_ONCE_INIT;
    static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;
    static pthread_once_t zlib_once = PTHREAD_ONCE_INIT;
    switch (codec) {
    case SIM_CODEC_ZSTD:
        (void)pthread_once(&zstd_once, find_zstd);
        return zstd != NULL;
    case SIM_CODEC_ZLIB:
        (void)pthread_once(&zlib_once, find_zlib);
        return zlib != NULL;
    default:
        (void)pthread_once(&lz4_once, find_lz4);
        return lz4 != NULL;
    }
}

enum sim_decompressed sim_decompress(enum sim_codec codec, const void *from, size_t from_bytes, void *to,
                                     size_t to_bytes)
{
    if (from_bytes > INT_MAX || to_bytes > INT_MAX)
        return SIM_DECOMPRESS_CORRUPT;
    if (!is_ready(codec))
        return SIM_DECOMPRESS_NO_LIBRARY;
    const size_t written = codec == SIM_CODEC_ZSTD   ? with_zstd(from, from_bytes, to, to_bytes)
                           : codec == SIM_CODEC_ZLIB ? with_zlib(from, from_bytes, to, to_bytes)
                                                     : with_lz4(from, from_bytes, to, to_bytes);
    return written == to_bytes ? SIM_DECOMPRESSED : SIM_DECOMPRESS_CORRUPT;
}

const char *sim_codec_package(enum sim_codec codec)
{
    return codec == SIM_CODEC_ZSTD   ? "libzstd.so.1 (Debian, Ubuntu: libzstd1; Fedora: libzstd)"
           : codec == SIM_CODEC_ZLIB ? "libz.so.1 (Debian, Ubuntu: zlib1g; Fedora: zlib)"
                                     : "liblz4.so.1 (Debian, Ubuntu: liblz4-1; Fedora: lz4-libs)";
}
