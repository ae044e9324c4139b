/* The sections of a capture file, and the tables of struct nb_reader in them. */
#ifndef NEUTRINO_READER_TABLES_H
#define NEUTRINO_READER_TABLES_H

#include "replay/capture/file.h"
#include "replay/capture/reader.h"

struct nb_bytes {
    const void *at;
    uint64_t count;
};

/* Checks every section before a blob is decoded. Returns an enum nb_replay_status. */
int nb_tables_check(const struct nb_reader_file *file, uint32_t elements_max, char *error)
    __attribute__((visibility("hidden")));

/* Number of elements of a kind. */
uint64_t nb_tables_count(const struct nb_reader_file *file, uint32_t kind)
    __attribute__((visibility("hidden")));

/* Selects the blobs of known sections, and no other blobs, for decoding. */
void nb_tables_select(struct nb_reader_file *file) __attribute__((visibility("hidden")));

/* The decoded bytes of a section; none if its kind is unknown. */
struct nb_bytes nb_tables_section(const struct nb_reader_file *file, uint32_t index)
    __attribute__((visibility("hidden")));

/* Points the reader's tables at the decoded sections. */
void nb_tables_fill(const struct nb_reader_file *file, struct nb_reader *reader)
    __attribute__((visibility("hidden")));

#endif
