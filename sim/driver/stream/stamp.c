/* A GPU writes the times of events to memory that kernels can write too. On an H200 (driver 580.159.04) it
 * was a mapping of 2 MiB at 0x204800000 in three of three processes, with times of two events 16 bytes apart.
 */
#include "driver/stream/stamp.h"

#include "driver/memory/range.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BASE  ((uint64_t)0x204800000)
#define BYTES ((size_t)2 << 20)

enum { STEP = 16, PLACES = 4096 };

static struct {
    pthread_mutex_t lock;
    uint64_t end; /* end of the mapping, or 0 */
    unsigned next;
    unsigned free_count;
    unsigned free[PLACES];
} stamps = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sim_stamp_start(void)
{
    const int saved = errno; /* a program may ask for it after cuInit */
    void *base = mmap((void *)(uintptr_t)BASE, BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    errno = saved;
    const uint64_t begin = (uint64_t)(uintptr_t)base;
    const struct sim_range range = {
        .begin = begin, .end = begin + BYTES, .kind = SIM_MEMORY_DRIVER, .access = SIM_ACCESS_READ_WRITE};
    if (base == MAP_FAILED)
        return;
    (void)madvise(base, BYTES, MADV_DONTFORK); /* a forked child has no device memory */
    if (sim_range_add(&range))
        stamps.end = range.end;
}

static sim_stamp *place(unsigned number)
{
    return (sim_stamp *)(uintptr_t)(stamps.end - STEP * ((uint64_t)number + 1) + sizeof(sim_stamp));
}

sim_stamp *sim_stamp_take(void)
{
    sim_stamp *stamp = NULL;
    pthread_mutex_lock(&stamps.lock);
    if (stamps.free_count != 0)
        stamp = place(stamps.free[--stamps.free_count]);
    else if (stamps.end != 0 && stamps.next < PLACES)
        stamp = place(stamps.next++);
    pthread_mutex_unlock(&stamps.lock);
    if (stamp == NULL)
        return calloc(1, sizeof *stamp); /* out of places: where kernels cannot write */
    atomic_store(stamp, 0);
    return stamp;
}

void sim_stamp_give(sim_stamp *stamp)
{
    const uint64_t address = (uint64_t)(uintptr_t)stamp;
    if (stamps.end == 0 || address < stamps.end - BYTES || address >= stamps.end) {
        free(stamp);
        return;
    }
    pthread_mutex_lock(&stamps.lock);
    stamps.free[stamps.free_count++] = (unsigned)((stamps.end - address) / STEP);
    pthread_mutex_unlock(&stamps.lock);
}
