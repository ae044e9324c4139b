#include <dlfcn.h>
#include <string.h>

#include "core/image/sha256.h"
#include "replay/base/error.h"
#include "replay/capture/decode.h"
#include "replay/replay.h"

/* ISO C cannot cast dlsym's result to a function pointer; POSIX allows to copy its bytes. */
static int find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

int nb_codec_open(struct nb_codec *codec, char *error)
{
    void *(*create)(void);
    void *library =
        dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL); /* never closed: its functions are used later */
    if (library == NULL)
        return nb_error(error, NB_REPLAY_CANNOT,
                        "libzstd.so.1 cannot be loaded (%s); install it (Debian, Ubuntu: libzstd1; Fedora: "
                        "libzstd)",
                        dlerror());
    if (!find(library, "ZSTD_createDCtx", &create) || !find(library, "ZSTD_freeDCtx", &codec->free) ||
        !find(library, "ZSTD_isError", &codec->is_error) ||
        !find(library, "ZSTD_findFrameCompressedSize", &codec->frame_bytes) ||
        !find(library, "ZSTD_getFrameContentSize", &codec->content_bytes) ||
        !find(library, "ZSTD_decompressDCtx", &codec->decompress))
        return nb_error(error, NB_REPLAY_CANNOT, "libzstd.so.1 is too old; install version 1.4 or newer");
    codec->context = create();
    return codec->context != NULL ? NB_REPLAY_OK
                                  : nb_error(error, NB_REPLAY_CANNOT, "no memory for a zstd context");
}

void nb_codec_close(struct nb_codec *codec)
{
    (void)codec->free(codec->context);
}

/* RFC 8878, 3.1.1: the magic number, then a byte whose bit 2 announces a checksum and whose bits 0 and 1
 * announce a dictionary. Other frames are refused: libzstd also reads its earliest formats, and allocates for
 * them. */
static int has_our_header(const uint8_t *stored, size_t bytes)
{
    static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    return bytes > sizeof magic && memcmp(stored, magic, sizeof magic) == 0 &&
           (stored[sizeof magic] & 0x07) == 0x04;
}

static enum nb_decode_outcome decompress(const struct nb_codec *codec, const struct nb_blob *blob,
                                         const uint8_t *stored, uint8_t *raw)
{
    const size_t bytes = blob->stored_bytes, room = blob->raw_bytes;
    if (!has_our_header(stored, bytes) || codec->frame_bytes(stored, bytes) != bytes)
        return NB_DECODE_NOT_ONE_FRAME;
    if (codec->content_bytes(stored, bytes) != room)
        return NB_DECODE_OTHER_SIZE;
    return codec->decompress(codec->context, raw, room, stored, bytes) == room ? NB_DECODE_DONE
                                                                               : NB_DECODE_CORRUPT;
}

enum nb_decode_outcome nb_decode_blob(const struct nb_codec *codec, const struct nb_blob *blob,
                                      const uint8_t *stored, uint8_t *raw)
{
    if (blob->compression == NB_BLOB_NONE) {
        memcpy(raw, stored, blob->raw_bytes);
    } else {
        const enum nb_decode_outcome outcome = decompress(codec, blob, stored, raw);
        if (outcome != NB_DECODE_DONE)
            return outcome;
    }
    uint8_t digest[sizeof blob->sha256];
    nb_sha256(raw, blob->raw_bytes, digest);
    return memcmp(digest, blob->sha256, sizeof digest) == 0 ? NB_DECODE_DONE : NB_DECODE_OTHER_HASH;
}

const char *nb_decode_reason(enum nb_decode_outcome outcome)
{
    switch (outcome) {
    case NB_DECODE_NOT_ONE_FRAME:
        return "is not one zstd frame with a checksum";
    case NB_DECODE_OTHER_SIZE:
        return "has another size than its frame declares";
    case NB_DECODE_CORRUPT:
        return "cannot be decompressed";
    case NB_DECODE_OTHER_HASH:
        return "does not match its SHA-256";
    default:
        return "could not be decoded";
    }
}
