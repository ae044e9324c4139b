/* Decompresses the blobs of a capture file, which may be hostile.
 *
 * Decompressing is the one step where hostile bytes reach third-party code (libzstd). It runs in forked
 * processes that have no descriptor but a pipe's end and can make no system call but read, write and exit, so
 * that a mistake in that code has no effect outside them. */
#ifndef NEUTRINO_DECODE_H
#define NEUTRINO_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "core/wire/capture_format.h"

#ifndef NB_DECODE_SECONDS
#define NB_DECODE_SECONDS 60
#endif

enum { NB_DECODE_ALIGNMENT = 64 };

/* Blobs that lie in the file, and where their decoded bytes go. */
struct nb_decode_work {
    const uint8_t *file; /* mapped: reading a truncated file faults */
    const struct nb_blob *blobs;
    const uint64_t *places; /* offsets in `raw` */
    uint32_t count;
    uint8_t *raw;
};

enum nb_decode_outcome {
    NB_DECODE_DONE = 0,
    NB_DECODE_NO_SANDBOX,
    NB_DECODE_NOT_ONE_FRAME,
    NB_DECODE_OTHER_SIZE,
    NB_DECODE_CORRUPT,
    NB_DECODE_OTHER_HASH
};

/* Functions of libzstd, and a context that needs no further allocation. */
struct nb_codec {
    void *context;
    unsigned (*is_error)(size_t result);
    size_t (*frame_bytes)(const void *from, size_t bytes);
    unsigned long long (*content_bytes)(const void *from, size_t bytes);
    size_t (*decompress)(void *context, void *to, size_t room, const void *from, size_t bytes);
    size_t (*free)(void *context);
};

/* Returns an enum nb_replay_status. */
int nb_codec_open(struct nb_codec *codec, char *error) __attribute__((visibility("hidden")));
void nb_codec_close(struct nb_codec *codec) __attribute__((visibility("hidden")));

/* Decode one blob into `raw`, which has room for its raw_bytes. Neither allocates nor makes a system call. */
enum nb_decode_outcome nb_decode_blob(const struct nb_codec *codec, const struct nb_blob *blob,
                                      const uint8_t *stored, uint8_t *raw)
    __attribute__((visibility("hidden")));
const char *nb_decode_reason(enum nb_decode_outcome outcome) __attribute__((visibility("hidden")));

/* Decode all blobs in `decoders` processes, each under seccomp. `work->raw` is shared memory; no other
 * process has it when this returns. Returns an enum nb_replay_status. */
int nb_decode(const struct nb_decode_work *work, uint32_t decoders, char *error)
    __attribute__((visibility("hidden")));

#endif
