/* The hot path: the work of every traced call before and after the driver.
 *
 * Budget: a traced call costs at most 25 ns more than a direct call, mostly for two reads of the counter.
 * No lock, no system call and no allocation here. */
#ifndef NEUTRINO_CALL_H
#define NEUTRINO_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/driver/slots.h"
#include "core/process/attach.h"
#include "core/ring/clock.h"
#include "core/ring/omitted.h"
#include "core/ring/ring.h"
#include "core/wire/record.h"

/* Counter ticks between two clock pairs: about a tenth of a second on current machines. */
#define NB_CLOCK_INTERVAL (UINT64_C(1) << 28)

#define NB_ALWAYS_INLINE static inline __attribute__((always_inline))

struct nb_call {
    struct nb_thread *thread; /* NULL: this call is not traced */
    const void *caller;       /* return address of the exported function */
    uint64_t begin;
    uint32_t slot;
};

/* Always inlined into the exported function, so that __builtin_return_address(0) is that function's
 * caller. */
NB_ALWAYS_INLINE struct nb_call nb_call_begin(uint32_t slot)
{
    struct nb_thread *thread = &nb_thread;
    struct nb_call call = {NULL, __builtin_return_address(0), 0, slot};
    if (__builtin_expect(thread->state == NB_THREAD_READY, 1) || nb_thread_attach(thread)) {
        thread->state = NB_THREAD_INSIDE;
        call.thread = thread;
        call.begin = nb_clock();
        atomic_store_explicit(&thread->ring->in_flight_since, call.begin, memory_order_relaxed);
        atomic_store_explicit(&thread->ring->in_flight, (uint64_t)slot + 1, memory_order_relaxed);
    }
    return call;
}

/* The driver has returned, and the call's record, if any, is written. */
NB_ALWAYS_INLINE void nb_call_leave(const struct nb_call *call, uint64_t end)
{
    struct nb_thread *thread = call->thread;
    atomic_store_explicit(&thread->ring->in_flight, 0, memory_order_relaxed);
    if (__builtin_expect(end - thread->clock > NB_CLOCK_INTERVAL, 0))
        nb_clock_record(thread);
    thread->state = NB_THREAD_READY;
}

/* Write the call's record. Returns NULL if it was lost. */
NB_ALWAYS_INLINE const struct nb_record *nb_call_write(const struct nb_call *call, uint64_t end, int result,
                                                       const uint64_t *arguments, unsigned count)
{
    const size_t size = sizeof(struct nb_record) + count * sizeof *arguments;
    struct nb_record *record = nb_ring_reserve(call->thread, size);
    if (__builtin_expect(record != NULL, 1)) {
        record->size = (uint32_t)size;
        record->kind = NB_RECORD_CALL;
        record->slot = (uint16_t)call->slot;
        record->begin = call->begin;
        record->end = end;
        record->result = result;
        record->count = count;
        memcpy(record + 1, arguments, count * sizeof *arguments);
        nb_ring_commit(call->thread, size);
    }
    return record;
}

NB_ALWAYS_INLINE void nb_call_end(const struct nb_call *call, int result, const uint64_t *arguments,
                                  unsigned count)
{
    if (__builtin_expect(call->thread == NULL, 0))
        return;
    const uint64_t end = nb_clock();
    if (!nb_is_omitted(call->thread, call->slot, result))
        (void)nb_call_write(call, end, result, arguments, count);
    nb_call_leave(call, end);
}

/* As nb_call_end, for a function that only asks. A call that equals the thread's last record is counted
 * there: a program that polls would fill the ring otherwise. */
NB_ALWAYS_INLINE void nb_query_end(const struct nb_call *call, int result, const uint64_t *arguments,
                                   unsigned count)
{
    struct nb_thread *thread = call->thread;
    if (__builtin_expect(thread == NULL, 0))
        return;
    const uint64_t end = nb_clock();
    const struct nb_record *query = thread->query;
    if (nb_is_omitted(thread, call->slot, result)) {
        nb_call_leave(call, end);
        return;
    }
    if (query != NULL && thread->query_end == thread->head && query->slot == call->slot &&
        query->result == result && memcmp(query + 1, arguments, count * sizeof *arguments) == 0) {
        nb_ring_repeat(thread, call->begin, end);
    } else {
        thread->query = nb_call_write(call, end, result, arguments, count);
        thread->query_end = thread->head;
    }
    nb_call_leave(call, end);
}

/* A hand-written hook puts its own driver calls and records between these two, so that they do not appear
 * as the program's. False: this call is not traced, so the hook must do nothing. */
NB_ALWAYS_INLINE bool nb_hook_enter(const struct nb_call *call)
{
    if (call->thread == NULL)
        return false;
    call->thread->state = NB_THREAD_INSIDE;
    return true;
}

NB_ALWAYS_INLINE void nb_hook_leave(const struct nb_call *call)
{
    call->thread->state = NB_THREAD_READY;
}

/* Read the value that the driver stored behind an out pointer, only after success and never through NULL. */
NB_ALWAYS_INLINE uint64_t nb_out_word(int result, const void *pointer, size_t size)
{
    uint64_t word = 0;
    if (result == 0 && pointer != NULL)
        memcpy(&word, pointer, size <= sizeof word ? size : sizeof word);
    return word;
}

NB_ALWAYS_INLINE uint64_t nb_word_pointer(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

#endif
