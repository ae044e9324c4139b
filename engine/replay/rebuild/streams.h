/* Streams and events of the region, and the stream that is timed.
 *
 * The timed stream is that of the region's first operation: start and end are recorded there. Others are
 * forked from it and joined to it by events of ours only where the region's own do not do it already, as an
 * event and a wait of ours are time that the recorded program did not take. */
#ifndef NEUTRINO_ENGINE_STREAMS_H
#define NEUTRINO_ENGINE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/rebuild/streams_state.h"

struct nb_replay;

int nb_streams_build(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Order the first work of all streams behind what the timed one was given so far, and the last before what it
 * is given next. */
int nb_streams_fork(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_streams_join(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* All streams wait for one, or for all where `stream` is NB_NOTHING. */
int nb_streams_order(struct nb_replay *replay, uint32_t stream) __attribute__((visibility("hidden")));

/* Driver calls of a fork, of a join, of one NB_OPERATION_JOIN. */
uint32_t nb_streams_queued(const struct nb_replay *replay, uint32_t joins)
    __attribute__((visibility("hidden")));

/* Find out which streams are to be forked and joined (order_streams.c). */
int nb_streams_find_order(struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_streams_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
