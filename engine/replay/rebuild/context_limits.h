/* Sets the recorded limits of the context, as far as they are reasonable. */
#ifndef NEUTRINO_ENGINE_CONTEXT_LIMITS_H
#define NEUTRINO_ENGINE_CONTEXT_LIMITS_H

struct nb_replay;

int nb_limits_set(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
