/* A thread's ring: claimed at its first traced call, closed when the thread ends. */
#ifndef NEUTRINO_THREAD_H
#define NEUTRINO_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/record.h"

enum nb_thread_state {
    NB_THREAD_NEW = 0, /* not attached yet */
    NB_THREAD_READY,   /* has a ring, outside the driver */
    NB_THREAD_INSIDE,  /* has a ring, inside a traced call: calls that the driver makes itself are not traced
                        */
    NB_THREAD_LOST,    /* a session exists, but no ring was free: calls are counted, not traced */
    NB_THREAD_OFF      /* the process has no session */
};

/* The process that writes to a ring. */
struct nb_process_identity {
    uint32_t process;
    uint32_t parent;
    uint64_t started;       /* clock ticks after boot, /proc/self/stat field 22 */
    uint64_t pid_namespace; /* inode */
    uint64_t first_tsc;
    uint64_t first_ns;
};

struct nb_thread {
    struct nb_ring *ring;
    char *data; /* mapped twice in a row, so that a record never wraps */
    uint64_t head;
    uint64_t tail; /* the supervisor's tail as last seen */
    uint64_t capacity;
    uint64_t clock;                /* time of the last clock pair */
    uint64_t stuck_at;             /* the tail at which a wait last failed; the next wait is skipped */
    const struct nb_record *query; /* the last record, if it is a query's and query_end equals head */
    uint64_t query_end;
    struct nb_repeated *repeated; /* the record at head that still counts; NULL: none */
    uint32_t state;
};

/* Initial-exec: one instruction to reach. Small enough for the static TLS that glibc reserves for
 * libraries opened late (1664 bytes in glibc 2.36; 4 KiB fails). */
extern __thread struct nb_thread nb_thread __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Claim a ring of the session for the calling thread, whose state becomes READY. False if no ring is free
 * or the address space is full. */
bool nb_ring_open(struct nb_thread *thread, const struct nb_process_identity *process)
    __attribute__((visibility("hidden")));

/* Close the thread's ring, if it has one. `still_ours` is false in a forked child, where the ring is the
 * parent's. */
void nb_ring_close(struct nb_thread *thread, bool still_ours) __attribute__((visibility("hidden")));

/* Count a repetition of the query in `thread->query`. The record that counts is published before the next
 * record. */
void nb_ring_repeat(struct nb_thread *thread, uint64_t begin, uint64_t end)
    __attribute__((visibility("hidden")));

/* The slow path of nb_ring_reserve: publish the record that counts, wait a limited time for `size` bytes,
 * else count a lost record. */
bool nb_ring_wait(struct nb_thread *thread, size_t size) __attribute__((visibility("hidden")));

/* Write a clock pair as a record, from time to time. The supervisor computes the counter's true rate from
 * it. */
void nb_clock_record(struct nb_thread *thread) __attribute__((visibility("hidden")));

/* Return `size` bytes of the ring for a record, or NULL; the record is then counted as lost. */
static inline void *nb_ring_reserve(struct nb_thread *thread, size_t size)
{
    if (__builtin_expect(thread->head + size - thread->tail > thread->capacity, 0) &&
        !nb_ring_wait(thread, size))
        return NULL;
    return thread->data + (thread->head & (thread->capacity - 1));
}

/* Publish the record in the reserved bytes. */
static inline void nb_ring_commit(struct nb_thread *thread, size_t size)
{
    thread->head += size;
    atomic_store_explicit(&thread->ring->head, thread->head, memory_order_release);
}

#endif
