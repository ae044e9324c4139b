/* The kind of memory that an operation reads or writes. */
#ifndef NEUTRINO_CUDA_CAPTURE_PLACE_H
#define NEUTRINO_CUDA_CAPTURE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum nb_place {
    NB_PLACE_CAPTURED, /* device memory that a capture holds */
    NB_PLACE_HOST,     /* pinned or not */
    NB_PLACE_FOREIGN   /* neither of these */
};

/* Rows of `width` bytes. Width, height and depth are not 0. */
struct nb_extent {
    uint64_t address;
    uint64_t pitch; /* bytes from row to row; unused for one row */
    uint64_t slice; /* bytes from slice to slice; unused for one slice */
    uint64_t width, height, depth;
};

/* Classify all of the extent as readers of captures do (docs/formats.md, operations). For host memory only
 * the start counts. If the place is foreign, set `what` to a name for users. Inside a hook, while a region
 * is open. */
enum nb_place nb_capture_find_place(const struct nb_extent *extent, const char **what)
    __attribute__((visibility("hidden")));

/* Does the capture contain all of these bytes, in allocations of the program or in one global of a module? */
bool nb_capture_contains(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

#endif
