/* Does a call have the facts that a rule asks for? */
#ifndef NEUTRINO_POLICY_EVALUATE_H
#define NEUTRINO_POLICY_EVALUATE_H

#include <stdbool.h>

#include "core/policy/facts.h"
#include "core/policy/table.h"

/* A call that is being decided, and what was found out about it. */
struct nb_decided_call {
    struct nb_thread *thread;
    uint32_t slot;
    uint32_t count;
    const uint64_t *words;
    const void *caller;
    const char *kernel; /* its name, if a rule asked for it, else NULL */
    uint8_t image[32];  /* its hash, if has_image */
    bool has_image;
    bool image_is_known; /* the image was looked for */
};

/* Path of the library whose code called; "" if unknown. */
const char *nb_origin_of(const struct nb_decided_call *call) __attribute__((visibility("hidden")));

/* Do all facts of the entry hold? */
bool nb_policy_entry_holds(const struct nb_policy_table *table, const struct nb_policy_entry *entry,
                           const struct nb_policy_facts *vendor, struct nb_decided_call *call)
    __attribute__((visibility("hidden")));

#endif
