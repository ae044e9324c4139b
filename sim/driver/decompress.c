#include "decompress.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* lz4.h and zstd.h: both signatures have been stable since the libraries' first sonames. */
typedef int lz4_function(const char *from, char *to, int from_bytes, int to_room);
typedef size_t zstd_function(void *to, size_t to_room, const void *from, size_t from_bytes);

static lz4_function *lz4;
static zstd_function *zstd;

/* A function pointer cannot be cast from dlsym's result in ISO C; its bytes can be copied (POSIX, dlsym). */
static void find(const char *soname, const char *name, void *function, size_t bytes)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL); /* never closed: its function is kept */
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

enum sim_decompressed sim_decompress(enum sim_codec codec, const void *from, size_t from_bytes, void *to,
                                     size_t to_bytes)
{
    static pthread_once_t lz4_once = PTHREAD_ONCE_INIT;
    static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;
    if (from_bytes > INT_MAX || to_bytes > INT_MAX)
        return SIM_DECOMPRESS_CORRUPT;
    size_t written;
    if (codec == SIM_CODEC_ZSTD) {
        (void)pthread_once(&zstd_once, find_zstd);
        if (zstd == NULL)
            return SIM_DECOMPRESS_NO_LIBRARY;
        written = zstd(to, to_bytes, from, from_bytes); /* an error is a number near SIZE_MAX */
    } else {
        (void)pthread_once(&lz4_once, find_lz4);
        if (lz4 == NULL)
            return SIM_DECOMPRESS_NO_LIBRARY;
        const int result = lz4(from, to, (int)from_bytes, (int)to_bytes);
        written = result < 0 ? SIZE_MAX : (size_t)result;
    }
    return written == to_bytes ? SIM_DECOMPRESSED : SIM_DECOMPRESS_CORRUPT;
}

const char *sim_codec_package(enum sim_codec codec)
{
    return codec == SIM_CODEC_ZSTD ? "libzstd.so.1 (Debian, Ubuntu: libzstd1; Fedora: libzstd)"
                                   : "liblz4.so.1 (Debian, Ubuntu: liblz4-1; Fedora: lz4-libs)";
}
