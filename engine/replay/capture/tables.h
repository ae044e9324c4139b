/* Sections of a capture as the tables of struct nb_reader. */
#ifndef NEUTRINO_READER_TABLES_H
#define NEUTRINO_READER_TABLES_H

#include "replay/capture/reader.h"
#include "replay/capture/file.h"

/* Whether every section is what it says, before a blob of it is decoded. Returns an enum nb_replay_status. */
int nb_tables_check(const struct nb_reader_file *file, char *error) __attribute__((visibility("hidden")));

/* Afterwards. */
void nb_tables_fill(const struct nb_reader_file *file, struct nb_reader *reader)
    __attribute__((visibility("hidden")));

#endif
