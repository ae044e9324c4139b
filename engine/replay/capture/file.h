/* A capture as a file: private copies of its header, blob table and section table, and its decoded blobs. */
#ifndef NEUTRINO_READER_FILE_H
#define NEUTRINO_READER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/capture_format.h"
#include "replay/replay.h"

enum { NB_SECTIONS_MAX = 64 };

#define NB_NOT_DECODED UINT64_MAX

struct nb_reader_file {
    int descriptor;
    uint64_t bytes;
    struct nb_capture header;
    uint8_t *tables; /* the two below */
    const struct nb_blob *blobs;
    const struct nb_section *sections;
    bool tables_only;     /* only blobs of sections are decoded */
    uint64_t *places;     /* offset of each blob in `raw`, or NB_NOT_DECODED */
    uint32_t *next_short; /* for each blob, the first one from it on that is not NB_BLOB_MAX long */
    uint8_t *raw;
    uint64_t raw_bytes;
    uint8_t *scratch; /* zeroed memory for the rules, which run without allocating (validate.c) */
    uint64_t scratch_used, scratch_bytes;
};

/* These return an enum nb_replay_status. nb_file_close frees their memory, after a failure too. */
int nb_file_open(struct nb_reader_file *file, int descriptor, char *error)
    __attribute__((visibility("hidden")));
int nb_file_check_blobs(struct nb_reader_file *file, char *error) __attribute__((visibility("hidden")));
int nb_file_place_blobs(struct nb_reader_file *file, uint64_t most_bytes, char *error)
    __attribute__((visibility("hidden")));
int nb_file_reserve_scratch(struct nb_reader_file *file, uint64_t bytes, char *error)
    __attribute__((visibility("hidden")));
int nb_file_decode(struct nb_reader_file *file, uint32_t decoders, char *error)
    __attribute__((visibility("hidden")));
void nb_file_free_raw(struct nb_reader_file *file) __attribute__((visibility("hidden")));
void nb_file_close(struct nb_reader_file *file) __attribute__((visibility("hidden")));

/* Part of the reserved scratch memory, aligned for any type; NULL if too little was reserved. */
void *nb_file_take_scratch(struct nb_reader_file *file, uint64_t bytes) __attribute__((visibility("hidden")));

/* The rule that a content breaks, or NULL. */
const char *nb_file_check_content(const struct nb_reader_file *file, struct nb_content content)
    __attribute__((visibility("hidden")));

#endif
