/* Streams and events of the region, and the timed stream.
 *
 * The timed stream is that of the region's first operation: start and end events are recorded there. Other
 * streams are forked from it and joined to it by events of the engine only where the region's own events do
 * not order them, because an additional event and wait would add time that the recorded program did not
 * spend. */
#ifndef NEUTRINO_ENGINE_STREAMS_H
#define NEUTRINO_ENGINE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/rebuild/streams_state.h"

struct nb_replay;

int nb_streams_build(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Order the first work of all streams behind the work queued on the timed stream, and its later work behind
 * their last work. */
int nb_streams_fork(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_streams_join(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* The same for the first and last work of all streams, even where the region's own events order them. */
int nb_streams_fork_all(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_streams_join_all(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Make all streams wait for one stream, or for all if `stream` is NB_NOTHING. */
int nb_streams_order(struct nb_replay *replay, uint32_t stream) __attribute__((visibility("hidden")));

/* Number of driver calls for a fork, a join, and `joins` operations that synchronise. */
uint32_t nb_streams_queued(const struct nb_replay *replay, uint32_t joins)
    __attribute__((visibility("hidden")));

/* Find the streams that must be forked and joined (order_streams.c). */
int nb_streams_find_order(struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_streams_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
