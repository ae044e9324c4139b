#include "inline/arena.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

enum { STACK_BYTES = 1 << 20, DATA_BYTES = 31 << 20, ARENA_BYTES = STACK_BYTES + DATA_BYTES, TRIES = 64 };

#define RESERVED_BYTES (UINT64_C(1) << 30)

/* Initialised, so that it lies in the library's own file with a page's size and alignment. */
struct nb_gate nb_gate __attribute__((aligned(4096), section(".data.nb_gate"))) = {.pad = {1}};

_Static_assert(sizeof(struct nb_gate) == 4096, "nothing else is in its page");
_Static_assert(offsetof(struct nb_gate, head) == NB_GATE_HEAD, "gate.S");
_Static_assert(offsetof(struct nb_arena_head, outer) == NB_HEAD_OUTER, "gate.S");
_Static_assert(offsetof(struct nb_arena_head, owner) == NB_HEAD_OWNER, "gate.S");
_Static_assert(offsetof(struct nb_arena_head, state) == NB_HEAD_STATE, "gate.S");
_Static_assert(sizeof(struct nb_arena_head) % 16 == 0, "a stack begins below it");

/* A random address in the 47 bits of user space. */
static void *reserve(void)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t place = 0;
        if (getrandom(&place, sizeof place, 0) != (ssize_t)sizeof place)
            return NULL;
        place = (place >> 18) & ~UINT64_C(4095); /* 46 bits */
        void *memory = mmap((void *)(uintptr_t)place, RESERVED_BYTES, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (memory == (void *)(uintptr_t)place)
            return memory;
        if (memory != MAP_FAILED)
            (void)munmap(memory, RESERVED_BYTES);
    }
    return NULL;
}

bool nb_arena_build(void)
{
    uint64_t offset = 0;
    unsigned char *reserved = reserve();
    if (reserved == NULL || getrandom(&offset, sizeof offset, 0) != (ssize_t)sizeof offset)
        return false;
    offset = 4096 + offset % ((RESERVED_BYTES - ARENA_BYTES) / 4096 - 1) * 4096;
    unsigned char *base = reserved + offset;
    if (mprotect(base, ARENA_BYTES, PROT_READ | PROT_WRITE) != 0)
        return false;
    /* Children inherit no copy, and core dumps leave it out. */
    (void)madvise(base, ARENA_BYTES, MADV_DONTFORK);
    (void)madvise(base, ARENA_BYTES, MADV_DONTDUMP);
    nb_gate.base = (uint64_t)(uintptr_t)base;
    nb_gate.bytes = ARENA_BYTES;
    nb_gate.head = nb_gate.base + STACK_BYTES;
    nb_gate.reserved = (uint64_t)(uintptr_t)reserved;
    nb_gate.reserved_bytes = RESERVED_BYTES;
    nb_arena_head()->used = sizeof(struct nb_arena_head);
    return true;
}

struct nb_arena_head *nb_arena_head(void)
{
    return (struct nb_arena_head *)(uintptr_t)nb_gate.head;
}

void *nb_arena_take(uint64_t count, size_t bytes)
{
    struct nb_arena_head *head = nb_arena_head();
    if (count > DATA_BYTES / bytes)
        return NULL;
    const uint64_t size = (count * bytes + 63) & ~UINT64_C(63);
    if (size > DATA_BYTES - head->used)
        return NULL;
    void *memory = (unsigned char *)head + head->used;
    head->used += size;
    return memory;
}

bool nb_arena_close(void)
{
    return mprotect(&nb_gate, sizeof nb_gate, PROT_READ) == 0 &&
           mprotect((void *)(uintptr_t)nb_gate.base, nb_gate.bytes, PROT_NONE) == 0;
}
