#include "core/policy/evaluate.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/image/image.h"
#include "core/image/sha256.h"
#include "core/policy/events.h"

#define NODE_EVENT_AT 16u /* offset of the event in CUgraphNodeParams and hipGraphNodeParams */

const char *nb_origin_of(const struct nb_decided_call *call)
{
    Dl_info info;
    return dladdr(call->caller, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
}

static bool fits_number(const struct nb_policy_table *table, const struct nb_policy_fact *fact,
                        uint64_t number)
{
    for (uint32_t i = 0; i < fact->values; i++) {
        const struct nb_policy_value *value = &table->values[fact->first_value + i];
        if (fact->test == NB_TEST_BITS ? (number & value->low) != 0
                                       : number >= value->low && number <= value->high)
            return true;
    }
    return false;
}

static bool fits_text(const struct nb_policy_table *table, const struct nb_policy_fact *fact,
                      const char *text)
{
    for (uint32_t i = 0; i < fact->values; i++)
        if (fnmatch(table->text + table->values[fact->first_value + i].low, text, 0) == 0)
            return true;
    return false;
}

static bool fits_attribute(const struct nb_policy_table *table, const struct nb_policy_fact *fact,
                           const struct nb_policy_facts *vendor, uint64_t config)
{
    uint32_t id;
    for (uint32_t i = 0; vendor->config_attribute(config, i, &id); i++)
        if (fits_number(table, fact, id))
            return true;
    return false;
}

/* Hash the bytes that the supervisor hashes too (nb_binmap_load): an image whose size is unknown has no hash.
 */
static void hash_memory(struct nb_decided_call *call, uint64_t address)
{
    const struct nb_extent extent = nb_image_measure((const void *)(uintptr_t)address, SIZE_MAX, 1);
    call->has_image = extent.bytes != 0;
    if (call->has_image)
        nb_sha256(extent.start, extent.bytes, call->image);
}

static void hash_file(struct nb_decided_call *call, const char *path)
{
    struct stat status;
    const int descriptor = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (descriptor < 0)
        return;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *mapping = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        call->has_image = mapping != MAP_FAILED;
        if (call->has_image) {
            nb_sha256(mapping, (size_t)status.st_size, call->image);
            munmap(mapping, (size_t)status.st_size);
        }
    }
    close(descriptor);
}

static bool fits_image(const struct nb_policy_table *table, const struct nb_policy_fact *fact,
                       struct nb_decided_call *call, uint64_t word)
{
    if (!call->image_is_known && word != 0) {
        if (fact->subject == NB_SUBJECT_IMAGE)
            hash_memory(call, word);
        else
            hash_file(call, (const char *)(uintptr_t)word);
    }
    call->image_is_known = true;
    for (uint32_t i = 0; call->has_image && i < fact->values; i++)
        if (memcmp(table->text + table->values[fact->first_value + i].low, call->image, sizeof call->image) ==
            0)
            return true;
    return false;
}

static bool fits_kernel(const struct nb_policy_table *table, const struct nb_policy_fact *fact,
                        const struct nb_policy_facts *vendor, struct nb_decided_call *call, uint64_t function)
{
    if (call->kernel == NULL)
        call->kernel = function != 0 ? vendor->kernel(call->thread, function) : "";
    return fits_text(table, fact, call->kernel);
}

static uint64_t read_node_event(uint64_t parameters)
{
    uint64_t event;
    memcpy(&event, (const char *)(uintptr_t)parameters + NODE_EVENT_AT, sizeof event);
    return event;
}

/* If a call does not have the value (a NULL structure), no value fits. */
static bool fits(const struct nb_policy_table *table, const struct nb_policy_fact *fact,
                 const struct nb_policy_facts *vendor, struct nb_decided_call *call)
{
    if (fact->subject == NB_SUBJECT_LIBRARY)
        return fits_text(table, fact, nb_origin_of(call));
    if (fact->position >= call->count)
        return false;
    const uint64_t word = call->words[fact->position];
    switch ((enum nb_subject)fact->subject) {
    case NB_SUBJECT_WORD:
        return fits_number(table, fact, word);
    case NB_SUBJECT_KERNEL:
        return fits_kernel(table, fact, vendor, call, word);
    case NB_SUBJECT_NODE_KERNEL:
        return fits_kernel(table, fact, vendor, call, word != 0 ? vendor->node_kernel(word) : 0);
    case NB_SUBJECT_GRAPH_KERNEL:
        return call->kernel != NULL && fits_text(table, fact, call->kernel);
    case NB_SUBJECT_IMAGE:
    case NB_SUBJECT_IMAGE_FILE:
        return fits_image(table, fact, call, word);
    case NB_SUBJECT_CONFIG_STREAM:
        return word != 0 && fits_number(table, fact, vendor->config_stream(word));
    case NB_SUBJECT_CONFIG_ATTRIBUTE:
        return word != 0 && fits_attribute(table, fact, vendor, word);
    case NB_SUBJECT_POINTED:
        return word != 0 && fits_number(table, fact, *(const uint32_t *)(uintptr_t)word);
    case NB_SUBJECT_TIMING_EVENT:
        return fits_number(table, fact, nb_policy_event_keeps_time(word));
    case NB_SUBJECT_IS_TIMED_STREAM:
        return fits_number(table, fact, nb_policy_is_timed_stream(call->slot, word));
    case NB_SUBJECT_NODE_EVENT:
        return word != 0 && fits_number(table, fact, nb_policy_event_keeps_time(read_node_event(word)));
    case NB_SUBJECT_LIBRARY:
        break;
    }
    return false;
}

static bool all_facts_hold(const struct nb_policy_table *table, const struct nb_policy_entry *entry,
                           const struct nb_policy_facts *vendor, struct nb_decided_call *call)
{
    for (uint32_t i = 0; i < entry->facts; i++) {
        const struct nb_policy_fact *fact = &table->facts[entry->first_fact + i];
        if (fits(table, fact, vendor, call) == (fact->is_negated != 0))
            return false;
    }
    return true;
}

/* The fact that asks for the kernels of a graph; NULL if the entry has none. */
static const struct nb_policy_fact *find_graph_fact(const struct nb_policy_table *table,
                                                    const struct nb_policy_entry *entry)
{
    for (uint32_t i = 0; i < entry->facts; i++)
        if (table->facts[entry->first_fact + i].subject == NB_SUBJECT_GRAPH_KERNEL)
            return &table->facts[entry->first_fact + i];
    return NULL;
}

bool nb_policy_entry_holds(const struct nb_policy_table *table, const struct nb_policy_entry *entry,
                           const struct nb_policy_facts *vendor, struct nb_decided_call *call)
{
    const struct nb_policy_fact *graph = find_graph_fact(table, entry);
    if (graph == NULL)
        return all_facts_hold(table, entry, vendor, call);
    const uint64_t executable = graph->position < call->count ? call->words[graph->position] : 0;
    for (uint32_t i = 0; (call->kernel = vendor->graph_kernel(call->thread, executable, i)) != NULL; i++)
        if (all_facts_hold(table, entry, vendor, call))
            return true;
    return false;
}
