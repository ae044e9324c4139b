/* The result of a case, sealed for its way out of a hostile process.
 *
 * A one-time pad hides the result, and a one-time Carter-Wegman code (Wegman and Carter, JCSS 22, 1981)
 * authenticates it: without the key no computing power helps, no cipher library is needed in the attacker's
 * address space, and the code fits in one file. Both keys come from the supervisor's os.urandom, are used
 * once and wiped. benchguard/inline/seal.py opens the message.
 *
 * The code is a polynomial over the field of 2^61 - 1 elements: over the case's number and then the pad's
 * result in words of 7 bytes, evaluated at `point`, plus `mask`. A forger has one try, and succeeds with a
 * probability of words / 2^61, which is under 2^-48. */
#ifndef NEUTRINO_INLINE_SEAL_H
#define NEUTRINO_INLINE_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "inline/inline.h"

enum nb_row_flag {
    NB_ROW_PROBE = 1,    /* the first row, and the first wrong one: they decide how to take the next */
    NB_ROW_UNPRIMED = 2, /* the queue was released before all work was in it */
    NB_ROW_ALTERED = 4   /* the tally is wrong although no element is */
};

struct nb_row {
    double event_us; /* between the events */
    double stamp_us; /* between the end of the canaries' restoring and the beginning of the check, which the
                        host's own time is taken from if the queue was not held */
    uint64_t wrong;  /* elements */
    uint32_t set;
    uint32_t flags; /* enum nb_row_flag */
};

struct nb_result {
    char magic[8];
    uint32_t case_number;
    uint32_t rows_done;
    uint32_t rows_wanted;
    uint32_t stopped; /* as nb_inline_run returns it */
    double overhead_us, gap_us;
    struct nb_row rows[NB_INLINE_SAMPLES_MAX];
};

struct nb_seal_key {
    uint64_t point, mask;
    uint8_t pad[sizeof(struct nb_result)];
};

struct nb_sealed {
    char magic[4];
    uint32_t case_number;
    uint8_t data[sizeof(struct nb_result)];
    uint64_t code;
};

/* Seal a result, and wipe the key. */
void nb_seal(struct nb_seal_key *key, const struct nb_result *result, struct nb_sealed *sealed)
    __attribute__((visibility("hidden")));

/* Clear memory; compilers do not remove the call. */
void nb_wipe(void *memory, size_t bytes) __attribute__((visibility("hidden")));

#endif
