/* A target: the code that takes inputs. One target and the engine of inputs are linked to one program. */
#ifndef NEUTRINO_FUZZ_TARGET_H
#define NEUTRINO_FUZZ_TARGET_H

#include "mutate.h"

enum { OUTCOMES = 16 };

extern const enum style target_style;

/* Names of the outcomes, for the summary; NULL behind the last. */
extern const char *const target_outcomes[OUTCOMES];

/* `bytes` lies in a block of just its size. Returns which outcome it was; a finding ends the process. */
unsigned target_take(const unsigned char *bytes, size_t size);

/* Says why and ends the process as a sanitizer would. */
_Noreturn __attribute__((format(printf, 1, 2))) void finding(const char *format, ...);

#endif
