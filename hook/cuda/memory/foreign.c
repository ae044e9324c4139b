#include "cuda/memory/foreign.h"

#include <cuda.h>

#include <errno.h>
#include <pthread.h>

#include "core/base/ranges.h"
#include "core/driver/slots.h"
#include "cuda/memory/events.h"
#include "real.h"
#include "surface.h"

struct foreign {
    uint64_t address;
    uint64_t bytes;
    const char *what;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nb_ranges all = NB_RANGES_INITIALIZER(struct foreign);

/* The driver has just returned these addresses, so ranges that overlap them were freed without the shim's
 * notice. */
void nb_foreign_add(uint64_t address, uint64_t bytes, const char *what)
{
    const struct foreign memory = {address, bytes, what};
    const int saved = errno;
    pthread_mutex_lock(&lock);
    for (size_t i = nb_ranges_count(&all); i > 0; i--) {
        struct foreign *other = nb_ranges_item(&all, i - 1);
        if (other->address - address < bytes || address - other->address < other->bytes)
            nb_ranges_remove(&all, other);
    }
    const bool is_known = bytes == 0 || nb_ranges_add(&all, &memory);
    pthread_mutex_unlock(&lock);
    if (!is_known)
        nb_memory_events()->lost();
    errno = saved;
}

void nb_foreign_remove(uint64_t address)
{
    pthread_mutex_lock(&lock);
    struct foreign *memory = nb_ranges_find(&all, address);
    if (memory != NULL && memory->address == address)
        nb_ranges_remove(&all, memory);
    pthread_mutex_unlock(&lock);
}

const char *nb_foreign_find(uint64_t address)
{
    pthread_mutex_lock(&lock);
    const struct foreign *memory = nb_ranges_find(&all, address);
    const char *what = memory != NULL ? memory->what : NULL;
    pthread_mutex_unlock(&lock);
    return what;
}

bool nb_foreign_is_managed(uint64_t address)
{
    unsigned int managed = 0;
    return NB_REAL(cuPointerGetAttribute)(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) ==
               CUDA_SUCCESS &&
           managed != 0;
}

const struct nb_component nb_foreign_component = {.locks = {&lock}};
