/* What memory an operation of a region reads or writes. */
#ifndef NEUTRINO_CUDA_CAPTURE_PLACE_H
#define NEUTRINO_CUDA_CAPTURE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum nb_place {
    NB_PLACE_CAPTURED, /* device memory that a capture holds */
    NB_PLACE_HOST,     /* pinned or not */
    NB_PLACE_FOREIGN   /* neither */
};

/* Rows of `width` bytes, none of these zero. */
struct nb_extent {
    uint64_t address;
    uint64_t pitch; /* bytes from row to row; any for one row */
    uint64_t slice; /* from slice to slice; any for one slice */
    uint64_t width, height, depth;
};

/* All of it, as a reader of captures will ask (docs/formats.md, operations). Of the host's memory the start
 * decides. `what` is set to a name for people where the place is foreign. Inside a hook, where
 * nb_region_is_open(). */
enum nb_place nb_capture_place(const struct nb_extent *extent, const char **what)
    __attribute__((visibility("hidden")));

/* Does the capture hold all of these bytes, in allocations of the program or in one global of a module? */
bool nb_capture_holds(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

#endif
