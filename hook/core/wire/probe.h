/* The part of the session memory by which kernels are probed: requests and traces leave the process as
 * records, answers come back here.
 *
 *     probe area       one page
 *     answers          probe_area.answers x 4 KiB, written by the supervisor
 *     probed images    probe_area.image_bytes, written by the supervisor
 *     traces           probe_area.trace_bytes, filled from the front by the processes
 *
 * docs/formats.md documents it. The supervisor must treat everything that a process writes as hostile input.
 */
#ifndef NEUTRINO_PROBE_WIRE_H
#define NEUTRINO_PROBE_WIRE_H

#include <stdatomic.h>
#include <stdint.h>

#include "record.h"

#define NB_PROBE_MAPS_MAX 16u
#define NB_PROBE_ANSWER   4096u /* bytes of an answer */

/* Positions count from the start of the file. */
struct nb_probe_area {
    uint64_t wait_ns;   /* longest wait of a launch for its answer */
    uint64_t map_bytes; /* limit of the maps of one process */
    uint64_t answers_offset;
    uint64_t images_offset;
    uint64_t image_bytes;
    uint64_t traces_offset;
    uint64_t trace_bytes;
    uint32_t answers;
    uint32_t is_benchmark;        /* launches take turns: original, pruned, probed */
    _Atomic uint64_t answer_next; /* answers handed out; may exceed `answers` */
    _Atomic uint64_t trace_next;  /* bytes of traces handed out; may exceed trace_bytes */
};

enum nb_probe_state {
    NB_PROBE_WAITING = 0,
    NB_PROBE_PROBED = 1, /* the rest of the answer is valid */
    NB_PROBE_REFUSED = 2 /* launch the original: the supervisor has logged why */
};

/* A map has an item for each of these. */
enum nb_probe_unit {
    NB_PROBE_THREAD = 0,
    NB_PROBE_WARP = 1,
    NB_PROBE_BLOCK = 2,
    NB_PROBE_LAUNCH = 3,
    NB_PROBE_ALLOCATIONS = 4 /* one item: struct nb_probe_table and its rows, as of the launch */
};

enum nb_probe_table_flag {
    NB_PROBE_PAGEABLE = 1 /* kernels can use all memory of the process, allocated by CUDA or not */
};

enum nb_probe_row_flag {
    NB_PROBE_HOST = 1,     /* memory of the host */
    NB_PROBE_IN_FLIGHT = 2 /* another stream frees it, perhaps not yet */
};

/* The process's memory that kernels can use. Rows are disjoint and sorted by address. */
struct nb_probe_table {
    uint64_t count;
    uint32_t missing; /* allocations without a row; UINT32_MAX: so many or more */
    uint32_t flags;   /* enum nb_probe_table_flag */
    /* struct nb_probe_row rows[count] */
};

struct nb_probe_row {
    uint64_t address;
    uint64_t bytes;
    uint64_t number; /* counts the process's allocations, from 1 */
    uint64_t flags;  /* enum nb_probe_row_flag */
};

struct nb_probe_map {
    uint64_t bytes;      /* of one item; of one entry of a counted map */
    uint64_t entries;    /* of each item of a counted map, until a launch has counted more */
    uint32_t unit;       /* enum nb_probe_unit */
    uint32_t is_counted; /* the map begins with struct nb_probe_counted */
};

/* A map whose items are lists. The kernel counts the entries of each list, and stores those that fit. */
struct nb_probe_counted {
    uint64_t capacity; /* entries of each list that fit */
    uint64_t position; /* of the first list, from the begin of the map */
    /* uint32_t counts[items], then at `position` the lists, of capacity entries each */
};

struct nb_probe_answer {
    _Atomic uint32_t state; /* enum nb_probe_state; a futex */
    uint32_t map_count;
    uint64_t image_at; /* position among the probed images */
    uint64_t image_bytes;
    uint64_t text_at; /* pairs SYMBOL VARIABLE, each name with its NUL */
    uint64_t text_bytes;
    uint64_t pruned_at;    /* the kernel without probes, as the engine writes it, likewise */
    uint64_t pruned_bytes; /* 0: the engine made none */
    /* struct nb_probe_map maps[map_count] */
};

enum nb_probe_stage {
    NB_PROBE_ASKED = 1, /* first launch: text is the kernel's name; at, bytes: its image in the image store */
    NB_PROBE_DECIDED =
        2, /* at: enum nb_probe_state; text: why launches run the original, if the process knows */
    NB_PROBE_SKIPPED = 3, /* text says why one launch ran the original; written once a kernel and reason */
    NB_PROBE_TRACED = 4   /* at, bytes: the maps of a launch, in order, among the traces */
};

struct nb_probe {
    struct nb_record record; /* count: bytes of text */
    uint64_t kernel;
    uint64_t at;
    uint64_t bytes;
    uint64_t stream;
    uint32_t stage;  /* enum nb_probe_stage */
    uint32_t answer; /* its index */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t table_bytes; /* of the map of allocations: at most what the engine asked for */
    /* char text[count] */
};

_Static_assert(sizeof(struct nb_probe_area) == 80, "layout is a wire format");
_Static_assert(sizeof(struct nb_probe_answer) == 56, "layout is a wire format");
_Static_assert(sizeof(struct nb_probe_map) == 24, "layout is a wire format");
_Static_assert(sizeof(struct nb_probe_counted) == 16, "layout is a wire format");
_Static_assert(sizeof(struct nb_probe_table) == 16, "layout is a wire format");
_Static_assert(sizeof(struct nb_probe_row) == 32, "layout is a wire format");
_Static_assert(sizeof(struct nb_probe) == 104, "layout is a wire format");

#endif
