/* The process's own copy of the policy's table, checked. */
#ifndef NEUTRINO_POLICY_TABLE_H
#define NEUTRINO_POLICY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/policy.h"

struct nb_policy_table {
    struct nb_policy head;
    const struct nb_policy_rule *rules;
    const struct nb_policy_fact *facts;
    const struct nb_policy_value *values;
    const struct nb_policy_entry *entries;
    const char *text;
};

/* Copy `bytes` of a table that other processes may write to, and check the copy. `slots` is the number of
 * exports. False if the table is invalid or memory runs out. */
bool nb_policy_table_read(const void *shared, uint64_t bytes, uint32_t slots, struct nb_policy_table *table)
    __attribute__((visibility("hidden")));

/* The entries of a slot: returns the first, and their number in `count`. */
const struct nb_policy_entry *nb_policy_table_entries(const struct nb_policy_table *table, uint32_t slot,
                                                      size_t *count) __attribute__((visibility("hidden")));

#endif
