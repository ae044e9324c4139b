/* One sample, with every step of the protocol. */
#ifndef NEUTRINO_INLINE_SAMPLE_H
#define NEUTRINO_INLINE_SAMPLE_H

#include "inline/session.h"

struct nb_sample {
    const struct nb_case *kept;
    void *call, *outputs;                  /* Python's */
    const struct nb_inline_running *asked; /* hostile: read, not written */
    CUdeviceptr places[NB_BUFFERS_MAX];    /* where the buffers are; of outputs, this time */
    uint32_t set;
    uint32_t number; /* from 0, the probe */
};

/* 0, or 1000 * enum nb_inline_step + the driver's result. */
int nb_sample_run(struct nb_session *session, struct nb_sample *sample, struct nb_row *row)
    __attribute__((visibility("hidden")));

#endif
