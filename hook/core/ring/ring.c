#include "core/ring/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/ring/clock.h"
#include "core/ring/session.h"

/* Longest wait for room in a full ring before a record is dropped, if the session sets none. A supervisor on
 * a busy machine can be without a core for tenths of a second. A supervisor that is gone costs each thread
 * one such wait. A quarantine sets the time that its grade has left: a run that lost records is not graded,
 * so dropping one saves nothing. */
#ifndef NB_WAIT_NANOSECONDS
#define NB_WAIT_NANOSECONDS 2000000000u
#endif
#define NB_NAP_NANOSECONDS 100000

__thread struct nb_thread nb_thread __attribute__((tls_model("initial-exec")));

static struct nb_ring *claim_ring(void)
{
    /* Take the first free ring. */
    struct nb_session *session = nb_session();
    const uint32_t count = session->ring_count;
    for (uint32_t i = 0; i < count; i++) {
        struct nb_ring *ring = nb_session_ring(i);
        uint32_t expected = NB_RING_FREE;
        if (atomic_load_explicit(&ring->state, memory_order_relaxed) == NB_RING_FREE &&
            atomic_compare_exchange_strong_explicit(&ring->state, &expected, NB_RING_CLAIMED,
                                                    memory_order_acquire, memory_order_relaxed))
            return ring;
    }
    atomic_fetch_add_explicit(&session->rings_exhausted, 1, memory_order_relaxed);
    return NULL;
}

/* Map the data a second time right behind the first, so that no record wraps. The file's descriptor is
 * already closed, so mremap with length 0 duplicates the shared mapping (mremap(2)). */
static char *map_twice(const struct nb_ring *ring, size_t bytes)
{
    char *from = (char *)(uintptr_t)ring + NB_PAGE;
    char *room = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < 2; i++)
        if (mremap(from, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, room + i * bytes) == MAP_FAILED) {
            munmap(room, 2 * bytes);
            return NULL;
        }
    return room;
}

bool nb_ring_open(struct nb_thread *thread, const struct nb_process_identity *process)
{
    struct nb_ring *ring = claim_ring();
    const uint64_t capacity = nb_session()->ring_bytes;
    char *data = ring != NULL ? map_twice(ring, capacity) : NULL;
    if (data == NULL) {
        if (ring != NULL)
            atomic_store_explicit(&ring->state, NB_RING_FREE, memory_order_release);
        return false;
    }
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    ring->process = process->process;
    ring->thread = (uint32_t)syscall(SYS_gettid);
    ring->process_started = process->started;
    ring->pid_namespace = process->pid_namespace;
    nb_clock_pair(&ring->attached_tsc, &ring->attached_ns);
    *thread = (struct nb_thread){.ring = ring,
                                 .data = data,
                                 .head = head,
                                 .tail = atomic_load_explicit(&ring->tail, memory_order_acquire),
                                 .capacity = capacity,
                                 .clock = ring->attached_tsc,
                                 .stuck_at = UINT64_MAX,
                                 .state = NB_THREAD_READY};
    atomic_store_explicit(&ring->state, NB_RING_LIVE, memory_order_release);
    return true;
}

/* Publish the record that counts repetitions. */
static void publish_repeated(struct nb_thread *thread)
{
    if (thread->repeated == NULL)
        return;
    const size_t size = thread->repeated->record.size;
    thread->repeated = NULL;
    nb_ring_commit(thread, size);
}

/* The next nb_ring_reserve must publish this record first. A tail that makes the ring look full sends it to
 * the slow path, so that calls which do not repeat pay nothing. */
static void count_from_here(struct nb_thread *thread, struct nb_repeated *repeated, size_t size)
{
    thread->repeated = repeated;
    atomic_store_explicit(&thread->ring->ahead, thread->head + size, memory_order_release);
    thread->tail = thread->head - thread->capacity;
}

void nb_ring_repeat(struct nb_thread *thread, uint64_t begin, uint64_t end)
{
    const struct nb_record *query = thread->query;
    struct nb_repeated *repeated = thread->repeated;
    const size_t arguments = query->count * sizeof(uint64_t), size = sizeof *repeated + arguments;
    if (repeated != NULL) {
        repeated->record.end = end;
        repeated->repeats++;
        return;
    }
    repeated = nb_ring_reserve(thread, size);
    if (repeated == NULL)
        return;
    repeated->record = *query;
    repeated->record.size = (uint32_t)size;
    repeated->record.kind = NB_RECORD_REPEATED;
    repeated->record.begin = begin;
    repeated->record.end = end;
    repeated->repeats = 1;
    memcpy(repeated + 1, query + 1, arguments);
    count_from_here(thread, repeated, size);
}

void nb_ring_close(struct nb_thread *thread, bool still_ours)
{
    if (thread->ring == NULL)
        return;
    if (still_ours)
        publish_repeated(thread);
    if (still_ours)
        atomic_store_explicit(&thread->ring->state, NB_RING_CLOSED, memory_order_release);
    munmap(thread->data, 2 * thread->capacity);
    *thread = (struct nb_thread){.state = NB_THREAD_NEW};
}

bool nb_ring_wait(struct nb_thread *thread, size_t size)
{
    const int saved = errno;
    const uint64_t wait = nb_session()->wait_ns;
    const uint64_t longest = wait != 0 ? wait : NB_WAIT_NANOSECONDS;
    uint64_t counter, start, now = 0;
    publish_repeated(thread);
    nb_clock_pair(&counter, &start);
    bool room = false;
    while (!room) {
        thread->tail = atomic_load_explicit(&thread->ring->tail, memory_order_acquire);
        room = thread->head + size - thread->tail <= thread->capacity;
        /* If the supervisor read nothing during one whole wait, it is gone or overloaded: do not wait
         * again. */
        if (room || thread->tail == thread->stuck_at)
            break;
        nb_clock_pair(&counter, &now);
        if (now - start > longest) {
            thread->stuck_at = thread->tail;
            break;
        }
        /* Sleep: on a machine with few cores, a thread that only yields delays the supervisor. */
        nanosleep(&(struct timespec){.tv_nsec = NB_NAP_NANOSECONDS}, NULL);
    }
    if (!room)
        atomic_fetch_add_explicit(&thread->ring->dropped, 1, memory_order_relaxed);
    errno = saved;
    return room;
}

void nb_clock_record(struct nb_thread *thread)
{
    const size_t size = sizeof(struct nb_record) + sizeof(uint64_t);
    struct nb_record *record = nb_ring_reserve(thread, size);
    uint64_t counter, nanoseconds;
    nb_clock_pair(&counter, &nanoseconds);
    thread->clock = counter;
    if (record == NULL)
        return;
    *record = (struct nb_record){
        .size = (uint32_t)size, .kind = NB_RECORD_CLOCK, .begin = counter, .end = counter, .count = 1};
    memcpy(record + 1, &nanoseconds, sizeof nanoseconds);
    nb_ring_commit(thread, size);
}
