/* The file of a raw capture: elements of capture_format.h, appended.
 *
 * The file is opened, written and closed again each time, so that the program can close no descriptor of
 * it (docs/adr/0004). Elements are buffered in memory and written together. */
#ifndef NEUTRINO_RECORDING_H
#define NEUTRINO_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/process/component.h"
#include "core/wire/capture_format.h"

/* A piece of an element's payload. */
struct nb_piece {
    const void *start;
    size_t bytes;
};

/* Start `folder`/<pid>-<region>.nrec. False if the file cannot be created; nb_raw_capture_error and errno
 * say why (EEXIST: an earlier process had the same pid). */
bool nb_raw_capture_open(const char *folder, uint32_t region) __attribute__((visibility("hidden")));

/* Accept elements from every thread (share), or only from the calling thread (seize, as after
 * nb_raw_capture_open). Elements of other threads could refer to tables that are already written while a
 * region ends. */
void nb_raw_capture_share(void) __attribute__((visibility("hidden")));
void nb_raw_capture_seize(void) __attribute__((visibility("hidden")));

/* A thread has an element that it can no longer append. */
void nb_raw_capture_miss(void) __attribute__((visibility("hidden")));

/* Append one element. The pieces make its payload, which is padded to a multiple of 8. Any thread may call
 * this. Returns the element's index among those of its kind, or NB_NOTHING if it is not accepted. After a
 * write error (full disk) nothing more is written, and the supervisor finds the file without an end. */
uint32_t nb_raw_capture_append(enum nb_capture_kind kind, const struct nb_piece *pieces, unsigned count)
    __attribute__((visibility("hidden")));

/* Number of elements of a kind appended so far. */
uint32_t nb_raw_capture_count(enum nb_capture_kind kind) __attribute__((visibility("hidden")));

/* Write the buffer, so that its elements survive the process. */
bool nb_raw_capture_flush(void) __attribute__((visibility("hidden")));

/* Append NB_CAPTURE_END and write the buffer. If elements of other threads were dropped since the file was
 * seized, append a refusal first. No element follows, whatever other threads do. */
bool nb_raw_capture_end(uint32_t status) __attribute__((visibility("hidden")));

/* One line, or "". */
const char *nb_raw_capture_error(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_raw_capture_component __attribute__((visibility("hidden")));

#endif
