/* Validates a capture file for programs that only decode it, such as benchguard.Capture
 * (capture/validate.py). */
#ifndef NEUTRINO_VALIDATE_H
#define NEUTRINO_VALIDATE_H

#include <stdint.h>

#include "replay/replay.h"

/* Checks the capture behind `descriptor` in a process under seccomp, and writes to `output` its header, blob
 * table and section table as in the file, then the decoded bytes of every section of a known kind, in the
 * file's order. Blobs that belong to no section are not decoded.
 *
 * Both descriptors stay the caller's. `output` is written from its start if the file's offset is 0, and holds
 * arbitrary bytes if the result is not NB_REPLAY_OK. `error` has room for NB_REPLAY_TEXT bytes. Returns an
 * enum nb_replay_status. Safe in a program with threads. */
NB_REPLAY_EXPORT int nb_capture_validate(int descriptor, int output, uint64_t table_bytes, uint32_t elements,
                                         char *error);

#endif
