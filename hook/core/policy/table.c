#include "core/policy/table.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/record.h"

static bool is_span_valid(uint64_t first, uint64_t count, uint64_t limit)
{
    return first <= limit && count <= limit - first;
}

static bool is_rule_valid(const struct nb_policy_rule *rule)
{
    return rule->action <= NB_ACTION_DENY && rule->once <= NB_ONCE_CONTEXT && rule->code != 0;
}

static bool is_value_valid(const struct nb_policy_table *table, const struct nb_policy_fact *fact,
                           const struct nb_policy_value *value)
{
    const uint64_t limit = table->head.text_bytes;
    if (fact->test == NB_TEST_GLOB)
        return value->high < UINT32_MAX && is_span_valid(value->low, value->high + 1, limit) &&
               table->text[value->low + value->high] == 0;
    return fact->test != NB_TEST_HASH || is_span_valid(value->low, 32, limit);
}

static bool is_fact_valid(const struct nb_policy_table *table, const struct nb_policy_fact *fact)
{
    const bool is_text = fact->subject == NB_SUBJECT_LIBRARY || fact->subject == NB_SUBJECT_KERNEL ||
                         fact->subject == NB_SUBJECT_NODE_KERNEL || fact->subject == NB_SUBJECT_GRAPH_KERNEL;
    const bool is_image = fact->subject == NB_SUBJECT_IMAGE || fact->subject == NB_SUBJECT_IMAGE_FILE;
    const bool fits = is_text    ? fact->test == NB_TEST_GLOB
                      : is_image ? fact->test == NB_TEST_HASH
                                 : fact->test <= NB_TEST_BITS;
    if (fact->subject > NB_SUBJECT_NODE_EVENT || !fits || fact->position >= NB_ARGUMENTS_MAX ||
        !is_span_valid(fact->first_value, fact->values, table->head.values))
        return false;
    for (uint32_t i = 0; i < fact->values; i++)
        if (!is_value_valid(table, fact, &table->values[fact->first_value + i]))
            return false;
    return true;
}

static bool is_table_valid(const struct nb_policy_table *table, uint32_t slots)
{
    for (uint32_t i = 0; i < table->head.rules; i++)
        if (!is_rule_valid(&table->rules[i]))
            return false;
    for (uint32_t i = 0; i < table->head.facts; i++)
        if (!is_fact_valid(table, &table->facts[i]))
            return false;
    for (uint32_t i = 0; i < table->head.entries; i++) {
        const struct nb_policy_entry *entry = &table->entries[i];
        const bool is_watch = entry->rule == NB_POLICY_EVENT || entry->rule == NB_POLICY_WORK;
        if (entry->slot >= slots || (i > 0 && entry->slot < entry[-1].slot) ||
            (!is_watch && entry->rule >= table->head.rules) ||
            !is_span_valid(entry->first_fact, entry->facts, table->head.facts))
            return false;
    }
    return true;
}

bool nb_policy_table_read(const void *shared, uint64_t bytes, uint32_t slots, struct nb_policy_table *table)
{
    if (bytes < sizeof(struct nb_policy) || bytes > NB_POLICY_BYTES_MAX)
        return false;
    char *copy = malloc(bytes);
    if (copy == NULL)
        return false;
    memcpy(copy, shared, bytes);
    memcpy(&table->head, copy, sizeof table->head);
    const struct nb_policy *head = &table->head;
    const uint64_t rules = sizeof *head;
    const uint64_t facts = rules + (uint64_t)head->rules * sizeof *table->rules;
    const uint64_t values = facts + (uint64_t)head->facts * sizeof *table->facts;
    const uint64_t entries = values + (uint64_t)head->values * sizeof *table->values;
    const uint64_t text = entries + (uint64_t)head->entries * sizeof *table->entries;
    table->rules = (const struct nb_policy_rule *)(copy + rules);
    table->facts = (const struct nb_policy_fact *)(copy + facts);
    table->values = (const struct nb_policy_value *)(copy + values);
    table->entries = (const struct nb_policy_entry *)(copy + entries);
    table->text = copy + text;
    if (head->magic == NB_POLICY_MAGIC && head->rules <= NB_POLICY_RULES_MAX &&
        text + head->text_bytes == bytes && is_table_valid(table, slots))
        return true;
    free(copy);
    return false;
}

const struct nb_policy_entry *nb_policy_table_entries(const struct nb_policy_table *table, uint32_t slot,
                                                      size_t *count)
{
    size_t low = 0, high = table->head.entries;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (table->entries[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < table->head.entries && table->entries[end].slot == slot)
        end++;
    *count = end - low;
    return table->entries + low;
}
