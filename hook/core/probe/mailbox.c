#include "core/probe/mailbox.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/maps/links.h"
#include "core/ring/session.h"

atomic_bool nb_probes_wanted;
static struct nb_probe_area *area; /* NULL: the session has none */
static atomic_bool is_silent;      /* an answer did not come in time: ask no more */

static void start(void)
{
    struct nb_session *session = nb_session();
    area = session->probe_offset != 0 ? (void *)((char *)session + session->probe_offset) : NULL;
    atomic_store(&nb_probes_wanted, area != NULL && nb_session_has_images());
}

static void *at_offset(uint64_t offset)
{
    return (char *)nb_session() + offset;
}

void nb_probe_write(const struct nb_call *call, const struct nb_probe_note *note)
{
    const uint32_t text_bytes = note->text != NULL ? (uint32_t)strnlen(note->text, NB_STRING_MAX) : 0;
    const size_t size = (sizeof(struct nb_probe) + text_bytes + 7) & ~(size_t)7;
    struct nb_probe *record = nb_ring_reserve(call->thread, size);
    if (record == NULL)
        return;
    const uint64_t now = nb_clock();
    memset(record, 0, size);
    record->record = (struct nb_record){.size = (uint32_t)size,
                                        .kind = NB_RECORD_PROBE,
                                        .slot = (uint16_t)call->slot,
                                        .begin = now,
                                        .end = now,
                                        .count = text_bytes};
    record->kernel = note->kernel;
    record->at = note->at;
    record->bytes = note->bytes;
    record->stream = note->stream;
    record->stage = note->stage;
    record->answer = note->answer;
    memcpy(record->grid, note->grid, sizeof record->grid);
    memcpy(record->block, note->block, sizeof record->block);
    record->shared_bytes = note->shared_bytes;
    record->table_bytes = note->table_bytes;
    memcpy(record + 1, note->text != NULL ? note->text : "", text_bytes);
    nb_ring_commit(call->thread, size);
}

/* Wait until the supervisor has set the state, at most `wait_ns`. A signal does not end the wait. */
static uint32_t await(_Atomic uint32_t *state, uint64_t wait_ns)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t end = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + wait_ns;
    const struct timespec deadline = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
    for (;;) {
        const uint32_t value = atomic_load_explicit(state, memory_order_acquire);
        if (value != NB_PROBE_WAITING)
            return value;
        /* The bitset form takes a deadline, by the monotonic clock. */
        if (syscall(SYS_futex, state, FUTEX_WAIT_BITSET, NB_PROBE_WAITING, &deadline, NULL,
                    FUTEX_BITSET_MATCH_ANY) != 0 &&
            errno == ETIMEDOUT)
            return atomic_load_explicit(state, memory_order_acquire);
    }
}

/* The supervisor's numbers, checked: another process of the command can write here too. */
static bool copy_reply(const struct nb_probe_answer *answer, struct nb_probe_reply *reply)
{
    const struct nb_probe_answer copy = {.map_count = answer->map_count,
                                         .image_at = answer->image_at,
                                         .image_bytes = answer->image_bytes,
                                         .text_at = answer->text_at,
                                         .text_bytes = answer->text_bytes,
                                         .pruned_at = answer->pruned_at,
                                         .pruned_bytes = answer->pruned_bytes};
    const uint64_t room = area->image_bytes;
    if (copy.map_count > NB_PROBE_MAPS_MAX || copy.image_bytes == 0 || copy.image_bytes >= room ||
        copy.image_at > room - copy.image_bytes - 1 || copy.text_bytes > room ||
        copy.text_at > room - copy.text_bytes || copy.pruned_bytes >= room ||
        copy.pruned_at > room - copy.pruned_bytes - 1)
        return false;
    reply->map_count = copy.map_count;
    memcpy(reply->maps, answer + 1, copy.map_count * sizeof *reply->maps);
    const char *images = at_offset(area->images_offset);
    reply->image = images + copy.image_at;
    reply->pruned_image = copy.pruned_bytes > 0 ? images + copy.pruned_at : NULL;
    reply->text = images + copy.text_at;
    reply->text_bytes = copy.text_bytes;
    return copy.text_bytes == 0 || reply->text[copy.text_bytes - 1] == 0;
}

const char *nb_probe_ask(const struct nb_call *call, const struct nb_function *function, uint64_t kernel,
                         uint32_t capability, struct nb_probe_reply *reply)
{
    static const char silent[] = "the supervisor did not answer in time";
    if (atomic_load(&is_silent))
        return silent;
    if (function->binary == NULL || function->binary->kept == NULL)
        return "its code image is unknown";
    const uint64_t index = atomic_fetch_add_explicit(&area->answer_next, 1, memory_order_relaxed);
    if (index >= area->answers)
        return "the session has no answer left; probe fewer kernels in one run (--kernel)";
    reply->answer = (uint32_t)index;
    struct nb_probe_answer *answer = at_offset(area->answers_offset + index * NB_PROBE_ANSWER);
    const char *store = at_offset(nb_session()->image_offset);
    struct nb_link_input code = {function->binary->kept, function->binary->bytes};
    const struct nb_link_input linked = nb_links_find(code.kept, code.bytes);
    if (linked.kept != NULL)
        code = linked;
    nb_probe_write(call, &(struct nb_probe_note){
                             .kernel = kernel,
                             .stage = NB_PROBE_ASKED,
                             .answer = reply->answer,
                             .at = (uint64_t)((const char *)code.kept - store),
                             .bytes = code.bytes,
                             .grid = {capability, 0, 0},
                             .text = function->name,
                         });
    const uint32_t state = await(&answer->state, area->wait_ns);
    if (state == NB_PROBE_WAITING) {
        atomic_store(&is_silent, true);
        return silent;
    }
    if (state != NB_PROBE_PROBED)
        return "";
    return copy_reply(answer, reply) ? NULL : "the supervisor's answer is invalid";
}

void *nb_probe_trace(uint64_t bytes, uint64_t *at)
{
    const uint64_t rounded = (bytes + NB_PAGE - 1) / NB_PAGE * NB_PAGE; /* so that each can be freed */
    *at = atomic_fetch_add_explicit(&area->trace_next, rounded, memory_order_relaxed);
    const uint64_t room = area->trace_bytes;
    return *at <= room && rounded <= room - *at ? at_offset(area->traces_offset + *at) : NULL;
}

uint64_t nb_probe_map_limit(void)
{
    return area->map_bytes;
}

bool nb_probe_is_benchmark(void)
{
    return area->is_benchmark != 0;
}

static void forget(void)
{
    if (!nb_session_is_shared())
        atomic_store(&nb_probes_wanted, false);
}

const struct nb_component nb_probe_mailbox_component = {.start = start, .forget = forget};
