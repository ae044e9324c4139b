#include "cuda/memory/foreign.h"

#include <cuda.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/ranges.h"
#include "core/driver/slots.h"
#include "core/ring/clock.h"
#include "cuda/memory/events.h"
#include "real.h"
#include "surface.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nb_ranges all = NB_RANGES_INITIALIZER(struct nb_foreign);
static uint64_t last_number;
static _Atomic uint32_t missed;

/* The driver has just returned these addresses, so ranges that overlap them were freed without the shim's
 * notice. */
static void add(struct nb_foreign memory)
{
    const int saved = errno;
    pthread_mutex_lock(&lock);
    for (size_t i = nb_ranges_count(&all); i > 0; i--) {
        struct nb_foreign *other = nb_ranges_item(&all, i - 1);
        if (other->address - memory.address < memory.bytes || memory.address - other->address < other->bytes)
            nb_ranges_remove(&all, other);
    }
    memory.number = ++last_number;
    memory.made = nb_clock();
    const bool is_known = memory.bytes == 0 || nb_ranges_add(&all, &memory);
    pthread_mutex_unlock(&lock);
    if (!is_known) {
        nb_foreign_miss();
        nb_memory_events()->lost();
    }
    errno = saved;
}

void nb_foreign_add(uint64_t address, uint64_t bytes, const char *what)
{
    add((struct nb_foreign){.address = address, .bytes = bytes, .what = what});
}

void nb_foreign_add_host(uint64_t address, uint64_t bytes, const char *what)
{
    add((struct nb_foreign){.address = address, .bytes = bytes, .what = what, .is_host = true});
}

void nb_foreign_add_of_graph(uint64_t address, uint64_t bytes)
{
    add((struct nb_foreign){
        .address = address, .bytes = bytes, .what = "memory that a graph allocates", .is_of_graph = true});
}

/* Find memory that begins at the address, was added before the time (0: unknown), and does not come back when
 * a graph is launched. Call with the lock. */
static struct nb_foreign *find_freed(uint64_t address, uint64_t time)
{
    struct nb_foreign *memory = nb_ranges_find(&all, address);
    return memory != NULL && memory->address == address && !memory->is_of_graph &&
                   (time == 0 || memory->made < time)
               ? memory
               : NULL;
}

void nb_foreign_remove(uint64_t address, uint64_t begun)
{
    pthread_mutex_lock(&lock);
    struct nb_foreign *memory = find_freed(address, begun);
    if (memory != NULL)
        nb_ranges_remove(&all, memory);
    pthread_mutex_unlock(&lock);
}

void nb_foreign_remove_later(uint64_t address, const struct nb_foreign_free *free)
{
    pthread_mutex_lock(&lock);
    struct nb_foreign *memory = find_freed(address, free->time);
    if (memory != NULL)
        memory->free = *free;
    pthread_mutex_unlock(&lock);
}

void nb_foreign_settle(uint64_t context, uint64_t stream, uint64_t begun)
{
    pthread_mutex_lock(&lock);
    for (size_t i = nb_ranges_count(&all); i > 0; i--) {
        struct nb_foreign *memory = nb_ranges_item(&all, i - 1);
        const struct nb_foreign_free *free = &memory->free;
        if (free->time != 0 && free->time < begun && free->context == context &&
            (stream == 0 || free->stream == stream))
            nb_ranges_remove(&all, memory);
    }
    pthread_mutex_unlock(&lock);
}

const char *nb_foreign_find(uint64_t address)
{
    pthread_mutex_lock(&lock);
    const struct nb_foreign *memory = nb_ranges_find(&all, address);
    const char *what = memory != NULL ? memory->what : NULL;
    pthread_mutex_unlock(&lock);
    return what;
}

bool nb_foreign_is_host(uint64_t address)
{
    pthread_mutex_lock(&lock);
    const struct nb_foreign *memory = nb_ranges_find(&all, address);
    const bool is_host = memory != NULL && memory->is_host;
    pthread_mutex_unlock(&lock);
    return is_host;
}

void nb_foreign_each(void (*visit)(const struct nb_foreign *memory, void *context), void *context)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < nb_ranges_count(&all); i++)
        visit(nb_ranges_item(&all, i), context);
    pthread_mutex_unlock(&lock);
}

size_t nb_foreign_count(void)
{
    pthread_mutex_lock(&lock);
    const size_t count = nb_ranges_count(&all);
    pthread_mutex_unlock(&lock);
    return count;
}

void nb_foreign_miss(void)
{
    atomic_fetch_add(&missed, 1);
}

uint32_t nb_foreign_missed(void)
{
    return atomic_load(&missed);
}

bool nb_foreign_is_managed(uint64_t address)
{
    unsigned int managed = 0;
    return NB_REAL(cuPointerGetAttribute)(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) ==
               CUDA_SUCCESS &&
           managed != 0;
}

const struct nb_component nb_foreign_component = {.locks = {&lock}};
