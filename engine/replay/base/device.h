/* The device that replays, and its context. */
#ifndef NEUTRINO_ENGINE_DEVICE_H
#define NEUTRINO_ENGINE_DEVICE_H

struct nb_replay;

/* Retain the primary context, learn about the device, make the stream that is timed. */
int nb_device_open(struct nb_replay *replay) __attribute__((visibility("hidden")));
void nb_device_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
