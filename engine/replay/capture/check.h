/* The rules of a capture (docs/formats.md). A rule checks one element and returns its fault as text, or NULL.
 */
#ifndef NEUTRINO_READER_CHECK_H
#define NEUTRINO_READER_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/capture/file.h"
#include "replay/capture/reader.h"

enum { NB_READER_PARAMETERS_MAX = 1 << 16 };

/* For products of sizes. */
__extension__ typedef unsigned __int128 nb_wide;

struct nb_ranges {
    struct nb_address_range {
        uint64_t begin, last;
    } *at;
    uint32_t count;
};

struct nb_checker {
    struct nb_reader_file *file;
    const struct nb_replay_limits *limits;
    struct nb_reader *reader;
    struct nb_ranges allocations; /* adjacent and overlapping allocations are joined */
    struct nb_ranges pages;       /* the same, rounded to whole pages */
    struct nb_ranges globals;     /* sorted; `last` is the maximum up to and including this one */
    uint64_t image_bytes;         /* hashed so far */
    uint64_t run_end;             /* last byte of the previous run */
    uint32_t host_reads;          /* copies to the host so far, and their bytes */
    uint64_t host_read_bytes;
    uint8_t *recorded;  /* by event: it was recorded */
    uint8_t *has_nodes; /* by graph: it has nodes */
    char *error;
};

typedef const char *nb_rule(struct nb_checker *checker, uint32_t index);

/* These return an enum nb_replay_status. The later ones rely on the earlier ones. */
int nb_check_elements(struct nb_checker *checker) __attribute__((visibility("hidden")));
int nb_check_memory(struct nb_checker *checker) __attribute__((visibility("hidden")));
int nb_check_runs(struct nb_checker *checker) __attribute__((visibility("hidden")));
int nb_check_operations(struct nb_checker *checker) __attribute__((visibility("hidden")));
int nb_check_edges(struct nb_checker *checker) __attribute__((visibility("hidden")));
int nb_check_references(struct nb_checker *checker) __attribute__((visibility("hidden")));

/* Scratch memory for these rules: bytes, by the counts of the file's sections. */
uint64_t nb_check_operations_scratch(const struct nb_reader_file *file) __attribute__((visibility("hidden")));
uint64_t nb_check_memory_scratch(const struct nb_reader_file *file) __attribute__((visibility("hidden")));
uint64_t nb_check_edges_scratch(const struct nb_reader_file *file) __attribute__((visibility("hidden")));

/* Applies a rule to every element of a table. `what` names an element. */
int nb_check_each(struct nb_checker *checker, const char *what, uint32_t count, nb_rule *rule)
    __attribute__((visibility("hidden")));

extern const char nb_no_text[] __attribute__((visibility("hidden")));
extern const char nb_no_array[] __attribute__((visibility("hidden")));

/* Whether a span is text of at most NB_STRING_MAX bytes, or an array of at most ARRAY_MAX elements. */
bool nb_span_is_text(const struct nb_reader *reader, struct nb_span span)
    __attribute__((visibility("hidden")));
bool nb_span_is_array(const struct nb_reader *reader, struct nb_span span, size_t element_bytes)
    __attribute__((visibility("hidden")));
bool nb_span_is_inside(const struct nb_reader *reader, struct nb_span span)
    __attribute__((visibility("hidden")));

/* Whether the joined allocations, or one global, hold all of these bytes. */
bool nb_memory_holds(const struct nb_checker *checker, uint64_t address, nb_wide bytes)
    __attribute__((visibility("hidden")));

#endif
