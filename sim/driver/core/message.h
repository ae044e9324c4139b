#ifndef NEUTRINO_SIM_MESSAGE_H
#define NEUTRINO_SIM_MESSAGE_H

/* Write "CPU driver: ", the text and a newline to stderr in one write. Cuts the text at 1000 characters.
 * Keeps errno. */
__attribute__((format(printf, 1, 2))) void sim_print(const char *format, ...);

#endif
