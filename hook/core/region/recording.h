/* The file that a region is recorded to: elements of capture_format.h, appended.
 *
 * Opened, appended to and closed again for each write, so that no descriptor is there for the program to
 * close (docs/adr/0004). Elements are kept in memory up to a bound and written together. */
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

/* Start `folder`/<pid>-<region>.nrec. False if it cannot be made; nb_recording_error and errno (EEXIST: a
 * process of this number was here before) say why. */
bool nb_recording_open(const char *folder, uint32_t region) __attribute__((visibility("hidden")));

/* Whose elements are taken: those of every thread, or of none but this one, as from nb_recording_open on.
 * What others append while a region ends might refer to what is written already. */
void nb_recording_share(void) __attribute__((visibility("hidden")));
void nb_recording_seize(void) __attribute__((visibility("hidden")));

/* A thread has something that it can no longer append. */
void nb_recording_miss(void) __attribute__((visibility("hidden")));

/* Append one element: the pieces make its payload, which is padded to a multiple of 8. Any thread. Returns
 * the element's index among those of its kind, or NB_NOTHING if it is not taken, or if the recording has
 * failed (full disk): it is then no longer written to, and the supervisor finds it without an end. */
uint32_t nb_recording_append(enum nb_capture_kind kind, const struct nb_piece *pieces, unsigned count)
    __attribute__((visibility("hidden")));

/* How many elements of a kind were appended. */
uint32_t nb_recording_count(enum nb_capture_kind kind) __attribute__((visibility("hidden")));

/* Write what is kept so far: it is then in the file whatever happens to the process. */
bool nb_recording_flush(void) __attribute__((visibility("hidden")));

/* Append NB_CAPTURE_END, before it a refusal if elements of other threads were not taken since the recording
 * was seized, and write what is kept: nothing comes after it, whatever other threads do. */
bool nb_recording_end(uint32_t status) __attribute__((visibility("hidden")));

/* One line, or "". */
const char *nb_recording_error(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_recording_component __attribute__((visibility("hidden")));

#endif
