/* Reading one element, or a filtered sum of elements, at a position. */
#ifndef NEUTRINO_SIM_PTX_SAMPLE_H
#define NEUTRINO_SIM_PTX_SAMPLE_H

#include "ptx/texel.h"

/* One lane's access. */
struct sampling {
    struct warp *warp;
    const struct instruction *instruction;
    const struct ptx_image *image;
    unsigned lane;
    unsigned axes;      /* dimensions that have a position */
    double position[3]; /* in elements, or from 0 to 1 over each dimension if `is_normalized` */
    bool is_normalized;
    bool is_row;    /* a line without layers */
    uint32_t layer; /* the slice, if z has no position */
    enum ptx_status status;
};

/* The elements on both sides of a position, and the weight of the second in 1/256. -1: the border. */
struct neighbours {
    int64_t at[2];
    unsigned weight;
};

/* The neighbours along x, y and z of a filter, for which the position of an element is its middle. */
void ptx_find_neighbours(const struct sampling *sampling, const struct ptx_level *level,
                         struct neighbours found[3]);

/* Each returns false after a fault, with `status` set. */
bool ptx_read_words(struct sampling *sampling, const struct ptx_level *level, const int64_t place[3],
                    uint32_t words[4]);
bool ptx_sample(struct sampling *sampling, double lod, uint32_t words[4]);

/* Integer coordinates select one element. Outside the image all channels are 0. */
bool ptx_fetch(struct sampling *sampling, const int32_t coordinates[3], uint32_t words[4]);

#endif
