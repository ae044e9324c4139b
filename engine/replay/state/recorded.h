/* The recorded run: memory as it was after the region, and an untimed run from memory as it was before. */
#ifndef NEUTRINO_ENGINE_RECORDED_H
#define NEUTRINO_ENGINE_RECORDED_H

#include <stdint.h>

struct nb_reader;
struct nb_replay;

/* Recorded bytes of memory after the region. */
void nb_recorded_outcome(const struct nb_reader *reader, uint64_t address, uint64_t bytes, uint8_t *into)
    __attribute__((visibility("hidden")));

/* Runs the region once on the recorded memory, without poisoned outputs. */
int nb_recorded_run(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
