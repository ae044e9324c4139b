/* Memory that a kernel can reach but no capture contains: managed, host, imported, or of another device.
 * While kernels are probed without a capture, all of the program's memory is here. */
#ifndef NEUTRINO_CUDA_FOREIGN_H
#define NEUTRINO_CUDA_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/process/component.h"

#define NB_FOREIGN_UNSERVED "memory outside the arena"

/* A queued free. While its stream may still have work before it, other streams may use the memory. */
struct nb_foreign_free {
    uint64_t time;    /* nb_clock() when the program asked for it; 0: not freed */
    uint64_t context; /* of the stream */
    uint64_t stream;  /* the driver's number of the stream; 0 if unknown */
};

struct nb_foreign {
    uint64_t address;
    uint64_t bytes;
    const char *what;
    uint64_t number; /* counts all ranges ever added, from 1 */
    uint64_t made;   /* nb_clock() when it was added */
    struct nb_foreign_free free;
    bool is_host;     /* the process allocated it as memory of its own */
    bool is_of_graph; /* each launch of a graph allocates it again, at the same address */
};

/* Whether the address lies in host memory that was added. */
bool nb_foreign_is_host(uint64_t address) __attribute__((visibility("hidden")));

/* `what` names the memory for users ("managed memory"); a constant text. */
void nb_foreign_add(uint64_t address, uint64_t bytes, const char *what) __attribute__((visibility("hidden")));
void nb_foreign_add_of_graph(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));
void nb_foreign_add_host(uint64_t address, uint64_t bytes, const char *what)
    __attribute__((visibility("hidden")));

/* The driver freed the memory at this address, in a call that began at `begun` (nb_clock(); 0: unknown).
 * Another thread may have got the address again since: later memory stays. Memory of graphs stays, too. */
void nb_foreign_remove(uint64_t address, uint64_t begun) __attribute__((visibility("hidden")));

/* The same for a queued free: the memory stays until nb_foreign_settle, or until its address is used again.
 */
void nb_foreign_remove_later(uint64_t address, const struct nb_foreign_free *free)
    __attribute__((visibility("hidden")));

/* All work that a context (stream 0), or one of its streams, had at the time `begun` has ended. */
void nb_foreign_settle(uint64_t context, uint64_t stream, uint64_t begun)
    __attribute__((visibility("hidden")));

/* Return the name of the memory at this address, or NULL. Any thread may call this. */
const char *nb_foreign_find(uint64_t address) __attribute__((visibility("hidden")));

/* Call `visit` for every range, sorted by address, under a lock. */
void nb_foreign_each(void (*visit)(const struct nb_foreign *memory, void *context), void *context)
    __attribute__((visibility("hidden")));
size_t nb_foreign_count(void) __attribute__((visibility("hidden")));

/* The program has memory that is not here: the shim had no memory to note it, or could not find it. */
void nb_foreign_miss(void) __attribute__((visibility("hidden")));
uint32_t nb_foreign_missed(void) __attribute__((visibility("hidden")));

/* Is the memory at this address managed? Asks the driver. */
bool nb_foreign_is_managed(uint64_t address) __attribute__((visibility("hidden")));

extern const struct nb_component nb_foreign_component __attribute__((visibility("hidden")));

#endif
