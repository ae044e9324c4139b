#include "core/policy/policy.h"

#include <errno.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/vector.h"
#include "core/driver/slots.h"
#include "core/policy/evaluate.h"
#include "core/policy/events.h"
#include "core/policy/phase.h"
#include "core/policy/table.h"
#include "core/process/attach.h"
#include "core/ring/clock.h"
#include "core/ring/session.h"
#include "core/wire/record.h"

#define CONTEXTS_MAX 4096u /* pairs of rules and contexts that are remembered */

enum { NO_POLICY, HAS_POLICY, BROKEN_POLICY };

struct use {
    uint64_t context; /* 0 for rules that hold once per process */
    uint32_t rule;
};

static int state;
static struct nb_policy_table table;
static const struct nb_policy_facts *vendor;
static struct nb_vector uses =
    NB_VECTOR_INITIALIZER(struct use);                   /* rules that held, of those that hold once */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards uses */

void nb_policy_install(const struct nb_policy_facts *facts)
{
    vendor = facts;
}

static int read_policy(void)
{
    const struct nb_session *session = nb_session();
    if (session == NULL || session->policy_bytes == 0)
        return NO_POLICY;
    /* Read once: another process may change the header meanwhile. */
    const uint64_t offset = *(const volatile uint64_t *)&session->policy_offset;
    const uint64_t bytes = *(const volatile uint64_t *)&session->policy_bytes;
    const uint64_t end = session->image_offset;
    if (offset <= end && bytes <= end - offset &&
        nb_policy_table_read((const char *)session + offset, bytes, nb_export_count, &table))
        return HAS_POLICY;
    nb_log("the policy in the session memory is invalid, so every driver call is refused", NULL,
           ": no process but the supervisor may write to it");
    return BROKEN_POLICY;
}

/* The process has found its session. */
static void start(void)
{
    state = read_policy();
    for (uint32_t slot = 0; slot < nb_export_count; slot++) {
        size_t entries = 0;
        if (state == HAS_POLICY)
            nb_policy_table_entries(&table, slot, &entries);
        __atomic_store_n(&nb_guarded[slot], state == BROKEN_POLICY || entries > 0, __ATOMIC_RELAXED);
    }
    if (state == HAS_POLICY && table.head.flags != 0)
        nb_policy_keep_events();
}

/* A rule that holds once: is this the first call for which it holds? */
static bool is_first_use(uint32_t rule, uint32_t once)
{
    const struct use use = {once == NB_ONCE_CONTEXT ? vendor->context() : 0, rule};
    bool is_first = true;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; is_first && i < uses.count; i++) {
        const struct use *other = nb_vector_item(&uses, i);
        is_first = other->context != use.context || other->rule != use.rule;
    }
    if (is_first)
        is_first = uses.count < CONTEXTS_MAX && nb_vector_append(&uses, &use);
    pthread_mutex_unlock(&lock);
    return is_first;
}

static void write_decision(const struct nb_decided_call *call, uint32_t number,
                           const struct nb_policy_rule *rule)
{
    const char *origin = nb_origin_of(call), *kernel = call->kernel != NULL ? call->kernel : "";
    const uint32_t origin_bytes = (uint32_t)strnlen(origin, NB_PAGE);
    const uint32_t kernel_bytes = (uint32_t)strnlen(kernel, NB_STRING_MAX);
    const size_t word_bytes = call->count * sizeof *call->words;
    const size_t size =
        (sizeof(struct nb_decision) + word_bytes + origin_bytes + kernel_bytes + 7) & ~(size_t)7;
    struct nb_decision *decision = nb_ring_reserve(call->thread, size);
    if (decision == NULL)
        return;
    const uint64_t now = nb_clock();
    memset(decision, 0, size);
    decision->record = (struct nb_record){.size = (uint32_t)size,
                                          .kind = NB_RECORD_DECISION,
                                          .slot = (uint16_t)call->slot,
                                          .begin = now,
                                          .end = now,
                                          .result = rule->action == NB_ACTION_DENY ? rule->code : 0,
                                          .count = call->count};
    decision->rule = number;
    decision->action = rule->action;
    decision->phase = atomic_load_explicit(&nb_phase_now, memory_order_relaxed);
    decision->origin_bytes = origin_bytes;
    decision->kernel_bytes = kernel_bytes;
    decision->has_image = call->has_image;
    memcpy(decision->image, call->image, sizeof decision->image);
    char *text = (char *)(decision + 1);
    if (word_bytes > 0)
        memcpy(text, call->words, word_bytes);
    memcpy(text + word_bytes, origin, origin_bytes);
    memcpy(text + word_bytes + origin_bytes, kernel, kernel_bytes);
    nb_ring_commit(call->thread, size);
}

/* An entry without a rule tells the phases between timing events what happens. */
static void watch(const struct nb_policy_entry *entry, const struct nb_decided_call *call)
{
    if (entry->rule == NB_POLICY_WORK) {
        nb_policy_window_work();
        return;
    }
    if (entry->facts != 2)
        return;
    const uint32_t event = table.facts[entry->first_fact].position;
    const uint32_t stream = table.facts[entry->first_fact + 1].position;
    if (event < call->count && stream < call->count)
        nb_policy_window_event(call->slot, call->words[event], call->words[stream], call->caller);
}

/* Return the number of the first rule that holds; UINT32_MAX if none does. */
static uint32_t find_rule(struct nb_decided_call *call)
{
    size_t count;
    const struct nb_policy_entry *entry = nb_policy_table_entries(&table, call->slot, &count);
    for (const struct nb_policy_entry *end = entry + count; entry < end; entry++) {
        if (entry->rule >= table.head.rules) {
            watch(entry, call);
            continue;
        }
        const struct nb_policy_rule *rule = &table.rules[entry->rule];
        const uint32_t phase = atomic_load_explicit(&nb_phase_now, memory_order_relaxed);
        if ((rule->phases >> phase & 1) != 0 && nb_policy_entry_holds(&table, entry, vendor, call) &&
            (rule->once == NB_ONCE_NEVER || is_first_use(entry->rule, rule->once)))
            return entry->rule;
    }
    return UINT32_MAX;
}

static int decide(struct nb_decided_call *call)
{
    const uint32_t number = find_rule(call);
    const struct nb_policy_rule *rule = number != UINT32_MAX ? &table.rules[number] : NULL;
    if (rule == NULL || rule->action == NB_ACTION_ALLOW)
        return 0;
    if (call->thread->ring != NULL)
        write_decision(call, number, rule);
    return rule->action == NB_ACTION_DENY ? rule->code : 0;
}

int nb_policy_check(uint32_t slot, const void *caller, const uint64_t *words, uint32_t count)
{
    struct nb_thread *thread = &nb_thread;
    if (thread->state == NB_THREAD_INSIDE) /* the driver's own calls, and the shim's */
        return 0;
    const int saved = errno;
    if (thread->state == NB_THREAD_NEW)
        nb_thread_attach(thread);
    int code = state == BROKEN_POLICY && nb_export_fails[slot] ? nb_status_refused : 0;
    if (state == HAS_POLICY) {
        struct nb_decided_call call = {
            .thread = thread, .slot = slot, .count = count, .words = words, .caller = caller};
        const uint32_t before = thread->state;
        if (before == NB_THREAD_READY)
            thread->state = NB_THREAD_INSIDE;
        code = decide(&call);
        thread->state = before;
    }
    errno = saved;
    return code;
}

int nb_policy_check_passed(uint32_t slot, const void *caller)
{
    return nb_policy_check(slot, caller, NULL, 0);
}

/* In a forked child: a process of its own, in which the rules hold anew. */
static void forget(void)
{
    nb_vector_free(&uses);
}

const struct nb_component nb_policy_component = {.locks = {&lock}, .start = start, .forget = forget};
