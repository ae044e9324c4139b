/* A capture as a file: header, blob table and section table, private copies that no one else can write, and
 * then the bytes of all blobs. */
#ifndef NEUTRINO_READER_FILE_H
#define NEUTRINO_READER_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/wire/capture_format.h"
#include "replay/replay.h"

enum { NB_SECTIONS_MAX = 64 };

struct nb_reader_file {
    int descriptor;
    uint64_t bytes;
    struct nb_capture header;
    uint8_t *tables; /* the two below */
    const struct nb_blob *blobs;
    const struct nb_section *sections;
    uint64_t *places;     /* where each blob's bytes begin in `raw` */
    uint32_t *next_short; /* for each blob the first from it on that is not NB_BLOB_MAX long */
    uint8_t *raw;
    uint64_t raw_bytes;
};

/* These return an enum nb_replay_status; what was allocated is freed by nb_file_close in any case. */
int nb_file_open(struct nb_reader_file *file, int descriptor, char *error)
    __attribute__((visibility("hidden")));
int nb_file_place_blobs(struct nb_reader_file *file, uint64_t most_bytes, char *error)
    __attribute__((visibility("hidden")));
int nb_file_decode(struct nb_reader_file *file, uint32_t decoders, char *error)
    __attribute__((visibility("hidden")));
void nb_file_free_raw(struct nb_reader_file *file) __attribute__((visibility("hidden")));
void nb_file_close(struct nb_reader_file *file) __attribute__((visibility("hidden")));

/* Why a content is not whole blobs of the right sizes, or NULL. */
const char *nb_file_check_content(const struct nb_reader_file *file, struct nb_content content)
    __attribute__((visibility("hidden")));

#endif
