/* Error lines for callers of replay.h. */
#ifndef NEUTRINO_ERROR_H
#define NEUTRINO_ERROR_H

/* Writes the line, cut to NB_REPLAY_TEXT bytes, and returns `status`. */
int nb_error(char *error, int status, const char *format, ...)
    __attribute__((visibility("hidden"), format(printf, 3, 4)));

#endif
