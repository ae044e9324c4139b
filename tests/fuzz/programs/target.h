/* The interface of a target. Each target is linked with the input generator into one program. */
#ifndef NEUTRINO_FUZZ_TARGET_H
#define NEUTRINO_FUZZ_TARGET_H

#include "mutate.h"

enum { OUTCOMES = 16 };

extern const enum style target_style;

/* Names of the outcomes for the summary, ended by NULL. */
extern const char *const target_outcomes[OUTCOMES];

/* Runs one input, which lies in a block of exactly its size. Returns the outcome; a finding ends the process.
 */
unsigned target_take(const unsigned char *bytes, size_t size);

/* Prints a reason and ends the process like a sanitizer. */
_Noreturn __attribute__((format(printf, 1, 2))) void finding(const char *format, ...);

#endif
