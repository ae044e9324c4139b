#include "inline/guard.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inline/arena.h"
#include "inline/filter.h"

#ifndef SYS_mseal
#define SYS_mseal 462
#endif

struct wanted {
    uint64_t address; /* in the object whose ranges are looked for */
    bool code_alone;
    struct nb_guarded *guarded;
};

static void add(struct nb_guarded *guarded, uint64_t begin, uint64_t end)
{
    if (guarded->count < NB_RANGES_MAX)
        guarded->ranges[guarded->count++] =
            (struct nb_range){begin & ~UINT64_C(4095), (end + 4095) & ~UINT64_C(4095)};
}

static bool holds(const struct dl_phdr_info *object, uint64_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const uint64_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && address >= begin &&
            address < begin + object->dlpi_phdr[i].p_memsz)
            return true;
    }
    return false;
}

static int add_object(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    const struct wanted *wanted = context;
    if (!holds(object, wanted->address))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uint64_t begin = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && ((part->p_flags & PF_X) != 0 || !wanted->code_alone))
            add(wanted->guarded, begin, begin + part->p_memsz);
    }
    return 1;
}

static struct nb_guarded guarded_ranges(const void *driver)
{
    struct nb_guarded guarded = {
        .arena = nb_gate.base,
        .arena_bytes = nb_gate.bytes,
        .openers = {(uint64_t)(uintptr_t)nb_gate_enter_opens, (uint64_t)(uintptr_t)nb_gate_lend_opens},
    };
    add(&guarded, nb_gate.reserved, nb_gate.reserved + nb_gate.reserved_bytes);
    struct wanted ours = {(uint64_t)(uintptr_t)nb_gate_enter_opens, false, &guarded};
    struct wanted drivers = {(uint64_t)(uintptr_t)driver, true, &guarded};
    (void)dl_iterate_phdr(add_object, &ours);
    (void)dl_iterate_phdr(add_object, &drivers);
    return guarded;
}

/* Code loaded before the submission: Python, libc, the driver. Writing to it would allow the submission to
 * write results. */
static bool seal_code(void)
{
    bool all = true;
    unsigned sealed = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL)
        return false;
    char line[4352];
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin = 0, end = 0;
        char access[5] = "";
        int path = 0;
        if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &begin, &end, access, &path) < 3 || path == 0)
            continue;
        if (access[2] != 'x' || line[path] != '/')
            continue;
        all = all && syscall(SYS_mseal, begin, end - begin, 0ul) == 0;
        sealed++;
    }
    (void)fclose(maps);
    return all && sealed > 0 && syscall(SYS_mseal, &nb_gate, sizeof nb_gate, 0ul) == 0;
}

/* Access memory that must be neither readable nor writable. */
static bool memory_file_opens(void)
{
    const int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (file >= 0)
        (void)close(file);
    return file >= 0;
}

void nb_guard(const void *driver, struct nb_inline_armed *armed)
{
    const struct nb_guarded guarded = guarded_ranges(driver);
    const bool works = nb_filter_works();
    armed->guards = 0;
    armed->listener = -1;
    if (!memory_file_opens())
        armed->guards |= NB_GUARD_MEMORY_FILE;
    if (nb_arena_close())
        armed->guards |= NB_GUARD_CLOSED;
    if (seal_code())
        armed->guards |= NB_GUARD_SEALED;
    if (works && nb_filter_install(&guarded, &armed->listener) == 0)
        armed->guards |= NB_GUARD_FILTER | (armed->listener >= 0 ? (uint32_t)NB_GUARD_LISTENER : 0u);
}
