/* Write one line to standard error with write(2) alone: safe before libc is set up and between fork and
 * exec. */
#ifndef NEUTRINO_LOG_H
#define NEUTRINO_LOG_H

/* "neutrino-bench: <what><subject><then>\n"; any part may be NULL. Preserves errno. */
void nb_log(const char *what, const char *subject, const char *then) __attribute__((visibility("hidden")));

#endif
