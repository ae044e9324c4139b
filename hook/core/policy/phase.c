#include "core/policy/phase.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "core/process/attach.h"
#include "core/ring/clock.h"
#include "core/ring/ring.h"

_Atomic uint32_t nb_phase_now, nb_phase_marks;

static const char *const names[] = {"before", "setup", "warm-up", "timing", "after"};

static void write_mark(struct nb_thread *thread, enum nb_phase phase, enum nb_phase_source source,
                       const char *label, const void *caller)
{
    Dl_info info;
    const char *origin = dladdr(caller, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
    const uint32_t label_bytes = (uint32_t)strnlen(label, NB_STRING_MAX);
    const uint32_t origin_bytes = (uint32_t)strnlen(origin, NB_PAGE);
    const size_t size = (sizeof(struct nb_phase_mark) + label_bytes + origin_bytes + 7) & ~(size_t)7;
    struct nb_phase_mark *mark = nb_ring_reserve(thread, size);
    if (mark == NULL)
        return;
    const uint64_t now = nb_clock();
    memset(mark, 0, size);
    mark->record = (struct nb_record){
        .size = (uint32_t)size, .kind = NB_RECORD_PHASE, .begin = now, .end = now, .count = label_bytes};
    mark->phase = phase;
    mark->source = source;
    mark->origin_bytes = origin_bytes;
    memcpy(mark + 1, label, label_bytes);
    memcpy((char *)(mark + 1) + label_bytes, origin, origin_bytes);
    nb_ring_commit(thread, size);
}

void nb_phase_enter(enum nb_phase phase, enum nb_phase_source source, const char *label, const void *caller)
{
    atomic_store_explicit(&nb_phase_now, phase, memory_order_relaxed);
    atomic_fetch_add_explicit(&nb_phase_marks, 1, memory_order_relaxed);
    /* Inside a traced call the ring may have a reserved record: a callback's mark would overwrite it. */
    if (nb_thread.state == NB_THREAD_READY || (source == NB_PHASE_BY_EVENTS && nb_thread.ring != NULL))
        write_mark(&nb_thread, phase, source, label, caller);
}

/* A thread without a ring sets the phase too: the rules need it more than the log. */
static bool is_supervised(void)
{
    return nb_thread.state == NB_THREAD_READY || nb_thread.state == NB_THREAD_INSIDE ||
           nb_thread_attach(&nb_thread) || nb_thread.state == NB_THREAD_LOST;
}

int neutrino_phase(const char *phase, const char *label)
{
    const int saved = errno;
    const bool supervised = is_supervised();
    errno = saved;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (phase == NULL || strcmp(phase, names[i]) != 0)
            continue;
        if (supervised)
            nb_phase_enter((enum nb_phase)i, NB_PHASE_BY_PROGRAM, label != NULL ? label : "",
                           __builtin_return_address(0));
        errno = saved;
        return supervised ? 0 : -1;
    }
    return -2;
}
