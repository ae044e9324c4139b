/* Target: the reader of a policy's table. Entries of every slot are in the table, and texts are terminated.
 */
#include "core/policy/table.h"

#include <stdlib.h>
#include <string.h>

#include "target.h"

#define SLOTS 800u

const enum style target_style = STYLE_BINARY;
const char *const target_outcomes[OUTCOMES] = {"refused", "empty", "entries", "entries with facts"};

/* Read what evaluation reads: every value of every fact. */
static size_t read_fact(const struct nb_policy_table *table, const struct nb_policy_fact *fact)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < fact->values; i++) {
        const struct nb_policy_value *value = &table->values[fact->first_value + i];
        if (fact->test == NB_TEST_GLOB && strlen(table->text + value->low) > value->high)
            finding("a pattern is longer than %llu bytes", (unsigned long long)value->high);
        if (fact->test == NB_TEST_HASH)
            bytes += (unsigned char)table->text[value->low] + (unsigned char)table->text[value->low + 31];
        bytes += value->high != 0;
    }
    return bytes;
}

unsigned target_take(const unsigned char *bytes, size_t size)
{
    struct nb_policy_table table;
    size_t entries = 0, facts = 0, used = 0;
    if (!nb_policy_table_read(bytes, size, SLOTS, &table))
        return 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        size_t count;
        const struct nb_policy_entry *entry = nb_policy_table_entries(&table, slot, &count);
        entries += count;
        for (size_t i = 0; i < count; i++) {
            if (entry[i].slot != slot)
                finding("an entry of slot %u at slot %u", entry[i].slot, slot);
            facts += entry[i].facts;
            for (uint32_t each = 0; each < entry[i].facts && each < 64; each++)
                used += read_fact(&table, &table.facts[entry[i].first_fact + each]);
            if (entry[i].rule < table.head.rules)
                used += table.rules[entry[i].rule].action;
        }
    }
    if (entries != table.head.entries)
        finding("%zu entries of %u", entries, table.head.entries);
    free((void *)(table.rules == NULL ? NULL : (const char *)table.rules - sizeof(struct nb_policy)));
    return used == SIZE_MAX ? 0 : 1u + (entries != 0 ? 1u : 0u) + (facts != 0 ? 1u : 0u);
}
