/* The rules of a capture (docs/formats.md), each in the words of the Python reader's, which accepts and
 * refuses the same files. A rule looks at one element and says what is wrong with it, or NULL. */
#ifndef NEUTRINO_READER_CHECK_H
#define NEUTRINO_READER_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/capture/reader.h"
#include "replay/capture/file.h"

enum { NB_READER_PARAMETERS_MAX = 1 << 16 };

/* Of sizes that are products. */
__extension__ typedef unsigned __int128 nb_wide;

struct nb_ranges {
    struct nb_address_range {
        uint64_t begin, last;
    } *at;
    uint32_t count;
};

struct nb_checker {
    const struct nb_reader_file *file;
    const struct nb_replay_limits *limits;
    struct nb_reader *reader;
    struct nb_ranges allocations; /* those that meet or overlap are one */
    struct nb_ranges pages;       /* the same, up to whole pages */
    struct nb_ranges variables;   /* `last` is the furthest of those that begin so early */
    uint64_t image_bytes;
    uint64_t run_end;   /* of the run before */
    uint8_t *recorded;  /* events that were */
    uint8_t *has_nodes; /* graphs that have */
    char *error;
};

typedef const char *nb_rule(struct nb_checker *checker, uint32_t index);

/* These return an enum nb_replay_status. */
int nb_check(struct nb_checker *checker) __attribute__((visibility("hidden")));
int nb_check_each(struct nb_checker *checker, const char *what, uint32_t count, nb_rule *rule)
    __attribute__((visibility("hidden")));
int nb_check_memory(struct nb_checker *checker) __attribute__((visibility("hidden")));
int nb_check_runs(struct nb_checker *checker) __attribute__((visibility("hidden")));
int nb_check_operations(struct nb_checker *checker) __attribute__((visibility("hidden")));
int nb_check_edges(struct nb_checker *checker) __attribute__((visibility("hidden")));

/* A span of at most NB_STRING_MAX bytes, and one of at most ARRAY_MAX elements. */
bool nb_span_is_text(const struct nb_reader *reader, struct nb_span span)
    __attribute__((visibility("hidden")));
bool nb_span_is_array(const struct nb_reader *reader, struct nb_span span, size_t element_bytes)
    __attribute__((visibility("hidden")));
bool nb_span_is_inside(const struct nb_reader *reader, struct nb_span span)
    __attribute__((visibility("hidden")));

/* Whether the allocations, taken together, or one variable hold all of it. */
bool nb_memory_holds(const struct nb_checker *checker, uint64_t address, nb_wide bytes)
    __attribute__((visibility("hidden")));

#endif
