/* ring_stress THREADS CALLS PAUSE [WAIT]: threads record calls as fast as possible, and this program's own
 * supervisor reads their rings with a pause (in microseconds) between passes. WAIT, in microseconds, is the
 * session's bound of a wait for room. For each thread, records
 * must arrive in order, and arrived + dropped must equal made. Between the calls are queries that repeat, and
 * each thread ends while a record still counts. Half of the threads end, and other threads
 * reuse their rings. One thread forks; its child records on a ring of its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process/call.h"
#include "core/wire/record.h"

enum { RINGS = 64, RING_BYTES = NB_RECORD_MAX, LAST_QUERIES = 1000 };
#define QUERY (UINT64_C(1) << 32)

/* The generated half of a shim, for a driver of one function. */
const unsigned nb_export_count = 1;
const char *const nb_export_names[] = {"probe", NULL};
void *const nb_exports[] = {NULL, NULL};
void *nb_slots[] = {NULL, NULL};
void *nb_jumps[] = {NULL};
void *const nb_guards[] = {NULL};
uint8_t nb_guarded[] = {1};
const unsigned char nb_export_fails[] = {1, 0};
const uint8_t nb_surface_sha256[32] = {0};
const int nb_status_refused = 800;
const char nb_driver_soname[] = "libprobe.so";
const char nb_driver_global[] = "NEUTRINO_DRIVER";
const char nb_driver_probe[] = "probe";

static struct nb_session *session;
static atomic_bool finished;
static unsigned long pause_microseconds, wait_microseconds, calls;
static unsigned long made, arrived, queries, repeated, dropped, disordered, corrupt, forked_arrived;
static pid_t parent;
static uint64_t last_word[1 << 16];

static struct nb_ring *ring_at(uint32_t index)
{
    return (struct nb_ring *)((char *)session + NB_PAGE + index * (NB_PAGE + session->ring_bytes));
}

static void take_call(const struct nb_ring *ring, const struct nb_record *record, uint64_t word,
                      uint64_t number, uint64_t repeats)
{
    const bool is_repeated = record->kind == NB_RECORD_REPEATED, is_query = (word & QUERY) != 0;
    const size_t start = is_repeated ? sizeof(struct nb_repeated) : sizeof *record;
    if (record->size != start + 2 * sizeof(uint64_t) || record->count != 2 || record->begin > record->end ||
        (is_repeated && !is_query) || (word & ~QUERY) >= sizeof last_word / sizeof *last_word) {
        corrupt++;
        return;
    }
    if (ring->process != (uint32_t)parent) {
        forked_arrived += repeats;
        return;
    }
    if (is_query) {
        queries += repeats;
        repeated += is_repeated;
        return;
    }
    arrived++;
    if (number <= last_word[word])
        disordered++;
    last_word[word] = number;
}

static void take(const struct nb_ring *ring, const char *data, uint64_t at)
{
    /* A record may wrap at the end of the ring: this reader maps the ring only once. */
    unsigned char bytes[sizeof(struct nb_repeated) + 2 * sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)data[(at + i) & (RING_BYTES - 1)];
    struct nb_record record;
    uint64_t words[3] = {1};
    memcpy(&record, bytes, sizeof record);
    if (record.kind != NB_RECORD_CALL && record.kind != NB_RECORD_REPEATED)
        return;
    const bool is_repeated = record.kind == NB_RECORD_REPEATED;
    memcpy(is_repeated ? words : words + 1, bytes + sizeof record, is_repeated ? 24 : 16);
    take_call(ring, &record, words[1], words[2], words[0]);
}

static bool drain(struct nb_ring *ring, bool is_last)
{
    const uint32_t state = atomic_load_explicit(&ring->state, memory_order_acquire);
    if (state != NB_RING_LIVE && state != NB_RING_CLOSED)
        return false;
    const char *data = (const char *)ring + NB_PAGE;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    if (is_last && atomic_load_explicit(&ring->ahead, memory_order_acquire) > head)
        head = atomic_load_explicit(&ring->ahead, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    const bool moved = tail != head;
    while (tail != head) {
        uint32_t size;
        memcpy(&size, data + (tail & (RING_BYTES - 1)), sizeof size);
        take(ring, data, tail);
        tail += size;
    }
    atomic_store_explicit(&ring->tail, tail, memory_order_release);
    if (state == NB_RING_CLOSED) {
        dropped += atomic_exchange(&ring->dropped, 0);
        atomic_store(&ring->head, 0);
        atomic_store(&ring->ahead, 0);
        atomic_store(&ring->tail, 0);
        atomic_store_explicit(&ring->state, NB_RING_FREE, memory_order_release);
    }
    return moved;
}

static void *supervise(void *unused)
{
    (void)unused;
    bool last_pass = false;
    while (!last_pass) {
        last_pass = atomic_load(&finished);
        for (uint32_t i = 0; i < RINGS; i++)
            drain(ring_at(i), last_pass);
        usleep((useconds_t)pause_microseconds);
    }
    return NULL;
}

static void query(uint64_t word, uint64_t number, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        const struct nb_call call = nb_call_begin(0);
        const uint64_t arguments[] = {word | QUERY, number};
        nb_query_end(&call, 0, arguments, 2);
    }
}

static void *produce(void *argument)
{
    const uint64_t word = (uint64_t)(uintptr_t)argument;
    for (uint64_t i = 1; i <= calls; i++) {
        const struct nb_call call = nb_call_begin(0);
        const uint64_t arguments[] = {word, i};
        nb_call_end(&call, 0, arguments, 2);
        query(word, i, i % 4);
    }
    query(word, 0, LAST_QUERIES);
    return NULL;
}

static void start_session(void)
{
    const int memory = memfd_create("ring_stress", MFD_CLOEXEC);
    const size_t bytes = NB_PAGE + RINGS * (NB_PAGE + RING_BYTES);
    if (memory < 0 || ftruncate(memory, (off_t)bytes) != 0)
        exit(2);
    session = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    session->magic = NB_SESSION_MAGIC;
    session->version = NB_FORMAT_VERSION;
    session->ring_count = RINGS;
    session->ring_bytes = RING_BYTES;
    session->image_offset = bytes;
    session->wait_ns = 1000 * wait_microseconds;
    char where[32];
    snprintf(where, sizeof where, "%d:/nowhere", memory);
    setenv("NEUTRINO_RING", where, 1);
    setenv("NEUTRINO_NONCE", "00000000000000000000000000000000", 1);
}

int main(int argc, char **argv)
{
    const unsigned long count = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
    if (count == 0 || count > RINGS)
        return 2;
    calls = strtoul(argv[2], NULL, 10);
    pause_microseconds = strtoul(argv[3], NULL, 10);
    wait_microseconds = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    parent = getpid();
    start_session();
    pthread_t supervisor, threads[RINGS];
    pthread_create(&supervisor, NULL, supervise, NULL);
    produce(NULL);
    const pid_t child = fork();
    if (child == 0) {
        produce((void *)1);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    for (int wave = 0; wave < 2; wave++) {
        for (unsigned long i = 0; i < count; i++)
            pthread_create(&threads[i], NULL, produce, (void *)(uintptr_t)(2 + (unsigned)wave * RINGS + i));
        for (unsigned long i = 0; i < count; i++)
            pthread_join(threads[i], NULL);
    }
    made = (2 * count + 1) * calls;
    atomic_store(&finished, true);
    pthread_join(supervisor, NULL);
    for (uint32_t i = 0; i < RINGS; i++)
        dropped += atomic_load(&ring_at(i)->dropped);
    /* The dropped count includes records of every kind, and those of the child's ring. */
    const unsigned long asked =
        (2 * count + 1) * (LAST_QUERIES + calls / 4 * 6 + (calls % 4) * (calls % 4 + 1) / 2);
    printf("asked %lu queries %lu repeated %lu ", asked, queries, repeated);
    printf("made %lu arrived %lu dropped %lu disordered %lu corrupt %lu child %d\n", made, arrived, dropped,
           disordered, corrupt, forked_arrived != 0);
    return 0;
}
