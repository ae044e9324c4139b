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

/* `what` is set to a name for people where the place is foreign. Inside a hook. */
enum nb_place nb_capture_place(uint64_t address, const char **what) __attribute__((visibility("hidden")));

bool nb_capture_is_managed(uint64_t address) __attribute__((visibility("hidden")));

#endif
